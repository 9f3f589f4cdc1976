"""SMB over TCP: [MS-SMB] (SMB 1) and [MS-SMB2] (SMB 2 and 3), message by message."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pentathlon.experiments.file_services.capture.exchanges import Exchange
from pentathlon.experiments.file_services.capture.streams import Conversation, Stream

SMB2_COMMANDS: Final = (
    "NEGOTIATE", "SESSION_SETUP", "LOGOFF", "TREE_CONNECT", "TREE_DISCONNECT", "CREATE", "CLOSE",
    "FLUSH", "READ", "WRITE", "LOCK", "IOCTL", "CANCEL", "ECHO", "QUERY_DIRECTORY",
    "CHANGE_NOTIFY", "QUERY_INFO", "SET_INFO", "OPLOCK_BREAK",
)  # fmt: skip
"""[MS-SMB2] 2.2.1, by number."""

SMB1_COMMANDS: Final = {
    0x04: "CLOSE", 0x08: "QUERY_INFORMATION", 0x0A: "READ", 0x0B: "WRITE", 0x10: "CHECK_DIRECTORY",
    0x24: "LOCKING_ANDX", 0x25: "TRANSACTION", 0x2B: "ECHO", 0x2D: "OPEN_ANDX", 0x2E: "READ_ANDX",
    0x2F: "WRITE_ANDX", 0x32: "TRANSACTION2", 0x71: "TREE_DISCONNECT", 0x72: "NEGOTIATE",
    0x73: "SESSION_SETUP_ANDX", 0x74: "LOGOFF_ANDX", 0x75: "TREE_CONNECT_ANDX",
    0xA0: "NT_TRANSACT", 0xA2: "NT_CREATE_ANDX",
}  # fmt: skip
"""[MS-CIFS] 2.2.2.1."""

DATA: Final = {"READ", "WRITE", "READ_ANDX", "WRITE_ANDX"}

PENDING: Final = 0x00000103
"""STATUS_PENDING: the answer proper comes later."""
UNSOLICITED: Final = 0xFFFFFFFFFFFFFFFF
MORE_PROCESSING: Final = 0xC0000016
"""STATUS_MORE_PROCESSING_REQUIRED: a logon goes on; no refusal."""
USUAL: Final = {0, MORE_PROCESSING, 0x80000005, 0x80000006}
"""Success, the logon's, and the ends of a buffer and of a directory."""


@dataclass(frozen=True)
class Message:
    """One SMB message.

    Attributes:
        generation: 1 or 2 (SMB 3 has the header of SMB 2); 3 for an encrypted one.
        number: that binds an answer to its question.
        first, last: offsets of its first and last byte in the stream.
    """

    generation: int
    command: str
    number: int
    answer: bool
    status: int
    first: int
    last: int


def messages(stream: Stream) -> Iterator[Message]:
    """The whole messages of one direction."""
    data, at = memoryview(stream.data), 0
    while at + 4 <= len(data):
        length = int.from_bytes(data[at + 1 : at + 4], "big")
        end = at + 4 + length
        if end > len(data):
            return
        # Other types than 0 belong to the NetBIOS session (RFC 1002, 4.3.1), and have no message.
        if data[at] == 0 and length >= 32:
            yield from _packet(data, at + 4, end)
        at = end


def _packet(data: memoryview, start: int, end: int) -> Iterator[Message]:
    first = start - 4
    mark = bytes(data[start : start + 4])
    if mark == b"\xfdSMB":
        yield Message(3, "encrypted", 0, False, 0, first, end - 1)
    elif mark == b"\xffSMB":
        command, status, flags = struct.unpack_from("<BIB", data, start + 4)
        number = struct.unpack_from("<H", data, start + 30)[0]
        name = SMB1_COMMANDS.get(command, f"0x{command:02X}")
        yield Message(1, name, number, bool(flags & 0x80), status, first, end - 1)
    while mark == b"\xfeSMB" and start + 64 <= end:
        status, command = struct.unpack_from("<IH", data, start + 8)
        flags, following, number = struct.unpack_from("<IIQ", data, start + 16)
        name = SMB2_COMMANDS[command] if command < len(SMB2_COMMANDS) else f"0x{command:02X}"
        if start + following > end:
            return  # The next message would begin behind the packet.
        last = start + following - 1 if following else end - 1
        yield Message(2, name, number, bool(flags & 1), status, first, last)
        if not following:
            return
        start = first = start + following
        mark = bytes(data[start : start + 4])


def exchanges(conversation: Conversation) -> list[Exchange]:
    """Each question of a connection with its answer, in the order of the answers."""
    requests: dict[tuple[int, int], Message] = {}
    for message in messages(conversation.up):
        if message.generation != 3:
            requests[_generation(message), message.number] = message
    found = []
    for message in messages(conversation.down):
        if message.status == PENDING or message.number == UNSOLICITED or message.generation == 3:
            continue
        question = requests.pop((_generation(message), message.number), None)
        if question is None:
            # A client that offers every generation in a NEGOTIATE of SMB 1 may be answered by
            # one of SMB 2 ([MS-SMB2] 3.3.5.3.1).
            question = requests.pop((1, message.number), None)
        if question is None:
            continue
        # The status of a READ beyond the end of the file reports it, and is no refusal.
        refused = message.status not in USUAL and message.status != 0xC0000011
        found.append(
            Exchange(
                name=question.command,
                requested_ns=conversation.up.time(question.last),
                began_ns=conversation.down.time(message.first),
                ended_ns=conversation.down.time(message.last),
                data=question.command in DATA,
                failed=f"0x{message.status:08X}" if refused else None,
            )
        )
    return found


def _generation(message: Message) -> int:
    return message.generation


def dialect(conversation: Conversation) -> str | None:
    """The dialect that the server chose: "NT LM 0.12", "2.0.2", "3.1.1"; None if nobody did."""
    chosen = None
    for message in messages(conversation.down):
        if message.command != "NEGOTIATE" or message.status:
            continue
        if message.generation == 1:
            return "NT LM 0.12"
        at = message.first + 4 + 64 + 4
        if at + 2 > message.last + 1:
            continue  # Shorter than any answer to a NEGOTIATE.
        revision = struct.unpack_from("<H", conversation.down.data, at)[0]
        if revision != 0x02FF:  # "2.???": the client is to ask again in SMB 2.
            chosen = {0x0202: "2.0.2", 0x0210: "2.1", 0x0300: "3.0", 0x0302: "3.0.2"}.get(
                revision, "3.1.1" if revision == 0x0311 else f"0x{revision:04X}"
            )
    return chosen
