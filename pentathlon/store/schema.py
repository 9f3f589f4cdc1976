"""Columns of the tables of a result directory, with their polars types.

Everything that reads results types against this module. Units are in the names (`_ns`, `_khz`) or,
for `value`, in the column `unit`.
"""

from __future__ import annotations

from typing import Final

import polars as pl

COUNTERS: Final[tuple[str, ...]] = (
    "cpu_user_ns",
    "cpu_system_ns",
    "voluntary_switches",
    "involuntary_switches",
    "minor_faults",
    "major_faults",
    "steal_ns",
    "interrupts",
    "frequency_khz",
    "cycles",
    "instructions",
)
"""Readings of the operating system beside a sample; null where the system does not report."""

BESIDE: Final[tuple[str, ...]] = (*COUNTERS, "run_delay_ns")
"""The same, and what this machine knows of a guest (`targets.run_delay`); else null."""

SAMPLES: Final[dict[str, pl.DataType]] = {
    "system": pl.String(),
    "target": pl.String(),
    "layer": pl.String(),
    "install": pl.String(),
    "block": pl.Int32(),
    "boot": pl.String(),
    "order": pl.Int32(),
    "attempt": pl.Int32(),
    "workload_order": pl.Int32(),
    "process": pl.Int32(),
    "workload": pl.String(),
    "metric": pl.String(),
    "case": pl.String(),
    "case_json": pl.String(),
    "key": pl.String(),
    "unit": pl.String(),
    "direction": pl.String(),
    "phase": pl.String(),
    "iteration": pl.Int32(),
    "value": pl.Float64(),
    "batch": pl.UInt64(),
    "elapsed_ns": pl.Float64(),
    "checksum": pl.String(),
    "counted": pl.Boolean(),
    "t_ns": pl.Int64(),
    "utc": pl.String(),
    **{name: pl.Int64() for name in BESIDE},
}
"""One row per sample, in the order of the journal, those of warm-up and of cut-off steps too.

install         the install that was booted, "0" in a study with one
boot            "<block>.<system>.<attempt>", the boot that the sample was taken in
order           place of the system in its block, from 0
workload_order  place of the step in the plan of its boot, from 0
case            canonical text "block_bytes=1024,variant=avx512"; "" if the metric has no case
key             "memory.read.bandwidth[block_bytes=1024,variant=avx512]"
phase           "warmup" or "measure"
counted         the sample belongs to a finished step: evaluation uses counted, measured samples
t_ns, utc       time since the agent started; wall clock of the experimenter at the receipt

A histogram stands here too, as one row for each metric that is derived from it: `value` is the
quantile, `batch` the number of values.
"""

HISTOGRAMS: Final[dict[str, pl.DataType]] = {
    **{name: kind for name, kind in SAMPLES.items() if name not in ("metric", "value", "batch")},
    "histogram": pl.String(),
    "count": pl.UInt64(),
    "lowest": pl.UInt64(),
    "highest": pl.UInt64(),
    "significant_digits": pl.Int32(),
    "bucket_upper": pl.List(pl.UInt64()),
    "bucket_count": pl.List(pl.UInt64()),
}
"""One row per histogram: the raw values of one round, counted in buckets (docs/protocol.md).

histogram     id of the histogram in the workload's catalog entry, such as "latency"
key           "cpu.scheduling.wakeup.latency[load=idle]"
bucket_upper  greatest value that each bucket can hold, ascending, in `unit`
bucket_count  values in each bucket; they add up to `count`
the others    as in SAMPLES
"""

PLAN: Final[dict[str, pl.DataType]] = {
    "block": pl.Int32(),
    "order": pl.Int32(),
    "system": pl.String(),
    "target": pl.String(),
    "layer": pl.String(),
    "workload_order": pl.Int32(),
    "suite": pl.String(),
    "workload": pl.String(),
    "parameters_json": pl.String(),
    "qualified": pl.Boolean(),
    "iterations": pl.Int32(),
    "warmup": pl.Int32(),
    "processes": pl.Int32(),
    "sample_ms": pl.Float64(),
    "timeout_s": pl.Float64(),
    "state": pl.String(),
}
"""One row per planned step. state: "finished", "failed", "open" (not reached yet) or "not needed"
(the stopping rule was met before).

`qualified` states that this system runs the workload with parameters of its own.
"""

