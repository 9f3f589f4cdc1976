"""Knees of the time over the size of the code (venkata2003, section 3.2).

The study lets code and data grow together past the cache and takes the size at which the bandwidth
drops. Here the code itself grows, so a knee is the capacity of a cache for instructions. The steps
are found as those of the data caches are (`pentathlon.evaluate.levels.caches`): rises that begin at
the capacity, with the profile of their fit as the interval.

Processors also keep decoded instructions, in a cache of which no system tells: 4096
micro-operations on the Intel cores of 2022 to 2024, which is 16 to 21 KiB of this code (Intel 64
and IA-32 Architectures Optimization Reference Manual). Where decoding is slower than executing,
code slows down there already, so a knee below the smallest claimed cache is not that cache's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pentathlon.evaluate.cases import case_text
from pentathlon.evaluate.derived.model import CodeSize
from pentathlon.evaluate.derived.series import Curve, every
from pentathlon.evaluate.display import bytes_text
from pentathlon.evaluate.levels.caches import FEWEST_POINTS, Step, find_steps
from pentathlon.evaluate.levels.curves import Cache, boundaries, check
from pentathlon.evaluate.model import Row
from pentathlon.evaluate.model_curves import CacheCheck
from pentathlon.evaluate.values import Values

WORKLOAD, METRIC = "memory.code_size", "time"
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
        for system, curve in every(rows, systems, WORKLOAD, METRIC, SIZE)
    )


def _one(system: str, curve: Curve, caches: Sequence[Cache]) -> CodeSize:
    steps = find_steps(curve.x, curve.mean, curve.noise)
    early, checks, left = cache_checks(steps, caches, curve.x)
    return CodeSize(
        system=system,
        opt_level=str(curve.case.get(LEVEL, "")),
        case_text=case_text(curve.case),
        unit=curve.rows[0].unit,
        points=len(curve.x),
        knees=boundaries(steps),
        seen=bool(steps),
        checks=checks,
        words=_words(curve, steps, early, checks, left),
    )


def cache_checks(
    steps: Sequence[Step], caches: Sequence[Cache], sizes: Values
) -> tuple[int, tuple[CacheCheck, ...], tuple[int, ...]]:
    """How many steps lie below every claimed cache; each cache beside its step; the steps left.

    Args:
        caches: those that hold instructions, smallest first.
        sizes: sizes of the code in bytes, ascending.
    """
    early = sum(step.high < caches[0].size for step in steps) if caches else 0
    # A cache larger than all of the code cannot slow it down, so a step is not a share of it.
    within = [cache for cache in caches if cache.size < sizes[-1]]
    checks, left = check(steps[early:], within, sizes)
    checks += check((), caches[len(within) :], sizes)[0]
    return early, checks, tuple(early + place for place in left)


def _words(
    curve: Curve,
    steps: Sequence[Step],
    early: int,
    checks: Sequence[CacheCheck],
    left: Sequence[int],
) -> tuple[str, ...]:
    if len(curve.x) < FEWEST_POINTS:
        return (f"{len(curve.x)} sizes of code are too few to look for a knee",)
    if not steps:
        low, high = bytes_text(float(curve.x[0])), bytes_text(float(curve.x[-1]))
        return (f"no knee between {low} and {high}",)
    return (
        *(
            f"a knee between {_between(step)}, below every claimed cache: that of decoded "
            "instructions, which no system reports, or a cache shared with another thread"
            for step in steps[:early]
        ),
        *(one.words for one in checks),
        *(
            f"a knee between {_between(steps[place])} that no claimed cache explains; "
            "branch prediction and address translation make some"
            for place in left
        ),
    )


def _between(step: Step) -> str:
    return f"{bytes_text(step.low)} and {bytes_text(step.high)}"
