"""System calls, processes and context switches beside lmbench, perf bench, stress-ng, hackbench and
twins in C.

Every row is a ratio of times, `one / two`: 0.95 means that one takes 5 % less. `ours` is the agent,
`twin` does the same in C without anything around it, a twin with another name does what the peer
does (`turns.py` says what that is for). All run on one CPU and in one directory, which lies in
memory where the system has /dev/shm, so that no disk answers.

The peers' programs are taken from the directory that PENTATHLON_PEERS names, or from PATH; the
twins need a C compiler. What is missing is named and left out. Exit status: 0 compared, 1 no
peer was found or a run failed.

    python benches/process_peers.py --rounds 11 --cpu 1

With --realtime all run at a real-time priority (SCHED_RR 1, needs root), so that other programs on
the CPU do not run in between.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import turns
from turns import Measure, Place, Ratio, number

from pentathlon import agent

FILE = "temp"
"""The file that is opened, by its bare name in every program."""
MAPPED = "mapped"
"""The file that the peers map; the agent's own is as long."""
MAPPED_BYTES = 16 << 20
"""So long that lat_mmap, which prints whole microseconds, is exact to a few thousandths."""
TOUCHED = MAPPED_BYTES // 10
MESSAGES = 500_000
"""Messages of a run of hackbench."""
HELLO = Path("/tmp/hello")
"""The program that lat_proc exec starts; its path is fixed in lat_proc."""
SHARED = Path("/dev/shm")


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


SAME = "the same calls"
TWIN = ("ours", "twin", SAME)


def only_twin(
    name: str,
    workload: str,
    *twin: str,
    parameters: dict[str, Any] | None = None,
    remark: str = SAME,
) -> Pair:
    """A workload that no peer measures."""
    rows = (("ours", "twin", remark),)
    return Pair(name, workload, {"twin": ("calls", *twin)}, rows, parameters or {})


