"""The highest rate at which a device loses no more than is allowed, by repeated trials.

RFC 2544, section 26.1, requests the highest rate without loss and leaves the search to the tester;
halving is the usual one. One trial of a busy machine may lose a packet to something else, so each
rate is tried several times and passes by majority.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

AGREEING = 2
"""Trials that have to agree on each of the two rates that a search ends with."""

Trial = Callable[[float], float]
"""Packets/s offered -> share of them lost; raises where the load cannot be offered."""


class CannotOffer(Exception):
    """The generator cannot offer this load; one sentence."""


@dataclass
class Found:
    """Where the device's limit lies.

    Attributes:
        passed: highest rate that passed, packets/s; 0: none did.
        failed: lowest rate that failed; None: none did, the limit is above all that was offered.
        reason: why no higher load was offered, if the generator is what set the limit.
        tried: rate -> losses of its trials, in their order.
    """

    passed: float
    failed: float | None
    reason: str | None = None
    tried: dict[float, list[float]] = field(default_factory=dict)


def highest_rate(
    trial: Trial,
    highest: float,
    resolution: float,
    *,
    allowed: float = 0.0,
    trials: int = 3,
    tried: dict[float, list[float]] | None = None,
) -> Found:
    """Search between 0 and `highest`.

    Args:
        trial: offers a rate once.
        highest: rate to begin with, packets/s.
        resolution: the search ends when the rates that pass and fail are this close, packets/s.
        allowed: share that may be lost.
        trials: trials of a rate; it passes if more than half of them lose no more than `allowed`.
        tried: trials made already, which are not made again; new ones are added.

    Raises:
        ValueError: the arguments make no search.
    """
    if not (highest > 0 and resolution > 0 and trials >= 1 and 0 <= allowed < 1):
        raise ValueError("the search needs a rate, a resolution and a number of trials above 0")
    found = Found(0.0, None, tried={} if tried is None else tried)
    upper = highest
    rate = highest
    while True:
        try:
            passes = _passes(trial, rate, allowed, trials, found.tried)
        except CannotOffer as error:
            # What cannot be offered states nothing of the device: the search goes on below it.
            found.reason = str(error)
            upper = rate
        else:
            if passes:
                found.passed = max(found.passed, rate)
            else:
                found.failed = rate if found.failed is None else min(found.failed, rate)
                upper = rate
        if found.passed >= highest or upper - found.passed <= resolution:
            break
        rate = (found.passed + upper) / 2
    if found.failed is not None and found.failed <= upper:
        found.reason = None
    return found


def contradiction(trial: Trial, found: Found, *, allowed: float = 0.0) -> str | None:
    """Try the two rates again that a search ended with; one sentence if they do not stand.

    Where each rate has one trial, a packet that something else lost ends the search far below the
    device's limit. A wrong decision is always on one of these two rates, or changes nothing: no
    rate above one that failed is tried, and none below one that passed. Trials are added until
    `AGREEING` of a rate agree; a search with three or more for each rate needs none. A further
    search with the same `tried` decides by all of them.

    Args:
        trial: offers a rate once.
        found: what the search found; `found.tried` has its trials, and the new ones are added.
        allowed: share that may be lost.
    """
    for rate, passed in ((found.passed, True), (found.failed, False)):
        if not rate:
            continue
        losses = found.tried[rate]
        before = len(losses)
        while max(good := _good(losses, allowed), bad := len(losses) - good) < AGREEING:
            try:
                losses.append(trial(rate))
            except CannotOffer as error:
                return f"{rate:.6g} packets/s could be offered once, and not again: {error}"
        if len(losses) > before and passed != (good > bad):
            return (
                f"the search took {rate:.6g} packets/s for a rate that "
                f"{'passes' if passed else 'fails'}, and {max(good, bad)} of {len(losses)} trials "
                "of it have the opposite result: something else on the machine decided; set trials "
                "= 3 or more, or keep the machine free of other work"
            )
    return None


def _good(losses: list[float], allowed: float) -> int:
    """Trials that lost no more than is allowed."""
    return sum(loss <= allowed for loss in losses)


def _passes(
    trial: Trial, rate: float, allowed: float, trials: int, tried: dict[float, list[float]]
) -> bool:
    losses = tried.setdefault(rate, [])
    trials = max(trials, len(losses))
    for _ in range(trials):
        good = _good(losses, allowed)
        if 2 * good > trials or 2 * (len(losses) - good) >= trials:
            break
        try:
            losses.append(trial(rate))
        except CannotOffer:
            if not losses:
                del tried[rate]
            raise
    good = _good(losses, allowed)
    return 2 * good > trials
