"""System calls, processes and context switches beside lmbench, perf bench, stress-ng, hackbench and
counterparts in C.

Every row is a ratio of times, `one / two`: 0.95 means that one takes 5 % less. `ours` is the agent,
`counterpart` does the same in C without anything around it, a counterpart with another name does
what the peer does (`turns.py` states what that is for). All run on one CPU and in one directory,
which lies in memory where the system has /dev/shm, so that no disk answers.

The peers' programs are taken from the directory that PENTATHLON_PEERS names, or from PATH; the
counterparts need a C compiler. What is missing is named and left out. Exit status: 0 compared, 1 no
peer was found or a run failed.

    python benches/process_peers.py --rounds 11 --cpu 1

With --realtime all run at a real-time priority (SCHED_RR 1, needs root), so that other programs on
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
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import turns
from process_pairs import (
    BUILDS,
    FASTEST,
    FILE,
    HELLO,
    MAPPED,
    MAPPED_BYTES,
    MESSAGES,
    PAIRS,
    SWITCHES,
    Pair,
)
from turns import Measure, Place, Ratio, number

from pentathlon.protocol import agent

SHARED = Path("/dev/shm")
CALLS = tuple(sorted(path.name for path in turns.COUNTERPARTS.glob("calls*.c")))


def ours(program: Path, pair: Pair, place: Place, scratch: Path, *, fastest: bool = False) -> float:
    """Median (or least) time per call in ns, as the agent measures it."""
    found = turns.samples(program, pair.workload, pair.parameters, place=place, scratch=scratch)
    values = [float(event["value"]) for event in found]
    return (min(values) if fastest else statistics.median(values)) * pair.parts


def theirs(program: str, command: tuple[str, ...], place: Place, directory: Path) -> float:
    """Median time per call in ns, as the peer reports it (in microseconds)."""
    if command[0] == "perf":
        text = turns.output([*place.command(), program, *command[1:]], directory)
        return number(r"([0-9.]+) usecs/op", text) * 1e3
    if command[0] == "stress-ng":
        short = ["--switch-ops", str(SWITCHES), "--metrics"]
        text = turns.output([*place.command(), program, *command[1:], *short], directory)
        return number(r"([0-9.]+) nanosecs per context switch", text)
    if command[0] == "hackbench":
        text = turns.output(
            [*place.command(), program, *command[1:], "-l", str(MESSAGES)], directory
        )
        return number(r"^Time: ([0-9.]+)", text) * 1e9 / MESSAGES
    tries = [program, "-N", str(turns.TRIES), *command[1:]]
    text = turns.output([*place.command(), *tries], directory)
    if command[0] == "lat_ctx":
        return number(r"^2 ([0-9.]+)", text) * 1e3
    # lat_mmap prints megabytes and microseconds, the others a sentence.
    return number(r"(?::\s*([0-9.]+) microseconds|^[0-9.]+ ([0-9.]+)$)", text) * 1e3


def private_kib(program: Path) -> int:
    """Private memory of the process that measures process.fork_wait, in KiB."""
    task = {"id": "process.fork_wait", "iterations": 100, "sample_ms": 20}
    request = {"protocol": 2, "workloads": [task]}
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


def hello_path(lat_proc: str | None) -> Path:
    """Where lat_proc looks for the program that it starts: /tmp/hello as lmbench comes, another
    place in Debian's package. Where nothing is, it times an exec that fails."""
    text = Path(lat_proc).read_bytes() if lat_proc else b""
    found = re.search(rb"(/[!-~]*/hello)\0", text)
    return Path(found[1].decode()) if found else Path("/tmp/hello")


@contextmanager
def hello(path: Path, program: Path) -> Iterator[None]:
    """Puts the program that the agent starts where lat_proc looks for its own."""
    if path.exists():
        raise RuntimeError(f"{path} exists and is not ours: move it away")
    made = not path.parent.exists()
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(smallest_program(program))
    path.chmod(0o755)
    try:
        yield
    finally:
        path.unlink()
        if made:
            path.parent.rmdir()


def smallest_program(program: Path) -> bytes:
    """Takes the program that process.fork_exec starts from its scratch directory as it runs."""
    with tempfile.TemporaryDirectory() as folder:
        request = {
            "protocol": 2,
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


def built(program: Path, flags: tuple[str, ...]) -> str | None:
    """Compiles the counterparts; none where lmbench's library is needed and missing."""
    libraries = {flag: turns.library(flag) for flag in flags if flag.endswith(".a")}
    if missing := [name for name, path in libraries.items() if path is None]:
        print(f"no counterpart in lmbench's harness: {missing[0]} is missing")
        return None
    known = [libraries.get(flag) or flag for flag in flags]
    return turns.built(CALLS, program, "-pthread", *known)


def compare(program: Path, pair: Pair, found: dict[str, str], *, place: Place, rounds: int) -> int:
    """Measures all sides in turn and prints the ratios; returns how many rows."""
    known = {name: command for name, command in pair.others.items() if command[0] in found}
    for name in pair.others.keys() - known.keys():
        print(f"{pair.name}: {name} is left out: {pair.others[name][0]} is missing")
    if not known:
        return 0
    executing = any(HELLO in command for command in known.values())
    path = hello_path(found.get("lat_proc"))
    memory = str(private_kib(program)) if any("MEMORY" in c for c in known.values()) else ""
    parent = SHARED if SHARED.is_dir() else None
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        directory = Path(folder)
        (directory / FILE).touch()
        (directory / MAPPED).write_bytes(bytes(MAPPED_BYTES))
        sides: dict[str, Measure] = {"ours": partial(ours, program, pair, place, directory)}
        if any(FASTEST in row for row in pair.rows):
            sides[FASTEST] = partial(ours, program, pair, place, directory, fastest=True)
        for name, command in known.items():
            values = {"AGENT": str(program), "MEMORY": memory, HELLO: str(path)}
            words = tuple(values.get(word, word) for word in command)
            sides[name] = partial(theirs, found[command[0]], words, place, directory)
        with hello(path, program) if executing else nullcontext():
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
    print("in ns; the peers' programs, and counterparts in C\n")
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        found = {
            command[0]: path
            for pair in pairs
            for command in pair.others.values()
            if (path := turns.find(command[0]))
        }
        for name, flags in BUILDS.items():
            if path := built(Path(folder) / name, flags):
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
