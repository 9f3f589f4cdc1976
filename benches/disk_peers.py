"""Disk workloads beside fio, in one directory, taking turns.

Each round measures one pair one after the other; the order changes from round to round. The ratio
of each round is ours over fio's, so 1.05 means that the agent reports a rate 5 % higher. A
neighbour's load hits both halves of a round, so the median of the ratios is steadier than either
rate.

fio is taken from the directory that PENTATHLON_PEERS names, or from PATH. Exit status: 0 compared,
1 fio was not found or a run failed.

    python benches/disk_peers.py --rounds 7 --directory /var/tmp
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pentathlon import agent

MIB = 1 << 20
FILE_BYTES = 128 * MIB
"""Size of the file in both programs."""
SECONDS = 1.0
"""Time limit of one pass in both programs."""


@dataclass(frozen=True)
class Pair:
    """A workload with one indicator, and fio's job that measures the same."""

    name: str
    workload: str
    indicator: str
    parameters: dict[str, Any]
    job: tuple[str, ...]
    side: str
    """Which half of fio's answer: read or write."""
    definition: str
    unit: str = "MB/s"


CACHED = ("--ioengine=psync", "--invalidate=0", "--time_based=1")
DIRECT = ("--direct=1", "--ioengine=psync")
QUEUE = ("--direct=1", "--ioengine=io_uring", "--rw=randread", "--bs=4k")


def queue(depth: int) -> Pair:
    """Random reads with `depth` requests under way."""
    return Pair(
        f"random read, depth {depth}",
        "disk.queue",
        "iops",
        {"file_bytes": FILE_BYTES, "depth": [depth], "operation": ["random_read"]}
        | {"limit_s": SECONDS},
        (*QUEUE, f"--iodepth={depth}"),
        "read",
        "both: io_uring, O_DIRECT, 4 KiB, each block at most once; ours also checks a stamp of "
        "every block",
        "1/s",
    )


PAIRS = (
    Pair(
        "large random read, direct",
        "disk.random",
        "rate",
        {"file_bytes": FILE_BYTES, "block_bytes": MIB, "limit_s": SECONDS},
        (*DIRECT, "--rw=randread", "--bs=1M"),
        "read",
        "both: pread, O_DIRECT, 1 MiB, each block at most once; ours also checks a stamp in every "
        "4 KiB",
    ),
    Pair(
        "same block, cached",
        "disk.buffered",
        "rate",
        {"file_bytes": MIB, "block_bytes": 65536, "method": "cached", "limit_s": SECONDS},
        (*CACHED, "--rw=read", "--bs=64k", "--filesize=64k"),
        "read",
        "both: pread of the same 64 KiB from the cache; fio reads the clock for each call, ours "
        "for every fourth, and checks 16 stamps",
    ),
    Pair(
        "same block, cached, no clock",
        "disk.buffered",
        "rate",
        {"file_bytes": MIB, "block_bytes": 65536, "method": "cached", "limit_s": SECONDS},
        (*CACHED, "--rw=read", "--bs=64k", "--filesize=64k", "--gtod_reduce=1"),
        "read",
        "the same, but fio reads the clock for few calls: what the clock is of the ratio above",
    ),
    Pair(
        "random read, direct",
        "disk.access_time",
        "time",
        {"file_bytes": FILE_BYTES, "limit_s": SECONDS},
        (*DIRECT, "--rw=randread", "--bs=4k"),
        "read",
        "both: pread, O_DIRECT, 4 KiB, each block at most once; ours is 1 / access time",
        "1/s",
    ),
    queue(1),
    queue(16),
    queue(64),
    Pair(
        "fsync",
        "disk.sync",
        "rate",
        {"calls": 100, "call": ["fsync"], "pattern": ["overwrite"]},
        ("--ioengine=psync", "--rw=write", "--bs=4k", "--fsync=1", "--size=400k", "--overwrite=1"),
        "write",
        "both: 100 blocks of 4 KiB over existing ones, fsync after each",
        "1/s",
    ),
)


def ours(program: Path, pair: Pair, directory: Path) -> float:
    """The median rate of one run of the agent. Its warm-up lets the device come to rest after the
    file was written, for which fio's own start gives time enough."""
    request = {
        "protocol": 1,
        "scratch": str(directory),
        "workloads": [
            {"id": pair.workload, "parameters": pair.parameters, "iterations": 3, "warmup": 1}
        ],
    }
    run = subprocess.run(
        [program, "run"],
        input=json.dumps(request) + "\n",
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    events = [json.loads(line) for line in run.stdout.splitlines()]
    for event in events:
        if event["event"] == "error":
            raise RuntimeError(f"{pair.workload}: {event['reason']}")
    value = statistics.median(
        float(event["value"])
        for event in events
        if event["event"] == "sample"
        and event["indicator"] == pair.indicator
        and event["phase"] == "measure"
    )
    return 1e3 / value if pair.indicator == "time" else value


def theirs(program: str, pair: Pair, directory: Path) -> float:
    """The same rate as fio reports it."""
    file = directory / "fio"
    common = [f"--filename={file}", "--name=peer"]
    size = f"--size={FILE_BYTES}"
    # The file is made and on the device before the timed job, as ours is.
    subprocess.run(
        [program, *common, size, "--rw=write", "--bs=1M", "--end_fsync=1"],
        capture_output=True,
        timeout=300,
        check=True,
    )
    limit = [] if "--fsync=1" in pair.job else [f"--runtime={SECONDS:.0f}"]
    limit += [] if any("size=" in option for option in pair.job) else [size]
    run = subprocess.run(
        [program, *common, *limit, *pair.job, "--output-format=json"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    file.unlink()
    # Warnings can stand before the document.
    answer = json.loads(run.stdout[run.stdout.index("{") :])["jobs"][0][pair.side]
    return float(answer["iops"]) if pair.unit == "1/s" else float(answer["bw_bytes"]) / 1e6


def find(name: str) -> str | None:
    """A peer's program, from PENTATHLON_PEERS or from PATH."""
    folder = os.environ.get("PENTATHLON_PEERS")
    search = os.pathsep.join(filter(None, (folder, os.environ.get("PATH"))))
    return shutil.which(name, path=search)


def main() -> int:
    """Prints a line for each pair."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--only", nargs="+", help="only pairs whose name contains one of these")
    arguments = parser.parse_args()
    peer = find("fio")
    if peer is None:
        print("fio is missing; on Debian: apt install fio", file=sys.stderr)
        return 1
    program = agent.locate()
    print(f"{'':26} {'ours':>10} {'fio':>10}        ratio (least to greatest)")
    for pair in PAIRS:
        if arguments.only and not any(text in pair.name for text in arguments.only):
            continue
        rates: list[tuple[float, float]] = []
        for number in range(arguments.rounds):
            with tempfile.TemporaryDirectory(dir=arguments.directory) as folder:
                place = Path(folder)
                try:
                    if number % 2:
                        other = theirs(peer, pair, place)
                        rates.append((ours(program, pair, place), other))
                    else:
                        own = ours(program, pair, place)
                        rates.append((own, theirs(peer, pair, place)))
                except (RuntimeError, subprocess.SubprocessError) as error:
                    print(f"{pair.name}: {error}", file=sys.stderr)
                    return 1
        ratios = sorted(own / other for own, other in rates)
        mine, other = (statistics.median(column) for column in zip(*rates, strict=True))
        print(
            f"{pair.name:26} {mine:10.4g} {other:10.4g} {pair.unit:5} "
            f"{statistics.median(ratios):6.3f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        )
        print(f"    {pair.definition}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
