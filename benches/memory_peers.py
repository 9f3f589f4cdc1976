"""Memory bandwidth and latency beside lmbench, sysbench, stress-ng, STREAM and twins in C.

Each round measures all block sizes with the agent and then with its peer (or first with the peer),
on the same CPU. The ratio of each round is ours over the peer's: above 1 the agent reports more
bandwidth, or a longer latency. A neighbour's load hits both halves of a round, so the median of the
ratios is steadier than either value; the ratio of the best values of all rounds is the least
disturbed.

lmbench's programs (bw_mem, lat_mem_rd), sysbench, stress-ng and STREAM (any build of stream.c,
named stream_c) are taken from the directory that PENTATHLON_PEERS names, or from PATH. The twins do
in C what the agent or what a peer does (`turns.py`) and need a C compiler; in lines that begin with
"as", one stands in the agent's place. Pairs of all threads run on all CPUs. Exit status: 0
compared, 1 no peer was found or a run failed.

    python benches/memory_peers.py --rounds 9 --cpu 1

With --realtime both run at a real-time priority (SCHED_RR 1, needs root), so that other programs on
the CPU do not run in between.
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import turns

from pentathlon import agent

TRIES = 11
"""Samples of a half round: the default number of lmbench, which reports their median."""
SAMPLE_MS = 5.0
"""Length of a sample in both programs. lmbench would search for its own (ENOUGH in us), which takes
minutes where neighbours disturb it."""
SIZES = (16 << 10, 1 << 20, 64 << 20)
"""In the first cache, the second and beyond."""
SYSBENCH_TOTAL = 2 << 30
"""Bytes that one run of sysbench moves."""
SYSBENCH_SIZES = (16 << 20,)
"""Smaller blocks measure what sysbench does between two blocks."""
BLOCKS = (4 << 10, 192 << 10, 16 << 20)
MIB = 1 << 20
TWIN = "memory-twin"


@dataclass(frozen=True)
class Place:
    """Where both programs of a pair run."""

    cpu: int
    realtime: bool

    def command(self) -> list[str]:
        """What starts a peer there."""
        pinned = ["taskset", "-c", str(self.cpu)]
        return [*pinned, *self.everywhere()]

    def everywhere(self) -> list[str]:
        """What starts a peer on all CPUs."""
        return ["chrt", "--rr", "1"] if self.realtime else []


Figures = dict[int, float]
"""A figure for each block size in bytes."""
Peer = Callable[[str, tuple[int, ...], Place], Figures]
"""Measures block sizes with a peer's program."""


@dataclass(frozen=True)
class Pair:
    """A workload and the peer that measures the same."""

    name: str
    program: str
    package: str
    workload: str
    parameters: dict[str, Any]
    unit: str
    definition: str
    theirs: Peer
    sizes: tuple[int, ...] = SIZES
    best: bool = False
    """Whether the peer reports its best repetition instead of the median."""
    indicator: str | None = None
    """Which one, where the workload has several."""
    everywhere: bool = False
    """Whether both run on every CPU instead of the one given."""
    rounds: int | None = None
    """Fewer rounds than asked for, where the peer takes long."""
    instead: Peer | None = None
    """A twin that stands for the agent: it does what the peer does."""
    levels: bool = False
    """Whether the workload chooses the sizes itself, one for each cache."""


