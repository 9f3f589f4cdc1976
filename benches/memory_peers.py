"""Memory bandwidth and latency beside lmbench, sysbench, stress-ng, STREAM and counterparts in C.

Each round measures all block sizes with the agent and then with its peer (or first with the peer),
on the same CPU. The ratio of each round is ours over the peer's: above 1 the agent reports more
bandwidth, or a longer latency. A neighbour's load hits both halves of a round, so the median of the
ratios is steadier than either value; the ratio of the best values of all rounds is the least
disturbed.

lmbench's programs (bw_mem, lat_mem_rd), sysbench and stress-ng are taken from the directory that
PENTATHLON_PEERS names, or from PATH; STREAM is compiled from that directory's stream.c. The
counterparts do in C what the agent or what a peer does (`turns.py`) and need a C compiler; in lines
that begin with "as", one stands in the agent's place. Pairs of all threads run on all CPUs. Exit
status: 0 compared, 1 no peer was found or a run failed.

    python benches/memory_peers.py --rounds 9 --cpu 1

With --realtime both run at a real-time priority (SCHED_RR 1, needs root), so that other programs on
the CPU do not run in between.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import turns
from memory_pairs import COUNTERPART, STREAM_FLAGS, Figures, Pair, pairs
from turns import SAMPLE_MS, TRIES, Place

from pentathlon.protocol import agent


def ours(program: Path, pair: Pair, sizes: tuple[int, ...], place: Place) -> Figures:
    """Median (or best) value of the agent's samples."""
    reported = turns.events(
        program,
        pair.workload,
        pair.parameters | ({} if pair.levels else {"block_bytes": sizes}),
        place=place.everywhere() if pair.everywhere else place,
    )
    samples: dict[int, list[float]] = {} if pair.levels else {size: [] for size in sizes}
    chosen = 0
    for event in reported:
        if event["event"] == "counter" and "block_bytes[" in event["name"]:
            chosen = event["value"]["read_write_latency"]
        if (
            event["event"] == "sample"
            and event["phase"] == "measure"
            and pair.metric in (None, event["metric"])
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
    """Measures both in turn and prints medians and ratios. `program` is the agent, or the
    counterpart that stands for it."""
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
    built = turns.built("memory.c", Path(folder.name) / COUNTERPART, "-static", "-pthread")
    made = {COUNTERPART: built}
    if source := turns.library("stream.c"):
        for name, flags in STREAM_FLAGS.items():
            made[name] = turns.built(source, Path(folder.name) / name, *flags)
    for pair in chosen:
        peer = made.get(pair.program) or turns.find(pair.program)
        if peer is None:
            print(f"{pair.name:22} {pair.program} is missing: it is part of {pair.package}")
            continue
        sizes = tuple(kib << 10 for kib in options.sizes) if options.sizes else pair.sizes
        rounds = min(options.rounds, pair.rounds or options.rounds)
        try:
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
