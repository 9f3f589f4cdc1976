"""The guard: one command on the other machine that makes the session's directory and removes it.

It waits for the end of its standard input. That end comes when the session stops, when this program
dies in whatever way, and when the connection breaks; in each case the guard ends the session's
processes over there and removes its directories. It also holds the one connection that the
session's other commands share, so there is one login per boot.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from pathlib import Path
from typing import IO

from pentathlon.machine import launch, processes, restore
from pentathlon.machine.cache import sha256
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.protocol.agent import AGENT, GRAPHICS
from pentathlon.targets.ssh.client import BROKEN, Address
from pentathlon.targets.ssh.occupancy import BUSY, OTHERS, owner, taken

END_S = 20.0
"""Longest time for the guard to end the session's processes and to remove its directories."""

COPY_S = 300.0

# Words: token, directory for file workloads or nothing, the machine of this side, and who it is.
# The mark over there is not the one of this side: the other machine may be this one, and the guard
# must not end the client that holds it.
SCRIPT = (
    OTHERS
    + r"""
umask 077
trap '' HUP INT PIPE TERM
token=$1
base=${TMPDIR:-/tmp}
# Processes with the mark in their environment, and those that wrote something else there but are
# still in the session of an agent, setsid(2). A number that began anew is somebody else's.
members() {
    grep -lsF "PENTATHLON_THERE=$1" /proc/[0-9]*/environ | cut -d/ -f3
    [ ! -f "$2/sessions" ] || while read -r leader start; do
        now=$(sed 's/.*) //' "/proc/$leader/stat" 2>/dev/null | cut -d' ' -f20)
        [ "${now:-$start}" = "$start" ] || continue
        cat /proc/[0-9]*/stat 2>/dev/null |
            sed -n "s/^\([0-9]*\) (.*) [^ZX] [0-9]* [0-9]* $leader .*/\1/p"
    done <"$2/sessions"
}
end() {
    for signal in TERM TERM KILL KILL; do
        found=$(members "$1" "$2")
        [ -n "$found" ] || return 0
        kill -"$signal" $found 2>/dev/null
        sleep 0.3 2>/dev/null || sleep 1
    done
    [ -z "$(members "$1" "$2")" ]
}
# What was changed on the machine, one command a line that puts it back, the last change first.
undo() {
    undone=0
    [ ! -f "$1/undo" ] || while read -r line; do
        (eval "$line") >/dev/null 2>&1 </dev/null || undone=1
    done <"$1/undo"
    return $undone
}
# What a session left whose guard was killed too: the machine lost power, for example.
for old in "$base"/pentathlon-there-*; do
    [ -O "$old" ] && [ -f "$old/guard" ] || continue
    read -r pid boot <"$old/guard"
    if [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ]; then
        kill -0 "$pid" 2>/dev/null && continue
        end "${old##*/pentathlon-there-}" "$old"
        undo "$old"
    fi
    [ -f "$old/scratch" ] && rm -rf -- "$(cat "$old/scratch")"
    rm -rf -- "$old"
done
own=$base/pentathlon-there-$token
mkdir "$own" || exit 3
echo "$$ $(cat /proc/sys/kernel/random/boot_id)" >"$own/guard"
echo "$3 $4" >"$own/owner"
found=$(others "$3")
[ -z "$found" ] || { echo "$found" >&2; rm -rf -- "$own"; exit BUSY; }
if [ -n "$2" ]; then
    scratch=$2/pentathlon-$token
    printf '%s' "$scratch" >"$own/scratch"
else
    scratch=$own/files
fi
mkdir "$scratch" || { rm -rf -- "$own"; exit 4; }
echo "pentathlon ready"
echo "$own"
echo "$scratch"
cat >/dev/null
end "$token" "$own" && undo "$own"; ended=$?
rm -rf -- "$scratch" "$own" && [ "$ended" = 0 ] && echo "pentathlon clean"
""".replace("BUSY", str(BUSY))
)

# Words: directory, name. Takes the program on standard input and prints its digest.
COPY = r"""
umask 077
cat >"$1/$2" && chmod 700 "$1/$2" || exit 3
if command -v sha256sum >/dev/null; then sha256sum <"$1/$2"
else openssl dgst -sha256 -r <"$1/$2"; fi
"$1/$2" --version >/dev/null || exit 5
"""

# Words: directory, token, verb.
START = r"""
echo "$$ $(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20)" >>"$1/sessions"
# The control group with a CPU quota, if the session has one (`settings.GROUP`).
if [ -f "$1/group" ]; then
    if [ "$(id -u)" = 0 ]; then S=; else S="sudo -n"; fi
    echo "$$" | $S tee "$(cat "$1/group")/cgroup.procs" >/dev/null || exit 6
fi
cd / && TMPDIR=$1 PENTATHLON_THERE=$2 exec "$1/pentathlon-agent" "$3"
"""


class Guard:
    """The guard of one session.

    Raises:
        TargetError: the guard did not come up, or its directories cannot be made.
    """

    def __init__(
        self,
        address: Address,
        local: Path,
        journal: UndoJournal,
        scratch: str | None,
        timeout_s: float,
    ) -> None:
        self._address = address
        self._local = local
        self.token = journal.token
        words = (self.token, scratch or "", *owner())
        command = address.shared(local, SCRIPT, *words, master=True)
        self._process = subprocess.Popen(
            launch.wrap(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {processes.TOKEN: self.token},
            start_new_session=True,
        )
        started = processes.stat(self._process.pid)
        journal.note(restore.process(self._process.pid, started.start if started else 0))
        self._closed = False
        try:
            lines = self._read("pentathlon ready", 3, time.monotonic() + timeout_s)
        except BaseException:
            with contextlib.suppress(TargetError):
                self.close()
            raise
        self.directory, self.scratch = lines[1], lines[2]

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
        with Path(os.devnull).open("rb") as nothing:
            done, output = self._feed("a script", nothing, script, *words)
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
        self, what: str, file: IO[bytes], script: str, *words: str
    ) -> tuple[subprocess.CompletedProcess[bytes], str]:
        """Run a script there that reads a file; how it ended, and the last line of its errors."""
        try:
            done = subprocess.run(
                self._address.shared(self._local, script, *words),
                stdin=file,
                capture_output=True,
                timeout=COPY_S,
                env=os.environ | {processes.TOKEN: self.token},
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise TargetError(f"{what} was not copied within {COPY_S:g} s") from error
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return done, (lines or ["no reason given"])[-1]

    @property
    def host(self) -> str:
        """The machine, as the study names it."""
        return self._address.host

    def start_command(self, verb: str = "run") -> list[str]:
        """The command that runs the agent there."""
        return self._address.shared(self._local, START, self.directory, self.token, verb)

    def close(self) -> str | None:
        """Let the guard clean up, and wait for it; may be called again.

        Returns:
            A sentence, if the connection broke before: the guard over there cleans up by itself
            then, and nobody hears of it.

        Raises:
            TargetError: it did not say that all is clean.
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
        lines = process.stderr.read().decode(errors="replace").strip().splitlines()
        if status == BUSY and lines:
            return taken(host, lines[-1])
        return (
            f"{host}: the session's guard ended with {status}: {(lines or ['no reason given'])[-1]}"
        )
