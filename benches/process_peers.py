"""System calls and processes beside lmbench, on lmbench's own definitions.

Each round measures one workload of the agent and its peer one after the other, on the same CPU and
in the same directory; the order changes from round to round. The ratio of each round is ours over
the peer's, so 0.95 means that the agent reports a time 5 % shorter. A neighbour's load hits both
halves of a round, so the median of the ratios is steadier than either time.

lmbench's programs (lat_syscall, lat_pipe, lat_proc, lat_sig, lat_mmap, lat_pagefault) are taken
from the directory that PENTATHLON_PEERS names, or from PATH. Exit status: 0 compared, 1 no peer was
found or a run failed.

    python benches/process_peers.py --rounds 11 --cpu 1

With --realtime both run at a real-time priority (SCHED_RR 1, needs root), so that other programs on
the CPU do not run in between.
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
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pentathlon import agent

FILE = "temp"
"""The file that is opened, by its bare name in both programs."""
MAPPED = "mapped"
"""The file that the peers map; the agent's own is as long."""
MAPPED_BYTES = 1 << 20
HELLO = Path("/tmp/hello")
"""The program that lat_proc exec starts; its path is fixed in lat_proc."""
TRIES = 11
"""Samples of a half round: the default number of lmbench, which reports their median."""
SAMPLE_MS = 5.0
"""Length of a sample in both programs. lmbench would search for its own (ENOUGH in us), which takes
minutes where neighbours disturb it."""


@dataclass(frozen=True)
class Pair:
    """A workload and the peer's command that measures the same."""

    name: str
    workload: str
    peer: tuple[str, ...]
    definition: str
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where both programs of a pair run."""

    cpu: int
    realtime: bool

    def command(self) -> list[str]:
        """What starts a peer there."""
        pinned = ["taskset", "-c", str(self.cpu)]
        return [*pinned, "chrt", "--rr", "1"] if self.realtime else pinned


PAIRS = (
    Pair(
        "system call",
        "process.getpid",
        ("lat_syscall", "null"),
        "ours: getpid by the system call instruction, answer compared; peer: getppid by the C "
        "library, answer ignored (getppid also looks its parent up in the kernel)",
    ),
    Pair(
        "open and close",
        "process.open_close",
        ("lat_syscall", "open", FILE),
        "both: open an empty file in the current directory read-only and close it",
        {"flags": "read_only"},
    ),
    Pair(
        "pipe",
        "process.pipe_round_trip",
        ("lat_pipe",),
        "both: one byte to another process and back over two pipes; ours also changes and "
        "compares the byte",
    ),
    Pair(
        "fork",
        "process.fork_wait",
        ("lat_proc", "fork"),
        "both: fork, the child exits, the parent waits; ours: _exit in a static program; peer: "
        "exit, which runs the C library's exit handlers, in the program as it was linked",
    ),
    Pair(
        "fork and exec",
        "process.fork_exec",
        ("lat_proc", "exec"),
        f"both: fork, execute the agent's smallest program ({HELLO} holds a copy of it for the "
        "peer), wait; the peer's child also closes its standard output",
    ),
    Pair(
        "signal install",
        "process.signal",
        ("lat_sig", "install"),
        "both: sigaction; ours alternates between two handlers and compares the one replaced",
        {"kind": ["install"]},
    ),
    Pair(
        "signal handle",
        "process.signal",
        ("lat_sig", "catch"),
        "both: kill to the process itself, whose handler counts; ours compares the count; the "
        "peer takes off the time of a kill that sends no signal, so ours is longer by a call",
        {"kind": ["handle"]},
    ),
    Pair(
        "mmap",
        "process.mmap_munmap",
        ("lat_mmap", str(MAPPED_BYTES), MAPPED),
        "both: map a cached file of 1 MiB shared, write to each page of its first tenth, unmap",
        {"backing": ["file"], "bytes": [MAPPED_BYTES], "touched_percent": [10]},
    ),
    Pair(
        "page fault",
        "process.page_fault",
        ("lat_pagefault", MAPPED),
        "ours: first write to a page of new private memory, which the kernel zeroes; peer: first "
        "read of a page of a cached file, which the kernel may map with its neighbours",
        {"kind": ["minor"]},
    ),
)


def ours(program: Path, pair: Pair, place: Place, scratch: Path) -> float:
    """Median time per call in ns, as the agent measures it."""
    request = {
        "protocol": 1,
        "scratch": str(scratch),
        "placement": {"cpus": [place.cpu], "policy": "rr" if place.realtime else None},
        "workloads": [{"id": pair.workload, "parameters": pair.parameters, "iterations": TRIES}],
    }
    run = subprocess.run(
        [program, "run"],
        input=json.dumps(request) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    events = [json.loads(line) for line in run.stdout.splitlines()]
    for event in events:
        if event["event"] == "error":
            raise RuntimeError(f"{pair.workload}: {event['reason']}")
    values: list[float] = [
        event["value"]
        for event in events
        if event["event"] == "sample" and event["phase"] == "measure"
    ]
    return statistics.median(values)


def theirs(program: str, pair: Pair, place: Place, directory: Path) -> float:
    """Median time per call in ns, as lmbench reports it (in microseconds, on standard error)."""
    run = subprocess.run(
        [*place.command(), program, "-N", str(TRIES), *pair.peer[1:]],
        cwd=directory,
        env=os.environ | {"ENOUGH": f"{SAMPLE_MS * 1e3:.0f}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    # lat_mmap prints megabytes and microseconds, the others a sentence.
    found = re.search(r":\s*([0-9.]+) microseconds|^[0-9.]+ ([0-9.]+)$", run.stderr, re.MULTILINE)
    if not found:
        raise RuntimeError(f"{' '.join(pair.peer)} said: {run.stderr.strip() or 'nothing'}")
    return float(found.group(1) or found.group(2)) * 1e3


def find(name: str) -> str | None:
    """A peer's program, from PENTATHLON_PEERS or from PATH."""
    folder = os.environ.get("PENTATHLON_PEERS")
    search = os.pathsep.join(filter(None, (folder, os.environ.get("PATH"))))
    return shutil.which(name, path=search)


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


