"""Knees of the time over the size of the code (venkata2003, section 3.2).

The study lets code and data grow together past the cache and takes the size at which the bandwidth
drops. Here the code itself grows, so a knee is the capacity of a cache for instructions. The steps
are found as those of the data caches are (`pentathlon.evaluate.levels.caches`): rises that begin at
the capacity, with the profile of their fit as the interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pentathlon.evaluate.cases import case_text
from pentathlon.evaluate.derived.model import CodeSize, Knee
from pentathlon.evaluate.derived.series import Curve, every
from pentathlon.evaluate.display import bytes_text
from pentathlon.evaluate.levels.caches import FEWEST_POINTS, Step, find_steps
from pentathlon.evaluate.levels.curves import Cache, check
from pentathlon.evaluate.model import Row
from pentathlon.evaluate.model_curves import CacheCheck

WORKLOAD, INDICATOR = "memory.code_size", "time"
SIZE, LEVEL = "code_bytes", "opt_level"


def find_code_sizes(
    rows: Sequence[Row], systems: Sequence[str], claimed: Mapping[str, tuple[Cache, ...]]
) -> tuple[CodeSize, ...]:
    """The knees of every curve over the size of the code.

    Args:
        claimed: system -> its caches that hold instructions, smallest first.
    """
    return tuple(
        _one(system, curve, claimed.get(system, ()))
        for system, curve in every(rows, systems, WORKLOAD, INDICATOR, SIZE)
    )


def _one(system: str, curve: Curve, caches: Sequence[Cache]) -> CodeSize:
    steps = find_steps(curve.x, curve.mean, curve.noise)
    checks, left = check(steps, caches, curve.x)
    return CodeSize(
        system=system,
        opt_level=str(curve.case.get(LEVEL, "")),
        case_text=case_text(curve.case),
        unit=curve.rows[0].unit,
        points=len(curve.x),
        knees=tuple(
            Knee(
                low_bytes=int(step.low),
                high_bytes=int(step.high),
                before=step.before,
                after=step.after,
            )
            for step in steps
        ),
        seen=bool(steps),
        checks=checks,
        words=_words(curve, steps, checks, left),
    )


def _words(
    curve: Curve, steps: Sequence[Step], checks: Sequence[CacheCheck], left: Sequence[int]
) -> tuple[str, ...]:
    if len(curve.x) < FEWEST_POINTS:
        return (f"{len(curve.x)} sizes of code are too few to look for a knee",)
    if not steps:
        low, high = bytes_text(float(curve.x[0])), bytes_text(float(curve.x[-1]))
        return (f"no knee between {low} and {high}",)
    return (
        *(one.words for one in checks),
        *(
            f"a knee between {bytes_text(steps[place].low)} and {bytes_text(steps[place].high)} "
            "that no claimed cache explains; branch prediction and address translation make some"
            for place in left
        ),
    )
