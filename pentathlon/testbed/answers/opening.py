"""What an endpoint says of itself before it takes commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pentathlon.packets.clocks import Counter
from pentathlon.testbed.answers.fields import MOST_UNSIGNED, NAME, Fields

TICKS_NS: Final = (1e-6, 1e9)
"""Shortest and longest step of a counter, ns."""


@dataclass(frozen=True)
class Opening:
    """The `endpoint` event.

    Attributes:
        timer: what its times are counted by; None: it does not say.
        kernel: which boot of which kernel it runs on; None: its system does not say.
    """

    timer: Counter | None
    kernel: str | None


def opening(answer: Fields) -> Opening:
    """Read it."""
    return Opening(
        _counter(answer.object("timer")) if answer.has("timer") else None,
        answer.text("kernel", NAME) if answer.has("kernel") else None,
    )


def _counter(timer: Fields) -> Counter:
    return Counter(
        source=timer.text("source", NAME),
        epoch=timer.whole("epoch", MOST_UNSIGNED),
        tick_ns=timer.number("tick_ns", *TICKS_NS),
    )
