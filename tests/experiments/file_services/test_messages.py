"""Messages of HTTP and NFS are told apart in planted streams."""

from __future__ import annotations

import struct
from contextlib import nullcontext

import pytest

from pentathlon.experiments.file_services.capture import http, http2, nfs
from pentathlon.experiments.file_services.capture.exchanges import Exchange
from pentathlon.experiments.file_services.capture.segments import segments
from pentathlon.experiments.file_services.capture.streams import Conversation, conversations
from tests.experiments.file_services.packets import ACK, CLIENT, FIN, SERVER, Line

GET = b"GET /document.doc HTTP/1.1\r\nHost: x\r\n\r\n"


def talk(sent: bytes, answered: bytes, flags: int = ACK) -> Conversation:
    """A client that asks at 50 ms and a server that answers at 100 ms."""
    line = Line()
    line.handshake(50)
    line.put(50, True, 1001, 1001, ACK, 1000, sent)
    line.put(100, False, 1001, 1001 + len(sent), flags, 1000, answered)
    (found,) = conversations(segments(line.frames, CLIENT, SERVER))
    return found


def names(found: list[Exchange]) -> list[tuple[str, str | None]]:
    return [(one.name, one.failed) for one in found]


def test_bodies_end_by_length_by_chunks_and_with_the_connection() -> None:
    chunked = b"4;x=y\r\nabcd\r\nA\r\n\r\n\r\n\r\nabcd\r\n0\r\n\r\n"
    answers = (
        b"HTTP/1.1 100 Continue\r\n\r\n"
        b"HTTP/1.1 207 Multi-Status\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked
        + b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\n\r\n\r\n"
        + b"HTTP/1.1 200 OK\r\n\r\nall that comes\r\n\r\nuntil the end"
    )  # fmt: skip
    sent = b"PROPFIND / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc" + GET + GET
    found = http.exchanges(talk(sent, answers, ACK | FIN))
    assert names(found) == [("PROPFIND", None), ("GET", "404"), ("GET", None)]
    assert [one.data for one in found] == [False, True, True]


@pytest.mark.parametrize(
    "torn", [b"Content-Length: 9\r\n\r\nshort", b"Transfer-Encoding: chunked\r\n\r\n9\r\nshort"]
)
def test_an_answer_without_its_end_is_none(torn: bytes) -> None:
    assert http.exchanges(talk(GET, b"HTTP/1.1 200 OK\r\n" + torn)) == []


def frame(kind: int, flags: int, number: int, body: bytes) -> bytes:
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + number.to_bytes(4, "big") + body


def literal(value: bytes) -> bytes:
    """The header ":method" with a value that no table has (RFC 7541, section 6.2.2)."""
    return b"\x02" + bytes([len(value)]) + value


def test_headers_of_http_2_are_padded_go_on_and_wait_for_their_data() -> None:
    method = literal(b"PROPFIND")
    sent = (
        http2.PREFACE + frame(4, 0, 0, b"")
        # PADDED and PRIORITY: one byte for the padding's length, five of priority.
        + frame(1, 8 | 32, 1, b"\x03" + bytes(5) + method[:4] + bytes(3))
        + frame(9, 4, 1, method[4:])
        + frame(0, 1, 1, b"<propfind/>")
        + frame(1, 5, 3, b"\x82")
    )  # fmt: skip
    answered = (
        frame(1, 4, 1, b"\x08\x03207") + frame(0, 1, 1, b"<multistatus/>") + frame(1, 5, 3, b"\x8d")
    )
    found = http.exchanges(talk(sent, answered))
    assert names(found) == [("PROPFIND", None), ("GET", "404")]
    assert [one.data for one in found] == [False, True]


def asks(*blocks: bytes) -> Conversation:
    """A client that sends these header blocks, each of a request of its own."""
    frames = (frame(1, 5, 2 * number + 1, block) for number, block in enumerate(blocks))
    return talk(http2.PREFACE + b"".join(frames), b"")


@pytest.mark.parametrize(
    ("kind", "flags", "number", "body", "reason"),
    [
        (1, 4 | 8, 1, b"\x09\x82", "Padding is too long"),
        (1, 4 | 8 | 32, 1, b"\x02" + bytes(5) + b"\x82", "Padding is too long"),
        (1, 4 | 8, 1, b"", "Invalid Padding data"),
        (1, 4 | 32, 1, bytes(4), "Invalid Priority data"),
        (0, 0, 0, b"data", "Stream ID must be non-zero for DataFrame"),
    ],
)
def test_a_damaged_frame_of_http_2_is_refused_with_its_place(
    kind: int, flags: int, number: int, body: bytes, reason: str
) -> None:
    sent = http2.PREFACE + frame(1, 5, 1, b"\x82") + frame(kind, flags, number, body)
    with pytest.raises(http2.Http2Error, match=f"at byte 34 of its stream .*: {reason}$"):
        http.exchanges(talk(sent, b""))


def test_a_frame_of_http_2_that_is_not_whole_ends_the_messages() -> None:
    whole = frame(1, 5, 1, b"\x88")
    for torn in (whole[:8], whole[:9]):
        sent = http2.PREFACE + frame(1, 5, 1, b"\x82") + frame(1, 5, 3, b"\x82")
        assert names(http.exchanges(talk(sent, whole + torn))) == [("GET", None)]


@pytest.mark.parametrize(
    "block", [b"\x7f", b"\x41\x8c\xf1\xe3", b"\x7f" + b"\xff" * 6 + b"\x01", b"\x80", b"\xbe"]
)
def test_what_is_no_header_of_http_2_is_refused(block: bytes) -> None:
    with pytest.raises(http2.Http2Error, match=r"at byte 24 of .* no header block of RFC 7541$"):
        http.exchanges(asks(block))


