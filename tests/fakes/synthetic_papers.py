"""Items of the studies' stand-alone workloads, with planted knees, optima, limits and regions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.fakes.synthetic import ARITHMETIC_NS, KIB, MIB, PROCESS_NS, Item, step_curve

CODE_KNEE = 32 * KIB
BEST_PIECE = 64 * KIB
READ_AHEAD = 64 * KIB
CACHE, RAM = 2 * MIB, 256 * MIB
PAGE_NS_PER_BYTE = (0.4, 1.0, 90.0)
"""Time per byte to read in the cache, RAM and swap."""
CODE_SIZES = np.arange(4, 1021, 8) * float(KIB)
PIECES = 2.0 ** np.arange(10, 24)
CHUNKS = 2.0 ** np.arange(10, 18)
BLOCKS = 2.0 ** np.arange(10, 30)
INTERFACES = ("stdio", "stdio_unbuffered", "descriptor", "descriptor_sync", "mmap", "direct")


def code_size(knee: float | None = CODE_KNEE, sizes: np.ndarray = CODE_SIZES) -> Iterator[Item]:
    for level, base in enumerate((1.9, 0.9, 0.7, 0.6)):
        cost = np.full(len(sizes), base)
        if knee is not None:
            cost = step_curve(sizes, (knee,), (base, base * 2.5), 6.0)
        for size, each in zip(sizes, cost, strict=True):
            case = {"code_bytes": int(size), "opt_level": str(level)}
            yield Item("memory.code_size", "time", case, "ns", "lower", float(each), 0.01)


def code_plus_data() -> Iterator[Item]:
    """The published loop: 40 KiB of data fit beside 8 KiB of code."""
    for level, base in enumerate((0.5, 0.2, 0.15, 0.12)):
        cost = step_curve(CODE_SIZES, (40 * KIB,), (base, base * 2.0), 6.0)
        for name, factor in (("read", 1.0), ("write", 1.3)):
            for size, each in zip(CODE_SIZES[::4], cost[::4], strict=True):
                case = {"block_bytes": int(size), "opt_level": str(level)}
                rate = 1000.0 / (each * factor)
                yield Item("memory.code_plus_data", name, case, "MB/s", "higher", rate, 0.01)


def calls() -> Iterator[Item]:
    """The published calls with and without optimisation, as lists of figure 26."""
    for level, slower in (("3", 1.0), ("0", 1.2)):
        for name in ("getpid", "fopen_fclose", "open_close", "malloc_free", "fork_wait"):
            case = {"opt_level": level}
            value = PROCESS_NS[name] * slower
            yield Item(f"process.{name}", "time", case, "ns", "lower", value, 0.01)
        for mode in ("default", "synchronous"):
            case = {"mode": mode, "opt_level": level}
            value = PROCESS_NS["create_delete"] * slower
            yield Item("process.create_delete", "time", case, "ns", "lower", value, 0.01)


def operations() -> Iterator[Item]:
    """The published loops over operations: Mops/s, less without optimisation."""
    for level, rate in (("3", 3000.0), ("0", 600.0)):
        for operation, cost in ARITHMETIC_NS.items():
            for kind in ("i32", "f32"):
                case = {"operation": operation, "type": kind, "opt_level": level}
                value = rate / cost
                yield Item("arithmetic.loop", "rate", case, "Mops/s", "higher", value, 0.003)


def sub_looping(best: float | None = BEST_PIECE, boot_noise: float = 0.01) -> Iterator[Item]:
    for total in (8 * MIB, 32 * MIB):
        for piece in [*PIECES[total > PIECES], float(total)]:
            away = 0.0 if best is None else abs(np.log2(piece / best))
            case = {"total_bytes": total, "piece_bytes": int(piece)}
            value = 0.3 * (1.0 + 0.12 * away)
            yield Item("memory.sub_looping", "time", case, "ns", "lower", value, boot_noise)


def order(limit: float | None = READ_AHEAD, chunks: np.ndarray = CHUNKS) -> Iterator[Item]:
    """A disk of 5 ms for each request and 50 MB/s; the limit is what it fetches ahead."""
    for chunk in chunks:
        ahead = chunk if limit is None else max(limit, chunk)
        ordered, single = (size / (5e-3 + size / 50e6) / 1e6 for size in (ahead, chunk))
        for name, rate in (
            ("sequential", ordered),
            ("random_aligned", single),
            ("random_unaligned", single * 0.9),
        ):
            case = {"order": name, "chunk_bytes": int(chunk)}
            yield Item("disk.order", "rate", case, "MB/s", "higher", float(rate), 0.02)


def regions(blocks: np.ndarray = BLOCKS, swap: bool = True) -> Iterator[Item]:
    levels = PAGE_NS_PER_BYTE if swap else PAGE_NS_PER_BYTE[:2]
    capacities = (CACHE, RAM) if swap else (CACHE,)
    cost = step_curve(blocks, capacities, levels, 8.0)
    for name, factor in (("read", 1.0), ("write", 1.5)):
        for block, each in zip(blocks, cost, strict=True):
            case = {"block_bytes": int(block)}
            rate = 1000.0 / (each * factor)
            yield Item("memory.regions", name, case, "MB/s", "higher", rate, 0.01)


def access() -> Iterator[Item]:
    for place, interface in enumerate(INTERFACES):
        for chunk in (2.0 ** np.arange(10, 27, 2)).astype(int):
            for name, factor in (("read_first", 1.0), ("write", 0.6), ("read_again", 1.4)):
                case = {"interface": interface, "chunk_bytes": int(chunk)}
                rate = 100.0 * factor * (1 + place / 4) * (1 + np.log2(chunk / 1024) / 20)
                yield Item("disk.access", name, case, "MB/s", "higher", float(rate), 0.02)


def phases() -> Iterator[Item]:
    for interface, parts in (("mmap", (0.3, 19.5, 0.4)), ("read", (1.0, 9.7, 60.0))):
        for chunk in (2.0 ** np.arange(10, 27)).astype(int):
            times = dict(zip(("read", "loop", "write"), parts, strict=True))
            for phase, value in {**times, "total": sum(parts) * 1.01}.items():
                case = {"interface": interface, "phase": phase, "chunk_bytes": int(chunk)}
                yield Item("disk.phases", "time", case, "s", "lower", value, 0.02)


def memory_tables() -> Iterator[Item]:
    """The block set, the cache levels, faults and what is there after boot."""
    for threads in ("one", "all"):
        for block, rate in ((16 * MIB, 1.0), (8 * MIB, 1.4), (192 * KIB, 4.0), (4096, 9.0)):
            case = {"block_bytes": block, "threads": threads}
            for name, factor in (("read", 11e3), ("write", 9e3), ("copy", 10e3)):
                yield Item("memory.blocks", name, case, "MB/s", "higher", factor * rate)
            yield Item("memory.blocks", "random", case, "Maccesses/s", "higher", 13.0 * rate)
        for place, level in enumerate(("memory", "L3", "L2", "L1")):
            case = {"level": level, "threads": threads}
            for name, factor in (("read", 11e3), ("write", 9e3), ("copy", 10e3)):
                yield Item("memory.levels", name, case, "MB/s", "higher", factor * 2.0**place)
            if threads == "one":
                latency = 90.0 / 4.0**place
                yield Item("memory.levels", "latency", case, "ns", "lower", latency)
    for name, value in (("page_faults", 480.0), ("page_reads", 0.3), ("cache_faults", 150.0)):
        yield Item("memory.faults", name, {}, "1/s", "lower", value, 0.1)


def everything() -> list[Item]:
    """All of them, in the catalog's manner."""
    return [
        *memory_tables(),
        *regions(),
        *code_size(),
        *code_plus_data(),
        *calls(),
        *operations(),
        *sub_looping(),
        *access(),
        *order(),
        *phases(),
    ]


