"""Another machine as an end of a link: an agent over there, and what it changes for the time.

Each change is written down over there before it is made, as the command that puts it back. The
session's guard (agent/crates/session/src/home.rs) runs these commands when the session ends,
however it ends.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.on_error import on_error
from pentathlon.targets.capabilities import RemoteSession, RemoteTarget
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.replies.settings import Set

LOOK_S = 30.0
"""Longest time for a look at the machine, in seconds."""

# Words: the session's directory, lines.
NOTE = 'directory=$1; shift; printf "%s\\n" "$@" >>"$directory/undo"'

# Words: names of settings.
READ = r"""
for name; do printf '%s\t' "$name"; cat "/proc/sys/$name" 2>/dev/null || echo; done
"""

FIND = 'PATH=$PATH:/usr/sbin:/sbin; command -v "$1"'


@dataclass
class RemoteEndpoint(Endpoint):
    """An endpoint on another machine.

    Attributes:
        name: of the machine, for people.
    """

    name: str = ""
    _noted: set[str] = field(default_factory=set)

    @property
    def far(self) -> RemoteSession:
        """Its session."""
        assert isinstance(self.session, RemoteSession)
        return self.session

    def shell(self, script: str, *words: str, input: str = "", timeout_s: float = LOOK_S) -> str:
        """Run a POSIX shell script there; what it prints, its last 16 KiB.

        Raises:
            TargetError: it failed; its last words.
        """
        done = self.perform(["/bin/sh", "-c", script, "sh", *words], timeout_s, input=input)
        if done["status"] != 0:
            lines = (done["error"] or done["output"]).strip().splitlines() or ["no reason given"]
            raise TargetError(f"{self.name}: {lines[-1].strip()}")
        return str(done["output"])

    def need(self, program: str, package: str) -> str:
        try:
            return self.shell(FIND, program).strip()
        except TargetError:
            raise TargetUnavailable(
                f"the program {program} is not installed on {self.name}",
                f"sudo apt-get install {package} on {self.name}",
            ) from None

    def undo_by(self, *commands: Sequence[str]) -> None:
        """Write down what puts changes back, in this order; make them only after this returns."""
        # The guard runs the last line first.
        lines = [json.dumps(list(one)) for one in reversed(commands)]
        self.shell(NOTE, self.far.directory, *lines)

    def settings(self, values: dict[str, str]) -> Set:
        new = [name for name in values if name not in self._noted]
        if new:
            lines = (line.partition("\t") for line in self.shell(READ, *new).splitlines())
            before = {name: value for name, _, value in lines if value and name in new}
            if before:
                put = 'printf %s "$1" >"$0"'
                self.undo_by(
                    *(["sh", "-c", put, f"/proc/sys/{n}", value] for n, value in before.items())
                )
            self._noted.update(new)
        return super().settings(values)


def reach(
    target: RemoteTarget, interface: str, addresses: dict[int, str], timeout_s: float
) -> RemoteEndpoint:
    """Start an agent on another machine, which is going to have these addresses.

    Nothing is changed there yet.

    Args:
        interface: the machine's, where its end of the cable is.

    Raises:
        TargetUnavailable: the machine lacks something, or may not be changed.
        TargetError: it cannot be reached.
    """
    session = target.start_endpoint(timeout_s)
    end = RemoteEndpoint(session, addresses, apart=True, device=interface, name=target.host)
    with on_error(session.stop):
        end.open(timeout_s)
        _look(end)
    return end


def _look(end: RemoteEndpoint) -> None:
    if end.shell("id -u").strip() != "0":
        raise TargetUnavailable(
            f"an end of a link is given an address and settings, for which the login on {end.name} "
            "must be root's"
        )
    ip = end.need("ip", "iproute2")
    try:
        reported = end.shell(
            '"$1" -o addr show dev "$2" && echo "${SSH_CONNECTION:-}"', ip, end.device
        )
    except TargetError as error:
        raise TargetUnavailable(f"the interface {end.device} is not usable: {error}") from error
    # ssh(1): the client's address and port, the server's address and port.
    *lines, connection = reported.splitlines() or [""]
    server = [*connection.split(), "", "", ""][2]
    own = {line.split()[3].partition("/")[0] for line in lines if len(line.split()) > 3}
    if server and server.partition("%")[0] in own:
        raise TargetUnavailable(
            f"the connection to {end.name} itself goes over {end.device}, which is to be measured; "
            "join the machines by a second cable"
        )