PAIRS = (
    Pair(
        "system call",
        "process.getpid",
        {
            "lat_syscall null": ("lat_syscall", "null"),
            "twin": ("calls", "getpid"),
            "getppid twin": ("calls-dynamic", "getppid"),
        },
        (
            ("ours", "lat_syscall null", "the peer calls getppid by a shared library"),
            TWIN,
            ("getppid twin", "lat_syscall null", "getppid by a shared library"),
        ),
    ),
    Pair(
        "open and close",
        "process.open_close",
        {"lat_syscall open": ("lat_syscall", "open", FILE), "twin": ("calls", "open", FILE)},
        (("ours", "lat_syscall open", SAME), TWIN),
        {"flags": "read_only"},
    ),
    Pair(
        "pipe round trip",
        "process.pipe_round_trip",
        {
            "lat_pipe": ("lat_pipe",),
            "perf bench sched pipe": ("perf", "bench", "sched", "pipe", "-l", "20000"),
            "twin": ("calls", "pipe"),
            "dynamic twin": ("calls-dynamic", "pipe"),
        },
        (
            ("ours", "lat_pipe", "the same calls; the peer is linked dynamically"),
            ("ours", "perf bench sched pipe", "the peer is linked dynamically, and large"),
            TWIN,
            ("dynamic twin", "lat_pipe", "the twin linked as the peer is"),
        ),
    ),
    Pair(
        "fork and exit",
        "process.fork_wait",
        {
            "lat_proc fork": ("lat_proc", "fork"),
            "twin": ("calls", "fork"),
            "twin of the agent's size": ("calls", "fork", "MEMORY"),
            "exit twin": ("calls-dynamic", "fork_handlers"),
        },
        (
            ("ours", "lat_proc fork", "peer: linked dynamically, and the child runs exit handlers"),
            ("ours", "twin", "ours has more private memory whose page tables are copied"),
            ("ours", "twin of the agent's size", "as much private memory as the agent has"),
            ("exit twin", "lat_proc fork", "linked dynamically, with exit handlers"),
        ),
    ),
    Pair(
        "fork and exec",
        "process.fork_exec",
        {
            "lat_proc exec": ("lat_proc", "exec"),
            "twin": ("calls", "exec", str(HELLO), "x", "42"),
            "dynamic twin": ("calls-dynamic", "exec", str(HELLO), "x", "42"),
        },
        (
            ("ours", "lat_proc exec", "the peer is linked dynamically"),
            TWIN,
            ("dynamic twin", "lat_proc exec", "the twin linked as the peer is"),
        ),
    ),
    Pair(
        "exec of the agent, by fork",
        "process.exec_static",
        {"twin": ("calls", "exec", "AGENT", "exit", "42")},
        (("ours", "twin", "the twin's own image is smaller than the agent's"),),
        {"start": ["fork"]},
    ),
    Pair(
        "exec of the agent, by spawn",
        "process.exec_static",
        {"twin": ("calls", "spawn", "AGENT", "exit", "42")},
        (TWIN,),
        {"start": ["posix_spawn"]},
    ),
    Pair(
        "signal, install",
        "process.signal",
        {
            "lat_sig install": ("lat_sig", "install"),
            "twin": ("calls", "install_two"),
            "one handler twin": ("calls", "install"),
        },
        (
            ("ours", "lat_sig install", "ours: two handlers in turn, the old one compared"),
            TWIN,
            ("one handler twin", "lat_sig install", "always the same handler"),
        ),
        {"kind": ["install"]},
    ),
    Pair(
        "signal, handle",
        "process.signal",
        {
            "lat_sig catch": ("lat_sig", "catch"),
            "twin": ("calls", "handle"),
            "difference twin": ("calls", "handle_less_send"),
        },
        (
            ("ours", "lat_sig catch", "the peer takes off a kill that sends no signal"),
            TWIN,
            ("difference twin", "lat_sig catch", "the twin less such a kill"),
        ),
        {"kind": ["handle"]},
    ),
    only_twin(
        "signal there and back", "process.signal", "between", parameters={"kind": ["between"]}
    ),
    only_twin("futex there and back", "process.futex", "futex"),
    only_twin("condition there and back", "process.condition", "condition"),
    only_twin(
        "thread, create and join",
        "process.thread",
        "thread",
    ),
    Pair(
        "mmap, a tenth written",
        "process.mmap_munmap",
        {
            "lat_mmap": ("lat_mmap", str(MAPPED_BYTES), MAPPED),
            "twin": ("calls", "map", MAPPED, str(MAPPED_BYTES), str(TOUCHED)),
            "16 KiB twin": ("calls", "map", MAPPED, str(MAPPED_BYTES), str(TOUCHED), "16384"),
        },
        (
            ("ours", "lat_mmap", "the peer writes once in 16 KiB, ours to every page"),
            TWIN,
            ("16 KiB twin", "lat_mmap", "one write in 16 KiB"),
        ),
        {"backing": ["file"], "bytes": [MAPPED_BYTES], "touched_percent": [10]},
    ),
    only_twin(
        "mmap, anonymous",
        "process.mmap_munmap",
        *("map", "-", str(1 << 20), "0"),
        parameters={"backing": ["anonymous"], "bytes": [1 << 20], "touched_percent": [0]},
    ),
    Pair(
        "page fault",
        "process.page_fault",
        {
            "lat_pagefault": ("lat_pagefault", MAPPED),
            "twin": ("calls", "fault", "256"),
            "file twin": ("calls", "fault_file", MAPPED),
        },
        (
            (
                "ours",
                "lat_pagefault",
                "ours: a new page, zeroed; peer: a page of a cached file, "
                "which the kernel maps with its neighbours",
            ),
            TWIN,
            ("file twin", "lat_pagefault", "a cached file, and what unmapping its pages costs"),
        ),
        {"kind": ["minor"]},
    ),
    only_twin(
        "create and delete",
        "process.create_delete",
        "create_delete",
        parameters={"mode": ["default"]},
    ),
    Pair(
        "hand-over by futex",
        "cpu.scheduling.switch",
        {"twin": ("calls", "futex"), "parking twin": ("calls", "parked")},
        (
            ("ours", "twin", "half a round trip; ours by park and unpark"),
            ("ours", "parking twin", "half a round trip, by the protocol of park and unpark"),
        ),
        {"mechanism": ["futex"]},
        2.0,
    ),
    Pair(
        "hand-over by pipe",
        "cpu.scheduling.switch",
        {
            "perf bench sched pipe -T": ("perf", "bench", "sched", "pipe", "-T", "-l", "20000"),
            "twin": ("calls", "pipe_threads"),
        },
        (
            ("ours", "perf bench sched pipe -T", "half a round trip; the peer sends 4 bytes"),
            ("ours", "twin", "half a round trip"),
        ),
        {"mechanism": ["pipe"]},
        2.0,
    ),
    Pair(
        "two hand-overs by pipe",
        "cpu.scheduling.switch",
        {
            "stress-ng --switch": ("stress-ng", "--switch", "1", "--switch-method", "pipe"),
            "packet twin": ("calls", "one_way", "4096"),
        },
        (
            ("ours", "stress-ng --switch", "peer: packets one way, each is waited for"),
            ("packet twin", "stress-ng --switch", "packets one way, the pipe holds one"),
        ),
        {"mechanism": ["pipe"]},
        2.0,
    ),
    Pair(
        "hand-over by pipe",
        "cpu.scheduling.switch",
        {
            "hackbench": ("hackbench", "-p", "-P", "-g", "1", "-f", "1", "-s", "1"),
            "one way twin": ("calls", "one_way", "0"),
        },
        (
            ("ours", "hackbench", "peer: messages of a byte one way, no switch for each"),
            ("one way twin", "hackbench", "bytes one way"),
        ),
        {"mechanism": ["pipe"]},
    ),
    Pair(
        "context switch",
        "cpu.scheduling.switch",
        {
            "lat_ctx": ("lat_ctx", "-s", "0", "2"),
            "difference twin": ("calls", "context"),
        },
        (
            ("ours", "lat_ctx", "peer: processes, and the bytes' way through a pipe taken off"),
            ("difference twin", "lat_ctx", "the twin with processes, less that way"),
        ),
        {"mechanism": ["pipe"]},
    ),
)


