"""Trials that are made again where they were invalid: in a sweep, and in a search for a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from pentathlon.experiments.forwarding import search
from pentathlon.experiments.forwarding.flow import Flow
from pentathlon.testbed.trial import InvalidTrial

TRIES = 3
"""A generator on a busy machine misses its schedule now and then: so often a trial is made."""

Result = TypeVar("Result")


def valid(
    trial: Callable[[], Result], again: Callable[[InvalidTrial], object] = lambda _: None
) -> Result:
    """What a trial yields; one that is invalid is made again, up to `TRIES` times in all.

    Args:
        again: receives why a trial that is made again was invalid.

    Raises:
        InvalidTrial: the last one was invalid too.
    """
    for _ in range(TRIES - 1):
        try:
            return trial()
        except InvalidTrial as error:
            again(error)
    return trial()


class Offers:
    """The trials of a search (`search.Trial`), of which one that is invalid is made again.

    One invalid trial is the machine's; that the generator cannot offer a load is shown by `TRIES`
    of them, and then that load is not tried again.
    """

    def __init__(self, flow: Callable[[float], Flow]) -> None:
        """`flow` offers a rate in packets/s once, and raises `InvalidTrial`."""
        self._flow = flow
        self._again: dict[float, list[InvalidTrial]] = {}
        self._beyond: dict[float, InvalidTrial] = {}

    def __call__(self, rate: float) -> float:
        """The share that was lost at `rate`, packets/s.

        Raises:
            search.CannotOffer: every trial was invalid.
        """
        if rate not in self._beyond:
            again = self._again.setdefault(rate, [])
            try:
                return valid(lambda: self._flow(rate), again.append).lost_ratio
            except InvalidTrial as error:
                self._beyond[rate] = error
        raise search.CannotOffer(str(self._beyond[rate]))

    def words(self) -> Iterator[str]:
        """A sentence on each rate of which trials were invalid."""
        for rate, errors in self._again.items():
            if last := self._beyond.get(rate):
                yield f"at {rate:.6g} packets/s none of {TRIES} trials was valid: {last}"
            elif errors:
                count = "a trial was" if len(errors) == 1 else f"{len(errors)} trials were"
                yield f"at {rate:.6g} packets/s {count} invalid and made again: {errors[-1]}"
