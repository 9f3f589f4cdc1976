"""A session's one connection to a machine with a POSIX shell, and its directory there.

The connection makes the directory and waits; the session's other commands share it, so there is
one login per boot. What is measured is held by the agent's own guard (`targets/guarded.py`), which
is copied there first: when its input ends, because the session stops, this program dies or the
connection breaks, it ends the session's processes, puts back what was changed and removes the
directory.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from pentathlon.machine import launch, processes
from pentathlon.machine.cache import sha256
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.tools import last_line
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.protocol.agent import AGENT, GRAPHICS
from pentathlon.targets.ssh.client import BROKEN, Address, call

END_S = 20.0
"""Longest time for the end of the connection, in seconds."""

COPY_S = 300.0

# Words: token. A directory with a lock has a guard, and is the guard's to remove.
SCRIPT = r"""
umask 077
trap '' HUP INT PIPE TERM
own=${TMPDIR:-/tmp}/pentathlon-there-$1
mkdir "$own" || exit 3
echo "pentathlon ready"
echo "$own"
cat >/dev/null
[ -e "$own/lock" ] || rm -rf -- "$own"
[ -e "$own" ] || echo "pentathlon clean"
"""

# Words: directory, name. Takes the program on standard input and prints its digest.
COPY = r"""
umask 077
cat >"$1/$2" && chmod 700 "$1/$2" || exit 3
if command -v sha256sum >/dev/null; then sha256sum <"$1/$2"
else openssl dgst -sha256 -r <"$1/$2"; fi
"$1/$2" --version >/dev/null || exit 5
"""

# Words: directory, then those of the agent.
START = """
own=$1
shift
cd / && exec "$own/pentathlon-agent" "$@"
"""


class Connection:
    """The connection of one session.

    Attributes:
        directory: the session's over there.
        local: the directory here in which the connection's socket lies.

    Raises:
        TargetError: it did not come up, or the directory cannot be made.
    """

    def __init__(
        self,
        address: Address,
        local: Path,
        journal: UndoJournal,
        timeout_s: float,
    ) -> None:
        self._address = address
        self.local = local
        self.token = journal.token
        command = address.shared(local, SCRIPT, self.token, master=True)
        pipe = subprocess.PIPE
        self._process, _ = launch.start(
            launch.wrap(command), journal, stdin=pipe, stdout=pipe, stderr=pipe
        )
        self._closed = False
        try:
            lines = self._read("pentathlon ready", 2, time.monotonic() + timeout_s)
        except BaseException:
            with contextlib.suppress(TargetError):
                self.close()
            raise
        self.directory = lines[1]

    def copy(self, agent: Path) -> None:
        """Copy the agent there and compare its digest.

        Raises:
            TargetError: it did not arrive whole, or does not start there.
        """
        self._copy("the agent", agent, AGENT)

    def copy_graphics(self, program: Path) -> None:
        """Copy the program of the graphics workloads there, and compare its digest.

        Where it does not start, the agent reports it when a workload requests it.

        Raises:
            TargetError: it did not arrive whole.
        """
        with contextlib.suppress(TargetUnavailable):
            self._copy("the graphics program", program, GRAPHICS)

    def _copy(self, what: str, program: Path, name: str) -> None:
        with program.open("rb") as file:
            done, output = self._feed(what, file, COPY, self.directory, name)
        host = self._address.host
        got = done.stdout.split()[0].decode(errors="replace") if done.stdout.split() else ""
        if done.returncode in (5, 126, 127) and got:
            raise TargetUnavailable(
                f"{what} does not start on {host} in {self.directory}: {output}; "
                "if that directory is mounted noexec, set TMPDIR there to another one"
            )
        if done.returncode:
            raise TargetError(f"{what} could not be copied to {host}: {output}")
        if got != (want := sha256(program)):
            raise TargetError(
                f"{what} did not arrive whole on {host}: its SHA-256 is {got} there, {want} here"
            )

    def run(self, script: str, *words: str) -> str:
        """Run a script there; what it prints.

        Raises:
            TargetError: it failed; its last words.
        """
        done, output = self._feed("a script", None, script, *words)
        if done.returncode:
            raise TargetError(f"{self._address.host}: {output}")
        return done.stdout.decode(errors="replace")

    def send(self, script: str, *words: str, file: IO[bytes]) -> None:
        """Run a script there that reads a file of this machine from its standard input.

        Raises:
            TargetError: it failed; its last words.
        """
        host = self._address.host
        done, output = self._feed(f"what goes to {host}", file, script, *words)
        if done.returncode:
            raise TargetError(f"files could not be copied to {host}: {output}")

    def _feed(
        self, what: str, file: IO[bytes] | None, script: str, *words: str
    ) -> tuple[subprocess.CompletedProcess[bytes], str]:
        """Run a script there that reads a file; how it ended, and the last line of its errors."""
        try:
            done = call(
                self._address.shared(self.local, script, *words),
                COPY_S,
                file=file,
                environment=os.environ | {processes.TOKEN: self.token},
            )
        except subprocess.TimeoutExpired as error:
            raise TargetError(f"{what} was not copied within {COPY_S:g} s") from error
        return done, last_line(done.stderr)

    @property
    def host(self) -> str:
        """The machine, as the study names it."""
        return self._address.host

    def agent_command(self, words: Sequence[str]) -> list[str]:
        """The command that runs the agent there, with these arguments."""
        return self._address.shared(self.local, START, self.directory, *words)

    def close(self) -> str | None:
        """End it, after the session's guard; may be called again.

        Returns:
            A sentence, if the connection broke before: the guard over there cleans up by itself
            then, and nobody hears of it.

        Raises:
            TargetError: the directory is still there.
        """
        if self._closed:
            return None
        self._closed = True
        process = self._process
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            self._read("pentathlon clean", 1, time.monotonic() + END_S)
            return None
        except TargetError as error:
            if process.poll() != BROKEN:
                raise
            return f"{error}; what is left over there is removed when the other side notices it"
        finally:
            process.kill()
            process.wait()
            for file in (process.stdout, process.stderr):
                if file is not None:
                    file.close()

    def _read(self, marker: str, count: int, deadline: float) -> list[str]:
        """`count` lines from the line that is `marker` on; a login shell may print before it."""
        process = self._process
        assert process.stdout is not None
        text = b""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                lines = text.decode(errors="replace").split("\n")[:-1]
                if marker in lines and len(lines) - lines.index(marker) >= count:
                    return lines[lines.index(marker) :]
                if not selector.select(max(deadline - time.monotonic(), 0)):
                    raise TargetError(
                        f"{self._address.host} did not print {marker!r} within the time limit"
                    )
                data = os.read(process.stdout.fileno(), 65536)
                if not data:
                    raise TargetError(self._why())
                text += data

    def _why(self) -> str:
        host, process = self._address.host, self._process
        assert process.stderr is not None
        try:
            status = process.wait(5.0)
        except subprocess.TimeoutExpired:
            return f"{host} closed the connection"
        last = last_line(process.stderr.read())
        return f"{host}: what holds the session's connection ended with {status}: {last}"
