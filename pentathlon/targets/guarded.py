"""Sessions whose agent is held by its own guard (`pentathlon-agent guard`).

Where something stands between this program and the agent, such as a container's runtime or a
connection, ending that something does not end what it started. The guard over there does: when its
input ends, for whatever reason, it ends everything and removes its private directory.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from pentathlon.machine.errors import TargetError
from pentathlon.machine.on_error import on_error
from pentathlon.targets.session import ProcessSession
from pentathlon.targets.supplies import Supply

END_S = 10.0
"""Longest time for the guard to end everything and remove its directory, in seconds."""

READY = "ready in "
FILES = "files in "
TAKEN = "taken by "
"""How the guard's messages begin (agent/crates/session/src/guard.rs)."""


def words(
    verb: str = "run",
    *,
    below: str | None = None,
    files: bool = False,
    placed: bool = False,
    home: str | None = None,
    owner: str | None = None,
) -> list[str]:
    """The agent's arguments that start a guard.

    Args:
        below: where it makes its private directory; None: in `home`, or in the system's temporary
            directory.
        files: whether files are sent first (`GuardedSession.open`).
        placed: whether it removes the agent's own file at the end.
        home: the session's directory there, whose file `undo` lists what puts changes back.
        owner: the machine that it is started from, a blank, and who it is for people; with it the
            guard refuses to start beside a session of another machine (`Taken`).
    """
    options = [*(["--below", below] if below else []), *(["--files"] if files else [])]
    options += ["--home", home] if home else []
    options += ["--owner", owner] if owner else []
    return ["guard", *options, *(["--placed"] if placed else []), verb]


class Taken(TargetError):
    """A session of another machine is there.

    Attributes:
        who: it is, for people.
    """

    def __init__(self, who: str) -> None:
        super().__init__(f"a run of {who} is there")
        self.who = who


class GuardedSession(ProcessSession):
    """A session that lets the guard clean up before it ends what holds the guard.

    Attributes:
        private: the guard's private directory over there, once the session is open.
    """

    private: str = ""

    def open(self, files: bytes | None, timeout_s: float) -> None:
        """Wait for the guard, and send it the files of commands.

        Args:
            files: as `packed` has them, for a guard that was started for files; None: no files.

        Raises:
            TargetError: it does not come up in time, or cannot take the files. The session is
                stopped by then.
        """
        deadline = self._started + timeout_s
        with on_error(self.stop):
            self.private = self._stated(READY, b"", deadline)
            if files is not None:
                self._launch.supplied = self._stated(FILES, files, deadline)
            self._launch.scratch = self.private
        self.boot_seconds = time.monotonic() - self._started

    def begin(self) -> None:
        """Let the guard start its verb, which it does when something comes: an empty line."""
        os.write(self._request, b"\n")

    def _stated(self, beginning: str, to_send: bytes, deadline: float) -> str:
        """What follows in the guard's message that begins so."""
        left = max(deadline - time.monotonic(), 0.0)
        for document in self._pump(to_send, left, deadline):
            message = str(document.get("message", ""))
            if document["event"] == "log" and message.startswith(beginning):
                return message.removeprefix(beginning)
            if document["event"] == "log" and message.startswith(TAKEN):
                raise Taken(message.removeprefix(TAKEN))
            raise TargetError(f'the agent sent "{document["event"]}" before its guard was ready')
        raise AssertionError("unreachable: the pump ends by raising")

    def _how_it_ended(self) -> str:
        text = super()._how_it_ended()
        if self.private:
            return text
        return text.replace("the agent", "it", 1).replace(' before "done"', "", 1)

    def stop(self) -> None:
        self._end_guard()
        super().stop()

    def _end_guard(self) -> None:
        """Let the guard clean up, and wait for it; may be called again."""
        with self._stopping:
            if self._request >= 0 and self._process.poll() is None:
                request, self._request = self._request, -1
                os.close(request)
                self._let_it_end(time.monotonic() + END_S)

    def _let_it_end(self, deadline: float) -> None:
        """Wait for the guard's own end; what it still prints must not block it."""
        with selectors.DefaultSelector() as selector:
            for file in (self._events, *self._noise):
                selector.register(file, selectors.EVENT_READ)
            while selector.get_map() and (left := deadline - time.monotonic()) > 0:
                for key, _ in selector.select(left):
                    if not os.read(key.fd, 65536):
                        selector.unregister(key.fd)
        try:
            self._process.wait(max(deadline - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            self.boot_log.append(f"the agent's guard did not end within {END_S:g} s")


def packed(supplies: Sequence[Supply], staged: Path) -> bytes:
    """The files of commands as the guard takes them: a list on one line, then all their bytes.

    Args:
        staged: where `supplies.stage` has put them.
    """
    listed, contents = [], []
    for supply in supplies:
        for one in supply.files:
            path = f"{supply.workload}/{one.path}"
            contents.append((staged / path).read_bytes())
            listed.append({"path": path, "bytes": len(contents[-1]), "executable": one.executable})
    return b"".join([json.dumps(listed).encode(), b"\n", *contents])
