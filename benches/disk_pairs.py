"""What disk_peers.py compares: workloads of the agent, and fio, sysbench and counterparts beside
them.

A peer's job with another name changes exactly one thing that is blamed for a difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MIB = 1 << 20
FILE_BYTES = 32 * MIB
"""Size of the file in all programs."""
SECONDS = 1.0
"""Time limit of one pass in all programs."""


@dataclass(frozen=True)
class Fio:
    """A job of fio's, on a file that it has written and that is on the device."""

    options: tuple[str, ...]
    half: str = "read"
    """Which part of the answer has the rate: read or write."""
    times: tuple[str, str] = ("", "lat_ns")
    """Which part has the times, the same one where it is empty, and by which definition: clat_ns is
    the time after a request was handed over, lat_ns that and the handing over."""
    passes: int = 3
    """Passes whose mean is taken, after one that is not counted, as the agent's warm-up; 0: the
    first one counts, and there is no other."""


@dataclass(frozen=True)
class Sysbench:
    """Options of sysbench's fileio."""

    options: tuple[str, ...]


@dataclass(frozen=True)
class Counterpart:
    """A program of `counterparts/` and its arguments; FILE stands for a file as long as fio's."""

    program: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """A workload with one metric, and what measures the same."""

    name: str
    workload: str
    metric: str
    parameters: dict[str, Any]
    others: dict[str, Fio | Sysbench | Counterpart]
    rows: tuple[tuple[str, str, str], ...]
    """One side, the other, and the remark."""
    unit: str = "MB/s"
    quantiles: tuple[tuple[str, str, str], ...] = ()
    """Rows of the quantiles of the requests' times."""


QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
DIRECT = ("--direct=1", "--ioengine=psync")
QUEUE = ("--direct=1", "--ioengine=io_uring", "--bs=4k")
TOGETHER = (
    "--iodepth_batch_submit=64",
    "--iodepth_batch_complete_min=1",
    "--iodepth_batch_complete_max=64",
)
CACHED = ("--ioengine=psync", "--invalidate=0", "--time_based=1", "--rw=read", "--bs=64k")
CACHED = (*CACHED, "--filesize=64k", f"--runtime={SECONDS:.0f}")
SYSBENCH = (
    "--file-num=1",
    f"--file-total-size={FILE_BYTES}",
    "--file-block-size=4096",
    "--file-test-mode=rndrd",
    "--file-extra-flags=direct",
    f"--time={SECONDS:.0f}",
)
SAME = "the same calls"
LIMITS = {"file_bytes": FILE_BYTES, "limit_s": SECONDS}


def queue(depth: int, operation: str = "read") -> Pair:
    """Random requests, `depth` of them under way."""
    job = (*QUEUE, f"--rw=rand{operation}", f"--iodepth={depth}")
    arguments = ("FILE", str(depth), "together")
    timed = (*arguments, "timed")
    others: dict[str, Fio | Sysbench | Counterpart] = {
        "fio": Fio(job, operation),
        "fio, after handing over": Fio(job, operation, times=("", "clat_ns")),
    }
    rows = [("ours", "fio", "io_uring, O_DIRECT, 4 KiB, each block once in a pass")]
    if operation == "read":
        others |= {
            "counterpart": Counterpart("queue", arguments),
            "timed counterpart": Counterpart("queue", timed),
            "stamped counterpart": Counterpart("queue", (*arguments, "stamped")),
            "deferred counterpart": Counterpart("queue", (*arguments, "deferred")),
            "peer's counterpart": Counterpart("queue", ("FILE", str(depth), "single", "deferred")),
        }
        rows += [
            ("ours", "counterpart", f"{SAME}; ours also keeps times and checks stamps"),
            ("timed counterpart", "counterpart", "the time of every request, which ours keeps"),
            ("stamped counterpart", "counterpart", "a word of every block, which ours checks"),
            (
                "counterpart",
                "deferred counterpart",
                "a ring that interrupts the program when a request is over",
            ),
            (
                "fio",
                "peer's counterpart",
                "the kernel called for each request, and a ring as fio's",
            ),
        ]
        if depth > 1:
            others["fio, together"] = Fio((*job, *TOGETHER))
            rows.append(
                ("fio, together", "deferred counterpart", "one call for all that became due")
            )
    else:
        others |= {
            "timed counterpart": Counterpart("queue", (*timed, "copy")),
            "same bytes counterpart": Counterpart("queue", (*timed, "write")),
            "rewriting counterpart": Counterpart("queue", (*timed, "rewrite")),
        }
        rows += [
            ("ours", "timed counterpart", "the same calls, times and new bytes"),
            ("ours", "rewriting counterpart", "so, and the file written anew before each pass"),
            (
                "timed counterpart",
                "same bytes counterpart",
                "new bytes copied to the buffer, as ours does",
            ),
        ]
    return Pair(
        f"random {operation}, depth {depth}",
        "disk.queue",
        "iops",
        LIMITS | {"depth": [depth], "operation": [f"random_{operation}"]},
        others,
        tuple(rows),
        "1/s",
        (
            (
                "ours",
                "fio",
                "from before the request is handed over until the program sees its end",
            ),
            ("ours", "timed counterpart", "the same"),
            ("ours", "fio, after handing over", "fio's clat leaves the handing over away"),
        ),
    )


