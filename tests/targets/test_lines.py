"""The agent's output: events, other text, torn lines."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pentathlon.machine.errors import TargetError
from pentathlon.protocol.events import Done
from pentathlon.targets.lines import LONGEST_LINE, EventLines

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
events = st.builds(
    lambda kind, rest: {"event": kind} | {k: v for k, v in rest.items() if k != "event"},
    st.sampled_from(["sample", "log", "progress"]),
    st.dictionaries(st.text(), values, max_size=4),
)


def encode(items: list[dict[str, object]]) -> bytes:
    return b"".join(json.dumps(item).encode() + b"\n" for item in items)


def feed(data: bytes, cuts: list[int]) -> tuple[EventLines, list[dict[str, object]]]:
    lines = EventLines([])
    found: list[dict[str, object]] = []
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    for start, end in pairwise(edges):
        found += lines.feed(data[start:end])
    return lines, found


@given(st.lists(events, max_size=8), st.lists(st.integers(0, 10**6), max_size=20))
def test_events_survive_any_cut_into_reads(items: list[dict[str, object]], cuts: list[int]) -> None:
    lines, found = feed(encode(items), cuts)
    assert found == items
    assert lines.samples == sum(item["event"] == "sample" for item in items)
    assert lines.rest() == ""


@given(st.lists(events, min_size=2, max_size=6), st.data())
def test_a_lost_newline_is_found(items: list[dict[str, object]], data: st.DataObject) -> None:
    text = encode(items)
    places = [index for index, byte in enumerate(text) if byte == ord("\n")]
    lost = data.draw(st.sampled_from(places[:-1]))
    with pytest.raises(TargetError, match="torn"):
        feed(text[:lost] + text[lost + 1 :], [])


@given(st.lists(events, min_size=1, max_size=6), st.data())
def test_lost_samples_are_counted(items: list[dict[str, object]], data: st.DataObject) -> None:
    samples = [item for item in items if item["event"] == "sample"]
    kept = data.draw(st.lists(st.sampled_from(items), max_size=len(items)))
    lines, _ = feed(encode(kept), [])
    arrived = sum(item["event"] == "sample" for item in kept)
    done = Done(event="done", samples=len(samples), errors=0, t_ns=0)
    if arrived == len(samples):
        lines.check_done(done)
    else:
        with pytest.raises(TargetError, match=f"sent {len(samples)} samples and {arrived} arr"):
            lines.check_done(done)


def test_kernel_text_is_kept_apart() -> None:
    log: list[str] = []
    lines = EventLines(log)
    text = b'Linux version 6.1\r\n{ not an event\n[ 0.5] x {"event":"log"}\r\nreboot: halt\n'
    assert lines.feed(text) == [{"event": "log"}]
    assert log == ["Linux version 6.1", "{ not an event", "[ 0.5] x", "reboot: halt"]


def test_text_that_runs_into_a_later_event_is_torn() -> None:
    lines = EventLines([])
    with pytest.raises(TargetError, match="other text runs into an event"):
        lines.feed(b'{"event":"log"}\n[ 1.0] oops{"event":"sample"}\n')


@pytest.mark.parametrize("line", [b"[1]", b"{}", b'{"event":5}', b'{"value":1}'])
def test_json_that_is_no_event(line: bytes) -> None:
    lines = EventLines([])
    lines.feed(b'{"event":"log"}\n')
    if line == b"[1]":
        assert lines.feed(line + b"\n") == []
    else:
        with pytest.raises(TargetError, match='without "event"'):
            lines.feed(line + b"\n")


def test_a_line_without_end_is_refused() -> None:
    lines = EventLines([])
    with pytest.raises(TargetError, match="without a newline"):
        for _ in range(LONGEST_LINE // 65536 + 2):
            lines.feed(b"x" * 65536)
