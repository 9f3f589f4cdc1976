"""Captures are read, streams are put together, and round trips counted: planted connections."""

from __future__ import annotations

import struct
from heapq import heappush

import pytest

from pentathlon.exchange.pcapng import CaptureError, read
from pentathlon.experiments.file_services.capture import http, http2, smb
from pentathlon.experiments.file_services.capture.exchanges import Exchange, turns
from pentathlon.experiments.file_services.capture.rounds import round_trips, shortest_ns
from pentathlon.experiments.file_services.capture.segments import Segment, segments
from pentathlon.experiments.file_services.capture.streams import (
    Conversation,
    Reordered,
    Stream,
    conversations,
)
from pentathlon.experiments.file_services.capture.summary import summarise
from tests.experiments.file_services.packets import ACK, CLIENT, FIN, SERVER, Line, pcapng


def talk(line: Line) -> Conversation:
    (found,) = conversations(segments(line.frames, CLIENT, SERVER))
    return found


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_file_of_either_byte_order_gives_its_frames_and_drops(order: str) -> None:
    frames = [(2**33 + 5, b"x" * 61, 61), (2**33 + 7, b"y" * 60, 1514)]
    capture = read(pcapng(frames, order, dropped=3))
    assert [(f.time_ns, f.data, f.length) for f in capture.frames] == frames
    assert capture.dropped == 3


def test_a_torn_file_and_another_one_are_refused() -> None:
    whole = pcapng([(1, b"x" * 60, 60)])
    with pytest.raises(CaptureError, match="torn"):
        read(whole[:-5])
    with pytest.raises(CaptureError, match="no pcapng"):
        read(b"\xd4\xc3\xb2\xa1" + whole[4:])


def test_what_the_kernel_dropped_makes_a_capture_worthless() -> None:
    line = Line()
    line.handshake()
    with pytest.raises(CaptureError, match="lacks 2 frames"):
        summarise(read(pcapng(line.frames, dropped=2)), CLIENT, SERVER, "smb")