PAIRS = (
    Pair(
        "large random read, direct",
        "disk.random",
        "rate",
        LIMITS | {"block_bytes": MIB},
        {"fio": Fio((*DIRECT, "--rw=randread", "--bs=1M"))},
        (
            (
                "ours",
                "fio",
                "pread, O_DIRECT, 1 MiB, each block once in a pass; ours also checks a stamp in "
                "every 4 KiB",
            ),
        ),
    ),
    Pair(
        "same block, cached",
        "disk.buffered",
        "rate",
        {"file_bytes": MIB, "block_bytes": 65536, "method": "cached", "limit_s": SECONDS},
        {
            "fio": Fio(CACHED),
            "fio, no clock": Fio((*CACHED, "--gtod_reduce=1")),
            "fio, dropped": Fio((*CACHED, "--gtod_reduce=1", "--invalidate=1")),
            "counterpart": Counterpart("cached", ("own", "1", "dropped")),
            "kept counterpart": Counterpart("cached", ("own", "128", "kept")),
            "fio, aligned": Fio((*CACHED, "--gtod_reduce=1", "--iomem_align=4096")),
        },
        (
            ("ours", "fio", "pread of the same 64 KiB from the cache"),
            ("ours", "counterpart", SAME),
            ("fio", "fio, no clock", "what fio's clock costs"),
            ("ours", "fio, dropped", "fio without clock drops the pages before it reads, as ours"),
            (
                "counterpart",
                "kept counterpart",
                "pages read in again beside pages as they were written",
            ),
            ("fio, no clock", "fio, aligned", "a buffer off the boundary of a page"),
            ("fio, aligned", "kept counterpart", "the calls of fio's job"),
        ),
    ),
    Pair(
        "random read, direct",
        "disk.access_time",
        "time",
        LIMITS,
        {
            "fio": Fio((*DIRECT, "--rw=randread", "--bs=4k")),
            "sysbench": Sysbench(SYSBENCH),
        },
        (
            ("ours", "fio", "pread, O_DIRECT, 4 KiB; ours is 1 / access time"),
            ("ours", "sysbench", "the peer draws places with repetition and keeps a histogram"),
        ),
        "1/s",
    ),
    queue(1),
    queue(16),
    queue(64),
    queue(1, "write"),
    queue(16, "write"),
    Pair(
        "fsync",
        "disk.sync",
        "rate",
        {"calls": 1000, "call": ["fsync"], "pattern": ["overwrite"]},
        {
            "fio": Fio(
                (
                    *("--ioengine=psync", "--rw=write", "--bs=4k", "--fsync=1"),
                    *("--size=4000k", "--overwrite=1"),
                ),
                "write",
                times=("sync", "lat_ns"),
            )
        },
        (("ours", "fio", "1000 blocks of 4 KiB over existing ones, fsync after each"),),
        "1/s",
        (("ours", "fio", "the time of fsync alone"),),
    ),
)
