"""Did a system become faster or slower over time, and since when?

The results of one system in the order of their runs give one point each: the mean logarithm of the
boot means. Changes of level are found as PELT finds them (Killick, Fearnhead and Eckley 2012),
then tested.
Neighbouring points are alike (the machine's neighbours, its seasons), so the variance of a mean of
points is that of independent ones times (1 + ρ)/(1 − ρ), with ρ the autocorrelation at lag 1 of
what the levels leave (Bayley and Hammersley 1946), and the degrees of freedom shrink by as much. A
change is named only with at least three points after it: a single bad night is none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pentathlon.evaluate.changepoints import level_ends_of_each
from pentathlon.evaluate.multiplicity import holm
from pentathlon.evaluate.special import special
from pentathlon.evaluate.values import Values

FEWEST_AFTER = 3
"""Points on each side of a change before it is named."""
FEWEST_POINTS = 2 * FEWEST_AFTER
PENALTY = 3.0
"""Of a further level, in units of the variance times ln n: its place and its height."""
CLEAR = 4.0
"""Factor on the variance for the changes that are taken out before the noise is measured."""
MOST_CORRELATION = 0.9


@dataclass(frozen=True)
class Change:
    """A change of level.

    Attributes:
        at: place of the first point after it.
        mean: log-ratio of the level after it to that before it; + is faster.
        p: p value, allowing for every place where it could have been.
    """

    at: int
    mean: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class Course:
    """One metric over time."""

    key: str
    workload: str
    speeds: Values
    """Mean logarithm of the speed of every point."""
    changes: tuple[Change, ...]
    correlation: float


def find_changes(every: Sequence[Values], rate: float) -> list[tuple[tuple[Change, ...], float]]:
    """For each series the candidates for changes with their p values, and the autocorrelation.

    Args:
        every: series of one length, of mean log speeds of every result in the order of time;
            higher is faster.
        rate: level of the changes' intervals.
    """
    found: list[tuple[tuple[Change, ...], float]] = [((), 0.0) for _ in every]
    moving = [
        place
        for place, one in enumerate(every)
        if len(one) >= FEWEST_POINTS and float(np.ptp(one)) > 0.0
    ]
    # Only clear changes are taken out before the noise is measured: levels that follow every
    # wave would leave neighbours that look independent.
    rough = _levels([every[place] for place in moving], [CLEAR * _rough(every[p]) for p in moving])
    noises = [_noise(every[place], ends) for place, ends in zip(moving, rough, strict=True)]
    inflated = [variance * (1.0 + rho) / (1.0 - rho) for variance, rho, _ in noises]
    noisy = [at for at, variance in enumerate(inflated) if variance > 0]
    fine = _levels([every[moving[at]] for at in noisy], [inflated[at] for at in noisy])
    levels = dict(enumerate(rough)) | dict(zip(noisy, fine, strict=True))
    for at, place in enumerate(moving):
        _, correlation, freedom = noises[at]
        effective = max(freedom * (1.0 - correlation) / (1.0 + correlation), 1.0)
        changes = _tested(every[place], levels[at], inflated[at], effective, rate)
        found[place] = (changes, correlation)
    return found


def _tested(
    speeds: Values, ends: Sequence[int], inflated: float, effective: float, rate: float
) -> tuple[Change, ...]:
    """The changes between levels, with their intervals and p values.

    Args:
        ends: of the levels.
        inflated: variance of a point, as far as it enters a mean of points.
        effective: degrees of freedom of that.
    """
    starts = [0, *ends]
    changes = []
    for place, at in enumerate(ends[:-1]):
        before, after = speeds[starts[place] : at], speeds[at : ends[place + 1]]
        if not _three_on_each_side(speeds[starts[place] : ends[place + 1]]):
            continue
        mean = float(after.mean() - before.mean())
        error = math.sqrt(inflated * (1 / len(before) + 1 / len(after)))
        if error == 0.0:
            changes.append(Change(at, mean, mean, mean, 0.0))
            continue
        half = float(special.stdtrit(effective, 1.0 - rate / 2.0)) * error
        single = float(2.0 * special.stdtr(effective, -abs(mean) / error))
        places = len(speeds) - 2 * FEWEST_AFTER + 1
        changes.append(Change(at, mean, mean - half, mean + half, min(1.0, single * places)))
    return tuple(changes)


def _levels(every: Sequence[Values], variances: Sequence[float]) -> list[list[int]]:
    """For each series the ends of its levels, the last one being the number of points."""
    if not every:
        return []
    pairs = zip(every, variances, strict=True)
    signals = np.array([(one - one.mean()) / math.sqrt(variance) for one, variance in pairs])
    return level_ends_of_each(signals, PENALTY * math.log(signals.shape[1]), FEWEST_AFTER)


def _three_on_each_side(part: Values) -> bool:
    """Whether the best single split of a part leaves three points on both sides.

    The search must cut off three points even where only the last two are low; such a cut lies
    beside the true place, and the change is not old enough to be named.
    """
    sums = np.cumsum(part)
    places = np.arange(1, len(part))
    left, right = sums[:-1] / places, (sums[-1] - sums[:-1]) / (len(part) - places)
    explained = places * (len(part) - places) * (left - right) ** 2
    best = int(places[np.argmax(explained)])
    return min(best, len(part) - best) >= FEWEST_AFTER


def _rough(speeds: Values) -> float:
    """Variance of a point from the differences of neighbours, which few changes of level touch.

    Half of the squared robust spread (1.4826 times the median distance, Rousseeuw and Croux 1993).
    """
    differences = np.diff(speeds)
    spread = 1.4826 * float(np.median(np.abs(differences - np.median(differences))))
    return spread**2 / 2.0 or float(np.var(speeds))


def _noise(speeds: Values, ends: Sequence[int]) -> tuple[float, float, float]:
    """(variance, autocorrelation at lag 1, degrees of freedom) of what the levels leave.

    The autocorrelation of few points is too small by about (1 + 3ρ)/n (Kendall 1954), which is
    added; a negative one counts as none.
    """
    rest = speeds.astype(np.float64).copy()
    start = 0
    for end in ends:
        rest[start:end] -= rest[start:end].mean()
        start = end
    count, levels = len(rest), len(ends)
    freedom = float(max(count - levels, 1))
    squares = float(rest @ rest)
    if squares == 0.0:
        return 0.0, 0.0, freedom
    raw = float(rest[1:] @ rest[:-1]) / squares
    corrected = raw + levels * (1.0 + 3.0 * max(raw, 0.0)) / count
    return squares / freedom, min(max(corrected, 0.0), MOST_CORRELATION), freedom


def courses(
    series: Mapping[str, tuple[str, Sequence[float]]], confidence: float
) -> tuple[Course, ...]:
    """Every metric's course with the changes that Holm's procedure over all of them names.

    Args:
        series: key -> (workload, mean log speed of every result).
    """
    values = [np.array(speeds, dtype=np.float64) for _, speeds in series.values()]
    found = [
        Course(key, workload, speeds, changes, correlation)
        for (key, (workload, _)), speeds, (changes, correlation) in zip(
            series.items(), values, find_changes(values, 1.0 - confidence), strict=True
        )
    ]
    tested = [(course, change) for course in found for change in course.changes]
    # Every course counts in the family, those without a candidate as one that is not shown.
    quiet = [course for course in found if not course.changes]
    p_values = np.array([change.p for _, change in tested] + [1.0] * len(quiet))
    weights = holm.workload_weights(
        [course.workload for course, _ in tested] + [course.workload for course in quiet]
    )
    selected = holm.step_down(p_values, weights, 1.0 - confidence).selected
    named = {
        (course.key, change.at)
        for (course, change), yes in zip(tested, selected, strict=False)
        if yes
    }
    return tuple(
        replace(one, changes=tuple(c for c in one.changes if (one.key, c.at) in named))
        for one in found
    )