FAILURES: Final[dict[str, pl.DataType]] = {
    "block": pl.Int32(),
    "system": pl.String(),
    "boot": pl.String(),
    "attempt": pl.Int32(),
    "stage": pl.String(),
    "workload": pl.String(),
    "workload_order": pl.Int32(),
    "process": pl.Int32(),
    "case": pl.String(),
    "kind": pl.String(),
    "reason": pl.String(),
    "resolved": pl.Boolean(),
    "utc": pl.String(),
}
"""One row per failure. stage: "boot" or "step".

kind      "boot", "unsupported", "failed", "timeout", "invalid", "request" or "died"
resolved  a later attempt made it good; the samples that are counted are then complete
"""

_OF_BOOT: Final[dict[str, pl.DataType]] = {
    "system": pl.String(),
    "block": pl.Int32(),
    "boot": pl.String(),
    "attempt": pl.Int32(),
}

INVENTORY: Final[dict[str, pl.DataType]] = {
    **_OF_BOOT,
    "path": pl.String(),
    "value_json": pl.String(),
    "unsupported": pl.String(),
    "utc": pl.String(),
}
"""One row per leaf of an inventory: path "cpu.model", value as JSON, or the reason it is missing.

The path starts with "agent.", "clock.", "telemetry." or the section of the system's tree.
"""

ANSWERS: Final[dict[str, pl.DataType]] = {
    **_OF_BOOT,
    "workload": pl.String(),
    "metric": pl.String(),
    "case": pl.String(),
    "key": pl.String(),
    "served": pl.String(),
    "reads": pl.Int32(),
    "counted": pl.Boolean(),
}
"""Which source answered the measured reads of a case in one process: one row per answer.

served  "device", "cache", "mixed", "below" or "unknown" (docs/disk.md)
reads   timed reads that were answered so
"""

PICTURES: Final[dict[str, pl.DataType]] = {
    "system": pl.String(),
    "workload": pl.String(),
    "case": pl.String(),
    "width": pl.Int32(),
    "height": pl.Int32(),
    "jpeg": pl.String(),
}
"""The first picture of each case that a system drew: one row per picture.

jpeg  a JPEG file in Base64; `width` and `height` are its own, in pixels
"""

LINKS: Final[dict[str, pl.DataType]] = {
    **_OF_BOOT,
    "profile": pl.String(),
    "engine": pl.String(),
    "direction": pl.String(),
    "stage": pl.String(),
    "passed": pl.Boolean(),
    "attempts": pl.Int32(),
    "rate_asked_kbit": pl.Float64(),
    "rate_kbit": pl.Float64(),
    "delay_asked_ms": pl.Float64(),
    "delay_ms": pl.Float64(),
    "loss_asked_percent": pl.Float64(),
    "loss_percent": pl.Float64(),
    "probes": pl.Int32(),
    "lost": pl.Int32(),
    "cpu_percent": pl.Float64(),
    "late_p50_us": pl.Float64(),
    "late_p99_us": pl.Float64(),
    "workload": pl.String(),
    "case": pl.String(),
    "frames": pl.Int64(),
    "bytes": pl.Int64(),
    "unable": pl.Int64(),
}
"""One row per direction of a `link` event (docs/link.md).

stage        "calibration", with what was requested and achieved; "use", with a trial's counts
direction    "up" is from the client to the server
delay_ms     median of the probes
cpu_percent  share of one CPU that the emulator took, for both directions; null: not counted
late_p50_us  how late frames were handed over: in "use" those of this direction, else of both
unable       frames that the emulator lost without being asked to; null: not distinguished
"""

TABLES: Final[dict[str, dict[str, pl.DataType]]] = {
    "samples": SAMPLES,
    "histograms": HISTOGRAMS,
    "answers": ANSWERS,
    "plan": PLAN,
    "failures": FAILURES,
    "inventory": INVENTORY,
    "pictures": PICTURES,
    "links": LINKS,
}