FORWARD_LOADS = (10, 20, 40)
FORWARD_CAPACITY = (30.0, 24.0)
"""Thousands of packets/s without a competitor and beside it."""
FORWARD_DELAY = 1.5
"""Round-trip time beside the competitor over that without."""


def forwarding(boot_noise: float = 0.005) -> Iterator[Item]:
    for place, competitor in enumerate(("none", "cpu.simplex")):
        for load in FORWARD_LOADS:
            case = {"offered_kpps": load, "frame_bytes": 64, "competitor": competitor}
            through = min(float(load), FORWARD_CAPACITY[place])
            lost = 100 * (1 - through / load)
            delay = 80.0 * FORWARD_DELAY**place
            speed = 100.0 - load
            for name, unit, better, value in (
                ("throughput", "1/s", "higher", 1e3 * through),
                ("lost", "%", "lower", lost),
                ("round_trip", "us", "lower", delay),
                *([("competitor_speed", "%", "higher", speed)] if place else []),
            ):
                yield Item("forwarding.sweep", name, case, unit, better, value, boot_noise)


FORWARD_SHARES = (50, 100, 150)


def searched_forwarding(boot_noise: float = 0.005) -> Iterator[Item]:
    """As `forwarding`, with loads that are shares of the capacity without a competitor."""
    knee = FORWARD_CAPACITY[0]
    alone = {"frame_bytes": 64, "competitor": "none"}
    yield Item("forwarding.sweep", "knee", alone, "1/s", "higher", 1e3 * knee, boot_noise)
    for place, competitor in enumerate(("none", "cpu.simplex")):
        for share in FORWARD_SHARES:
            case = {"load_percent": share, "frame_bytes": 64, "competitor": competitor}
            load = knee * share / 100
            through = min(load, FORWARD_CAPACITY[place])
            for name, unit, better, value in (
                ("throughput", "1/s", "higher", 1e3 * through),
                ("lost", "%", "lower", 100 * (1 - through / load)),
                ("round_trip", "us", "lower", 80.0 * FORWARD_DELAY**place),
            ):
                yield Item("forwarding.sweep", name, case, unit, better, value, boot_noise)


