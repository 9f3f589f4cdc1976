"""Records of both ends of a flow to its table: how long it takes, and whether the table is right.

Two files of records are made as endpoints write them, with losses (the last packets among them),
further copies, packets out of order, lateness and delays whose answers are known, and clocks that
differ by an offset and a drift. Timed is all from the files to the table: reading, checksums, the
join, and every metric (loss, copies, reordering, delays and their quantiles, jitter, lateness);
by the agent, which does it for many packets, and by arrays of NumPy, which do it for few. ITGDec
takes turns with both, if Debian's package d-itg is installed: it decodes a log that D-ITG's
receiver wrote on the loopback device. What comes out is compared with what was planted.

Exit status: 0 all answers were right, 1 one was not. The files take 32 bytes a packet, the agent 9
bytes of memory a packet beside the mapped files, the arrays 12.

    python benches/packet_truth.py --packets 100000000 --folder /var/tmp
"""

from __future__ import annotations

import argparse
import mmap
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from pentathlon.packets import by_agent, clocks, flow_metrics, join, records
from pentathlon.protocol import agent

GAP_NS = 1000
SEGMENT = 1_000_000
"""Packets that are planted at once; nothing planted reaches beyond one."""
TAIL = 4000
"""Packets at the end that never come."""
IN_BLOCK = 8192
LINE = clocks.ClockDifference(0, 7.5e12, 2e-5, 40.0, 100)
Integers = NDArray[np.int64]


@dataclass
class Planted:
    """The answers, by other ways than the ones under test."""

    sent: int = 0
    received: int = 0
    copies: int = 0
    reordered: int = 0
    steps: float = 0.0
    smoothed: float = 0.0
    smoothed_sum: float = 0.0
    adjacent: float = 0.0
    adjacent_count: int = 0
    last_delay: int | None = None
    before: tuple[int, int] | None = None
    delays: Integers | None = None
    late: Integers | None = None


class BlockWriter:
    """Writes one end's records as the agent does: full blocks, and a shorter last one."""

    def __init__(self, file: BinaryIO, kind: int) -> None:
        self.file = file
        self.kind = kind
        self.rest = [np.empty(0, np.int64) for _ in range(3)]

    def add(self, sequence: Integers, times: Integers, late: Integers) -> None:
        columns = [
            np.concatenate(both) for both in zip(self.rest, (sequence, times, late), strict=True)
        ]
        whole = len(columns[0]) // IN_BLOCK * IN_BLOCK
        for start in range(0, whole, IN_BLOCK):
            self.block(*(column[start : start + IN_BLOCK] for column in columns))
        self.rest = [column[whole:] for column in columns]

    def block(self, sequence: Integers, times: Integers, late: Integers) -> None:
        body = np.zeros(len(sequence), records.RECORD)
        body["time"] = times - times[0]
        body["number"] = late if self.kind == records.SENT else (sequence - sequence[0])
        body["length"] = 64
        head = np.zeros(1, records.HEADER)
        head["magic"], head["kind"], head["count"] = b"PTR1", self.kind, len(body)
        head["base_sequence"], head["base_ns"] = sequence[0], times[0]
        head["crc"] = zlib.crc32(body.tobytes(), zlib.crc32(head.tobytes()[:44]))
        self.file.write(head.tobytes() + body.tobytes())

    def finish(self) -> None:
        if len(self.rest[0]):
            self.block(*self.rest)


def plant(packets: int, sent_file: Path, received_file: Path) -> Planted:
    """Write both files; the answers."""
    answers = Planted(delays=np.zeros(1 << 14, np.int64), late=np.zeros(1 << 14, np.int64))
    with sent_file.open("wb") as first, received_file.open("wb") as second:
        sent, received = BlockWriter(first, records.SENT), BlockWriter(second, records.RECEIVED)
        for start in range(0, packets, SEGMENT):
            number = np.arange(start, min(start + SEGMENT, packets))
            mixed = (number * 0x9E3779B1 & 0xFFFFFFFF) >> 8
            late = (mixed & 0x7F) + np.where(number % 50 == 9, 300, 0)
            delay = 4000 + (mixed >> 7 & 0x1FF)
            # These arrive behind the four that were sent after them.
            delay += np.where(number % 10_000 == 5000, 7300, 0)
            times = number * GAP_NS + late
            sent.add(number, number * GAP_NS, late)
            came = (number % 1000 != 7) & (number < packets - TAIL)
            again = came & (number % 20_000 == 11)
            sequence = np.concatenate([number[came], number[again]])
            true = np.concatenate([delay[came], delay[again] + 6000])
            left = np.concatenate([times[came], times[again]])
            order = np.argsort(left + true, kind="stable")
            arrival = left + true + np.rint(LINE.at(left)).astype(np.int64)
            received.add(sequence[order], arrival[order], arrival[order])
            note(answers, number, late, delay, came)
            note_order(answers, sequence[order], true[order], order < came.sum())
        sent.finish()
        received.finish()
    return answers


