"""What the targets of a kind offer beside a boot, so that their systems can be hosts of several.

A kind names in its description (`descriptor.End`) what its systems can be joined by; its targets
then have the class here that the way of joining needs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

from pentathlon.machine.settings import MachineSettings
from pentathlon.machine.undo_journal import Entry
from pentathlon.targets.contract import Target
from pentathlon.targets.installs import KeepingTarget
from pentathlon.targets.session import ProcessSession


class PlacedTarget(Target):
    """A host whose agent is a process of this machine, in a namespace that a testbed may choose.

    Attributes:
        settings: those that the study gives it.
    """

    settings: MachineSettings


class LoopbackTarget(Target):
    """A host that is on this machine's loopback device."""

    @abstractmethod
    def start_endpoint(self, where: tuple[int, ...] | None) -> ProcessSession:
        """A system of its own on the CPUs `where`, whose agent obeys commands.

        Raises:
            TargetError: as for `boot`.
        """


@dataclass(frozen=True)
class Card:
    """A network card of a guest.

    Attributes:
        file: its other end, an open packet socket, end of a pair of sockets, or TAP device.
        mac: its hardware address.
        mtu: the longest packet, in bytes; None: the guest's choice.
    """

    file: int
    mac: str
    mtu: int | None = None


class CardTarget(KeepingTarget):
    """A guest whose network cards have files of this machine as their other ends."""

    devices: ClassVar[tuple[str, str]]
    """What its kernel calls its first two cards; nobody renames them."""

    slow: ClassVar[int] = 1
    """How many times as long as elsewhere its programs may take to start and to answer."""

    @abstractmethod
    def start_host(
        self,
        timeout_s: float,
        where: Sequence[int] | None,
        cards: Sequence[Card],
        writable: Sequence[Path] = (),
    ) -> ProcessSession:
        """Boot it on the CPUs `where` as one host of several: its agent obeys commands.

        Args:
            cards: its network cards; the files stay the caller's to close.
            writable: directories of this machine that its programs may write to. If there is one,
                its agent starts in this machine's root directory.

        Raises:
            TargetError: as for `boot`.
        """


class RemoteSession(ProcessSession):
    """A session on another machine, which cleans up there when it ends."""

    @property
    @abstractmethod
    def directory(self) -> str:
        """The session's private directory over there."""

    @property
    @abstractmethod
    def scratch(self) -> str:
        """The directory for its files over there."""

    @abstractmethod
    def send(self, script: str, *words: str, file: IO[bytes]) -> None:
        """Run a POSIX shell script there that reads a file of this machine."""

    @abstractmethod
    def note(self, entry: Entry) -> None:
        """Write down a change of this machine that is put back when the session ends."""


class RemoteTarget(Target):
    """A host that is another machine, joined to this one by cables."""

    @property
    @abstractmethod
    def host(self) -> str:
        """The machine's name, for people."""

    @abstractmethod
    def start_endpoint(self, timeout_s: float) -> RemoteSession:
        """Start the agent there as one host of several; the machine is not restarted.

        Raises:
            TargetError: as for `boot`.
        """
