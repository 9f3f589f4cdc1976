"""The pairs of `memory_peers.py`: a workload, a peer that measures the same, how that is asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from turns import TRIES, Place, number, output

SIZES = (16 << 10, 1 << 20, 64 << 20)
"""In the first cache, the second and beyond."""
SYSBENCH_TOTAL = 8 << 30
"""Bytes that one run of sysbench moves: of 2 GiB its start is several per cent."""
SYSBENCH_SIZES = (16 << 20,)
"""Smaller blocks measure what sysbench does between two blocks."""
BLOCKS = (4 << 10, 192 << 10, 16 << 20)
MIB = 1 << 20
COUNTERPART = "memory-counterpart"
STREAM = "stream_c"
STREAM_LOOP = "stream_loop"
STREAM_BYTES = 64 * MIB
"""Bytes of one of STREAM's three arrays."""
STREAM_FLAGS = {
    STREAM: (f"-DSTREAM_ARRAY_SIZE={STREAM_BYTES // 8}", "-DNTIMES=20"),
    STREAM_LOOP: (
        f"-DSTREAM_ARRAY_SIZE={STREAM_BYTES // 8}",
        "-DNTIMES=20",
        "-fno-tree-loop-distribute-patterns",
    ),
}
"""How stream.c is compiled, after -O2."""

