"""Damaged input in large numbers: how each piece ended, counted.

Run: python benches/hostile.py --count 1000000 --seed 1 --jobs 1
     python benches/hostile.py --seconds 3600 --jobs 2

Each kind of input is one that tests/hostile makes, in parts of 1000 with seeds of their own; a part
that ends in anything but "read" or "refused" is named with its seed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

sys.path.insert(0, str(Path(__file__).parent.parent))

from pentathlon.protocol import agent
from pentathlon.study.catalog import parse_catalog

PART = 1000

Part = tuple[str, int, Counter[str], str]
"""Kind, seed, ends, what went wrong."""


def kinds() -> list[str]:
    """The kinds of input that are there: names of functions of tests/hostile."""
    known = {
        "captures": ("captures", "recordings"),
        "studies": ("studies", "profiles"),
        "streams": ("streams",),
        "endpoints": ("answers",),
    }
    found = []
    for module, names in known.items():
        try:
            loaded = importlib.import_module(f"tests.hostile.{module}")
        except ModuleNotFoundError:
            continue
        found += [f"{module}.{name}" for name in names if hasattr(loaded, name)]
    return found


def part(kind: str, seed: int) -> Part:
    """One part."""
    module, _, name = kind.partition(".")
    make = getattr(importlib.import_module(f"tests.hostile.{module}"), name)
    try:
        if kind == "studies.studies":
            catalog = parse_catalog(agent.catalog(agent.locate()))
            with tempfile.TemporaryDirectory() as directory:
                return kind, seed, make(PART, seed, Path(directory), catalog), ""
        return kind, seed, make(PART, seed), ""
    except Exception as error:
        notes = "; ".join(getattr(error, "__notes__", []))
        return kind, seed, Counter(), f"{type(error).__name__}: {str(error)[:300]} ({notes})"


def parts(requests: list[str], seed: int) -> Iterator[tuple[str, int]]:
    """Kinds and seeds in turn, without an end."""
    while True:
        for kind in requests:
            yield kind, seed
        seed += 1


def done(requests: list[str], seed: int, count: int, seconds: float, jobs: int) -> Iterator[Part]:
    """The parts as they end, until so many pieces are requested or so many seconds have passed."""
    todo = islice(parts(requests, seed), -(-count // PART))
    start = time.monotonic()
    going: set[Future[Part]] = set()
    with ProcessPoolExecutor(jobs) as pool:
        while True:
            if time.monotonic() - start < seconds:
                going |= {pool.submit(part, *one) for one in islice(todo, 2 * jobs - len(going))}
            if not going:
                return
            ended, going = wait(going, return_when=FIRST_COMPLETED)
            yield from (one.result() for one in ended)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, help="pieces of all kinds together")
    parser.add_argument("--seconds", type=float, help="begin no part after so many")
    parser.add_argument("--seed", type=int, default=1, help="of the first part of each kind")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--kinds", nargs="+", choices=kinds(), default=kinds())
    arguments = parser.parse_args()
    if arguments.count is None:
        arguments.count = 100_000 if arguments.seconds is None else sys.maxsize
    if arguments.seconds is None:
        arguments.seconds = math.inf
    ends: dict[str, Counter[str]] = {kind: Counter() for kind in arguments.kinds}
    wrong = 0
    start = time.monotonic()
    for kind, seed, found, fault in done(
        arguments.kinds, arguments.seed, arguments.count, arguments.seconds, arguments.jobs
    ):
        ends[kind] += found
        if fault:
            wrong += 1
            print(f"{kind}, seed {seed}: {fault}", flush=True)
    for kind, found in ends.items():
        text = ", ".join(f"{count:,} {name}" for name, count in sorted(found.items()))
        print(f"{kind:24}{text}")
    largest = max(getrusage(who).ru_maxrss for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
    print(
        f"{sum(sum(one.values()) for one in ends.values()):,} pieces in "
        f"{time.monotonic() - start:.0f} s, {wrong} parts ended otherwise, "
        f"at most {largest >> 10} MiB of memory"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
