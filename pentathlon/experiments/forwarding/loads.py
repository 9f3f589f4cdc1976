"""`loads = "automatic"`: loads around the highest that a forwarder takes, which is searched first.

The loads of salah2010 fit its forwarder. What another one does below, at and above its limit is
seen at shares of that limit, and the same shares can be compared between systems and boots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pentathlon.experiments.forwarding import search

SHARES = (25, 50, 75, 90, 100, 110, 125, 150)
"""Loads, % of the highest that is forwarded: below it, close to it, and in overload."""

ALLOWED = 0.01
"""Share of the packets that may be lost at 100 %: the knee of the curve, and not the rate without
any loss, which one packet decides."""

CLOSE = 0.05
"""The search ends when the rates that pass and fail are this close, as a share of the former."""

COARSE = 8
LEAST = 100.0
"""The search gives up below this rate, packets/s."""

ROUNDS = 8
"""A search whose trials contradict each other ends all the same."""

SEARCH_S = 0.3
"""Length of a trial of the search."""


@dataclass(frozen=True)
class Knee:
    """The load of 100 %.

    Attributes:
        rate: packets/s; 0: there is none.
        beyond: why no higher load can be offered, where it is the generator that sets the limit.
        words: how it was found; one sentence.
    """

    rate: float
    beyond: str | None
    words: str


def find(lost: Callable[[float], float], highest: float) -> Knee:
    """Search for the highest rate at which no more than `ALLOWED` is lost.

    Halving by a fixed step would be too coarse for a slow forwarder and too long for a fast one:
    the search begins coarse and goes on between what passed and what did not.

    Args:
        lost: offers a rate once; the share that was lost; raises `search.CannotOffer`.
        highest: rate to begin with, packets/s.
    """
    tried: dict[float, list[float]] = {}
    top, step = highest, highest / COARSE
    found = search.Found(0.0, None)
    for _ in range(ROUNDS):
        found = search.highest_rate(lost, top, step, allowed=ALLOWED, tried=tried)
        if found.passed:
            if found.passed >= highest or step <= CLOSE * found.passed:
                break
            top = min(highest, found.passed + step if found.failed is None else found.failed)
            step = CLOSE * found.passed
        elif step < LEAST:
            reason = found.reason or f"even {found.failed or step:.6g} packets/s lost more than 1 %"
            return Knee(0.0, None, reason)
        else:
            top, step = step, step / COARSE
    share = f"{100 * ALLOWED:g} %"
    text = f"100 % are {found.passed:.6g} packets/s"
    if found.failed is not None:
        return Knee(
            found.passed, None,
            f"{text}, the highest load of which no more than {share} was lost; "
            f"at {found.failed:.6g} more was",
        )  # fmt: skip
    if found.passed >= highest:
        return Knee(
            found.passed, None,
            f"{text}, where the search began: no more than {share} was lost, the limit is above",
        )  # fmt: skip
    return Knee(
        found.passed, found.reason,
        f"{text}, the highest load that the generator could offer; no more than {share} was lost",
    )  # fmt: skip
