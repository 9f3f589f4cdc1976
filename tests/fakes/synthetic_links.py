"""`link` events of known figures, and the table that a journal with them gives."""

from __future__ import annotations

from typing import Any

import polars as pl

from pentathlon.procedure.records import AgentEvent
from pentathlon.protocol.events import read
from pentathlon.store.tables import TableBuilder
from tests.fakes import scripted

PROFILE = {"name": "wan-10m-50ms"}
CASE = {"link": "wan-10m-50ms", "protocol": "smb"}


def _figures(rate: float, delay: float, lost: int) -> dict[str, Any]:
    return {
        "rate": {"asked_kbit": 10_000, "measured_kbit": rate},
        "delay": {"asked_ms": 25.0, "measured_ms": delay},
        "loss": {
            "asked_percent": 0.0, "measured_percent": lost / 2, "probes": 200, "lost": lost,
        },
    }  # fmt: skip


def calibration(
    rate: float, delay: float, *, lost: int = 0, cpu: float | None = 3.0, faults: str = "",
    engine: str = "agent", rate_down: float = 10_000,
) -> dict[str, Any]:  # fmt: skip
    """What a boot measured before its link's use; refused if there are faults."""
    late = {} if cpu is None else {"p50": 2.0, "p99": 100.0}
    ways = {"up": _figures(rate, delay, lost), "down": _figures(rate_down, 25.0, 0)}
    found = {
        "profile": PROFILE["name"], "engine": engine, "ways": ways, "cpu_percent": cpu,
        "attempts": [["once"], [faults] if faults else []], "lateness_us": late,
    }  # fmt: skip
    return {"event": "link", "profile": PROFILE["name"] if faults else PROFILE,
            "calibration": found, "t_ns": 1}  # fmt: skip


def trial(late_ns: int | None, cpu_ns: int | None, unable: int = 0) -> dict[str, Any]:
    """What a trial of 1 s cost: of 100 frames to the server 98 were 1 µs late, two more.

    netem counts neither lateness nor CPU time, and separate no causes.
    """
    drops = {"loss_or_queue": 7}
    if late_ns is not None:
        drops = {"loss": 0, "queue": 7, "ring": unable, "refused": 0, "mtu": 0, "cut": 0}
    up: dict[str, Any] = {"frames_out": 100, "bytes_out": 150_000, "drops": drops}
    if late_ns is not None:
        up["lateness_ns"] = {"latest": late_ns, "buckets": [[1000, 98], [late_ns, 2]]}
    down = up | {"drops": drops | {"ring": 0} if "ring" in drops else drops}
    between = {"elapsed_ns": 10**9, "cpu_ns": cpu_ns, "up": up, "down": down}
    return {"event": "link", "profile": PROFILE["name"], "workload": "files.copy", "index": 0,
            "case": CASE, "phase": "measure", "iteration": 0, "link": between}  # fmt: skip


def table(*boots: list[dict[str, Any]]) -> pl.DataFrame:
    """The table of a journal in which each boot had these events."""
    builder = TableBuilder(scripted.plan(blocks=len(boots)), scripted.catalog())
    builder.take(
        AgentEvent(utc="", block=block, system="a", attempt=0, event=read({"t_ns": 1, **event}))
        for block, events in enumerate(boots)
        for event in events
    )
    return builder.tables()["links"]
