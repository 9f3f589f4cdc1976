"""What a protocol of file services has to give: a server and what its client is told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from pentathlon.experiments.file_services.server import Server
from pentathlon.experiments.file_services.spec import Setup
from pentathlon.machine.launch import need


class Refused(Exception):
    """An end cannot do it by this protocol; one sentence."""


@dataclass(frozen=True)
class Call:
    """A program that does a client's task.

    Attributes:
        input: what it reads from its standard input, where no other user sees it.
        environment: added to that of the client's host.
    """

    command: list[str]
    input: str = ""
    environment: dict[str, str] = field(default_factory=dict)


@dataclass
class Service:
    """A running server.

    Attributes:
        name: of its program, for people.
    """

    name: str
    server: Server


class Family(ABC):
    """Protocols that one server and one client program speak.

    Attributes:
        name: also the name under which `file_services.capture` reads its exchanges.
        protocols: as cases name them (the parameter `protocols` of the catalog).
        programs: what both ends need, each with its Debian package.
        words: pairs of a regular expression over what the client prints and its meaning.
    """

    name: ClassVar[str]
    protocols: ClassVar[tuple[str, ...]]
    programs: ClassVar[tuple[tuple[str, str], ...]] = ()
    words: ClassVar[tuple[tuple[str, str], ...]] = ()

    def check(self) -> None:
        """Look whether everything is here that a trial needs.

        Raises:
            TargetUnavailable: something is not installed; it names the remedy.
        """
        for program, package in self.programs:
            need(program, package)

    @abstractmethod
    def start(self, setup: Setup) -> Service:
        """Start the server on its host; it hands out `setup.held.directory` and listens.

        Raises:
            Refused: an end cannot do it.
            TargetError: a program is missing, or it does not start.
        """

    @abstractmethod
    def call(self, setup: Setup, service: Service) -> Call:
        """The client's program for the task; it puts the files into `setup.into`.

        Raises:
            TargetError: a program is missing.
        """