def ours(program: Path, pair: Pair, place: Place, scratch: Path) -> float:
    """Median time per call in ns, as the agent measures it."""
    found = turns.samples(program, pair.workload, pair.parameters, place=place, scratch=scratch)
    return statistics.median(event["value"] for event in found) * pair.parts


def theirs(program: str, command: tuple[str, ...], place: Place, directory: Path) -> float:
    """Median time per call in ns, as the peer reports it (in microseconds)."""
    if command[0] == "perf":
        text = turns.said([*place.command(), program, *command[1:]], directory)
        return number(r"([0-9.]+) usecs/op", text) * 1e3
    if command[0] == "stress-ng":
        text = turns.said(
            [*place.command(), program, *command[1:], "-t", "1", "--metrics"], directory
        )
        return number(r"([0-9.]+) nanosecs per context switch", text)
    if command[0] == "hackbench":
        text = turns.said([*place.command(), program, *command[1:], "-l", str(MESSAGES)], directory)
        return number(r"^Time: ([0-9.]+)", text) * 1e9 / MESSAGES
    tries = [program, "-N", str(turns.TRIES), *command[1:]]
    text = turns.said([*place.command(), *tries], directory)
    if command[0] == "lat_ctx":
        return number(r"^2 ([0-9.]+)", text) * 1e3
    # lat_mmap prints megabytes and microseconds, the others a sentence.
    return number(r"(?::\s*([0-9.]+) microseconds|^[0-9.]+ ([0-9.]+)$)", text) * 1e3