def test_a_stream_is_whole_whatever_the_order_of_its_segments() -> None:
    line = Line()
    line.handshake(50)
    line.put(60, False, 1001 + 100, 1001, ACK, 1000, b"b" * 100)
    # Ten ms later than the hole was seen: overtaken on the way, not sent again.
    line.put(70, False, 1001, 1001, ACK, 1000, b"a" * 100)
    line.put(80, False, 1001 + 200, 1001, ACK | FIN, 1000, b"c")
    found = talk(line)
    assert bytes(found.down.data) == b"a" * 100 + b"b" * 100 + b"c"
    assert [found.down.time(at) // 1_000_000 for at in (0, 99, 100, 199, 200)] == [70] * 4 + [80]
    assert found.retransmitted == 0 and found.down.finished


def test_what_fills_a_hole_a_round_trip_later_was_sent_again() -> None:
    line = Line()
    line.handshake(50)
    line.put(60, False, 1101, 1001, ACK, 1000, b"b" * 100)
    line.put(115, False, 1001, 1001, ACK, 1000, b"a" * 100)
    line.put(116, False, 1001, 1001, ACK, 1000, b"a" * 100)
    assert talk(line).retransmitted == 2


def stamped(value: int) -> bytes:
    return b"\1\1\x08\x0a" + struct.pack(">II", value, 1)


@pytest.mark.parametrize(("stamp", "again"), [(499, 0), (500, 0), (560, 1)])
def test_a_timestamp_tells_when_what_fills_a_hole_was_sent(stamp: int, again: int) -> None:
    line = Line()
    line.handshake(50)
    line.put(50, False, 1001, 1001, ACK, 1000, b"a" * 100, stamped(440))
    # A frame that overtook others, which come two round trips later: the link stood still.
    line.put(110, False, 1201, 1001, ACK, 1000, b"c" * 100, stamped(500))
    line.put(210, False, 1101, 1001, ACK, 1000, b"b" * 100, stamped(stamp))
    line.put(211, False, 1301, 1001, ACK, 1000, b"d" * 100, stamped(601))
    found = talk(line)
    assert found.retransmitted == again
    assert bytes(found.down.data) == b"a" * 100 + b"b" * 100 + b"c" * 100 + b"d" * 100


def test_what_is_sent_again_may_come_before_what_it_was_sent_for() -> None:
    line = Line()
    line.handshake(50)
    line.put(60, False, 1101, 1001, ACK, 1000, b"b" * 100, stamped(440))
    line.put(115, False, 1001, 1001, ACK, 1000, b"a" * 100, stamped(495))
    line.put(116, False, 1001, 1001, ACK, 1000, b"a" * 100, stamped(440))
    assert talk(line).retransmitted == 1
    line.put(117, False, 1001, 1001, ACK, 1000, b"a" * 100, stamped(497))
    assert talk(line).retransmitted == 2


def test_each_hole_has_a_time_of_its_own() -> None:
    line = Line()
    line.handshake(50)
    line.put(60, False, 1101, 1001, ACK, 1000, b"b" * 100)
    line.put(110, False, 1301, 1001, ACK, 1000, b"d" * 100)
    # The second hole is 5 ms old, though the first has been there for 55 ms.
    line.put(115, False, 1201, 1001, ACK, 1000, b"c" * 100)
    assert talk(line).retransmitted == 0
    line.put(116, False, 1001, 1001, ACK, 1000, b"a" * 100)
    assert talk(line).retransmitted == 1


def test_numbers_run_over_the_end_of_their_range() -> None:
    line = Line()
    top = 2**32 - 50
    line.put(0, False, top, 0, ACK, 1000, b"a" * 100)
    line.put(1, False, top + 100, 0, ACK, 1000, b"b" * 100)
    found = talk(line)
    assert bytes(found.down.data) == b"a" * 100 + b"b" * 100 and found.retransmitted == 0


def windowed(window: int, total: int, round_trip: float = 50) -> Line:
    """A server that fills the client's window, and a client that takes it all at once."""
    line = Line()
    line.handshake(round_trip, window)
    now, sent = round_trip, 0
    line.put(now, True, 1001, 1001, ACK, window, b"get!")
    while sent < total:
        now += round_trip
        for at in range(sent, min(total, sent + window), 1000):
            line.put(now, False, 1001 + at, 1005, ACK, 1000, b"d" * min(1000, total - at))
        sent = min(total, sent + window)
        line.put(now, True, 1005, 1001 + sent, ACK, window)
    return line


@pytest.mark.parametrize(("window", "windows"), [(17_000, 59), (50_000, 20), (65_000, 16)])
def test_a_window_costs_a_round_trip_each_time_it_is_full(window: int, windows: int) -> None:
    # One for the handshake, then one for each window.
    assert round_trips([talk(windowed(window, 1_000_000))]) == 1 + windows


def test_a_handshake_that_was_slow_hides_no_round_trip() -> None:
    line = Line()
    line.handshake(round_trip_ms=60)
    now = 60.0
    for number in range(10):
        line.put(now, True, 1001 + 4 * number, 1001 + 10 * number, ACK, 1000, b"ask!")
        line.put(now + 0.1, True, 1005 + 4 * number, 1001 + 10 * number, ACK, 1000)
        line.put(now + 50, False, 1001 + 10 * number, 1005 + 4 * number, ACK, 1000, b"a" * 10)
        # A word of the client that carries nothing comes before its next question.
        line.put(now + 50.1, True, 1005 + 4 * number, 1011 + 10 * number, ACK, 1000)
        now += 50.3
    assert round_trips([talk(line)]) == 1 + 10
    assert shortest_ns(talk(line)) == 50_000_000


def test_what_is_sent_again_is_no_measure_of_a_round_trip() -> None:
    line = Line()
    line.handshake(50)
    line.put(50, True, 1001, 1001, ACK, 1000, b"ask!")
    line.put(120, False, 1001, 1005, ACK, 1000, b"a")
    line.put(121, True, 1001, 1002, ACK, 1000, b"ask!")
    line.put(122, False, 1002, 1005, ACK, 1000, b"b")
    assert shortest_ns(talk(line)) == 50_000_000


def test_pipelined_questions_are_one_turn_and_waiting_ones_are_as_many_as_they_are() -> None:
    together = [Exchange("READ", 0, 50, 60 + n) for n in range(8)]
    waiting = [Exchange("READ", 100 * n, 100 * n + 50, 100 * n + 60) for n in range(8)]
    assert (turns(together), turns(waiting)) == (1, 8)


def smb2(command: int, number: int, answer: bool, status: int = 0, body: bytes = b"") -> bytes:
    header = struct.pack(
        "<4sHHIHHIIQ", b"\xfeSMB", 64, 1, status, command, 1, int(answer), 0, number
    ).ljust(64, b"\0")
    return struct.pack(">I", len(header + body)) + header + body


def test_an_answer_that_is_pending_is_waited_for() -> None:
    line = Line()
    line.handshake(50)
    ask = smb2(8, 7, answer=False)
    line.put(50, True, 1001, 1001, ACK, 1000, ask)
    first = smb2(8, 7, answer=True, status=smb.PENDING)
    line.put(100, False, 1001, 1001 + len(ask), ACK, 1000, first)
    last = smb2(8, 7, answer=True, body=b"x" * 100)
    line.put(180, False, 1001 + len(first), 1001 + len(ask), ACK, 1000, last)
    (found,) = smb.exchanges(talk(line))
    assert (found.name, found.data, found.failed) == ("READ", True, None)
    assert (found.ended_ns - found.requested_ns) / 1e6 == 130


def test_a_refusal_is_told_and_a_message_that_never_ends_is_no_answer() -> None:
    line = Line()
    line.handshake(50)
    ask = smb2(5, 1, answer=False) + smb2(8, 2, answer=False)
    line.put(50, True, 1001, 1001, ACK, 1000, ask)
    answers = smb2(5, 1, answer=True, status=0xC0000022) + smb2(8, 2, answer=True)[:-5]
    line.put(100, False, 1001, 1001 + len(ask), ACK, 1000, answers)
    (found,) = smb.exchanges(talk(line))
    assert (found.name, found.failed) == ("CREATE", "0xC0000022")


def test_an_http_exchange_ends_with_its_body() -> None:
    line = Line()
    line.handshake(50)
    ask = b"GET /document.doc HTTP/1.1\r\nHost: x\r\n\r\n"
    line.put(50, True, 1001, 1001, ACK, 1000, ask)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1500\r\n\r\n"
    line.put(100, False, 1001, 1001 + len(ask), ACK, 1000, head + b"x" * 700)
    line.put(110, False, 1701 + len(head), 1001 + len(ask), ACK, 1000, b"x" * 800)
    (found,) = http.exchanges(talk(line))
    assert (found.name, found.failed) == ("GET", None)
    assert ((found.began_ns - found.requested_ns) / 1e6, found.ended_ns / 1e6) == (50, 110)


def test_frames_of_http_2_are_gathered_by_stream() -> None:
    def part(kind: int, flags: int, number: int, body: bytes) -> bytes:
        return (
            len(body).to_bytes(3, "big") + bytes([kind, flags]) + number.to_bytes(4, "big") + body
        )

    line = Line()
    line.handshake(50)
    ask = http2.PREFACE + part(4, 0, 0, b"") + part(1, 5, 1, b"\x82") + part(1, 5, 3, b"\x82")
    line.put(50, True, 1001, 1001, ACK, 1000, ask)
    answer = part(1, 4, 3, b"\x88") + part(1, 4, 1, b"\x88") + part(0, 1, 3, b"y" * 9)
    line.put(100, False, 1001, 1001 + len(ask), ACK, 1000, answer)
    end = part(0, 1, 1, b"x" * 9)
    line.put(120, False, 1001 + len(answer), 1001 + len(ask), ACK, 1000, end)
    found = http.exchanges(talk(line))
    assert [one.ended_ns // 1_000_000 for one in found] == [100, 120]


def test_the_task_on_a_mapped_drive_begins_after_its_share_is_connected() -> None:
    line = Line()
    line.handshake(50)
    up, down, now = 1001, 1001, 50.0
    for number, command in enumerate((0, 1, 3, 5, 8, 6, 4)):
        ask, answer = smb2(command, number, False), smb2(command, number, True)
        line.put(now, True, up, down, ACK, 1000, ask)
        up += len(ask)
        now += 50
        line.put(now, False, down, up, ACK, 1000, answer)
        down += len(answer)
        now += 1  # The client thinks: no packet of one exchange has the time of another's.
    found = summarise(read(pcapng(line.frames)), CLIENT, SERVER, "smb")
    # CREATE, READ, CLOSE: three questions, three round trips, and two pauses between them.
    assert [one.name for one in found.exchanges or []] == ["CREATE", "READ", "CLOSE"]
    assert (found.task_s, found.round_trips, found.turns) == (0.152, 3, 3)
    assert found.metadata == 2 and found.packets == 6


class Counted(int):
    """A number that counts how often it is compared."""

    compared = 0

    def __lt__(self, other: int) -> bool:
        Counted.compared += 1
        return int(self) < int(other)

    def __gt__(self, other: int) -> bool:
        Counted.compared += 1
        return int(self) > int(other)


def test_what_waits_behind_a_hole_is_not_looked_through_for_each_segment() -> None:
    stream = Stream()
    waiting = 500
    for number in range(waiting):
        offset = Counted(10 + 10 * number)
        stream.take(Segment(number, False, (1, 2), 0, 0, ACK, 0, b"", 60), Reordered())
        stream._waiting[offset] = (b"x" * 10, number)
        heappush(stream._order, offset)
        stream._join(number)
    assert Counted.compared < 20 * waiting
    stream.take(Segment(waiting, False, (1, 2), 0, 0, ACK, 0, b"y" * 10, 60), Reordered())
    assert bytes(stream.data) == b"y" * 10 + b"x" * 10 * waiting
