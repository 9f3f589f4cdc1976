"""Captures of file tasks and recordings of strace with damage: of file, frames or messages."""

from __future__ import annotations

from collections import Counter
from random import Random

from pentathlon.exchange.pcapng import CaptureError, read
from pentathlon.exchange.strace import StraceError
from pentathlon.exchange.strace_import import import_strace
from pentathlon.experiments.file_services.capture import http2
from pentathlon.experiments.file_services.capture.summary import summarise
from tests.experiments.file_services.packets import ACK, CLIENT, FIN, SERVER, Line, pcapng
from tests.experiments.file_services.test_capture import smb2
from tests.experiments.file_services.test_messages import HANDLE, READ, compound, frame, reply
from tests.hostile.mutate import damaged, damaged_text


def smb1(command: int, number: int, answer: bool, body: bytes = b"") -> bytes:
    """A message of SMB 1 ([MS-SMB] 2.2.3.1)."""
    header = b"\xffSMB" + bytes([command]) + bytes(4) + bytes([0x80 if answer else 0])
    header = header.ljust(30, b"\0") + number.to_bytes(2, "little")
    return len(header + body).to_bytes(4, "big") + header + body


NEGOTIATED = bytes(4) + b"\x11\x03" + bytes(58)

TALKS: dict[str, list[tuple[str, bytes, bytes]]] = {
    "smb": [
        ("smb", smb2(command, number, False), smb2(command, number, True, body=body))
        for number, (command, body) in enumerate(
            ((0, NEGOTIATED), (3, b""), (5, b""), (8, b"x" * 100), (6, b""), (4, b""))
        )
    ],
    "smb 1": [
        ("smb", smb1(command, number, False), smb1(command, number, True, b"\x00" * 20))
        for number, command in enumerate((0x72, 0x75, 0xA2, 0x2E, 0x04))
    ],
    "http": [
        ("http", b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n", answer)
        for answer in (
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n",
            b"HTTP/1.1 404 No\r\n\r\n",
        )
    ],
    "http 2": [
        (
            "http",
            http2.PREFACE + frame(4, 0, 0, b"") + frame(1, 8 | 4 | 1, 1, b"\x03\x82" + bytes(3)),
            frame(1, 4, 1, b"\x08\x03207") + frame(0, 1, 1, b"<multistatus/>"),
        )
    ],
    "nfs": [
        ("nfs", compound(number, HANDLE, READ), reply(number, fill=100)) for number in range(4)
    ],
}
"""Name -> (family, question, answer) of one connection."""

STAMPED = b"\1\1\x08\x0a" + bytes(7) + b"\x05\0\0\0\x03"
"""Options: a time stamp; a window scale follows in the handshake alone."""


def capture(talk: list[tuple[str, bytes, bytes]], random: Random | None = None) -> bytes:
    """A capture of a connection; with `random` some messages and frames are damaged."""
    line = Line()
    line.handshake(50)
    up = down = 1001
    now = 60.0
    for place, (_, question, answer) in enumerate(talk):
        both = (question, answer)
        if random is not None and random.random() < 0.5:
            both = _either(question, answer, random)
        line.put(now, True, up, down, ACK, 1000, both[0])
        up += len(both[0])
        line.put(now + 50, False, down, up, ACK, 1000, both[1])
        down += len(both[1])
        if place == len(talk) - 1:
            line.put(now + 51, False, down, up, ACK | FIN, 1000)
        now += 60
    frames = line.frames
    if random is not None and random.random() < 0.5:
        at = random.randrange(len(frames))
        time, data, length = frames[at]
        frames[at] = (random.choice((time, 0, 2**63)), damaged(data, random), length)
        if random.random() < 0.3:
            random.shuffle(frames)
    return pcapng(frames, order="<" if random is None else random.choice("<>"))


def _either(question: bytes, answer: bytes, random: Random) -> tuple[bytes, bytes]:
    if random.random() < 0.5:
        return damaged(question, random), answer
    return question, damaged(answer, random)


def captures(count: int, seed: int) -> Counter[str]:
    """How damaged captures end: as a summary, or refused with a sentence.

    Raises:
        Exception: whatever else a reader raises, with the number of the capture as a note.
    """
    random = Random(seed)
    ends: Counter[str] = Counter()
    for number in range(count):
        name = random.choice(list(TALKS))
        talk = TALKS[name]
        data = capture(talk, random)
        if random.random() < 0.5:
            data = damaged(data, random)
        try:
            found = summarise(read(data), CLIENT, SERVER, talk[0][0])
        except CaptureError as error:
            assert str(error) and "\n" not in str(error)
            ends["refused"] += 1
        except BaseException as error:
            error.add_note(f"capture {number} of seed {seed}, {name}")
            raise
        else:
            assert found.task_s > 0
            ends["read"] += 1
    return ends


RECORDING = """\
7 100.000 execve("/bin/cp", ["cp", "a", "b"], 0x7ffd00 /* 20 vars */) = 0 <0.001>
7 100.001 openat(AT_FDCWD</home/x>, "a", O_RDONLY) = 3</home/x/a> <0.00001>
7 100.002 newfstatat(3</home/x/a>, "", {st_mode=S_IFREG|0644, st_size=4096, ...}, AT_EMPTY_PATH) = 0
7 100.003 openat(AT_FDCWD</home/x>, "b", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4</home/x/b>
7 100.004 read(3</home/x/a>, "abc"..., 131072) = 4096 <0.00001>
7 100.005 write(4</home/x/b>, "abc"..., 4096) = 4096 <0.00001>
7 100.006 lseek(3</home/x/a>, 0, SEEK_SET) = 0
7 100.007 pread64(3</home/x/a>, "abc"..., 100, 200) = 100
7 100.008 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD) = 8
8 100.009 dup2(4</home/x/b>, 9) = 9
8 100.010 fcntl(9</home/x/b>, F_DUPFD, 20) = 20
8 100.011 fsync(9</home/x/b>) = 0
8 100.012 read(3</home/x/a>,  <unfinished ...>
7 100.013 close(3</home/x/a>) = 0
8 100.014 <... read resumed>"x", 10) = 10 <0.00001>
8 100.015 mmap(NULL, 100, PROT_READ, MAP_SHARED, 3</home/x/a>, 0) = 0x7f0000000000
8 100.016 chdir("/tmp") = 0
8 100.017 renameat2(AT_FDCWD, "/home/x/b", AT_FDCWD, "c", 0) = 0
8 100.018 ftruncate(9</home/x/b>, 10) = 0
8 100.019 unlink("/home/x/a") = 0
8 100.020 +++ exited with 0 +++
"""


def recordings(count: int, seed: int) -> Counter[str]:
    """How damaged recordings of strace end: as a trace, or refused with a sentence."""
    random = Random(seed)
    ends: Counter[str] = Counter()
    for number in range(count):
        text = damaged_text(RECORDING, random)
        try:
            imported = import_strace(text.split("\n"), "x")
            assert imported.trace.text().endswith("\n")
        except StraceError as error:
            assert "\n" not in str(error)
            ends["refused"] += 1
        except BaseException as error:
            error.add_note(f"recording {number} of seed {seed}")
            raise
        else:
            assert min(imported.trace.moved("read"), imported.trace.moved("write")) >= 0
            ends["read"] += 1
    return ends
