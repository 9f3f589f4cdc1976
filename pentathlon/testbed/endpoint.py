"""One host of a pair: an agent that obeys commands over its standard input."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetError
from pentathlon.packets.clocks import Counter
from pentathlon.packets.records import RecordsError
from pentathlon.protocol.events import JsonObject
from pentathlon.protocol.requests import commands
from pentathlon.protocol.requests.works import Program, Work
from pentathlon.targets.capabilities import PlacedTarget
from pentathlon.targets.session import ProcessSession
from pentathlon.testbed.replies import captures, jobs, opening
from pentathlon.testbed.replies.captures import Records
from pentathlon.testbed.replies.fields import Fields
from pentathlon.testbed.replies.jobs import Stopped
from pentathlon.testbed.replies.programs import Performed
from pentathlon.testbed.replies.settings import Set
from pentathlon.testbed.replies.trials import Ready, Received, Sent
from pentathlon.testbed.replies.verbs import READERS

ANSWER_S = 30.0
"""Longest time for an answer to a command that measures nothing, in seconds."""


ERROR_KINDS = ("unsupported", "failed")


@dataclass
class Endpoint:
    """A session whose agent serves commands, and the host's addresses.

    Attributes:
        addresses: IP version -> address of the host on the link.
        refused: IP version -> why the host has no address of it.
        timer: the counter behind its times, as it reports (docs/protocol.md); None: it has not.
        kernel: which boot of which kernel its counters are of; None: its system does not report.
        zero_s: time.monotonic() when its timer was 0, as near as its answers tell: late by the
            quickest answer's way.
        apart: its kernel is not this machine's, so that this machine's /proc does not show it.
        device: its own name for its interface on the link, where it is apart.
        slow: how many times as long as elsewhere its programs may take to start and to answer.
        settings_of: the system whose settings it has, if it is a host of this machine.
        group: the `cgroup.procs` file of its control group, if that system has a CPU quota.
        found: these settings as they were read back on it (`placed.read_back`).
    """

    session: ProcessSession
    addresses: dict[int, str]
    refused: dict[int, str] = field(default_factory=dict)
    timer: Counter | None = None
    kernel: str | None = None
    zero_s: float = math.inf
    apart: bool = False
    device: str = ""
    slow: int = 1
    settings_of: PlacedTarget | None = None
    group: Path | None = None
    found: dict[str, Any] = field(default_factory=dict)
    _works: dict[str, str] = field(default_factory=dict)
    """Job in progress -> the kind of its work."""

    @property
    def title(self) -> str:
        """What errors call it."""
        address = next(iter(self.addresses.values()), None)
        return f'system "{self.session.name}"' + (f", host {address}" if address else "")

    def open(self, timeout_s: float) -> None:
        """Wait until the agent takes commands.

        Raises:
            TargetError: it does not within `timeout_s` seconds.
        """
        answer = self._last(None, "endpoint", timeout_s)
        found = opening.opening(answer)
        self.timer, self.kernel = found.timer, found.kernel

    def address(self, interface: str, addresses: list[str]) -> None:
        """Bring an interface of the host up and give it addresses; note which it refuses."""
        command = commands.Address(interface=interface, addresses=addresses)
        for refused in self.execute(command)["refused"]:
            version = next(v for v, a in self.addresses.items() if a == refused["address"])
            self.refused[version] = refused["reason"]

    def execute(self, command: commands.Command, timeout_s: float = ANSWER_S) -> Any:
        """Give a command; its answering event, as `testbed.replies` types it.

        Raises:
            AnswerRefused: the answer is none.
        """
        answer, read = READERS[type(command)]
        return read(self._last(command, answer, timeout_s), command)

    def start(self, job: str, what: Work) -> None:
        """Start work in the background under a name (docs/protocol.md)."""
        self.execute(commands.Start(job=job, what=what))
        self._works[job] = what.work

    def finish_job(self, job: str) -> Stopped:
        """End such work; the `stopped` event."""
        work = self._works.pop(job, "")
        return jobs.stopped(self._last(commands.Stop(job=job), "stopped", 4 * ANSWER_S), job, work)

    def need(self, program: str, package: str) -> str:
        """The path of a program that the host can start; a guest has those of this machine.

        Raises:
            TargetUnavailable: it is not installed; the remedy names the Debian package.
        """
        return str(launch.need(program, package))

    def perform(self, command: Sequence[str], timeout_s: float, **what: Any) -> Performed:
        """Run another program on the host to its end; the `performed` event.

        Args:
            what: `environment`, `directory`, `input` (docs/protocol.md).

        Raises:
            CommandError: it does not start.
        """
        program = Program(command=list(command), **what)
        requested = commands.Perform(program=program, timeout_s=timeout_s)
        done: Performed = self.execute(requested, timeout_s + ANSWER_S)
        return done

    def settings(self, values: dict[str, str]) -> Set:
        """Set files below /proc/sys of the host; the `set` event."""
        done: Set = self.execute(commands.Set(values=values))
        return done

    def capture(self, trial: str, interface: str) -> None:
        """Capture every frame of an interface from now on."""
        self.execute(commands.Capture(trial=trial, interface=interface))

    def captured(self, trial: str) -> bytes:
        """End a capture; it is a pcapng file."""
        self.execute(commands.Captured(trial=trial))
        return b"".join(one.data for one in self.fetch(trial) if one.kind == captures.CAPTURE)

    def listen(self, command: commands.Listen) -> Ready:
        """Open a trial's receivers; the `ready` event with their ports."""
        ready: Ready = self.execute(command)
        return ready

    def send(self, command: commands.Send, longest_s: float) -> Sent:
        """Send a trial's flows to their end; the `sent` event."""
        sent: Sent = self.execute(command, longest_s + ANSWER_S)
        return sent

    def finish(self, trial: str, quiet_ms: int) -> Received:
        """End a trial's receivers after some quiet; the `received` event."""
        command = commands.Finish(trial=trial, quiet_ms=quiet_ms)
        received: Received = self.execute(command, quiet_ms / 1e3 + ANSWER_S)
        return received

    def fetch(self, trial: str) -> list[Records]:
        """The records of a trial.

        Raises:
            RecordsError: a file holds no records of its flow.
        """
        found: list[Records] = []
        wrong: RecordsError | None = None
        command = commands.Fetch(trial=trial)
        for event in self.session.ask(command, {"fetched"}, 10 * ANSWER_S):
            answer = self._checked(command, event)
            if event["event"] == "records":
                if len(found) >= captures.MOST_FILES:
                    raise answer.wrong("files", f"are more than {captures.MOST_FILES}")
                file = captures.announced(answer, trial, event["data"])
                found.append(file)
                try:
                    captures.check(file)
                except RecordsError as error:
                    # The other files are still to come.
                    wrong = wrong or RecordsError(f"{self.title}: {file.kind}: {error}")
            elif event["event"] == "fetched":
                captures.fetched(answer, trial, found)
        if wrong is not None:
            raise wrong
        return found

    def _last(self, command: commands.Command | None, answer: str, timeout_s: float) -> Fields:
        last = self._fields(command, {})
        for event in self.session.ask(command, {answer}, timeout_s):
            last = self._checked(command, event)
        self.zero_s = min(self.zero_s, time.monotonic() - last.time_ns("t_ns") * 1e-9)
        return last

    def _fields(self, command: commands.Command | None, event: JsonObject) -> Fields:
        return Fields(self.title, command.do if command else "the start", event)

    def _checked(self, command: commands.Command | None, event: JsonObject) -> Fields:
        """The fields of an event.

        Raises:
            CommandError: it states why the command was not obeyed.
        """
        answer = self._fields(command, event)
        if event["event"] == "error":
            raise CommandError(answer.text("reason"), answer.one_of("kind", ERROR_KINDS))
        return answer


class CommandError(TargetError):
    """An endpoint did not carry out a command; it is still there for the next command.

    Attributes:
        kind: `unsupported` if its system lacks what was requested, else `failed`.
    """

    def __init__(self, reason: str, kind: str = "failed") -> None:
        super().__init__(reason)
        self.kind = kind
