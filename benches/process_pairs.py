"""What process_peers.py compares: a workload of the agent, and the peers and counterparts beside
it.

A counterpart's options (`counterparts/calls.c`) add one by one what a peer has around the same
calls: the way of linking, private memory, mappings, or lmbench's harness. MEMORY, AGENT and HELLO
stand for what is known only at run time: the agent's private memory in KiB, its path, and that of a
program to start.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

FILE = "temp"
"""The file that is opened, by its bare name in every program."""
MAPPED = "mapped"
"""The file that the peers map; the agent's own is as long."""
MAPPED_BYTES = 16 << 20
"""So long that lat_mmap, which prints whole microseconds, is exact to a few thousandths."""
TOUCHED = MAPPED_BYTES // 10
MESSAGES = 500_000
"""Messages of a run of hackbench."""
SWITCHES = 60_000
"""Switches of a run of stress-ng, an eighth of a second: it reports the mean, and of every second
at a real-time priority the kernel gives other programs up to a twentieth."""
HELLO = "HELLO"
"""Stands for the path of the program that lat_proc exec starts, which its build decides."""
BUILDS: dict[str, tuple[str, ...]] = {
    "calls": ("-static-pie",),
    "calls-fixed": ("-static",),
    "calls-local": ("-static-pie", "-DLOCAL_BYTES=832"),
    "calls-dynamic": (),
    "calls-lmbench": ("-DLMBENCH", "lmbench.a", "-lm"),
}
"""How the counterparts are linked: as the agent is; where the linker puts them; as the agent, with
so much more memory of each thread's own (`readelf -l`: 944 B in all); with shared libraries; and so
with lmbench's harness."""


@dataclass(frozen=True)
class Pair:
    """A workload, and the commands that are compared with it by the names of their sides."""

    name: str
    workload: str
    others: dict[str, tuple[str, ...]]
    rows: tuple[tuple[str, str, str], ...]
    """One side, the other, and the remark."""
    parameters: dict[str, Any] = field(default_factory=dict)
    parts: float = 1.0
    """Operations of the agent's in one of the others': a round trip is two hand-overs."""


PERF = ("perf", "bench", "sched", "pipe", "-l", "20000")
WHOLE = ("-N", "1", "-b", "90000")
"""One batch as long as perf bench's."""
ANONYMOUS = ("map", "-", str(1 << 20), "0")
FASTEST = "ours, fastest"
"""The side that takes the agent's fastest sample, where its median is another thing's time."""
SAME = "the same calls"
COUNTERPART = ("ours", "counterpart", SAME)


def only_counterpart(
    name: str,
    workload: str,
    *counterpart: str,
    parameters: dict[str, Any] | None = None,
    remark: str = SAME,
) -> Pair:
    """A workload that no peer measures."""
    rows = (("ours", "counterpart", remark),)
    return Pair(name, workload, {"counterpart": ("calls", *counterpart)}, rows, parameters or {})


