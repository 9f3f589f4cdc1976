"""sysbench 1: the text that `sysbench TEST run` prints (its README and `src/`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

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

WANTED = "the text of sysbench run"
NUMBER = r"(\d+(?:\.\d+)?)"


@dataclass(frozen=True)
class _Figure:
    """A line with a value, and what it is."""

    pattern: re.Pattern[str]
    metric: Metric


def _figure(pattern: str, name: str, title: str, unit: str) -> _Figure:
    return _Figure(re.compile(pattern.replace("NUMBER", NUMBER)), Metric(name, title, unit,
                                                                         "higher"))  # fmt: skip


@dataclass(frozen=True)
class _Test:
    """One of the tests.

    Attributes:
        sign: a line that only this test prints.
        figures: its values.
        case: factor -> the line that has its value.
    """

    workload: str
    title: str
    sign: re.Pattern[str]
    figures: tuple[_Figure, ...]
    case: dict[str, re.Pattern[str]]


TESTS = (
    _Test("sysbench.cpu", "sysbench cpu", re.compile(r"CPU speed:"),
          (_figure(r"\s+events per second:\s+NUMBER", "rate", "Events per second", "1/s"),),
          {"prime_limit": re.compile(r"Prime numbers limit: (\d+)")}),
    _Test("sysbench.memory", "sysbench memory", re.compile(r"Running memory speed test"),
          (_figure(r"Total operations: \d+ \(\s*NUMBER per second\)", "rate",
                   "Operations per second", "1/s"),
           _figure(r"[\d.]+ MiB transferred \(NUMBER MiB/sec\)", "bandwidth", "Bandwidth",
                   "MiB/s")),
          {"block_size": re.compile(r"\s+block size: (\S+)"),
           "operation": re.compile(r"\s+operation: (\S+)"),
           "scope": re.compile(r"\s+scope: (\S+)")}),
    _Test("sysbench.fileio", "sysbench fileio", re.compile(r"File operations:"),
          (_figure(r"\s+reads/s:\s+NUMBER", "reads", "Reads per second", "1/s"),
           _figure(r"\s+writes/s:\s+NUMBER", "writes", "Writes per second", "1/s"),
           _figure(r"\s+fsyncs/s:\s+NUMBER", "fsyncs", "fsync calls per second", "1/s"),
           _figure(r"\s+read, MiB/s:\s+NUMBER", "read_bandwidth", "Read bandwidth", "MiB/s"),
           _figure(r"\s+written, MiB/s:\s+NUMBER", "write_bandwidth", "Write bandwidth",
                   "MiB/s")),
          {"mode": re.compile(r"Doing (.+) test"),
           "block_size": re.compile(r"Block size (\S+)")}),
    _Test("sysbench.oltp", "sysbench OLTP", re.compile(r"SQL statistics:"),
          (_figure(r"\s+transactions:\s+\d+\s+\(NUMBER per sec\.\)", "transactions",
                   "Transactions per second", "1/s"),
           _figure(r"\s+queries:\s+\d+\s+\(NUMBER per sec\.\)", "queries",
                   "Queries per second", "1/s")),
          {}),
)  # fmt: skip

OTHER = _Test("sysbench.other", "sysbench", re.compile(""), (), {})
"""The text of `threads`, `mutex` and of scripts does not name the test, so the user has to."""
NAMED_BY = "test"
WORDS = {"prime_limit": "primes to ", "block_size": "blocks of "}
"""What stands before a value that nobody would know alone."""

EVENTS = Metric("rate", "Events per second of the total time", "1/s", "higher")
_VERSION = re.compile(r"sysbench (\d+)\.(\d\S*)")
_LATENCY = re.compile(r"\s+(avg|(\d+)(?:st|nd|rd|th) percentile):\s+" + NUMBER)


def read(text: str, options: Options) -> Extracted:
    """One run.

    Raises:
        ExtractError: it is no such text, is of sysbench 0, or the run did not end.
    """
    lines = text.split("\n")
    version = _first(lines, _VERSION)
    if version is None:
        raise ExtractError(f'has no line "sysbench VERSION"; expected {WANTED}')
    if int(version[1][:9]) < 1:
        raise ExtractError(f"is of sysbench {version[1]}.{version[2]}; read is that of 1.0 on")
    for number, line in enumerate(lines, start=1):
        if line.startswith("FATAL:"):
            raise ExtractError(f"reports that the run failed: {described(line)}", number)
    at = next((n for n, line in enumerate(lines) if line.startswith("General statistics:")), None)
    if at is None:
        raise ExtractError('has no "General statistics:": the run did not end')
    test = next((one for one in TESTS if _first(lines, one.sign) is not None), OTHER)
    if test is OTHER and NAMED_BY not in options.given:
        raise ExtractError(
            f"does not say which test of sysbench it is of; add --case {NAMED_BY}=NAME, such as "
            f"--case {NAMED_BY}=mutex"
        )
    case: dict[str, CaseValue] = {}
    if (threads := _first(lines, re.compile(r"Number of threads: (\d{1,9})$"))) is not None:
        case["threads"] = int(threads[1])
    for factor, pattern in test.case.items():
        if (matched := _first(lines, pattern)) is not None:
            case[factor] = f"{WORDS.get(factor, '')}{matched[1]}"
    left_out: list[str] = []
    rows = [*_figures(test, lines, case, left_out)]
    if test is OTHER:
        rows.append(_events(lines, at, case))
    rows += _latencies(test, lines, at, case, left_out)
    return Extracted(f"{version[1]}.{version[2]}", tuple(rows), tuple(left_out))


def _figures(
    test: _Test, lines: list[str], case: dict[str, CaseValue], left_out: list[str]
) -> Iterator[Row]:
    for figure in test.figures:
        number, found = _place(lines, figure.pattern)
        if found is None:
            raise ExtractError(
                f"lacks the line of {figure.metric.title.lower()} that {test.title} prints"
            )
        value = float(found[1])
        if value == 0:
            # A test that only reads writes nothing: that is no rate of its work.
            left_out.append(f"{figure.metric.title.lower()} is 0")
            continue
        yield Row(test.workload, test.title, figure.metric, case, (value,), f"line {number}")


def _events(lines: list[str], at: int, case: dict[str, CaseValue]) -> Row:
    number, events = _place(lines, re.compile(r"\s+total number of events:\s+(\d+)$"), at)
    _, seconds = _place(lines, re.compile(rf"\s+total time:\s+{NUMBER}s$"), at)
    if events is None or seconds is None or float(seconds[1]) == 0:
        raise ExtractError("lacks the number of events or the total time", at + 1)
    rate = float(events[1]) / float(seconds[1])
    return Row(OTHER.workload, OTHER.title, EVENTS, case, (rate,), f"line {number}")


def _latencies(
    test: _Test, lines: list[str], at: int, case: dict[str, CaseValue], left_out: list[str]
) -> Iterator[Row]:
    start = next((n for n in range(at, len(lines)) if lines[n].startswith("Latency (ms):")), None)
    if start is None:
        return
    for number in range(start + 1, min(start + 8, len(lines))):
        found = _LATENCY.fullmatch(lines[number].rstrip())
        if found is None:
            continue
        name = "mean" if found[1] == "avg" else f"p{found[2]}"
        if (value := float(found[3])) == 0:
            left_out.append(f"the latency {name} is 0.00 ms, less than sysbench prints")
            continue
        title = f"Latency, {'mean' if name == 'mean' else f'{found[2]} % do not exceed'}"
        metric = Metric(f"latency_{name}", title, "ms", "lower")
        yield Row(test.workload, test.title, metric, case, (value,), f"line {number + 1}")


def _first(lines: list[str], pattern: re.Pattern[str]) -> re.Match[str] | None:
    return _place(lines, pattern)[1]


def _place(
    lines: list[str], pattern: re.Pattern[str], start: int = 0
) -> tuple[int, re.Match[str] | None]:
    """The number, from 1, of the first line that begins so, and the match."""
    for number in range(start, len(lines)):
        if (found := pattern.match(lines[number])) is not None:
            return number + 1, found
    return 0, None


EXTRACTOR = Extractor("sysbench", "the text that sysbench prints", read)
