"""Find and end every process of one session, however it was started.

A session's processes share the session id of their leader (setsid(2)) and carry a random token in
their environment. The id finds children that changed their environment or unmapped it; the token
finds children that made a session of their own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TOKEN = "PENTATHLON_SESSION"
PROC = Path("/proc")


@dataclass(frozen=True)
class Member:
    """One process: its id, session, state letter and start (clock ticks since boot), proc(5)."""

    pid: int
    session: int
    state: str
    start: int


def stat(pid: int) -> Member | None:
    """The process with that id, or None if there is none."""
    # By open(), which takes half the time of Path.read_text: every process is read at each end.
    try:
        with open(f"{PROC}/{pid}/stat", "rb") as file:  # noqa: PTH123
            text = file.read()
    except OSError:
        return None
    # The command name stands in parentheses and may hold anything, so fields start after the last.
    fields = text[text.rindex(b")") + 2 :].split()
    return Member(pid, int(fields[3]), fields[0].decode(), int(fields[19]))


def everyone() -> Iterator[Member]:
    """Every process that this user can see."""
    for name in os.listdir(PROC):  # noqa: PTH208
        if name.isdigit() and (member := stat(int(name))) is not None:
            yield member


def members(token: str, leader: int, leader_start: int) -> list[int]:
    """Ids of the living processes of a session; this process is never among them.

    A session id is not given again while a process has it. So a session whose leader has another
    start time belongs to somebody else, and one without a leader is still ours.
    """
    now = stat(leader)
    ours = now is None or now.start == leader_start
    mark = f"{TOKEN}={token}".encode()
    found = []
    for member in everyone():
        if member.state in "ZX" or member.pid == os.getpid():
            continue
        # The token is made for this session, so no process before its leader can have it.
        if member.start < leader_start:
            continue
        if (ours and member.session == leader) or _has(member.pid, mark):
            found.append(member.pid)
    return found


def _has(pid: int, mark: bytes) -> bool:
    try:
        environment = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return False
    return mark in environment.split(b"\0")


def end_session(token: str, leader: int, leader_start: int, grace_s: float = 0.5) -> list[int]:
    """End every process of a session: SIGTERM, and SIGKILL after `grace_s` seconds.

    Returns:
        Ids of processes that are still there five seconds after SIGKILL (uninterruptible ones).
    """
    for number, patience in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 5.0)):
        deadline = time.monotonic() + patience
        while True:
            left = members(token, leader, leader_start)
            if not left:
                return []
            # The leader comes last: a guest's processes must not outlive their kernel.
            for pid in sorted(left, key=lambda pid: pid == leader):
                # Each is signalled, not the group: a child may have left the group. Signals are
                # repeated, because a process may fork between the listing and the signal.
                kill(pid, number)
            if time.monotonic() >= deadline:
                break
            time.sleep(0.01)
    return members(token, leader, leader_start)


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal; a process that is gone already is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