def said(command: list[str]) -> str:
    """All that a program writes."""
    run = subprocess.run(
        command,
        env=os.environ | {"ENOUGH": f"{SAMPLE_MS * 1e3:.0f}", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=True,
    )
    return run.stdout


def number(pattern: str, text: str) -> float:
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise RuntimeError(f"the peer said: {text.strip() or 'nothing'}")
    return float(found.group(1))


def bw_mem(operation: str) -> Peer:
    """Megabytes (10^6 B) a second of lmbench's bw_mem."""

    def measure(program: str, sizes: tuple[int, ...], place: Place) -> Figures:
        command = [*place.command(), program, "-N", str(TRIES)]
        return {
            size: number(r"^[0-9.]+ ([0-9.]+)$", said([*command, str(size), operation]))
            for size in sizes
        }

    return measure


def twin(operation: str, width: int, threads: int) -> Peer:
    """Megabytes (or millions of accesses) a second of twins/memory.c."""

    def one(program: str, size: int, place: Place) -> float:
        begin = place.command() if threads == 1 else place.everywhere()
        command = [*begin, program, operation, str(width), str(size), str(threads)]
        return number(r"^rate: ([0-9.]+)$", said(command))

    return lambda program, sizes, place: {size: one(program, size, place) for size in sizes}


def chase(width: int) -> Peer:
    """Nanoseconds a load of twins/memory.c."""
    return twin("chase", width, 1)


def memrate(name: str) -> Peer:
    """Megabytes (10^6 B) a second of one loop of stress-ng's memrate, which prints MiB."""

    def one(program: str, size: int, place: Place) -> float:
        flags = ["--memrate", "1", "--memrate-bytes", str(size), "-t", "1", "--metrics"]
        text = said([*place.command(), program, *flags])
        return number(rf"memrate +([0-9.]+) {name} MB per sec", text) * MIB / 1e6

    return lambda program, sizes, place: {size: one(program, size, place) for size in sizes}


def sysbench(operation: str, threads: int = 1) -> Peer:
    """Megabytes (10^6 B) a second of sysbench, which prints MiB."""

    def one(program: str, size: int, place: Place) -> float:
        options = {
            "threads": threads,
            "memory-block-size": size,
            "memory-total-size": SYSBENCH_TOTAL,
            "memory-oper": operation,
            "memory-access-mode": "seq",
        }
        flags = [f"--{name}={value}" for name, value in options.items()]
        begin = place.command() if threads == 1 else place.everywhere()
        text = said([*begin, program, "memory", *flags, "run"])
        return number(r"\(([0-9.]+) MiB/sec\)", text) * MIB / 1e6

    return lambda program, sizes, place: {size: one(program, size, place) for size in sizes}


def stream(program: str, sizes: tuple[int, ...], place: Place) -> Figures:
    """Megabytes copied a second: STREAM counts each byte twice, as read and as written."""
    rate = number(r"^Copy:\s+([0-9.]+)", said([*place.command(), program]))
    return dict.fromkeys(sizes, rate / 2)


def stream_bytes(program: str) -> int:
    """Bytes of one of STREAM's arrays, which its build decides."""
    text = said([program])
    elements = number(r"Array size = ([0-9]+)", text)
    return int(elements * number(r"([0-9]+) bytes per array element", text))


def lat_mem_rd(program: str, sizes: tuple[int, ...], place: Place) -> Figures:
    """Nanoseconds a load in lmbench's random order (-t): one sweep over all sizes."""
    mebibytes = max(1, max(sizes) // MIB)
    text = said([*place.command(), program, "-N", "1", "-t", str(mebibytes), "64"])
    return {size: number(rf"^{size / MIB:.5f} ([0-9.]+)$", text) for size in sizes}


def bandwidth(operation: str, workload: str, definition: str) -> Pair:
    return Pair(
        name=f"bw_mem {operation}",
        program="bw_mem",
        package="lmbench 3",
        workload=workload,
        parameters={"variants": ["vector"]},
        unit="MB/s",
        definition=definition,
        theirs=bw_mem(operation),
    )


def as_peer(peer: Pair, operation: str, width: int, threads: int = 1, *, why: str) -> Pair:
    """The same row with a twin in the agent's place that does what the peer does."""
    return replace(
        peer,
        name=f"as {peer.name}",
        instead=twin(operation, width, threads),
        definition=f"twin: {why}",
    )


def pairs() -> Iterator[Pair]:
    yield from beside_lmbench()
    for operation in ("read", "write"):
        plain = Pair(
            name=f"sysbench {operation}",
            program="sysbench",
            package="sysbench 1",
            workload=f"memory.{operation}",
            parameters={"variants": ["scalar"]},
            unit="MB/s",
            definition="both: 64 bits at a time (ours: the scalar variant); the peer makes one "
            "access in each turn of its loop",
            theirs=sysbench(operation),
            sizes=SYSBENCH_SIZES,
        )
        yield plain
        yield as_peer(plain, operation, 801, why="one access in each turn of the loop")
        rates = Pair(
            name=f"memrate {operation}",
            program="stress-ng",
            package="stress-ng",
            workload=f"memory.{operation}",
            parameters={"variants": ["scalar"]},
            unit="MB/s",
            definition="both: 64 bits at a time, unrolled; the peer looks at the time for every "
            "mebibyte and does all its loops in turn, so that a block begins outside the caches",
            theirs=memrate(f"{operation}64"),
            sizes=(16 << 20,),
        )
        yield rates
        yield as_peer(rates, operation, 8, why="64 bits at a time, unrolled")
    count = len(os.sched_getaffinity(0))
    for threads, number_ in (("one", 1), ("all", count)):
        for operation, width in (("read", 64), ("write", 64), ("copy", 64), ("random", 8)):
            yield Pair(
                name=f"twin {operation}, {threads}",
                program=TWIN,
                package="twins/memory.c, which needs a C compiler",
                workload="memory.blocks",
                parameters={"threads": [threads]},
                unit="MB/s" if operation != "random" else "M/s",
                definition="both: the same accesses (512 bits; random: four generators); the "
                "twin's loop is the C compiler's",
                theirs=twin(operation, width, number_),
                sizes=BLOCKS,
                indicator=operation,
                everywhere=threads == "all",
            )
    for operation in ("read", "write"):
        everywhere = Pair(
            name=f"sysbench {operation}, all",
            program="sysbench",
            package="sysbench 1",
            workload="memory.blocks",
            parameters={"threads": ["all"]},
            unit="MB/s",
            definition="both: every CPU at once; peer: 64 bits in each turn of the loop, and one "
            "block shared by all threads (--memory-scope=global); ours: 512 bits, a block for each",
            theirs=sysbench(operation, count),
            sizes=(16 << 20,),
            indicator=operation,
            everywhere=True,
        )
        yield everywhere
        yield as_peer(everywhere, operation, 801, count, why="its loop, one block for all")
    yield Pair(
        name="STREAM Copy",
        program="stream_c",
        package="stream.c of STREAM 5",
        workload="memory.copy",
        parameters={"variants": ["vector"]},
        unit="MB/s",
        definition="peer: best of its repetitions, halved, because it counts bytes read and bytes "
        "written; ours: best sample. A build in which the compiler turns the loop into memcpy may "
        "use streaming stores, which the agent never does",
        theirs=stream,
        best=True,
    )
    yield from latencies()


def beside_lmbench() -> Iterator[Pair]:
    """Bandwidth, and twins that do what bw_mem does."""
    for verb, operation in (("rd", "read"), ("wr", "write"), ("cp", "copy")):
        some = bandwidth(
            verb,
            f"memory.{operation}",
            "peer: touches 4 of every 16 bytes and counts all; ours: touches and counts all",
        )
        whole = bandwidth(
            f"f{verb}",
            f"memory.{operation}",
            "both touch every byte; peer: 4 bytes at a time",
        )
        yield some
        yield as_peer(some, operation, 416, why="4 of every 16 bytes")
        yield whole
        yield as_peer(whole, operation, 4, why="4 bytes at a time")


def latencies() -> Iterator[Pair]:
    """Latency by block size and by level of cache."""
    sizes = (16 << 10, 1 << 20, 16 << 20)
    ring = Pair(
        name="lat_mem_rd -t",
        program="lat_mem_rd",
        package="lmbench 3",
        workload="memory.latency",
        parameters={"pages": ["base"]},
        unit="ns",
        definition="both follow a ring of addresses 64 B apart; peer: every load goes to another "
        "page, all pages in one random order again and again; ours: all lines in random order",
        theirs=lat_mem_rd,
        sizes=sizes,
        rounds=5,
    )
    yield ring
    yield replace(
        ring,
        name="as lat_mem_rd -t",
        instead=chase(4096),
        definition="twin: another page with every load, in the peer's order",
    )
    yield Pair(
        name="twin latency",
        program=TWIN,
        package="twins/memory.c, which needs a C compiler",
        workload="memory.latency",
        parameters={"pages": ["base"]},
        unit="ns",
        definition="both: all lines in one random order",
        theirs=chase(8),
        sizes=sizes,
    )
    for indicator, width in (("read", 64), ("write", 64), ("latency", 8)):
        yield Pair(
            name=f"levels, {indicator}",
            program=TWIN,
            package="twins/memory.c, which needs a C compiler",
            workload="memory.levels",
            parameters={"threads": ["one"], "levels": ["L1", "L2", "L3"]},
            unit="ns" if indicator == "latency" else "MB/s",
            definition="both: the size that the workload chose for the level; all lines in one "
            "random order, or 512 bits at a time",
            theirs=twin("chase" if indicator == "latency" else indicator, width, 1),
            indicator=indicator,
            levels=True,
            rounds=5,
        )


def ours(program: Path, pair: Pair, sizes: tuple[int, ...], place: Place) -> Figures:
    """Median (or best) value of the agent's samples."""
    request = {
        "protocol": 1,
        "placement": ({} if pair.everywhere else {"cpus": [place.cpu]})
        | ({"policy": "rr", "priority": 1} if place.realtime else {}),
        "workloads": [
            {
                "id": pair.workload,
                "parameters": pair.parameters | ({} if pair.levels else {"block_bytes": sizes}),
                "iterations": TRIES,
                "sample_ms": SAMPLE_MS,
            }
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
    samples: dict[int, list[float]] = {} if pair.levels else {size: [] for size in sizes}
    chosen = 0
    for event in map(json.loads, run.stdout.splitlines()):
        if event["event"] == "error":
            raise RuntimeError(f"{pair.workload}: {event['reason']}")
        if event["event"] == "counter" and "block_bytes[" in event["name"]:
            chosen = event["value"]["read_write_latency"]
        if (
            event["event"] == "sample"
            and event["phase"] == "measure"
            and pair.indicator in (None, event["indicator"])
        ):
            size = chosen if pair.levels else event["case"]["block_bytes"]
            samples.setdefault(size, []).append(event["value"])
    summary = best(pair) if pair.best else statistics.median
    return {size: summary(values) for size, values in samples.items()}


def best(pair: Pair) -> Callable[[list[float]], float]:
    return min if pair.unit == "ns" else max


def compare(
    program: Path, peer: str, pair: Pair, sizes: tuple[int, ...], *, place: Place, rounds: int
) -> None:
    """Measures both in turn and prints medians and ratios. `program` is the agent, or the twin that
    stands for it."""
    own: list[Figures] = []

    def mine() -> Figures:
        if pair.instead is not None:
            return pair.instead(str(program), sizes, place)
        return ours(program, pair, sizes, place)

    if pair.levels:
        sizes = tuple(sorted(mine()))
    other: list[Figures] = []
    for count in range(rounds):
        for half in (0, 1) if count % 2 == 0 else (1, 0):
            if half == 0:
                own.append(mine())
            else:
                other.append(pair.theirs(peer, sizes, place))
    for size in sizes:
        one = [figures[size] for figures in own]
        two = [figures[size] for figures in other]
        ratios = sorted(a / b for a, b in zip(one, two, strict=True))
        low, high = ratios[rounds // 4], ratios[-1 - rounds // 4]
        print(
            f"{pair.name:22} {size >> 10:7} KiB {statistics.median(one):10.4g} "
            f"{statistics.median(two):10.4g} {pair.unit:5} {statistics.median(ratios):7.3f}   "
            f"{low:.3f} to {high:.3f}   {best(pair)(one) / best(pair)(two):.3f}",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each pair (default 9)")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument(
        "--realtime", action="store_true", help="run at a real-time priority (root)"
    )
    parser.add_argument("--only", nargs="+", help="only pairs whose name contains one of these")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="KIB", help="block sizes in KiB")
    options = parser.parse_args()
    program = agent.locate()
    place = Place(options.cpu, options.realtime)
    chosen = [
        pair
        for pair in pairs()
        if not options.only or any(text in pair.name for text in options.only)
    ]
    print(f"{options.rounds} rounds on CPU {options.cpu}, {TRIES} samples of {SAMPLE_MS:g} ms each")
    print(f"{'':22} {'block':>11} {'ours':>10} {'peer':>10} {'':5}   ratio   middle half      best")
    compared = 0
    folder = tempfile.TemporaryDirectory()
    built = turns.built("memory.c", Path(folder.name) / TWIN, "-static", "-pthread")
    for pair in chosen:
        peer = built if pair.program == TWIN else turns.find(pair.program)
        if peer is None:
            print(f"{pair.name:22} {pair.program} is missing: it is part of {pair.package}")
            continue
        sizes = tuple(kib << 10 for kib in options.sizes) if options.sizes else pair.sizes
        rounds = min(options.rounds, pair.rounds or options.rounds)
        try:
            if pair.program == "stream_c":
                sizes = (stream_bytes(peer),)
            if pair.instead is not None and built is None:
                continue
            one = Path(built) if pair.instead is not None and built else program
            compare(one, peer, pair, sizes, place=place, rounds=rounds)
        except (RuntimeError, subprocess.SubprocessError) as error:
            print(f"{pair.name}: {error}", file=sys.stderr)
            return 1
        compared += 1
    folder.cleanup()
    print("\nDefinitions")
    for pair in chosen:
        print(f"  {pair.name}: {pair.definition}.")
    return 0 if compared else 1


if __name__ == "__main__":
    sys.exit(main())
