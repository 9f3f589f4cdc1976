"""Disk workloads beside fio and sysbench, in one directory, taking turns.

Each round measures one pair one after the other; the order changes from round to round. The ratio
of each round is ours over the peer's, so 1.05 means that the agent reports a rate 5 % higher. A
neighbour's load hits both halves of a round, so the median of the ratios is steadier than either
rate. Where the device is shared with other machines, its rates change by more than the programs
differ: a file system on a loop device over a file in memory answers the same way each time, and
shows what the programs themselves add to a request.

    truncate -s 1G /dev/shm/disk && mkfs.ext4 -q /dev/shm/disk
    mount -o loop /dev/shm/disk /mnt && python benches/disk_peers.py --directory /mnt

fio and sysbench are taken from the directory that PENTATHLON_PEERS names, or from PATH; what is
missing is named. Exit status: 0 compared, 1 neither was found or a run failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
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
    program: str = "fio"


SYSBENCH = (
    "--file-num=1",
    f"--file-total-size={FILE_BYTES}",
    "--file-block-size=4096",
    "--file-test-mode=rndrd",
    "--file-extra-flags=direct",
    f"--time={SECONDS:.0f}",
)
CACHED = ("--ioengine=psync", "--invalidate=0", "--time_based=1")
DIRECT = ("--direct=1", "--ioengine=psync")
QUEUE = ("--direct=1", "--ioengine=io_uring", "--rw=randread", "--bs=4k")


def queue(depth: int, *more: str) -> Pair:
    """Random reads with `depth` requests under way."""
    return Pair(
        f"random read, depth {depth}" + (", no clock" if more else ""),
        "disk.queue",
        "iops",
        {"file_bytes": FILE_BYTES, "depth": [depth], "operation": ["random_read"]}
        | {"limit_s": SECONDS},
        (*QUEUE, f"--iodepth={depth}", *more),
        "read",
        "both: io_uring, O_DIRECT, 4 KiB, each block at most once; ours also checks a stamp of "
        "every block" + ("; fio without the clock for most requests" if more else ""),
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
    Pair(
        "random read, direct, sysbench",
        "disk.access_time",
        "time",
        {"file_bytes": FILE_BYTES, "limit_s": SECONDS},
        SYSBENCH,
        "reads/s",
        "both: pread, O_DIRECT, 4 KiB; the peer draws places with repetition and keeps a histogram",
        "1/s",
        "sysbench",
    ),
    queue(1),
    queue(16),
    queue(64),
    queue(1, "--gtod_reduce=1"),
    queue(16, "--gtod_reduce=1"),
    Pair(
        "fsync",
        "disk.sync",
        "rate",
        {"calls": 1000, "call": ["fsync"], "pattern": ["overwrite"]},
        ("--ioengine=psync", "--rw=write", "--bs=4k", "--fsync=1", "--size=4000k", "--overwrite=1"),
        "write",
        "both: 1000 blocks of 4 KiB over existing ones, fsync after each",
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
    """The same rate as the peer reports it."""
    if pair.program == "sysbench":
        return sysbench(program, pair, directory)
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


def sysbench(program: str, pair: Pair, directory: Path) -> float:
    """Reads per second of sysbench's fileio."""
    text = ""
    for step in ("prepare", "run", "cleanup"):
        run = subprocess.run(
            [program, "fileio", *pair.job, step],
            cwd=directory,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        text += run.stdout
        os.sync()
    found = re.search(r"reads/s: +([0-9.]+)", text)
    if found is None:
        raise RuntimeError(f"sysbench said: {text.strip()!r}")
    return float(found[1])


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
    peers = {name: path for name in ("fio", "sysbench") if (path := find(name))}
    for name in {pair.program for pair in PAIRS} - peers.keys():
        print(f"{name} is missing; on Debian: apt install {name}")
    if not peers:
        return 1
    program = agent.locate()
    print(f"{'':32} {'ours':>10} {'peer':>10}        ratio   middle half   (least to greatest)")
    for pair in PAIRS:
        if arguments.only and not any(text in pair.name for text in arguments.only):
            continue
        if (peer := peers.get(pair.program)) is None:
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
        low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
        print(
            f"{pair.name:32} {mine:10.4g} {other:10.4g} {pair.unit:5} "
            f"{statistics.median(ratios):6.3f}   {low:.3f} to {high:.3f}   "
            f"({ratios[0]:.2f} to {ratios[-1]:.2f})",
            flush=True,
        )
        print(f"    {pair.definition}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