def note(
    answers: Planted, number: Integers, late: Integers, delay: Integers, came: NDArray[np.bool_]
) -> None:
    """What is reported in the order of sequence."""
    assert answers.delays is not None
    assert answers.late is not None
    answers.sent += len(number)
    answers.late += np.bincount(late, minlength=len(answers.late))
    answers.delays += np.bincount(delay[came], minlength=len(answers.delays))
    known, values = number[came], delay[came]
    if answers.before:
        known = np.concatenate([[answers.before[0]], known])
        values = np.concatenate([[answers.before[1]], values])
    steps = np.abs(np.diff(values))[np.diff(known) == 1]
    answers.adjacent += float(steps.sum())
    answers.adjacent_count += len(steps)
    if len(known):
        answers.before = (int(known[-1]), int(values[-1]))


def note_order(
    answers: Planted, sequence: Integers, delay: Integers, original: NDArray[np.bool_]
) -> None:
    """What is reported in the order of arrival."""
    answers.copies += int((~original).sum())
    firsts, values = sequence[original], delay[original]
    answers.received += len(firsts)
    answers.reordered += int((firsts < np.maximum.accumulate(firsts)).sum())
    if answers.last_delay is not None:
        values = np.concatenate([[answers.last_delay], values])
    steps = np.abs(np.diff(values)).astype(float)
    if len(steps):
        series, _ = lfilter([1 / 16], [1, -15 / 16], steps, zi=[15 / 16 * answers.smoothed])
        answers.smoothed = float(series[-1])
        answers.smoothed_sum += float(series.sum())
        answers.steps += float(steps.sum())
    if len(values):
        answers.last_delay = int(values[-1])


def wrong(found: flow_metrics.FlowMetrics, answers: Planted) -> list[str]:
    """What differs from what was planted: counts exactly, times by 1 ns (arrivals are whole ns)."""
    assert answers.delays is not None
    assert answers.late is not None
    assert found.delay is not None
    steps = answers.received - 1
    exact = {
        "packets sent": (found.sent, answers.sent),
        "packets received": (found.received, answers.received),
        "lost share": (found.lost_ratio, 1 - answers.received / answers.sent),
        "share of further copies": (found.duplicate_ratio, answers.copies / answers.sent),
        "reordered share": (found.reordered_ratio, answers.reordered / answers.received),
    }
    total = answers.delays @ np.arange(len(answers.delays))
    close = {
        "mean delay": (found.delay.mean, total / answers.received),
        "smallest delay": (found.delay.minimum, int(np.flatnonzero(answers.delays)[0])),
        "longest delay": (found.delay.maximum, int(np.flatnonzero(answers.delays)[-1])),
        "IPDV": (found.ipdv_mean_abs, answers.adjacent / answers.adjacent_count),
        "mean jitter": (found.jitter_mean, answers.smoothed_sum / steps),
        "last jitter": (found.jitter, answers.smoothed),
        "D-ITG's jitter": (found.ditg_jitter, answers.steps / steps),
        "lateness p99": (found.lateness_p99, ranked(answers.late, 0.99)),
        **{
            f"delay {name}": (found.delay.quantiles.get(name), ranked(answers.delays, share))
            for name, share in flow_metrics.QUANTILES.items()
        },
    }
    return [
        f"{name}: {value}, planted {right}"
        for name, (value, right) in exact.items()
        if value is None or abs(value - right) > 1e-12 * abs(right)
    ] + [
        f"{name}: {value} s, planted {right} ns"
        for name, (value, right) in close.items()
        if value is None or abs(value * 1e9 - right) > 1.0
    ]


