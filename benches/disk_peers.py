"""Disk workloads beside fio, sysbench and twins in C, in one directory, taking turns.

Every row is a ratio of rates, `one / two`: 1.05 means that one is 5 % faster (`turns.py`). Where
the device is shared with other machines, its rates change by more than the programs differ: a file
system on a loop device over a file in memory answers the same way each time, and shows what the
programs themselves add to a request.

    truncate -s 1G /dev/shm/disk && mkfs.ext4 -q /dev/shm/disk
    mount -o loop /dev/shm/disk /mnt && python benches/disk_peers.py --directory /mnt

A loop device answers by threads of the kernel's own: whether one runs on the CPU of the program
that waits for it decides a rate by more than the programs do. --cpu keeps the programs on one CPU,
and /sys/devices/virtual/workqueue/cpumask the threads on others.

fio and sysbench are taken from the directory that PENTATHLON_PEERS names, or from PATH; the twins
need a C compiler. What is missing is named. Exit status: 0 compared, 1 no peer was found or a run
failed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import turns
from disk_pairs import FILE_BYTES, PAIRS, SECONDS, Fio, Pair, Sysbench, Twin
from turns import Measure, Place, Ratio, number

from pentathlon import agent


def ours(program: Path, pair: Pair, place: Place, directory: Path) -> float:
    """The median rate of one run of the agent, after a pass that is not counted."""
    told = turns.events(
        program,
        pair.workload,
        pair.parameters,
        place=place,
        scratch=directory,
        tries=3,
        warmup=1,
    )
    value = statistics.median(
        float(event["value"])
        for event in told
        if event["event"] == "sample"
        and event["indicator"] == pair.indicator
        and event["phase"] == "measure"
    )
    return 1e3 / value if pair.indicator == "time" else value


def fio(program: str, job: Fio, unit: str, place: Place, directory: Path) -> float:
    """The rate of a job as fio reports it."""
    file = directory / "fio"
    common = [*place.command(), program, f"--filename={file}", "--name=peer"]
    written(program, file)
    limited = "--fsync=1" in job.options or any("runtime=" in option for option in job.options)
    size = [] if any("size=" in option for option in job.options) else [f"--size={FILE_BYTES}"]

    def run(passes: int) -> float:
        limits = [] if limited else [f"--runtime={SECONDS * passes:.0f}"]
        loops = [] if "--time_based=1" in job.options else [f"--loops={passes}"]
        command = [*common, *size, *limits, *loops, *job.options, "--output-format=json"]
        text = turns.said(command)
        # Warnings can stand before the document.
        answer = json.loads(text[text.index("{") :])["jobs"][0][job.half]
        return float(answer["iops"]) if unit == "1/s" else float(answer["bw_bytes"]) / 1e6

    if job.passes:
        run(1)
    rate = run(job.passes or 1)
    file.unlink()
    return rate


def written(program: str, file: Path) -> None:
    """Lets fio make the file and waits until it is on the device, as ours is."""
    name = [f"--filename={file}", "--name=peer", f"--size={FILE_BYTES}"]
    turns.said([program, *name, "--rw=write", "--bs=1M", "--end_fsync=1"])


def sysbench(program: str, job: Sysbench, place: Place, directory: Path) -> float:
    """Reads per second of sysbench's fileio."""
    text = ""
    for step in ("prepare", "run", "cleanup"):
        text += turns.said([*place.command(), program, "fileio", *job.options, step], directory)
        os.sync()
    return number(r"reads/s: +([0-9.]+)", text)


def twin(program: str, job: Twin, maker: str, place: Place, directory: Path) -> float:
    """The rate that a twin reports."""
    file = directory / "twin"
    if "FILE" in job.arguments:
        written(maker, file)
    arguments = [str(file) if word == "FILE" else word for word in job.arguments]
    command = [*place.command(), program, *arguments]
    rate = number(r"^rate: ([0-9.]+)$", turns.said(command, directory))
    file.unlink(missing_ok=True)
    return rate


def compare(
    program: Path, pair: Pair, found: dict[str, str], *, place: Place, parent: Path, rounds: int
) -> int:
    """Measures all sides in turn and prints the ratios; returns how many rows."""
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        at = (place, Path(folder))
        sides: dict[str, Measure] = {"ours": partial(ours, program, pair, *at)}
        for name, job in pair.others.items():
            if isinstance(job, Fio) and "fio" in found:
                sides[name] = partial(fio, found["fio"], job, pair.unit, *at)
            elif isinstance(job, Sysbench) and "sysbench" in found:
                sides[name] = partial(sysbench, found["sysbench"], job, *at)
            elif isinstance(job, Twin) and job.program in found and "fio" in found:
                sides[name] = partial(twin, found[job.program], job, found["fio"], *at)
        rows = [Ratio(f"{pair.name}, {pair.unit}", *row) for row in pair.rows]
        turns.tell(turns.measured(sides, rounds), rows)
    return len(sides) - 1


def main() -> int:
    """Prints the rows of each pair."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--cpu", type=int, help="run all programs on this CPU")
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
                    place=Place(arguments.cpu),
                    parent=arguments.directory,
                    rounds=arguments.rounds,
                )
            except (RuntimeError, subprocess.SubprocessError) as error:
                print(f"{pair.name}: {error}", file=sys.stderr)
                return 1
    return 0 if compared else 1


if __name__ == "__main__":
    sys.exit(main())
