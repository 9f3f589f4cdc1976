"""fio: what `--output-format=json` writes (fio(1), "JSON output", and HOWTO of fio 3)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from pentathlon.extraction.tools.json_document import Node, document
from pentathlon.extraction.tools.rows import (
    CaseValue,
    Direction,
    Extracted,
    ExtractError,
    Extractor,
    Metric,
    Options,
    Row,
)
from pentathlon.safeio.clipping import described

WANTED = "the output of fio --output-format=json"
WAYS = ("read", "write", "trim")
QUANTILES = {"50.000000": "p50", "99.000000": "p99", "99.900000": "p999"}
"""Percentiles of fio's default list that become metrics."""
TOLD = ("rw", "bs", "iodepth", "numjobs", "direct")
"""Options that decide what work a job does; those that were set stand in the case. The I/O engine
is not among them: another operating system has another one for the same work."""
WORDS = {"iodepth": "iodepth ", "numjobs": "numjobs ", "direct": "direct "}
"""What stands before a value that nobody would know alone."""
CPU = (
    ("usr_cpu", Metric("cpu_user", "User CPU time", "%", "lower", "context", zero_allowed=True)),
    ("sys_cpu", Metric("cpu_system", "System CPU time", "%", "lower", "context",
                       zero_allowed=True)),
)  # fmt: skip


def read(text: str, _options: Options) -> Extracted:
    """The jobs of one run.

    Raises:
        ExtractError: it is no such output, is of fio 2 or before, or a job failed.
    """
    found = document(text, WANTED, preface=True)
    version = found["fio version"].text()
    if (major := re.search(r"(\d+)\.", version)) is None or int(major[1][:9]) < 3:
        raise ExtractError(f"is of {described(version)}; times in ns came with fio 3.0")
    jobs = list(found["jobs"].each())
    shared = found.find("global options")
    names = Counter(job["jobname"].text() for job in jobs)
    seen: Counter[str] = Counter()
    rows: list[Row] = []
    left_out: list[str] = []
    for job in jobs:
        name = job["jobname"].text()
        if (status := job["error"].whole()) != 0:
            raise ExtractError(
                f"reports that the job {described(name)} failed with error {status} "
                f"({job.place}); a job that failed measured nothing"
            )
        seen[name] += 1
        case: dict[str, CaseValue] = {"job": name, **_stated(job, shared)}
        if names[name] > 1:
            case["number"] = seen[name]
        own = list(_job(job, case))
        rows += own
        if not own:
            left_out.append(f"the job {described(name)} did no input or output")
    return Extracted(version.removeprefix("fio-"), tuple(rows), tuple(left_out))


def _stated(job: Node, shared: Node | None) -> dict[str, CaseValue]:
    options = job.find("job options")
    given = {} if shared is None else dict(shared.members())
    given |= {} if options is None else options.members()
    return {name: f"{WORDS.get(name, '')}{given[name]}" for name in TOLD if name in given}


def _job(job: Node, case: dict[str, CaseValue]) -> Iterator[Row]:
    did_something = False
    for way in WAYS:
        part = job.find(way)
        if part is None or part["total_ios"].number() == 0:
            continue
        did_something = True
        for name, title, unit, direction, value in _figures(part):
            metric = Metric(f"{way}_{name}", f"{way.capitalize()}: {title}", unit, direction)
            yield _row(metric, case, value)
    sync = job.find("sync")
    if sync is not None and (times := sync.find("lat_ns")) is not None and _filled(times):
        metric = Metric("sync_latency", "Sync: mean latency", "ns", "lower")
        yield _row(metric, case, times["mean"])
    if did_something:
        for name, metric in CPU:
            if (share := job.find(name)) is not None:
                yield _row(metric, case, share)


def _figures(part: Node) -> Iterator[tuple[str, str, str, Direction, Node]]:
    yield "bandwidth", "bandwidth", "B/s", "higher", part["bw_bytes"]
    yield "iops", "operations per second", "1/s", "higher", part["iops"]
    latency = part.find("lat_ns")
    if latency is not None and _filled(latency):
        yield "latency", "mean latency", "ns", "lower", latency["mean"]
    completion = part.find("clat_ns")
    if completion is None or not _filled(completion):
        return
    known = completion.find("percentile")
    for name, short in QUANTILES.items():
        if known is not None and (value := known.find(name)) is not None:
            percent = f"{float(name):g} %"
            title = f"completion latency that {percent} do not exceed"
            yield f"completion_{short}", title, "ns", "lower", value


def _filled(times: Node) -> bool:
    """Whether latencies were taken at all; --disable_lat leaves zeros."""
    count = times.find("N")
    mean = times.find("mean")
    return mean is not None and mean.number() > 0 and (count is None or count.number() > 0)


def _row(metric: Metric, case: dict[str, CaseValue], value: Node) -> Row:
    return Row("fio", "fio job", metric, case, (value.number(),), value.place)


EXTRACTOR = Extractor("fio", "what fio --output-format=json writes", read)
