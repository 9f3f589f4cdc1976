"""Steps that base pages have and huge pages have not: address translation, and no cache.

With base pages, loads from blocks beyond the reach of the translation buffers wait for page tables
too, and those outgrow the caches in their turn. Both raise the curve at sizes of the last cache and
beyond. The same loads on huge pages need neither, so a step that they lack is no cache's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pentathlon.evaluate.levels.caches import Step
from pentathlon.evaluate.model import Scalar

PAGES, BASE, HUGE = "pages", "base", "huge"


def counterpart(case: Mapping[str, Scalar]) -> dict[str, Scalar] | None:
    """The case with huge pages that one with base pages is set beside; none for all others."""
    return {**case, PAGES: HUGE} if case.get(PAGES) == BASE else None


def of_translation(
    base: Sequence[Step], huge: Sequence[Step], caches: Sequence[int]
) -> tuple[int, ...]:
    """Places of the steps of base pages that are address translation.

    Only steps beyond every cache but the last are asked about: a smaller cache can be hidden by
    noise in one of the curves, and the last one is set beside any smaller step.

    Args:
        caches: sizes of the claimed caches in bytes, ascending.
    """
    beyond = caches[-2] if len(caches) > 1 else 0
    return tuple(
        place
        for place, step in enumerate(base)
        if step.low > beyond
        and not any(step.low <= other.high and other.low <= step.high for other in huge)
    )
