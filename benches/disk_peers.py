"""Disk workloads beside fio, sysbench and counterparts in C, in one directory, taking turns.

Every row is a ratio of rates, `one / two`: 1.05 means that one is 5 % faster (`turns.py`); or of
times where its unit is ns: 1.05 means that one takes 5 % longer. fio counts times in buckets that
are up to 1.6 % wide. Where the device is shared with other machines, its rates change by more than
the programs differ: a file system on a loop device over a file in memory answers the same way each
time, and shows what the programs themselves add to a request.

    truncate -s 1G /dev/shm/disk && mkfs.ext4 -q /dev/shm/disk
    mount -o loop /dev/shm/disk /mnt && python benches/disk_peers.py --directory /mnt

A loop device answers by threads of the kernel's own: whether one runs on the CPU of the program
that waits for it decides a rate by more than the programs do. --cpu keeps the programs on one CPU,
and /sys/devices/virtual/workqueue/cpumask the threads on others.

fio and sysbench are taken from the directory that PENTATHLON_PEERS names, or from PATH; the
counterparts need a C compiler. What is missing is named. Exit status: 0 compared, 1 no peer was
found or a run failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from pathlib import Path

import turns
from disk_pairs import FILE_BYTES, PAIRS, QUANTILES, SECONDS, Counterpart, Fio, Pair, Sysbench
from turns import Place, Ratio, number

from pentathlon.protocol import agent

Figures = dict[str, float]
"""`rate`, and the quantiles of the requests' times in ns by their names."""


def ours(program: Path, pair: Pair, place: Place, directory: Path) -> Figures:
    """The median rate of one run of the agent, after a pass that is not counted, and the quantiles
    of all requests' times."""
    reported = turns.events(
        program,
        pair.workload,
        pair.parameters,
        place=place,
        scratch=directory,
        tries=3,
        warmup=1,
    )
    measured = [event for event in reported if event.get("phase") == "measure"]
    value = statistics.median(
        float(event["value"])
        for event in measured
        if event["event"] == "sample" and event["metric"] == pair.metric
    )
    counts: Counter[int] = Counter()
    for event in measured:
        if event["event"] == "histogram":
            counts.update(dict(event["buckets"]))
    figures = {"rate": 1e3 / value if pair.metric == "time" else value}
    return figures | (quantiles(counts) if pair.quantiles else {})


def quantiles(counts: Counter[int]) -> Figures:
    """The least value that so many are not above."""
    values = sorted(counts)
    sums = list(accumulate(counts[value] for value in values))
    return {
        name: float(values[bisect_left(sums, share * sums[-1])])
        for name, share in QUANTILES.items()
    }


def fio(program: str, job: Fio, pair: Pair, place: Place, directory: Path) -> Figures:
    """The rate of a job as fio reports it, and the quantiles of its requests' times."""
    file = directory / "fio"
    common = [*place.command(), program, f"--filename={file}", "--name=peer"]
    written(program, file)
    limited = "--fsync=1" in job.options or any("runtime=" in option for option in job.options)
    size = [] if any("size=" in option for option in job.options) else [f"--size={FILE_BYTES}"]
    shares = ":".join(f"{100 * share:g}" for share in QUANTILES.values())
    requested = ["--lat_percentiles=1", "--clat_percentiles=1", f"--percentile_list={shares}"]

    def run(passes: int) -> Figures:
        limits = [] if limited else [f"--runtime={SECONDS * passes:.0f}"]
        loops = [] if "--time_based=1" in job.options else [f"--loops={passes}"]
        kept = requested if pair.quantiles else []
        command = [*common, *size, *limits, *loops, *job.options, *kept, "--output-format=json"]
        text = turns.output(command)
        # Warnings can stand before the document.
        document = json.loads(text[text.index("{") :])["jobs"][0]
        answer = document[job.half]
        rate = float(answer["iops"]) if pair.unit == "1/s" else float(answer["bw_bytes"]) / 1e6
        if not pair.quantiles:
            return {"rate": rate}
        part, definition = job.times
        percentiles = document[part or job.half][definition]["percentile"]
        return {"rate": rate} | {
            name: float(percentiles[f"{100 * share:.6f}"]) for name, share in QUANTILES.items()
        }

    if job.passes:
        run(1)
    figures = run(job.passes or 1)
    file.unlink()
    return figures