@contextmanager
def nothing() -> Iterator[None]:
    yield


def compare(program: Path, peer: str, pair: Pair, place: Place, rounds: int) -> None:
    """Measures both in turn and prints medians and ratios."""
    own: list[float] = []
    other: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        (directory / FILE).touch()
        (directory / MAPPED).write_bytes(bytes(MAPPED_BYTES))
        with hello(program) if pair.peer[-1] == "exec" else nothing():
            for number in range(rounds):
                for half in (0, 1) if number % 2 == 0 else (1, 0):
                    if half == 0:
                        own.append(ours(program, pair, place, directory))
                    else:
                        other.append(theirs(peer, pair, place, directory))
    ratios = sorted(a / b for a, b in zip(own, other, strict=True))
    low, high = ratios[rounds // 4], ratios[-1 - rounds // 4]
    print(
        f"{pair.name:15} {statistics.median(own):10.1f} ns {statistics.median(other):10.1f} ns   "
        f"{statistics.median(ratios):.3f}   {low:.3f} to {high:.3f}   {' '.join(pair.peer)}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=11, help="rounds of each pair (default 11)")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument(
        "--realtime", action="store_true", help="run at a real-time priority (root)"
    )
    parser.add_argument("--only", help="only pairs whose name contains this text")
    options = parser.parse_args()
    program = agent.locate()
    place = Place(options.cpu, options.realtime)
    pairs = [pair for pair in PAIRS if not options.only or options.only in pair.name]
    print(f"{options.rounds} rounds on CPU {options.cpu}, each the median of {TRIES} samples")
    print(f"{'':15} {'ours':>13} {'peer':>13}   ratio   middle half")
    compared = 0
    for pair in pairs:
        peer = find(pair.peer[0])
        if peer is None:
            print(f"{pair.name:15} {pair.peer[0]} is missing: it is part of lmbench 3")
            continue
        try:
            compare(program, peer, pair, place, options.rounds)
        except (RuntimeError, subprocess.SubprocessError) as error:
            print(f"{pair.name}: {error}", file=sys.stderr)
            return 1
        compared += 1
    print("\nDefinitions")
    for pair in pairs:
        print(f"  {pair.name}: {pair.definition}.")
    return 0 if compared else 1


if __name__ == "__main__":
    sys.exit(main())