def private_kib(program: Path) -> int:
    """Private memory of the process that measures process.fork_wait, in KiB."""
    task = {"id": "process.fork_wait", "iterations": 100, "sample_ms": 20}
    request = {"protocol": 1, "workloads": [task]}
    largest = 0
    with subprocess.Popen(
        [program, "run"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as run:
        assert run.stdin is not None
        run.stdin.write(json.dumps(request).encode() + b"\n")
        run.stdin.flush()
        children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
        try:
            deadline = time.monotonic() + 1
            while time.monotonic() < deadline and run.poll() is None:
                time.sleep(0.05)
                for pid in children.read_text().split():
                    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                    largest = max(largest, int(number(r"^Anonymous:\s+(\d+) kB", rollup)))
        except OSError:
            pass
        finally:
            run.kill()
    return largest


@contextmanager
def hello(program: Path) -> Iterator[None]:
    """Puts the program that the agent starts where lat_proc looks for its own."""
    if HELLO.exists():
        raise RuntimeError(f"{HELLO} exists and is not ours: move it away")
    HELLO.write_bytes(smallest_program(program))
    HELLO.chmod(0o755)
    try:
        yield
    finally:
        HELLO.unlink()


def smallest_program(program: Path) -> bytes:
    """Takes the program that process.fork_exec starts from its scratch directory as it runs."""
    with tempfile.TemporaryDirectory() as folder:
        request = {
            "protocol": 1,
            "scratch": folder,
            "workloads": [{"id": "process.fork_exec", "iterations": 1000, "sample_ms": 50}],
        }
        with subprocess.Popen(
            [program, "run"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        ) as run:
            try:
                assert run.stdin is not None
                run.stdin.write(json.dumps(request).encode() + b"\n")
                run.stdin.flush()
                deadline = time.monotonic() + 10
                while time.monotonic() < deadline:
                    for path in Path(folder).glob("*/*/nothing"):
                        if data := path.read_bytes():
                            return data
                    time.sleep(0.01)
            finally:
                run.kill()
    raise RuntimeError("the agent started no program within 10 s")


def compare(program: Path, pair: Pair, found: dict[str, str], *, place: Place, rounds: int) -> int:
    """Measures all sides in turn and prints the ratios; returns how many rows."""
    known = {name: command for name, command in pair.others.items() if command[0] in found}
    for name in pair.others.keys() - known.keys():
        print(f"{pair.name}: {name} is left out: {pair.others[name][0]} is missing")
    if not known:
        return 0
    executing = any(HELLO.name in part for c in known.values() for part in c) or (
        "lat_proc exec" in known
    )
    memory = str(private_kib(program)) if any("MEMORY" in c for c in known.values()) else ""
    parent = SHARED if SHARED.is_dir() else None
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        directory = Path(folder)
        (directory / FILE).touch()
        (directory / MAPPED).write_bytes(bytes(MAPPED_BYTES))
        sides: dict[str, Measure] = {"ours": partial(ours, program, pair, place, directory)}
        for name, command in known.items():
            values = {"AGENT": str(program), "MEMORY": memory}
            words = tuple(values.get(word, word) for word in command)
            sides[name] = partial(theirs, found[command[0]], words, place, directory)
        with hello(program) if executing else nullcontext():
            figures = turns.measured(sides, rounds)
    rows = [Ratio(f"{pair.name}, time", *row) for row in pair.rows]
    turns.tell(figures, rows)
    return len(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=11, help="rounds of each pair (default 11)")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument(
        "--realtime", action="store_true", help="run at a real-time priority (root)"
    )
    parser.add_argument("--only", nargs="+", help="only pairs whose name contains one of these")
    options = parser.parse_args()
    program = agent.locate()
    place = Place(options.cpu, options.realtime)
    pairs = [
        pair
        for pair in PAIRS
        if not options.only or any(text in pair.name for text in options.only)
    ]
    print(f"{options.rounds} rounds on CPU {options.cpu}, each the median of {turns.TRIES} samples")
    print("in ns; the peers' programs, and twins in C\n")
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        found = {
            command[0]: path
            for pair in pairs
            for command in pair.others.values()
            if (path := turns.find(command[0]))
        }
        for name, flags in (("calls", ("-static",)), ("calls-dynamic", ())):
            if path := turns.built("calls.c", Path(folder) / name, "-pthread", *flags):
                found[name] = path
        turns.heading(", ns")
        for pair in pairs:
            try:
                compared += compare(program, pair, found, place=place, rounds=options.rounds)
            except (RuntimeError, subprocess.SubprocessError) as error:
                print(f"{pair.name}: {error}", file=sys.stderr)
                return 1
    return 0 if compared else 1


if __name__ == "__main__":
    sys.exit(main())
