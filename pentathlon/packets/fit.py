"""How well what was sent follows the distribution that was requested.

The measure is Kolmogorov's distance, the statistic of the Kolmogorov–Smirnov test (Massey 1951):
the largest difference between the distribution of what was sent and the one requested. With a
hundred thousand packets any clock's grain makes the test's p-value zero, so that the distance is
compared with a limit instead. Distributions with steps (a constant, a trace) have no distance that
means anything unless small deviations are let pass; all are therefore compared with a tolerance of
5 % of the value and 2 µs, which the distance forgives on either side (Lévy's way).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from pentathlon.protocol.requests.models import Gap, Model

SHARE = 0.05
"""Relative deviation of a single value that is let pass."""

GRAIN_S = 2e-6
"""Deviation of a time that is let pass, in seconds."""

IMIX = {32.0: 7, 548.0: 4, 1472.0: 1}

Floats = NDArray[np.float64]


def distribution(model: Model, points: Floats) -> Floats:
    """The share of a model's values that are at most each point: its distribution function."""
    name = model["model"]
    numbers: list[Any] = [value for key, value in model.items() if key != "model"]
    if name in ("constant", "trace", "imix"):
        if name == "imix":
            values = np.repeat(list(IMIX), list(IMIX.values()))
        else:
            values = np.asarray(numbers, float).ravel()
        return np.asarray(np.searchsorted(np.sort(values), points, side="right") / len(values))
    first, *rest = numbers
    second = rest[0] if rest else 0.0
    made: dict[str, Callable[[], Any]] = {
        "uniform": lambda: scipy.stats.uniform(first, second - first),
        "exponential": lambda: scipy.stats.expon(scale=first),
        "pareto": lambda: scipy.stats.pareto(first, scale=second),
        "cauchy": lambda: scipy.stats.cauchy(first, second),
        "normal": lambda: scipy.stats.norm(first, second),
        "poisson": lambda: scipy.stats.poisson(first),
        "gamma": lambda: scipy.stats.gamma(first, scale=second),
        "weibull": lambda: scipy.stats.weibull_min(first, scale=second),
    }
    if name == "poisson":  # Its second number is the unit of what it counts.
        points = points / (second or 1.0)
    return np.asarray(made[name]().cdf(points), float)


def distance(
    values: Floats, model: Model, *, inverse: bool = False, grain: float = 0.0,
    least: float = -np.inf, most: float = np.inf,
) -> float | None:  # fmt: skip
    """Kolmogorov's distance of values from a model, beyond the tolerance; None without values.

    Args:
        inverse: the values are inverses of what the model draws (gaps, where it draws rates).
        grain: absolute deviation that is let pass beside the relative one.
        least, most: what is drawn below or above is raised or lowered to these.
    """
    if not len(values):
        return None
    ordered = np.sort(values)
    count = len(ordered)
    room = np.abs(ordered) * SHARE + grain
    below = np.arange(count) / count
    requested = partial(_fraction_below, model, inverse=inverse, least=least, most=most)
    # Above the distribution: more values are as small as this than were requested.
    above = np.arange(1, count + 1) / count - requested(ordered + room)
    # Below it: fewer. Just before a value, only those before it are smaller.
    under = requested(ordered - room, before=True) - below
    return float(max(above.max(), under.max(), 0.0))


def _fraction_below(
    model: Model, points: Floats, *, inverse: bool, least: float, most: float,
    before: bool = False,
) -> Floats:  # fmt: skip
    """Share of asked values up to each point (`before`: below it), after clamping."""
    nudged = np.nextafter(points, -np.inf) if before else points
    if inverse:
        # A gap is at most x where the rate is at least 1/x; negative rates are no gap at all.
        safe = np.where(nudged > 0, nudged, 1.0)
        rates = np.nextafter(1.0 / safe, -np.inf)
        negative = distribution(model, np.zeros(1))[0]
        shares = np.where(nudged > 0, 1.0 - distribution(model, rates) + negative, 0.0)
        shares = np.where(nudged == 0, negative, shares)
    else:
        shares = distribution(model, nudged)
    shares = np.where(nudged < least, 0.0, shares)
    return np.asarray(np.where(nudged >= most, 1.0, shares), float)


def gap_distance(
    gap: Gap, sent_ns: NDArray[np.int64], intended_ns: NDArray[np.int64]
) -> float | None:
    """The distance of the gaps between packets from the model; None where nothing was asked.

    With on and off periods, and with rates that hold for a while, the gaps that were intended take
    the place of the model, and where packets are sent as fast as they are taken there is nothing to
    fit.
    """
    if gap["of"] == {"model": "constant", "value": 0.0} or len(sent_ns) < 2:
        return None
    gaps = np.diff(sent_ns) * 1e-9
    requested = gap["of"]
    if gap.get("on") or gap.get("hold_s"):
        values = np.diff(intended_ns) * 1e-9
        return distance(gaps, {"model": "trace", "values": values.tolist()}, grain=GRAIN_S)
    return distance(gaps, requested, inverse=bool(gap.get("rate")), grain=GRAIN_S, least=0.0)
