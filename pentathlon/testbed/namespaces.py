"""Network namespaces of this machine, each with an agent that obeys commands.

A namespace has no name and lives as long as its agent, so nothing is left after a crash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pentathlon.machine import launch
from pentathlon.machine.network_namespace import namespace
from pentathlon.machine.on_error import on_error
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.targets.capabilities import PlacedTarget
from pentathlon.targets.session import Launch, ProcessSession
from pentathlon.testbed import hosts, placed
from pentathlon.testbed.endpoint import Endpoint

QUIET = 'f=/proc/sys/net/ipv6/conf/$0/disable_ipv6; [ ! -e "$f" ] || echo 1 > "$f"'
"""For sh(1): an interface, its argument, whose system must not speak on the line by itself."""


@dataclass(frozen=True)
class Namespace:
    """One that is to be made.

    Attributes:
        name: for errors.
        addresses: IP version -> address that it is going to have.
        cpus: where its agent may run; None: anywhere.
        nice: nice value of its agent.
        settings_of: a target whose settings hold for it.
    """

    name: str
    addresses: dict[int, str]
    cpus: tuple[int, ...] | None = None
    nice: int | None = None
    settings_of: PlacedTarget | None = None


def start(
    agent: Path, wanted: Sequence[Namespace], state_dir: Path, timeout_s: float
) -> list[Endpoint]:
    """Make namespaces, all or none; their agents take commands.

    Raises:
        TargetError: one cannot be made, or its agent does not answer in time.
    """
    made: list[Endpoint] = []
    with on_error(hosts.stop, made):
        for one in wanted:
            made.append(_start(agent, one, state_dir))
        for host in made:
            host.open(timeout_s)
            placed.read_back(host)
    return made


def _start(agent: Path, wanted: Namespace, state_dir: Path) -> Endpoint:
    if (target := wanted.settings_of) is not None:
        command = [*namespace(target.settings), str(agent), "endpoint"]
        return placed.start(target, command, wanted.addresses, wanted.cpus)
    journal = UndoJournal(state_dir)
    with on_error(journal.undo):
        command = [*namespace(), str(agent), "endpoint"]
        words = launch.wrap(command, cpus=wanted.cpus, nice=wanted.nice)
        return Endpoint(
            ProcessSession(wanted.name, Launch(command=words), journal), wanted.addresses
        )