def ranked(counts: Integers, share: float) -> int:
    """Nearest rank from how often each value occurs."""
    rank = int(np.ceil(share * counts.sum()))
    return int(np.searchsorted(np.cumsum(counts), rank))


@contextmanager
def mapped(path: Path) -> Iterator[mmap.mmap]:
    with path.open("rb") as file:
        yield mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def by_arrays(sent: Path, received: Path) -> flow_metrics.FlowMetrics:
    with mapped(sent) as first, mapped(received) as second:
        both = join.join(records.Records(first), records.Records(second))
        return flow_metrics.compute(both, LINE)


def by_the_agent(sent: Path, received: Path) -> flow_metrics.FlowMetrics:
    return by_agent.flow_metrics(agent.locate(), sent, received, LINE)


OURS = {"agent": by_the_agent, "arrays": by_arrays}


def ditg_log(folder: Path, seconds: int = 8) -> Path | None:
    """A log of D-ITG's receiver; none without D-ITG."""
    send, receive = (shutil.which(name) for name in ("ITGSend", "ITGRecv"))
    if not (send and receive and shutil.which("ITGDec")):
        return None
    log, silent = folder / "received.log", subprocess.DEVNULL
    server = subprocess.Popen([receive], stdin=silent, stdout=silent, stderr=silent)
    try:
        time.sleep(0.5)
        words = ["-a", "127.0.0.1", "-T", "UDP", "-C", "300000", "-c", "64"]
        words += ["-t", str(1000 * seconds), "-x", str(log)]
        subprocess.run([send, *words], stdin=silent, stdout=silent, stderr=silent, check=True)
    finally:
        server.terminate()
        server.wait()
    return log


def itgdec(log: Path) -> int:
    """Decode a log; how many records it has."""
    # Its progress, a character for each record, goes to the other stream.
    done = subprocess.run(
        ["ITGDec", str(log)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    total = done.stdout.decode(errors="replace").rsplit("Total packets", 1)[-1]
    return int(total.split("=")[1].split()[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--packets", type=int, default=100_000_000, help="packets that are sent")
    parser.add_argument("--rounds", type=int, default=3, help="how often each takes its turn")
    parser.add_argument("--folder", type=Path, help="where the files go (temporary by default)")
    arguments = parser.parse_args()
    found: dict[str, flow_metrics.FlowMetrics] = {}
    taken: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        ends = folder / "sent", folder / "received"
        print(f"planting {arguments.packets:,} packets", flush=True)
        answers = plant(arguments.packets, *ends)
        every = answers.sent + answers.received + answers.copies
        log = ditg_log(folder)
        for _ in range(arguments.rounds):
            for by, table in OURS.items():
                start = time.perf_counter()
                found[by] = table(*ends)
                taken.setdefault(by, []).append((time.perf_counter() - start) / every)
            if log:
                start = time.perf_counter()
                count = itgdec(log)
                taken.setdefault("ITGDec", []).append((time.perf_counter() - start) / count)
    each = {by: statistics.median(times) for by, times in taken.items()}
    for by, seconds in each.items():
        print(f"{by}: {1e9 * seconds:.1f} ns a record, {1e-6 / seconds:.1f} M records/s")
    for by in OURS:
        print(f"100 M records by {by}: {1e8 * each[by]:.2f} s (target: 10 s)")
    if log:
        ratios = {
            by: statistics.median(
                theirs / ours for ours, theirs in zip(taken[by], taken["ITGDec"], strict=True)
            )
            for by in OURS
        }
        for by, ratio in ratios.items():
            print(f"ITGDec / {by}, per record: {ratio:.1f} (target: 20)")
    else:
        print("ITGDec was not found")
    peaks = [resource.getrusage(who).ru_maxrss / 1e6
             for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]  # fmt: skip
    print(f"peak memory with the mapped files: agent {peaks[0]:.1f} GB, arrays {peaks[1]:.1f} GB")
    faults = [f"{by}: {fault}" for by in OURS for fault in wrong(found[by], answers)]
    if faults:
        print("\n".join(["NOT what was planted:", *faults]))
        return 1
    packets = found["agent"]
    print(
        f"as planted: {packets.lost_ratio:.4%} lost, {packets.duplicate_ratio:.4%} further copies, "
        f"{packets.reordered_ratio:.4%} reordered, delays, jitter and lateness to 1 ns"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
