"""What carries the frames of a link: the agent's emulator, or the kernel's own, netem."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol, cast

from pentathlon.protocol.requests.commands import Order
from pentathlon.protocol.requests.emulation import Emulate
from pentathlon.study.link_profile import DIRECTIONS, Profile
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.link import request
from pentathlon.testbed.link.statistics import Statistics
from pentathlon.testbed.replies.line import Line, follows

JOB = "link"

SPIN_US = 60
"""How long before a frame is due the agent's emulator stops sleeping, µs."""


class Engine(Protocol):
    """Carries frames between the two interfaces of the emulator's namespace.

    Attributes:
        name: what results call it.
        line_first: a frame that is lost has taken its time on the line, and the copy of one takes
            none; otherwise frames are lost and copied before the line.
    """

    name: str
    line_first: bool

    def open(self, profile: Profile, seed: int, lead_ns: int) -> None:
        """Let frames pass as the profile states, each so much earlier than due.

        Args:
            seed: of what is left to chance, for engines that take one.

        Raises:
            TargetError: it cannot.
        """

    def close(self) -> Statistics:
        """Let none pass any more; the last statistics."""

    def statistics(self) -> Statistics:
        """What happened since it was opened (docs/link.md)."""

    def cut(self) -> None:
        """Lose what is on the link and what comes."""

    def mend(self) -> None:
        """Let frames pass again."""

    def stop(self) -> None:
        """End what it runs beside the namespace."""


class AgentEngine:
    """The agent's emulator, in the namespace itself.

    Args:
        endpoint: the agent of the namespace.
        interfaces: at the client's and at the server's side.
        namespaces: the files of their network namespaces, None for the endpoint's own.
        spin_us: how long before a frame is due it stops sleeping, µs.
    """

    name = "agent"
    line_first = True

    def __init__(
        self,
        endpoint: Endpoint,
        interfaces: Sequence[str],
        spin_us: int,
        namespaces: Sequence[Path | None] = (None, None),
    ) -> None:
        self._endpoint = endpoint
        self._interfaces = list(interfaces)
        self._namespaces = [None if one is None else str(one) for one in namespaces]
        self._spin_us = spin_us
        self._last: Line | None = None

    def open(self, profile: Profile, seed: int, lead_ns: int) -> None:
        work = Emulate(
            interfaces=self._interfaces, namespaces=self._namespaces, ways=request.ways(profile),
            seed=seed, spin_us=self._spin_us, lead_ns=lead_ns,
        )  # fmt: skip
        self._endpoint.start(JOB, work)
        self._last = None

    def close(self) -> Statistics:
        return self._next(self._endpoint.finish_job(JOB)["yields"][0])

    def statistics(self) -> Statistics:
        return self._order("statistics")

    def cut(self) -> None:
        self._order("cut")

    def mend(self) -> None:
        self._order("mend")

    def stop(self) -> None:
        """It ends with the namespace."""

    def _order(self, order: Literal["cut", "mend", "statistics"]) -> Statistics:
        return self._next(self._endpoint.execute(Order(job=JOB, order=order)))

    def _next(self, now: Line) -> Statistics:
        if self._last is not None:
            follows(self._endpoint.title, self._last, now)
        self._last = now
        return named(now)


def named(event: Line) -> Statistics:
    """The emulator's statistics with the names of the directions."""
    kept = {key: value for key, value in event.items() if key != "ways"}
    return cast(Statistics, kept | dict(zip(DIRECTIONS, event["ways"], strict=True)))
