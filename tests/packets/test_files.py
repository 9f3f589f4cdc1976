"""Files of records, joined piece by piece: as a plain reading of the definitions has it."""

import zlib
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pentathlon.packets import by_agent, clocks, flow_metrics, join, records, series
from pentathlon.protocol import agent

LINE = clocks.ClockDifference(0, 1e9, 1e-5, 10.0, 5)
GAP, LENGTH = 10_000, 90


def file_of(kind: int, rows: Sequence[tuple[int, int, int]], in_block: Sequence[int]) -> bytes:
    """Sequence, time and lateness of packets, in blocks of these lengths and a last one."""
    made, at = b"", 0
    for count in [*in_block, len(rows)]:
        part = rows[at : at + count]
        at += len(part)
        if not part:
            continue
        body, head = np.zeros(len(part), records.RECORD), np.zeros(1, records.HEADER)
        base, base_ns, _ = part[0]
        for record, (sequence, time_ns, late) in zip(body, part, strict=True):
            number = late if kind == records.SENT else (sequence - base) % 2**32
            record["time"], record["number"], record["length"] = time_ns - base_ns, number, LENGTH
        head["magic"], head["kind"], head["count"] = b"PTR1", kind, len(part)
        head["base_sequence"], head["base_ns"] = base, base_ns
        crc = zlib.crc32(body.tobytes(), zlib.crc32(head.tobytes()[:44]))
        head["crc"] = crc
        made += head.tobytes() + body.tobytes()
    return made


def sent_file(count: int, in_block: Sequence[int]) -> bytes:
    return file_of(records.SENT, [(n, n * GAP, n % 7) for n in range(count)], in_block)


def arrivals(order: Sequence[int]) -> list[tuple[int, int, int]]:
    """Each a µs behind the one before, by a clock that is 1 s and 10 ppm ahead."""
    times = np.arange(len(order)) * 1000 + 3_000_000
    return [
        (int(n), int(t + 10**9 + round(1e-5 * n * GAP)), 0)
        for n, t in zip(order, times, strict=True)
    ]