PAIRS = (
    Pair(
        "system call",
        "process.getpid",
        {
            "lat_syscall null": ("lat_syscall", "null"),
            "counterpart": ("calls", "getpid"),
            "getppid counterpart": ("calls-dynamic", "getppid"),
        },
        (
            ("ours", "lat_syscall null", "the peer calls getppid by a shared library"),
            COUNTERPART,
            ("getppid counterpart", "lat_syscall null", "getppid by a shared library"),
        ),
    ),
    Pair(
        "open and close",
        "process.open_close",
        {"lat_syscall open": ("lat_syscall", "open", FILE), "counterpart": ("calls", "open", FILE)},
        (("ours", "lat_syscall open", SAME), COUNTERPART),
        {"flags": "read_only"},
    ),
    Pair(
        "pipe round trip",
        "process.pipe_round_trip",
        {
            "lat_pipe": ("lat_pipe",),
            "perf bench sched pipe": PERF,
            "counterpart": ("calls", "pipe"),
            "harness counterpart": ("calls-lmbench", "-b", "1000000", "pipe"),
            "whole counterpart": ("calls-dynamic", *WHOLE, "pipe_from_fork"),
        },
        (
            ("ours", "lat_pipe", "the same calls; the peer's batches are of a second"),
            ("ours", "perf bench sched pipe", "the peer takes one time from fork to wait"),
            COUNTERPART,
            (
                "harness counterpart",
                "lat_pipe",
                "the counterpart in lmbench's harness, by such batches",
            ),
            ("whole counterpart", "perf bench sched pipe", "one time from fork to wait, 4 bytes"),
        ),
    ),
    Pair(
        "fork and exit",
        "process.fork_wait",
        {
            "lat_proc fork": ("lat_proc", "fork"),
            "counterpart": ("calls", "fork"),
            "counterpart of the agent's size": ("calls", "-m", "MEMORY", "fork"),
            "exit counterpart": ("calls-dynamic", "fork_handlers"),
            "faulting counterpart": ("calls", "-m", "MEMORY", "fork", "2", "AGENT"),
            "harness counterpart": ("calls-lmbench", "fork_handlers"),
        },
        (
            ("ours", "lat_proc fork", "peer: linked dynamically, and the child runs exit handlers"),
            ("ours", "counterpart", "ours has more private memory whose page tables are copied"),
            ("ours", "counterpart of the agent's size", "as much private memory as the agent has"),
            ("ours", "faulting counterpart", "so, and two more page faults in the child"),
            ("exit counterpart", "lat_proc fork", "linked dynamically, with exit handlers"),
            (
                "harness counterpart",
                "lat_proc fork",
                "the same in lmbench's harness, with its child",
            ),
        ),
    ),
    Pair(
        "fork and exec",
        "process.fork_exec",
        {
            "lat_proc exec": ("lat_proc", "exec"),
            "counterpart": ("calls", "exec", HELLO, "x", "42"),
            "dynamic counterpart": ("calls-dynamic", "exec", HELLO, "x", "42"),
            "harness counterpart": ("calls-lmbench", "exec", HELLO, "x", "42"),
        },
        (
            ("ours", "lat_proc exec", "the peer is linked dynamically"),
            COUNTERPART,
            ("dynamic counterpart", "lat_proc exec", "the counterpart linked as the peer is"),
            ("harness counterpart", "lat_proc exec", "the same in lmbench's harness"),
        ),
    ),
    Pair(
        "exec of the agent, by fork",
        "process.exec_static",
        {"counterpart": ("calls", "exec", "AGENT", "exit", "42")},
        (("ours", "counterpart", "the counterpart's own image is smaller than the agent's"),),
        {"start": ["fork"]},
    ),
    Pair(
        "exec of the agent, by spawn",
        "process.exec_static",
        {"counterpart": ("calls", "spawn", "AGENT", "exit", "42")},
        (COUNTERPART,),
        {"start": ["posix_spawn"]},
    ),
    Pair(
        "signal, install",
        "process.signal",
        {
            "lat_sig install": ("lat_sig", "install"),
            "counterpart": ("calls", "install_two"),
            "one handler counterpart": ("calls", "install"),
            "uncleared counterpart": ("calls", "install_two_uncleared"),
        },
        (
            ("ours", "lat_sig install", "ours: two handlers in turn, the old one compared"),
            COUNTERPART,
            ("one handler counterpart", "lat_sig install", "always the same handler"),
            (
                "counterpart",
                "uncleared counterpart",
                "what clearing the structure costs, as ours does",
            ),
            ("uncleared counterpart", "one handler counterpart", "two handlers in turn"),
        ),
        {"kind": ["install"]},
    ),
    Pair(
        "signal, handle",
        "process.signal",
        {
            "lat_sig catch": ("lat_sig", "catch"),
            "counterpart": ("calls", "handle"),
            "difference counterpart": ("calls", "handle_less_send"),
        },
        (
            ("ours", "lat_sig catch", "the peer takes off a kill that sends no signal"),
            COUNTERPART,
            ("difference counterpart", "lat_sig catch", "the counterpart less such a kill"),
        ),
        {"kind": ["handle"]},
    ),
    only_counterpart(
        "signal there and back", "process.signal", "between", parameters={"kind": ["between"]}
    ),
    only_counterpart("futex there and back", "process.futex", "futex"),
    only_counterpart("condition there and back", "process.condition", "condition"),
    Pair(
        "thread, create and join",
        "process.thread",
        {"counterpart": ("calls", "thread"), "local counterpart": ("calls-local", "thread")},
        (
            COUNTERPART,
            ("ours", "local counterpart", "as much memory for each thread as the agent's have"),
        ),
    ),
    Pair(
        "mmap, a tenth written",
        "process.mmap_munmap",
        {
            "lat_mmap": ("lat_mmap", str(MAPPED_BYTES), MAPPED),
            "counterpart": ("calls", "map", MAPPED, str(MAPPED_BYTES), str(TOUCHED)),
            "16 KiB counterpart": (
                "calls",
                "map",
                MAPPED,
                str(MAPPED_BYTES),
                str(TOUCHED),
                "16384",
            ),
        },
        (
            ("ours", "lat_mmap", "the peer writes once in 16 KiB, ours to every page"),
            COUNTERPART,
            ("16 KiB counterpart", "lat_mmap", "one write in 16 KiB"),
        ),
        {"backing": ["file"], "bytes": [MAPPED_BYTES], "touched_percent": [10]},
    ),
    Pair(
        "mmap, anonymous",
        "process.mmap_munmap",
        {"counterpart": ("calls", *ANONYMOUS), "fixed counterpart": ("calls-fixed", *ANONYMOUS)},
        (COUNTERPART, ("counterpart", "fixed counterpart", "a program whose place is not drawn")),
        {"backing": ["anonymous"], "bytes": [1 << 20], "touched_percent": [0]},
    ),
    Pair(
        "page fault",
        "process.page_fault",
        {
            "lat_pagefault": ("lat_pagefault", MAPPED),
            "counterpart": ("calls", "fault", "256"),
            "file counterpart": ("calls", "fault_file", MAPPED),
        },
        (
            (
                "ours",
                "lat_pagefault",
                "ours: a new page, zeroed; peer: a page of a cached file, "
                "which the kernel maps with its neighbours",
            ),
            COUNTERPART,
            (
                "file counterpart",
                "lat_pagefault",
                "a cached file, and what unmapping its pages costs",
            ),
        ),
        {"kind": ["minor"]},
    ),
    Pair(
        "create and delete",
        "process.create_delete",
        {
            "counterpart": ("calls", "create_delete"),
            "counterpart, fastest": ("calls", "-f", "create_delete"),
        },
        (
            COUNTERPART,
            (
                FASTEST,
                "counterpart, fastest",
                "the batches in which the kernel frees no deleted files",
            ),
        ),
        {"mode": ["default"]},
    ),
    Pair(
        "hand-over by futex",
        "cpu.scheduling.switch",
        {"counterpart": ("calls", "futex"), "parking counterpart": ("calls", "parked")},
        (
            ("ours", "counterpart", "half a round trip; ours by park and unpark"),
            (
                "ours",
                "parking counterpart",
                "half a round trip, by the protocol of park and unpark",
            ),
        ),
        {"mechanism": ["futex"]},
        2.0,
    ),
    Pair(
        "hand-over by pipe",
        "cpu.scheduling.switch",
        {
            "perf bench sched pipe -T": (*PERF, "-T"),
            "counterpart": ("calls", "pipe_threads"),
        },
        (
            ("ours", "perf bench sched pipe -T", "half a round trip; the peer sends 4 bytes"),
            ("ours", "counterpart", "half a round trip"),
        ),
        {"mechanism": ["pipe"]},
        2.0,
    ),
    Pair(
        "two hand-overs by pipe",
        "cpu.scheduling.switch",
        {
            "stress-ng --switch": ("stress-ng", "--switch", "1", "--switch-method", "pipe"),
            "packet counterpart": ("calls", "one_way", "4096"),
        },
        (
            ("ours", "stress-ng --switch", "peer: packets one way, each is waited for"),
            ("packet counterpart", "stress-ng --switch", "packets one way, the pipe holds one"),
        ),
        {"mechanism": ["pipe"]},
        2.0,
    ),
    Pair(
        "hand-over by pipe",
        "cpu.scheduling.switch",
        {
            "hackbench": ("hackbench", "-p", "-P", "-g", "1", "-f", "1", "-s", "1"),
            "one way counterpart": ("calls", "one_way", "0"),
        },
        (
            ("ours", "hackbench", "peer: messages of a byte one way, no switch for each"),
            ("one way counterpart", "hackbench", "bytes one way"),
        ),
        {"mechanism": ["pipe"]},
    ),
    Pair(
        "context switch",
        "cpu.scheduling.switch",
        {
            "lat_ctx": ("lat_ctx", "-s", "0", "2"),
            "difference counterpart": ("calls", "context"),
        },
        (
            ("ours", "lat_ctx", "peer: processes, and the bytes' way through a pipe taken off"),
            ("difference counterpart", "lat_ctx", "the counterpart with processes, less that way"),
        ),
        {"mechanism": ["pipe"]},
    ),
)