RATES = {"no loss": 20.0, "little": 22.0}
"""Limits of forwarding by criterion, thousands of packets/s."""


def rates(boot_noise: float = 0.005) -> Iterator[Item]:
    for criterion, rate in RATES.items():
        case = {"criterion": criterion, "frame_bytes": 64, "competitor": "none"}
        for name, value in (("rate", rate), ("rate_above", 1.02 * rate)):
            yield Item("forwarding.ndr", name, case, "1/s", "higher", 1e3 * value, boot_noise)
    for percent in (50, 90, 100):
        case = {"load_percent": percent, "frame_bytes": 64, "competitor": "none"}
        yield Item("forwarding.ndr", "round_trip", case, "us", "lower", 80.0 + percent, boot_noise)


FILE_LINKS = {"wan-10m-50ms": 50.0, "wan-1m-200ms": 200.0}
"""Link -> its round trip in ms."""
FILE_ENDS = {
    "old": ("xp", "server-2003"), "new-client": ("vista", "server-2003"),
    "new-server": ("xp", "server-2008"), "new": ("vista", "server-2008"),
}  # fmt: skip
FILE_TRIPS = 600.0
FILE_GAIN = 2.5
"""How many times as fast, and with how many times fewer round trips, a new client is."""


def file_tasks(boot_noise: float = 0.003) -> Iterator[Item]:
    """A copy that takes 51 ms and as much as its link for each of 600 round trips."""
    for link, round_trip in FILE_LINKS.items():
        case = {"link": link, "protocol": "smb", "state": "cold", "document_bytes": 10_485_760}
        seconds = FILE_TRIPS * (round_trip + 1) * 1e-3
        for name, unit, better, value in (
            ("task_time", "s", "lower", seconds),
            ("throughput", "Mbit/s", "higher", 83.88608 / seconds),
            ("least_time", "s", "lower", 8.7),
            ("round_trips", "count", "lower", FILE_TRIPS),
            ("link_round_trip", "ms", "lower", round_trip),
        ):
            yield Item("files.copy", name, case, unit, better, value, boot_noise)


def newer_client(item: Item) -> float:
    return FILE_GAIN if item.metric in {"task_time", "throughput", "round_trips"} else 1.0