HUGE = ("env", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1")
"""What makes malloc of glibc 2.35 and later request huge pages, as the agent does."""

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
    metric: str | None = None
    """Which one, where the workload has several."""
    everywhere: bool = False
    """Whether both run on every CPU instead of the one given."""
    rounds: int | None = None
    """Fewer rounds than requested, where the peer takes long."""
    instead: Peer | None = None
    """A counterpart that stands for the agent: it does what the peer does."""
    levels: bool = False
    """Whether the workload chooses the sizes itself, one for each cache."""


def bw_mem(operation: str, pages: tuple[str, ...] = ()) -> Peer:
    """Megabytes (10^6 B) a second of lmbench's bw_mem."""

    def measure(program: str, sizes: tuple[int, ...], place: Place) -> Figures:
        command = [*place.command(), *pages, program, "-N", str(TRIES)]
        return {
            size: number(r"^[0-9.]+ ([0-9.]+)$", output([*command, str(size), operation]))
            for size in sizes
        }

    return measure


def counterpart(operation: str, width: int, threads: int, *settings: str) -> Peer:
    """Megabytes (or millions of accesses) a second of counterparts/memory.c; a setting is
    NAME=1."""

    def one(program: str, size: int, place: Place) -> float:
        begin = place.command() if threads == 1 else place.everywhere().command()
        command = [*begin, "env", *settings, program, operation, *map(str, (width, size, threads))]
        return number(r"^rate: ([0-9.]+)$", output(command))

    return lambda program, sizes, place: {size: one(program, size, place) for size in sizes}


def chase(*settings: str) -> Peer:
    """Nanoseconds a load of counterparts/memory.c, through all lines in one random order."""
    return counterpart("chase", 8, 1, *settings)


def chase_pages(*settings: str) -> Peer:
    """The same in the order of lat_mem_rd -t, whose pages are drawn from the greatest size."""

    def measure(program: str, sizes: tuple[int, ...], place: Place) -> Figures:
        drawn = f"RANGE={max(sizes)}"
        return counterpart("chase", 4096, 1, drawn, *settings)(program, sizes, place)

    return measure


def memrate(name: str) -> Peer:
    """Megabytes (10^6 B) a second of one loop of stress-ng's memrate, which prints MiB."""

    def one(program: str, size: int, place: Place) -> float:
        flags = ["--memrate", "1", "--memrate-bytes", str(size), "-t", "1", "--metrics"]
        text = output([*place.command(), program, *flags])
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
        begin = place.command() if threads == 1 else place.everywhere().command()
        text = output([*begin, program, "memory", *flags, "run"])
        return number(r"\(([0-9.]+) MiB/sec\)", text) * MIB / 1e6

    return lambda program, sizes, place: {size: one(program, size, place) for size in sizes}


def stream(program: str, sizes: tuple[int, ...], place: Place) -> Figures:
    """Megabytes copied a second: STREAM counts each byte twice, as read and as written."""
    rate = number(r"^Copy:\s+([0-9.]+)", output([*place.command(), program]))
    return dict.fromkeys(sizes, rate / 2)


def lat_mem_rd(pages: tuple[str, ...] = ()) -> Peer:
    """Nanoseconds a load in lmbench's random order (-t): one sweep over all sizes."""

    def measure(program: str, sizes: tuple[int, ...], place: Place) -> Figures:
        mebibytes = max(1, max(sizes) // MIB)
        sweep = [program, "-N", "1", "-t", str(mebibytes), "64"]
        text = output([*place.command(), *pages, *sweep])
        return {size: number(rf"^{size / MIB:.5f} ([0-9.]+)$", text) for size in sizes}

    return measure


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
    """The same row with a counterpart in the agent's place that does what the peer does."""
    return replace(
        peer,
        name=f"as {peer.name}",
        instead=counterpart(operation, width, threads),
        definition=f"counterpart: {why}",
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
            definition="both: 64 bits at a time (ours: the scalar variant); the peer tells the "
            "mean of all that it moves",
            theirs=sysbench(operation),
            sizes=SYSBENCH_SIZES,
        )
        yield plain
        yield as_peer(
            plain, operation, 801, why="one word after the other, eight to a turn of the loop"
        )
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
        # Its compiler joins the stores of one value where the processor has AVX-512.
        width, why = (
            (8, "64 bits at a time") if operation == "read" else (64, "as compiled: 512 bits")
        )
        yield as_peer(rates, operation, width, why=f"{why}, unrolled")
    count = len(os.sched_getaffinity(0))
    for threads, number_ in (("one", 1), ("all", count)):
        for operation, width in (("read", 64), ("write", 64), ("copy", 64), ("random", 8)):
            same = Pair(
                name=f"counterpart {operation}, {threads}",
                program=COUNTERPART,
                package="counterparts/memory.c, which needs a C compiler",
                workload="memory.blocks",
                parameters={"threads": [threads]},
                unit="MB/s" if operation != "random" else "M/s",
                definition="both: the same accesses (512 bits; random: four generators); the "
                "counterpart's loop is the C compiler's",
                theirs=counterpart(operation, width, number_),
                sizes=BLOCKS,
                metric=operation,
                everywhere=threads == "all",
            )
            yield same
            if operation != "random":
                yield replace(
                    same,
                    name=f"agent's loop {operation}, {threads}",
                    definition="the counterpart with the agent's own instructions",
                    theirs=counterpart(operation, 65, number_),
                )
    for operation in ("read", "write"):
        everywhere = Pair(
            name=f"sysbench {operation}, all",
            program="sysbench",
            package="sysbench 1",
            workload="memory.blocks",
            parameters={"threads": ["all"]},
            unit="MB/s",
            definition="both: every CPU at once; peer: 64 bits at a time, and one "
            "block shared by all threads (--memory-scope=global); ours: 512 bits, a block for each",
            theirs=sysbench(operation, count),
            sizes=(16 << 20,),
            metric=operation,
            everywhere=True,
        )
        yield everywhere
        yield as_peer(everywhere, operation, 801, count, why="its loop, one block for all")
    copy = Pair(
        name="STREAM Copy",
        program=STREAM,
        package="STREAM 5, whose stream.c is compiled here",
        workload="memory.copy",
        parameters={"variants": ["vector"]},
        unit="MB/s",
        definition="peer: best of its repetitions, halved, because it counts bytes read and bytes "
        "written; its compiler turns the loop into memcpy; ours: best sample, 512 bits",
        theirs=stream,
        sizes=(STREAM_BYTES,),
        best=True,
    )
    yield copy
    yield replace(
        copy,
        name="as STREAM Copy",
        instead=counterpart("copy", 1, 1, "BEST=1"),
        definition="counterpart: memcpy",
    )
    yield replace(
        copy,
        name="STREAM Copy, loop",
        program=STREAM_LOOP,
        definition="the peer compiled with its loop as it is written (STREAM_FLAGS)",
    )
    yield from latencies()


def beside_lmbench() -> Iterator[Pair]:
    """Bandwidth, and counterparts that do what bw_mem does."""
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
        for peer, width, why in (
            (some, 416, "4 of every 16 bytes"),
            (whole, 4, "4 bytes at a time"),
        ):
            yield peer
            as_it = as_peer(peer, operation, width, why=why)
            yield as_it
            yield replace(
                as_it,
                name=f"{as_it.name}, huge",
                instead=counterpart(operation, width, 1, "HUGE=1"),
                theirs=bw_mem(peer.name.split()[-1], HUGE),
                sizes=SIZES[-1:],
                definition="the same with huge pages, whose places in the caches are not drawn",
            )


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
        theirs=lat_mem_rd(),
        sizes=sizes,
    )
    yield ring
    as_ring = replace(
        ring,
        name="as lat_mem_rd -t",
        instead=chase_pages(),
        definition="counterpart: another page with every load, in the peer's order; pages of any "
        "size are "
        "drawn from the greatest",
    )
    yield as_ring
    yield replace(
        as_ring,
        name="as lat_mem_rd -t, huge",
        instead=chase_pages("HUGE=1"),
        theirs=lat_mem_rd(HUGE),
        definition="the same with huge pages, whose places in the caches are not drawn",
    )
    same = Pair(
        name="counterpart latency",
        program=COUNTERPART,
        package="counterparts/memory.c, which needs a C compiler",
        workload="memory.latency",
        parameters={"pages": ["base"]},
        unit="ns",
        definition="both: all lines in one random order",
        theirs=chase(),
        sizes=sizes,
    )
    yield same
    yield replace(
        same,
        name="counterpart latency, huge",
        parameters={"pages": ["huge"]},
        theirs=chase("HUGE=1"),
        definition="the same with huge pages, whose places in the caches are not drawn",
    )
    for metric, width in (("read", 64), ("write", 64), ("latency", 8)):
        yield Pair(
            name=f"levels, {metric}",
            program=COUNTERPART,
            package="counterparts/memory.c, which needs a C compiler",
            workload="memory.levels",
            parameters={"threads": ["one"], "levels": ["L1", "L2", "L3"]},
            unit="ns" if metric == "latency" else "MB/s",
            definition="both: the size that the workload chose for the level; all lines in one "
            "random order, or 512 bits at a time",
            theirs=counterpart("chase" if metric == "latency" else metric, width, 1),
            metric=metric,
            levels=True,
            rounds=5,
        )
