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
from pentathlon.targets.capabilities import PlacedTarget
from pentathlon.targets.session import ProcessSession

ANSWER_S = 30.0
"""Longest time for an answer to a command that measures nothing, in seconds."""


@dataclass
class Records:
    """One file of records as it came from the endpoint."""

    flow: int
    kind: str
    data: bytes


@dataclass
class Endpoint:
    """A session whose agent serves commands, and the host's addresses.

    Attributes:
        addresses: IP version -> address of the host on the link.
        refused: IP version -> why the host has no address of it.
        timer: the counter behind its times, as it tells (docs/protocol.md); None: it has not.
        kernel: which boot of which kernel its counters are of; None: its system does not tell.
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

    def open(self, timeout_s: float) -> None:
        """Wait until the agent takes commands.

        Raises:
            TargetError: it does not within `timeout_s` seconds.
        """
        opening = self._last({}, "endpoint", timeout_s)
        told, self.kernel = opening.get("timer"), opening.get("kernel")
        self.timer = Counter(**told) if told else None

    def address(self, interface: str, addresses: list[str]) -> None:
        """Bring an interface of the host up and give it addresses; note which it refuses."""
        command = {"do": "address", "interface": interface, "addresses": addresses}
        answer = self._last(command, "addressed", ANSWER_S)
        for refused in answer["refused"]:
            version = next(v for v, a in self.addresses.items() if a == refused["address"])
            self.refused[version] = refused["reason"]

    def tell(
        self, command: dict[str, Any], answer: str, timeout_s: float = ANSWER_S
    ) -> dict[str, Any]:
        """Give a command that measures nothing; its answering event."""
        return self._last(command, answer, timeout_s)

    def start(self, job: str, what: dict[str, Any]) -> None:
        """Start work in the background under a name (docs/protocol.md)."""
        self._last({"do": "start", "job": job, "what": what}, "started", ANSWER_S)

    def finish_job(self, job: str) -> dict[str, Any]:
        """End such work; the `stopped` event."""
        return self._last({"do": "stop", "job": job}, "stopped", 4 * ANSWER_S)

    def need(self, program: str, package: str) -> str:
        """The path of a program that the host can start; a guest has those of this machine.

        Raises:
            TargetUnavailable: it is not installed; the remedy names the Debian package.
        """
        return str(launch.need(program, package))

    def perform(self, command: Sequence[str], timeout_s: float, **what: Any) -> dict[str, Any]:
        """Run another program on the host to its end; the `performed` event.

        Args:
            what: `environment`, `directory`, `input` (docs/protocol.md).

        Raises:
            CommandError: it does not start.
        """
        program = {"command": list(command), **what}
        asked = {"do": "perform", "program": program, "timeout_s": timeout_s}
        return self._last(asked, "performed", timeout_s + ANSWER_S)

    def settings(self, values: dict[str, str]) -> dict[str, Any]:
        """Set files below /proc/sys of the host; the `set` event."""
        return self._last({"do": "set", "values": values}, "set", ANSWER_S)

    def capture(self, trial: str, interface: str) -> None:
        """Capture every frame of an interface from now on."""
        self._last({"do": "capture", "trial": trial, "interface": interface}, "capturing", ANSWER_S)

    def captured(self, trial: str) -> bytes:
        """End a capture; it is a pcapng file."""
        self._last({"do": "captured", "trial": trial}, "captured", ANSWER_S)
        return b"".join(one.data for one in self.fetch(trial))

    def listen(self, command: dict[str, Any]) -> dict[str, Any]:
        """Open a trial's receivers; the `ready` event with their ports."""
        return self._last({"do": "listen", **command}, "ready", ANSWER_S)

    def send(self, command: dict[str, Any], longest_s: float) -> dict[str, Any]:
        """Send a trial's flows to their end; the `sent` event."""
        return self._last({"do": "send", **command}, "sent", longest_s + ANSWER_S)

    def finish(self, trial: str, quiet_ms: int) -> dict[str, Any]:
        """End a trial's receivers after some quiet; the `received` event."""
        command = {"do": "finish", "trial": trial, "quiet_ms": quiet_ms}
        return self._last(command, "received", quiet_ms / 1e3 + ANSWER_S)

    def fetch(self, trial: str) -> list[Records]:
        """The records of a trial."""
        found = []
        for event in self.session.ask({"do": "fetch", "trial": trial}, {"fetched"}, 10 * ANSWER_S):
            _check(event)
            if event["event"] == "records":
                found.append(Records(event["flow"], event["kind"], event["data"]))
        return found

    def _last(self, command: dict[str, Any], answer: str, timeout_s: float) -> dict[str, Any]:
        last: dict[str, Any] = {}
        for last in self.session.ask(command, {answer}, timeout_s):
            _check(last)
        if "t_ns" in last:
            self.zero_s = min(self.zero_s, time.monotonic() - last["t_ns"] * 1e-9)
        return last


def _check(event: dict[str, Any]) -> None:
    if event["event"] == "error":
        raise CommandError(
            str(event.get("reason", "no reason given")), str(event.get("kind", "failed"))
        )


class CommandError(TargetError):
    """An endpoint could not do what it was told; it is still there for the next command.

    Attributes:
        kind: `unsupported` if its system lacks what was asked for, else `failed`.
    """

    def __init__(self, reason: str, kind: str = "failed") -> None:
        super().__init__(reason)
        self.kind = kind
