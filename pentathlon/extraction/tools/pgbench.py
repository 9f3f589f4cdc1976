"""pgbench: the text that it prints, or a per-transaction log (`-l`).

Both are described in its page of the PostgreSQL documentation, "Notes".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pentathlon.extraction.tools.rows import (
    CaseValue,
    Extracted,
    ExtractError,
    Extractor,
    Metric,
    Options,
    Row,
)
from pentathlon.safeio.clipping import described

WANTED = "the text of pgbench, or a log of pgbench -l"
TPS = Metric("tps", "Transactions per second", "1/s", "higher")
LATENCY = Metric("latency", "Mean latency", "ms", "lower")
SPREAD = Metric("latency_stddev", "Standard deviation of the latency", "ms", "lower", "context",
                zero_allowed=True)  # fmt: skip
FAILED = Metric("failed", "Failed transactions", "%", "lower", "context", zero_allowed=True)
ONE = Metric("transaction_latency", "Latency of a transaction", "us", "lower")

NUMBER = r"(\d+(?:\.\d+)?)"
_VERSION = re.compile(r"pgbench \((?:PostgreSQL\) )?(\d[\w.]*)")
_HEAD = {
    "script": re.compile(r"transaction type: (.+)$"),
    "scale": re.compile(r"scaling factor: (\d{1,9})$"),
    "mode": re.compile(r"query mode: (\S+)$"),
    "clients": re.compile(r"number of clients: (\d{1,9})$"),
    "threads": re.compile(r"number of threads: (\d{1,9})$"),
}
_TPS = re.compile(rf"tps = {NUMBER} \((?:without initial connection time|including reconnection "
                  r"times|excluding connections establishing)\)")  # fmt: skip
_OWN = re.compile(r"SQL script (\d{1,4}): (.+)$")
_OWN_TPS = re.compile(rf" - \d+ transactions .*tps = {NUMBER}\)")
_LATENCY = re.compile(rf"(?: - )?latency average(?: = |: ){NUMBER} ms")
_SPREAD = re.compile(rf"(?: - )?latency stddev(?: = |: ){NUMBER} ms")
_FAILED = re.compile(rf"number of failed transactions: \d+ \({NUMBER}%\)")
LINES = (
    (_TPS, TPS),
    (_OWN_TPS, TPS),
    (_LATENCY, LATENCY),
    (_SPREAD, SPREAD),
    (_FAILED, FAILED),
)
_LOG = re.compile(r"(\d{1,9}) (\d+) (\d+|skipped|failed\S*|serialization|deadlock) (\d{1,9}) "
                  r"(\d{9,}) (\d{1,6})(?: .*)?")  # fmt: skip


def read(text: str, _options: Options) -> Extracted:
    """One run, or the transactions of a log.

    Raises:
        ExtractError: it is neither, or the run failed.
    """
    lines = text.split("\n")
    if _LOG.fullmatch(lines[0]):
        return _log(lines)
    for number, line in enumerate(lines, start=1):
        if line.startswith("pgbench: error:") or "Run was aborted" in line:
            raise ExtractError(f"reports that the run failed: {described(line)}", number)
    version = next((found for line in lines if (found := _VERSION.match(line))), None)
    case: dict[str, CaseValue] = {}
    for factor, pattern in _HEAD.items():
        matched = next((found for line in lines if (found := pattern.match(line))), None)
        if matched is None:
            raise ExtractError(f'has no line "{pattern.pattern[:14]}..."; expected {WANTED}')
        case[factor] = int(matched[1]) if factor in ("clients", "threads") else matched[1]
    case["scale"] = f"scale {case['scale']}"
    case["mode"] = f"{case['mode']} protocol"
    if any("including reconnection times" in line for line in lines):
        case["connections"] = "for each transaction"
    rows = tuple(_run(lines, case))
    if not any(row.metric is TPS for row in rows):
        raise ExtractError('has no line "tps = ...": the run did not end')
    return Extracted(None if version is None else version[1], rows)


def _run(lines: list[str], case: dict[str, CaseValue]) -> Iterator[Row]:
    """The run as a whole, and then each script where there are several."""
    own, seen = case, set[str]()
    for number, line in enumerate(lines, start=1):
        if line.startswith("statement latencies"):
            return
        if (script := _OWN.match(line)) is not None:
            own, seen = case | {"script": script[2], "part": script[1]}, set()
        for pattern, metric in LINES:
            found = pattern.match(line)
            if found is not None and metric.id not in seen:
                seen.add(metric.id)
                value = (float(found[1]),)
                yield Row("pgbench", "pgbench", metric, own, value, f"line {number}")


def _log(lines: list[str]) -> Extracted:
    """The latency of each transaction, in the order of the log, by script."""
    values: dict[str, list[float]] = {}
    first: dict[str, int] = {}
    skipped = 0
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        found = _LOG.fullmatch(line)
        if found is None:
            raise ExtractError("is no line of a per-transaction log of pgbench -l", number)
        if not found[3].isdigit():
            skipped += 1
            continue
        values.setdefault(found[4], []).append(float(found[3]))
        first.setdefault(found[4], number)
    left_out = (f"{skipped} transactions that were skipped or failed",) if skipped else ()
    rows = tuple(
        Row("pgbench", "pgbench", ONE, {"part": script}, tuple(own), f"line {first[script]} on")
        for script, own in values.items()
    )
    return Extracted(None, rows, left_out)


EXTRACTOR = Extractor("pgbench", "the text that pgbench prints, or a log of pgbench -l", read)
