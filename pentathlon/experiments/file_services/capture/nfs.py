"""NFS 4.0 (RFC 7530) over ONC RPC (RFC 5531) on TCP, call by call."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pentathlon.experiments.file_services.capture.exchanges import Exchange
from pentathlon.experiments.file_services.capture.streams import Conversation, Stream

PROGRAM, VERSION = 100003, 4
CALL, REPLY = 0, 1
LAST_FRAGMENT: Final = 0x80000000

OPERATIONS: Final = {
    3: "ACCESS", 4: "CLOSE", 5: "COMMIT", 6: "CREATE", 9: "GETATTR", 10: "GETFH", 12: "LOCK",
    14: "LOCKU", 15: "LOOKUP", 16: "LOOKUPP", 18: "OPEN", 20: "OPEN_CONFIRM", 22: "PUTFH",
    23: "PUTPUBFH", 24: "PUTROOTFH", 25: "READ", 26: "READDIR", 27: "READLINK", 28: "REMOVE",
    29: "RENAME", 30: "RENEW", 31: "RESTOREFH", 32: "SAVEFH", 34: "SETATTR", 35: "SETCLIENTID",
    36: "SETCLIENTID_CONFIRM", 38: "WRITE", 39: "RELEASE_LOCKOWNER",
}  # fmt: skip
"""nfs_opnum4, those that clients send."""
DATA: Final = {"READ", "WRITE"}
WALK: Final = ("PUTFH", "PUTROOTFH", "PUTPUBFH", "GETFH", "GETATTR", "LOOKUP", "ACCESS")
"""Operations on the way to a file, and what is asked of it in passing: a call is named after
another one if it has one, or else after the last of these."""


@dataclass(frozen=True)
class Message:
    """A call or a reply.

    Attributes:
        name: of the operation for which a call is made; empty for a reply.
        status: of a reply, 0 if it was done, otherwise nfsstat4 or the refusal of RPC.
        first, last: its place in the stream.
    """

    number: int
    call: bool
    name: str
    status: int
    first: int
    last: int


def exchanges(conversation: Conversation) -> list[Exchange]:
    """Each call of a connection with its reply, in the order of the replies."""
    requests = {one.number: one for one in messages(conversation.up) if one.call}
    found = []
    for reply in messages(conversation.down):
        question = requests.pop(reply.number, None)
        if reply.call or question is None:
            continue
        found.append(
            Exchange(
                name=question.name,
                requested_ns=conversation.up.time(question.last),
                began_ns=conversation.down.time(reply.first),
                ended_ns=conversation.down.time(reply.last),
                data=question.name in DATA,
                failed=f"NFS4ERR {reply.status}" if reply.status else None,
            )
        )
    return found


def messages(stream: Stream) -> Iterator[Message]:
    """Every whole message of one direction (RFC 5531, section 11: record marking)."""
    data, at, first = stream.data, 0, 0
    record = bytearray()
    while at + 4 <= len(data):
        mark = int.from_bytes(data[at : at + 4], "big")
        end = at + 4 + (mark & ~LAST_FRAGMENT)
        if end > len(data):
            return
        record += data[at + 4 : end]
        if mark & LAST_FRAGMENT:
            try:
                message = _message(bytes(record), first, end - 1)
            except struct.error:
                return  # No RPC from here on.
            if message is not None:
                yield message
            record, first = bytearray(), end
        at = end


def _message(record: bytes, first: int, last: int) -> Message | None:
    number, kind = struct.unpack_from(">II", record)
    if kind == CALL:
        _, program, version, procedure = struct.unpack_from(">4I", record, 8)
        if (program, version) != (PROGRAM, VERSION):
            return None
        at = _opaque(record, _opaque(record, 24 + 4) + 4)
        name = _compound(record, at) if procedure else "NULL"
        return Message(number, True, name, 0, first, last)
    (accepted,) = struct.unpack_from(">I", record, 8)
    if accepted:
        return Message(number, False, "", accepted, first, last)
    at = _opaque(record, 12 + 4)
    status = struct.unpack_from(">I", record, at)[0]
    if not status and len(record) >= at + 8:
        status = struct.unpack_from(">I", record, at + 4)[0]
    return Message(number, False, "", status, first, last)


def _compound(record: bytes, at: int) -> str:
    """The operation for which a COMPOUND is sent."""
    at = _opaque(record, at) + 4  # The tag and the minor version.
    (count,) = struct.unpack_from(">I", record, at)
    at += 4
    walked = WALK[0]
    for _ in range(count):
        (number,) = struct.unpack_from(">I", record, at)
        name = OPERATIONS.get(number, f"OP {number}")
        if name not in WALK:
            return name
        walked = max(walked, name, key=WALK.index)
        at += 4
        if name in {"PUTFH", "LOOKUP"}:
            at = _opaque(record, at)
        elif name == "GETATTR":
            at += 4 + 4 * struct.unpack_from(">I", record, at)[0]
        elif name == "ACCESS":
            at += 4
    return walked


def _opaque(record: bytes, at: int) -> int:
    """Where what follows an opaque or a string begins; `at` is its length's place (XDR)."""
    (length,) = struct.unpack_from(">I", record, at)
    return int(at + 4 + (length + 3) // 4 * 4)