def test_what_is_not_utf_8_in_a_header_of_http_2_is_read() -> None:
    other = b"\x00\x01x\x01\xff"
    sent = http2.PREFACE + frame(1, 5, 1, other + literal(b"GET"))
    assert names(http.exchanges(talk(sent, frame(1, 5, 1, b"\x88")))) == [("GET", None)]


REMEMBER: bytes = b"\x40\x01a\x7f\xa1\x1e" + b"x" * 4000
"""A header of 4001 bytes that enters the table (RFC 7541, section 6.2.1), as its newest, 62."""


def test_a_few_bytes_of_headers_cannot_unpack_to_many() -> None:
    fifteen = literal(b"GET") + b"\xbe" * 15
    sent = http2.PREFACE + frame(1, 5, 1, REMEMBER) + frame(1, 5, 3, fifteen)
    assert names(http.exchanges(talk(sent, frame(1, 5, 3, b"\x88")))) == [("GET", None)]
    with pytest.raises(http2.Http2Error, match="unpack to more than 65536 bytes"):
        http.exchanges(asks(REMEMBER, fifteen + b"\xbe" * 2))


def test_the_table_of_headers_grows_as_browsers_allow_and_no_further() -> None:
    grown = b"\x3f\xe1\xff\x03"  # 65536: 31, and 65505 in seven bits each.
    found = http.exchanges(talk(http2.PREFACE + frame(1, 5, 1, grown + b"\x82"), b""))
    assert found == []
    with pytest.raises(http2.Http2Error, match="no header block"):
        http.exchanges(asks(b"\x3f\xe2\xff\x03\x82"))


def test_headers_that_are_read_are_not_read_again_with_what_follows() -> None:
    entered = frame(1, 4, 1, literal(b"GET") + b"\x40\x01a\x01b") + frame(9, 4, 1, b"")
    for newest, refused in ((b"\xbe", False), (b"\xbf", True)):
        sent = http2.PREFACE + entered + frame(1, 5, 3, newest)
        with pytest.raises(http2.Http2Error) if refused else nullcontext():
            http.exchanges(talk(sent, b""))


def opaque(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


def compound(number: int, *operations: bytes, procedure: int = 1, program: int = 100003) -> bytes:
    """A call of NFS 4.0 with credentials of some length (RFC 5531, section 9; RFC 7530, 15.2)."""
    credentials = struct.pack(">I", 1) + opaque(b"machine!!") + struct.pack(">2I", 0, 0)
    head = struct.pack(">6I", number, nfs.CALL, 2, program, 4, procedure)
    body = opaque(b"tag") + struct.pack(">2I", 0, len(operations)) + b"".join(operations)
    return record(head + credentials + (body if procedure else b""))


def reply(number: int, status: int = 0, accepted: int = 0, fill: int = 0) -> bytes:
    head = struct.pack(">6I", number, nfs.REPLY, 0, 0, 0, accepted)
    return record(head + struct.pack(">I", status) + bytes(fill))


def record(data: bytes, pieces: int = 1) -> bytes:
    size = -(-len(data) // pieces)
    cut = [data[at : at + size] for at in range(0, len(data), size)]
    marks = [len(one) | (nfs.LAST_FRAGMENT if one is cut[-1] else 0) for one in cut]
    return b"".join(struct.pack(">I", m) + one for m, one in zip(marks, cut, strict=True))


def operation(number: int, body: bytes = b"") -> bytes:
    return struct.pack(">I", number) + body


HANDLE = operation(22, opaque(b"handle"))
STEP = operation(15, opaque(b"office"))
ATTRIBUTES = operation(9, struct.pack(">3I", 2, 24, 3))
READ = operation(25, bytes(16) + struct.pack(">QI", 0, 1 << 20))


def test_a_call_is_named_after_what_it_is_made_for() -> None:
    access = operation(3, struct.pack(">I", 1))
    sent = (
        compound(1, procedure=0)
        + compound(2, operation(24), STEP, STEP, operation(10), ATTRIBUTES)
        + compound(3, HANDLE, STEP, access, operation(18, bytes(40)), ATTRIBUTES)
        + compound(4, HANDLE, READ)
        + compound(5, HANDLE, ATTRIBUTES)
        + compound(6, HANDLE, access)
    )  # fmt: skip
    # Replies come in any order.
    answered = reply(1) + reply(4, fill=1000) + b"".join(reply(n) for n in (2, 3, 6, 5))
    found = nfs.exchanges(talk(sent, answered))
    assert [one.name for one in found] == ["NULL", "READ", "LOOKUP", "OPEN", "ACCESS", "GETATTR"]
    assert [one.data for one in found] == [False, True, False, False, False, False]


def test_refusals_of_nfs_and_of_rpc_are_told_and_other_programs_are_not_its_own() -> None:
    sent = compound(1, HANDLE, READ) + compound(2, READ) + compound(3, READ, program=100005)
    found = nfs.exchanges(talk(sent, reply(1, status=13) + reply(2, accepted=2) + reply(3)))
    assert names(found) == [("READ", "NFS4ERR 13"), ("READ", "NFS4ERR 2")]


def test_a_record_of_many_fragments_is_one_message_and_a_torn_one_none() -> None:
    whole = reply(1, fill=1000)[4:]
    sent = compound(1, HANDLE, READ) + compound(2, HANDLE, READ)
    found = nfs.exchanges(talk(sent, record(whole, pieces=3) + reply(2, fill=50)[:-1]))
    assert [one.name for one in found] == ["READ"]