def written(program: str, file: Path) -> None:
    """Lets fio make the file and waits until it is on the device, as ours is."""
    name = [f"--filename={file}", "--name=peer", f"--size={FILE_BYTES}"]
    turns.output([program, *name, "--rw=write", "--bs=1M", "--end_fsync=1"])


def sysbench(program: str, job: Sysbench, place: Place, directory: Path) -> Figures:
    """Reads per second of sysbench's fileio."""
    text = ""
    for step in ("prepare", "run", "cleanup"):
        text += turns.output([*place.command(), program, "fileio", *job.options, step], directory)
        os.sync()
    return {"rate": number(r"reads/s: +([0-9.]+)", text)}


def counterpart(
    program: str, job: Counterpart, maker: str, place: Place, directory: Path
) -> Figures:
    """The rate that a counterpart reports, and the quantiles where it keeps times."""
    file = directory / "counterpart"
    if "FILE" in job.arguments:
        written(maker, file)
    arguments = [str(file) if word == "FILE" else word for word in job.arguments]
    text = turns.output([*place.command(), program, *arguments], directory)
    file.unlink(missing_ok=True)
    wanted = ("rate", *QUANTILES) if "timed" in job.arguments else ("rate",)
    return {name: number(rf"^{re.escape(name)}: ([0-9.]+)$", text) for name in wanted}


def compare(
    program: Path, pair: Pair, found: dict[str, str], *, place: Place, parent: Path, rounds: int
) -> int:
    """Measures all sides in turn and prints the ratios; returns how many rows."""
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        at = (place, Path(folder))
        sides: dict[str, Callable[[], Figures]] = {"ours": partial(ours, program, pair, *at)}
        for name, job in pair.others.items():
            if isinstance(job, Fio) and "fio" in found:
                sides[name] = partial(fio, found["fio"], job, pair, *at)
            elif isinstance(job, Sysbench) and "sysbench" in found:
                sides[name] = partial(sysbench, found["sysbench"], job, *at)
            elif isinstance(job, Counterpart) and job.program in found and "fio" in found:
                sides[name] = partial(counterpart, found[job.program], job, found["fio"], *at)
        answers = turns.measured(sides, rounds)
    tables = {"rate": (pair.unit, pair.rows)} | {q: (f"{q}, ns", pair.quantiles) for q in QUANTILES}
    for figure, (unit, lines) in tables.items():
        known = {
            name: [answer[figure] for answer in all_]
            for name, all_ in answers.items()
            if figure in all_[0]
        }
        turns.tell(known, [Ratio(f"{pair.name}, {unit}", *line) for line in lines])
    return len(sides) - 1


def main() -> int:
    """Prints the rows of each pair."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--cpu", type=int, help="run all programs on this CPU")
    parser.add_argument(
        "--realtime", action="store_true", help="run at a real-time priority (root)"
    )
    parser.add_argument("--only", nargs="+", help="only pairs whose name contains one of these")
    arguments = parser.parse_args()
    found = {name: path for name in ("fio", "sysbench") if (path := turns.find(name))}
    for name in {"fio", "sysbench"} - found.keys():
        print(f"{name} is missing; on Debian: apt install {name}")
    if not found:
        return 1
    program = agent.locate()
    turns.heading()
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("queue", "cached"):
            if path := turns.built(f"{name}.c", Path(folder) / name):
                found[name] = path
        for pair in PAIRS:
            if arguments.only and not any(text in pair.name for text in arguments.only):
                continue
            try:
                compared += compare(
                    program,
                    pair,
                    found,
                    place=Place(arguments.cpu, arguments.realtime),
                    parent=arguments.directory,
                    rounds=arguments.rounds,
                )
            except (RuntimeError, subprocess.SubprocessError) as error:
                print(f"{pair.name}: {error}", file=sys.stderr)
                return 1
    return 0 if compared else 1


if __name__ == "__main__":
    sys.exit(main())