def plainly(count: int, rows: list[tuple[int, int, int]]) -> dict[str, float | None]:
    """The definitions, read one packet after the other."""
    seen: dict[int, float] = {}
    highest, reordered, copies, unsent = -1, 0, 0, 0
    for sequence, arrival, _ in rows:
        if sequence >= count:
            unsent += 1
        elif sequence in seen:
            copies += 1
        else:
            left = sequence * GAP + sequence % 7
            seen[sequence] = (arrival - left - 1e9 - 1e-5 * left) * 1e-9
            reordered += sequence < highest
        highest = max(highest, sequence) if sequence < count else highest
    delays = list(seen.values())
    steps = [abs(b - a) for a, b in pairwise(delays)]
    near = [abs(seen[n + 1] - seen[n]) for n in seen if n + 1 in seen]
    smoothed, series_sum = 0.0, 0.0
    for step in steps:
        smoothed += (step - smoothed) / 16
        series_sum += smoothed
    return {
        "received": len(seen),
        "lost_ratio": 1 - len(seen) / count,
        "duplicate_ratio": copies / count,
        "reordered_ratio": reordered / len(seen) if seen else None,
        "ipdv_mean_abs": sum(near) / len(near) if near else None,
        "ditg_jitter": sum(steps) / len(steps) if steps else None,
        "jitter": smoothed if steps else None,
        "jitter_mean": series_sum / len(steps) if steps else None,
        "unsent": unsent,
        "mean": sum(delays) / len(delays) if delays else None,
        "median": sorted(delays)[(len(delays) + 1) // 2 - 1] if delays else None,
    }


@settings(max_examples=150, deadline=None)
@given(
    count=st.integers(1, 60),
    order=st.lists(st.integers(0, 63), max_size=120),
    cuts=st.lists(st.integers(1, 9), max_size=8),
)
def test_any_order_of_arrival_is_judged_as_the_definitions_say(
    count: int, order: list[int], cuts: list[int]
) -> None:
    check(count, order, cuts)


@pytest.mark.parametrize("stretch", [7, 64])
def test_stretches_that_threads_look_at_add_up(
    monkeypatch: pytest.MonkeyPatch, stretch: int
) -> None:
    monkeypatch.setattr(series, "STRETCH", stretch)
    random = np.random.default_rng(5)
    order = np.argsort(np.arange(900) + random.integers(0, 4, 900)).tolist()
    kept = [n for n in order if n % 13 and n < 880] + [3, 500, 3]
    check(900, kept, [50] * 30)


@pytest.mark.parametrize("seed", range(6))
def test_the_agent_says_the_same_of_whole_files(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    count, cuts = int(random.integers(1, 4000)), random.integers(1, 700, 9).tolist()
    order = np.argsort(np.arange(count) + random.integers(0, 1 + seed, count))
    kept = order[random.random(count) > 0.1 * seed]
    rows = arrivals([*kept.tolist(), *random.integers(0, count + 3, 20 * seed).tolist()])
    if seed == 5:
        rows = []
    files = tmp_path / "sent", tmp_path / "received"
    ends = sent_file(count, cuts), file_of(records.RECEIVED, rows, cuts)
    for file, data in zip(files, ends, strict=True):
        file.write_bytes(data)
    both = join.join(*(records.Records(data) for data in ends))
    for line in (LINE, None):
        wanted = asdict(flow_metrics.compute(both, line))
        found = asdict(by_agent.flow_metrics(agent.locate(), *files, line))
        # Without the clocks' difference the delays are about a second, and double's last bit shows.
        compared(found, wanted, 1e-12 if line else 1e-9)


def compared(found: dict[str, Any], wanted: dict[str, Any], within: float) -> None:
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        if isinstance(value, dict):
            compared(found[name], value, within)
        elif value is None:
            assert found[name] is None, name
        else:
            assert found[name] == pytest.approx(value, abs=within, rel=1e-9), name


def test_the_agent_tells_the_place_of_damage_too(tmp_path: Path) -> None:
    data = bytearray(sent_file(300, [100, 100]))
    second = records.HEADER.itemsize + 100 * records.RECORD.itemsize
    file, nothing = tmp_path / "sent", tmp_path / "received"
    nothing.touch()
    file.write_bytes(data[:-1])
    with pytest.raises(records.RecordsError, match=f"block at byte {2 * second} is cut off"):
        by_agent.flow_metrics(agent.locate(), file, nothing, None)
    data[second + 60] ^= 1
    file.write_bytes(data)
    with pytest.raises(records.RecordsError, match=f"at byte {second} is damaged"):
        by_agent.flow_metrics(agent.locate(), file, nothing, None)
    # Sequences that no memory would hold.
    data[2 * second + 23] ^= 1
    file.write_bytes(data)
    with pytest.raises(records.RecordsError, match=f"at byte {2 * second} is damaged"):
        by_agent.flow_metrics(agent.locate(), file, nothing, None)


def check(count: int, order: list[int], cuts: list[int]) -> None:
    rows = arrivals(order)
    both = join.join(
        records.Records(sent_file(count, cuts)),
        records.Records(file_of(records.RECEIVED, rows, cuts)),
    )
    found = flow_metrics.compute(both, LINE)
    wanted = plainly(count, rows)
    for name in wanted.keys() - {"unsent", "mean", "median"}:
        got = getattr(found, name)
        assert got == pytest.approx(wanted[name], abs=1e-12), name
    assert both.unsent == wanted["unsent"]
    if wanted["mean"] is None:
        assert found.delay is None
    else:
        assert found.delay is not None
        assert found.delay.mean == pytest.approx(wanted["mean"], abs=1e-12)
        assert found.delay.quantiles["p50"] == pytest.approx(wanted["median"], abs=1e-12)


def test_whole_files_and_pieces_say_the_same() -> None:
    data = sent_file(500, [100, 100, 100, 7])
    whole, file = records.packets(data), records.Records(data)
    assert (len(whole), whole.sequences) == (len(file), file.sequences) == (500, 500)
    for name in ("sequence", "time_ns", "late_ns", "length", "flags"):
        parts = np.concatenate([getattr(piece, name) for piece in file.pieces()])
        assert (parts == getattr(whole, name)).all(), name
    assert (whole.time_ns == np.arange(500) * GAP).all()
    assert (whole.late_ns == np.arange(500) % 7).all()


def test_damage_and_torn_ends_are_told_with_their_place() -> None:
    data = bytearray(sent_file(300, [100, 100]))
    second = records.HEADER.itemsize + 100 * records.RECORD.itemsize
    with pytest.raises(records.RecordsError, match=f"block at byte {2 * second} is cut off"):
        records.Records(bytes(data[:-1]))
    data[second + 60] ^= 1
    with pytest.raises(records.RecordsError, match=f"at byte {second} is damaged"):
        join.join(records.Records(bytes(data)), records.Records(b""))
