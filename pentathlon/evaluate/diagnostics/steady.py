"""Does a process reach a steady state, and is it the fast one?

Barrett, Bolz-Tereick, Killick, Mount and Tratt 2017, "Virtual machine warmup blows hot and cold"
(OOPSLA, doi:10.1145/3133876): the iterations of one process are cut into segments at changes of
mean and variance with the penalty 15 ln n; what counts is the order of the segments' levels.
Differences from the paper: costs are logarithms, so that one tolerance holds for every unit; two
segments are alike if their medians differ by less than the study's δ or by less than three
standard errors; and the tail that must be steady is the last quarter, as theirs was 500 of 2000.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from pentathlon.evaluate.changepoints import segment_ends
from pentathlon.evaluate.model_series import Steady
from pentathlon.evaluate.values import Values

FEWEST_ITERATIONS = 40
"""A quarter of them must hold a whole segment with room to spare."""
SHORTEST_SEGMENT = 5
PENALTY = 15.0
TAIL = 0.25
ERRORS = 3.0
"""Segments whose levels differ by less than so many standard errors are alike as well."""
FLAT, WARM_UP, SLOWDOWN, NONE = "flat", "warm-up", "slowdown", "no steady state"
INCONSISTENT, NOT_ASSESSED = "inconsistent", "not assessed"


@dataclass(frozen=True)
class Course:
    """The course of one process."""

    kind: str
    steady_from: int | None
    """Iterations before the steady state; None if there is none."""


def segments(costs: Values) -> list[int]:
    """Ends of the segments between changes of mean or variance, the last one being len(costs)."""
    kept = without_outliers(costs)
    scale = float(np.std(np.diff(costs[kept]))) or 1.0
    signal = (costs[kept] - costs[kept].mean()) / scale
    found = segment_ends(signal, PENALTY * math.log(len(signal)), SHORTEST_SEGMENT)
    places = np.flatnonzero(kept)
    return [*(int(places[end]) for end in found[:-1]), len(costs)]


def without_outliers(costs: Values) -> npt.NDArray[np.bool_]:
    """Which iterations take part in the search: not those beyond 3 times the range of the middle.

    The paper's rule: median ± 3·(90th − 10th percentile) of a window of 200 around the iteration.
    They stay in every estimate.
    """
    count = len(costs)
    keep = np.ones(count, dtype=np.bool_)
    for place in range(count):
        window = costs[max(0, place - 100) : place + 100]
        low, middle, high = np.percentile(window, (10, 50, 90))
        keep[place] = abs(costs[place] - middle) <= 3.0 * (high - low) or high == low
    return keep


def classify(costs: Values, tolerance: float) -> Course:
    """The class of one process.

    Args:
        costs: logarithms of the cost of its iterations in order, higher is slower.
        tolerance: segments whose levels (medians) differ by no more than this are alike.
    """
    ends = segments(costs)
    starts = [0, *ends[:-1]]
    parts = [costs[a:b] for a, b in zip(starts, ends, strict=True)]
    levels = [float(np.median(part)) for part in parts]
    errors = [float(np.std(part)) / math.sqrt(len(part)) for part in parts]
    room = [max(tolerance, ERRORS * math.hypot(error, errors[-1])) for error in errors]
    alike = [abs(level - levels[-1]) <= wide for level, wide in zip(levels, room, strict=True)]
    if all(alike):
        return Course(FLAT, 0)
    first = len(alike) - 1
    while first > 0 and alike[first - 1]:
        first -= 1
    steady_from = starts[first]
    if steady_from > (1.0 - TAIL) * len(costs):
        return Course(NONE, None)
    faster_before = any(level < levels[-1] - wide for level, wide in zip(levels, room, strict=True))
    return Course(SLOWDOWN if faster_before else WARM_UP, steady_from)


def find_steady(samples: pl.DataFrame, tolerance: float) -> tuple[Steady, ...]:
    """The course of every metric on every system, from all samples of finished steps.

    Batches of the search for a batch size are left out: they time other numbers of operations.
    """
    processes = (
        samples.filter(pl.col("counted") & (pl.col("value") > 0))
        .with_columns(
            pl.col("batch")
            .filter(pl.col("phase") == "measure")
            .first()
            .over("key", "boot", "process")
            .alias("final")
        )
        .filter((pl.col("phase") == "measure") | (pl.col("batch") == pl.col("final")))
        .sort("key", "system", "block", "attempt", "process", "t_ns", maintain_order=True)
        .group_by("key", "system", "boot", "process", maintain_order=True)
        .agg(pl.col("value"), pl.col("direction").first())
        .group_by("key", "system", maintain_order=True)
        .agg(pl.col("value"), pl.col("direction").first())
    )
    return tuple(
        _steady(key, system, [np.array(one) for one in values], direction, tolerance)
        for key, system, values, direction in processes.iter_rows()
    )


def _steady(
    key: str, system: str, processes: Sequence[Values], direction: str, tolerance: float
) -> Steady:
    shortest = min(len(one) for one in processes)
    counts: dict[str, int] = {}
    reached: list[int] = []
    verdict = NOT_ASSESSED
    words = f"{NOT_ASSESSED} ({shortest} iterations; {FEWEST_ITERATIONS} are needed)"
    if shortest >= FEWEST_ITERATIONS:
        sign = -1.0 if direction == "higher" else 1.0
        courses = [classify(sign * np.log(one), tolerance) for one in processes]
        found = Counter(course.kind for course in courses)
        counts = {kind: found[kind] for kind in (FLAT, WARM_UP, SLOWDOWN, NONE) if kind in found}
        verdict = next(iter(counts)) if len(counts) == 1 else INCONSISTENT
        reached = [course.steady_from for course in courses if course.steady_from is not None]
        text = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        words = verdict if len(counts) == 1 else f"{INCONSISTENT} ({text})"
    return Steady(
        key=key,
        system=system,
        processes=len(processes),
        iterations=shortest,
        counts=counts,
        verdict=verdict,
        steady_after=float(statistics.median(reached)) if reached else None,
        words=words,
    )


def steady_caution(found: Steady) -> str | None:
    """What the course of one side states about a comparison's row, or None."""
    if found.verdict in (FLAT, NOT_ASSESSED):
        return None
    odd = sum(count for kind, count in found.counts.items() if kind != FLAT)
    text = ", ".join(f"{count} {kind}" for kind, count in found.counts.items() if kind != FLAT)
    return (
        f"on {found.system} {odd} of {found.processes} processes are not flat ({text}): the mean "
        "mixes their phases"
    )
