"""The system's OpenSSH client as the way to another machine.

The client is used, and no library, because only the client reads the whole of the user's
ssh_config(5): jump hosts, `Match` blocks, agents, certificates, security keys, known hosts. Its
standard input and output are pipes of an ordinary process, so the limits and the ending of a local
session hold for it as they are.
"""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.tools import last_line

CONNECT_S = 10
"""Longest time for a connection to come up, in seconds."""

PROBE_S = 30.0

BROKEN = 255
"""Exit status of ssh(1) where the connection failed, and not the remote command."""


@dataclass(frozen=True)
class Address:
    """A machine as ssh(1) is given it; what is None is left to the user's ssh_config(5).

    Attributes:
        host: name, address, or a `Host` alias of the configuration.
        key: private key file (`IdentityFile`).
        jump: jump hosts, as for `ProxyJump`.
        config: configuration file instead of the user's.
    """

    host: str
    user: str | None = None
    port: int | None = None
    key: str | None = None
    jump: str | None = None
    config: str | None = None

    def words(self) -> list[str]:
        """ssh(1) with what every connection needs, without the host."""
        words = [str(launch.need("ssh", "openssh-client")), "-T", "-x", "-a"]
        if self.config is not None:
            words += ["-F", str(Path(self.config).expanduser().absolute())]
        if self.key is not None:
            path = Path(self.key).expanduser().absolute()
            words += ["-i", str(path), "-o", "IdentitiesOnly=yes"]
        if self.user is not None:
            words += ["-l", self.user]
        if self.port is not None:
            words += ["-p", str(self.port)]
        if self.jump is not None:
            words += ["-J", self.jump]
        options = {
            # Nobody is there to answer a question.
            "BatchMode": "yes",
            "ConnectTimeout": str(CONNECT_S),
            # A machine that is gone is noticed after about half a minute.
            "ServerAliveInterval": "10",
            "ServerAliveCountMax": "3",
            # What the user's configuration may add, and what would spoil the channel.
            "RemoteCommand": "none",
            # A connection that goes to the background would outlive this program.
            "ControlPersist": "no",
            "ClearAllForwardings": "yes",
            "PermitLocalCommand": "no",
        }
        for name, value in options.items():
            words += ["-o", f"{name}={value}"]
        return words

    def once(self, script: str) -> list[str]:
        """A command for one connection of its own that runs a POSIX shell script there."""
        return self.alone(remote(script))

    def alone(self, line: str) -> list[str]:
        """A command for one connection of its own that hands a line to the login shell there."""
        alone = ["-o", "ControlMaster=no", "-o", "ControlPath=none"]
        return [*self.words(), *alone, "--", self.host, line]

    def shared(self, directory: Path, script: str, *words: str, master: bool = False) -> list[str]:
        """A command over the session's one connection, whose socket lies in `directory`."""
        return self.over(directory, remote(script, *words), master=master)

    def over(
        self, directory: Path, line: str, *, master: bool = False, subsystem: bool = False
    ) -> list[str]:
        """A line for the login shell there over the session's one connection, or with `subsystem`
        the name of a part of the server there, such as "sftp".

        The socket's path is relative: unix(7) allows 108 bytes, and temporary directories are long.
        """
        mode = ["-o", f"ControlMaster={'yes' if master else 'no'}", "-S", "connection"]
        # Where the first connection is gone there is no second one in silence.
        mode += [] if master else ["-o", "ProxyCommand=false", "-o", "ProxyJump=none"]
        own = [word for word in self.words() if master or word not in ("-J", self.jump)]
        mode += ["-s"] if subsystem else []
        return [
            *["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(directory)],
            *[*own, *mode, "--", self.host, line],
        ]

    def ask(self, script: str, timeout_s: float = PROBE_S) -> str:
        """Run a script and return what it prints.

        Raises:
            TargetUnavailable: the machine cannot be reached, or refuses the login.
            TargetError: the script failed.
        """
        return self.ask_line(remote(script), timeout_s)

    def ask_line(self, line: str, timeout_s: float = PROBE_S) -> str:
        """As `ask`, for a line that the login shell there understands, whatever shell that is."""
        try:
            done = call(self.alone(line), timeout_s)
        except subprocess.TimeoutExpired as error:
            raise TargetUnavailable(f"{self.host} did not answer within {timeout_s:g} s") from error
        last = last_line(done.stderr)
        if done.returncode == BROKEN:
            raise TargetUnavailable(
                f"{self.host} cannot be reached with ssh: {last.strip()}", self._by_hand()
            )
        if done.returncode:
            raise TargetError(f"{self.host}: a command ended with {done.returncode}: {last}")
        return done.stdout.decode(errors="replace")

    def _by_hand(self) -> str:
        """The command that lets the user accept a host key, or see what is wrong."""
        given = {"-F": self.config, "-i": self.key, "-l": self.user, "-p": self.port}
        words = [f"{flag} {value}" for flag, value in given.items() if value is not None]
        words += [f"-J {self.jump}"] if self.jump is not None else []
        return " ".join(["ssh", *words, self.host, "true"])

    def record(self) -> dict[str, Any]:
        """What the plan keeps: nothing that is secret."""
        return {"host": self.host, "user": self.user, "port": self.port, "jump": self.jump}


def call(
    command: Sequence[str],
    timeout_s: float,
    *,
    file: IO[bytes] | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run ssh(1) to its end; it dies with this program.

    A client that outlives a killed program can still be connecting. Its script would then choose a
    boot, or restart the machine, after the next start of Pentathlon has taken the way back.

    Args:
        file: its standard input; None: empty.
        environment: None: that of this program.

    Raises:
        subprocess.TimeoutExpired: it did not end in time, and was killed.
    """
    return subprocess.run(
        launch.wrap(command),
        stdin=subprocess.DEVNULL if file is None else file,
        capture_output=True,
        timeout=timeout_s,
        env=environment,
        check=False,
    )


def remote(script: str, *words: str) -> str:
    """A command line for the login shell there, whatever shell that is, that runs a script.

    Args:
        script: text for a POSIX shell.
        words: the script's `$1`, `$2`, ...
    """
    return shlex.join(["exec", "/bin/sh", "-c", script, "pentathlon", *words])


def wait_for_another_boot(
    host: str,
    ask: Callable[[], str],
    before: str,
    still: str,
    deadline: float,
    *,
    poll_s: float,
) -> None:
    """Ask a machine that restarts which boot it is in until that is another one than before.

    Args:
        ask: which boot it is in; raises TargetError where it does not answer.
        still: a clause that reports the boot `before`.
        deadline: as time.monotonic() counts; the machine is asked at least once.
        poll_s: time between two questions, in seconds.

    Raises:
        TargetError: it does not come back in time.
    """
    while True:
        try:
            now = ask()
        except TargetError as error:
            why = str(error)
        else:
            if now and now != before:
                return
            why = still
        if time.monotonic() >= deadline:
            raise TargetError(f"{host} did not come back within the time limit for a boot: {why}")
        time.sleep(poll_s)
