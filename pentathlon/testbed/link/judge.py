"""Whether a link is what its profile says, from what probes found.

- Rate: within 1 %.
- Delay: the median, less the time on the line, within 0.2 ms.
- Loss: the share of lost probes within 1 percentage point, and within what chance allows: the
  two-sided 99.9 % interval of the number of losses among so many probes, normal approximation with
  continuity correction, with the variance of the profile's chain where losses come in bursts, and
  exact (binomial) where they do not. What no chance of the profile explains must not occur at all:
  every probe that did not come is one that the emulator says it lost on purpose. netem counts the
  copies that it loses too, so there it says at least as many.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import scipy

from pentathlon.study.link_profile import Loss, Way, jitter_model
from pentathlon.testbed.link.probes import Delays

RATE_LIMIT = 0.01
DELAY_LIMIT_MS = 0.2
LOSS_LIMIT = 0.01
LEVEL = 0.001
"""Probability with which chance alone fails a link that is right."""


@dataclass(frozen=True)
class Measured:
    """What was measured in one direction.

    Attributes:
        rate_kbit: None if the profile has no rate.
        delays: see `probes.delays`.
        sent, came: probes that were sent to measure losses, and those of them that came.
        intended: losses among them that the emulator made on purpose.
        other: frames that the emulator lost for lack of time or room, in all phases.
        with_copies: the losses on purpose include copies, whose originals may have come.
    """

    rate_kbit: float | None
    delays: Delays
    sent: int
    came: int
    intended: int
    other: int
    with_copies: bool = False


Figures: TypeAlias = dict[str, dict[str, float | None]]
"""Of one direction: quantity -> what was requested and what was measured."""


@dataclass
class Verdict:
    """Figures of one direction beside those requested.

    Attributes:
        figures: what is stored with every result.
        faults: a sentence for each figure that is too far off.
    """

    figures: Figures
    faults: list[str] = field(default_factory=list)


def median_jitter_ms(way: Way) -> float:
    """Median of what the jitter adds."""
    if way.jitter_ms is None:
        return 0.0
    model = jitter_model(way.jitter_ms)
    if "quantiles" in model:
        # Evenly spaced quantiles have the distribution's median in their middle.
        return _middle(model["quantiles"])
    word = model["model"]
    return float(MEDIANS[word](*[value for key, value in model.items() if key != "model"]))


def _middle(values: list[float]) -> float:
    return float(np.median(values))


MEDIANS: dict[str, Callable[..., float]] = {
    "constant": lambda value: value,
    "uniform": lambda minimum, maximum: (minimum + maximum) / 2,
    "exponential": lambda mean: mean * math.log(2),
    "pareto": lambda shape, scale: scale * 2 ** (1 / shape),
    "cauchy": lambda location, scale: location,
    "normal": lambda mean, sd: mean,
    "poisson": lambda mean: scipy.stats.poisson.median(mu=mean),
    "gamma": lambda shape, scale: scipy.stats.gamma.median(shape, scale=scale),
    "weibull": lambda shape, scale: scale * math.log(2) ** (1 / shape),
    "trace": _middle,
}
"""Model of a distribution (`traffic.models`) -> its median, of its numbers in their order."""


def judge(way: Way, found: Measured) -> Verdict:
    """Compare one direction with its profile."""
    verdict = Verdict({})
    if way.rate_kbit is not None and found.rate_kbit is not None:
        error = found.rate_kbit / way.rate_kbit - 1
        verdict.figures["rate"] = {
            "asked_kbit": way.rate_kbit, "measured_kbit": found.rate_kbit,
            "error_percent": 100 * error, "limit_percent": 100 * RATE_LIMIT,
        }  # fmt: skip
        if abs(error) > RATE_LIMIT:
            verdict.faults.append(
                f"the rate is {found.rate_kbit:.6g} kbit/s, {100 * error:+.2f} % off the "
                f"{way.rate_kbit:g} asked for (1 % is allowed)"
            )
    _judge_delay(way, found, verdict)
    _judge_loss(way, found, verdict)
    return verdict


def _judge_delay(way: Way, found: Measured, verdict: Verdict) -> None:
    requested = max(way.delay_ms + median_jitter_ms(way), 0.0)
    error = found.delays.median - requested
    verdict.figures["delay"] = {
        "asked_ms": requested, "measured_ms": found.delays.median, "error_ms": error,
        "limit_ms": DELAY_LIMIT_MS, "p05_ms": found.delays.p05, "p95_ms": found.delays.p95,
        "least_ms": found.delays.least, "most_ms": found.delays.most,
        "probes": found.delays.count,
    }  # fmt: skip
    if abs(error) > DELAY_LIMIT_MS:
        verdict.faults.append(
            f"the median delay is {found.delays.median:.3f} ms, {error:+.3f} ms off the "
            f"{requested:g} asked for ({DELAY_LIMIT_MS} ms is allowed)"
        )


def _judge_loss(way: Way, found: Measured, verdict: Verdict) -> None:
    lost = found.sent - found.came
    share = lost / found.sent if found.sent else 0.0
    low, high = count_bounds(way.loss, found.sent)
    verdict.figures["loss"] = {
        "asked_percent": 100 * way.loss.mean, "measured_percent": 100 * share,
        "probes": found.sent, "lost": lost, "lost_on_purpose": found.intended,
        "expected_least": low, "expected_most": high, "other_losses": found.other,
    }  # fmt: skip
    if found.other:
        verdict.faults.append(
            f"the emulator lost {found.other} frames for want of time or room, it may lose none"
        )
    elif lost > found.intended or (lost < found.intended and not found.with_copies):
        verdict.faults.append(
            f"{lost} of {found.sent} probes did not come, and the emulator lost {found.intended} "
            "on purpose: both must be alike"
        )
    elif not low <= lost <= high or abs(share - way.loss.mean) > LOSS_LIMIT:
        verdict.faults.append(
            f"{lost} of {found.sent} probes were lost, {100 * share:.2f} %, where "
            f"{100 * way.loss.mean:g} % are requested (from {low} to {high} of so many may be)"
        )


def count_bounds(loss: Loss, count: int) -> tuple[int, int]:
    """Least and greatest number of losses among `count` packets that chance allows."""
    mean = loss.mean
    if mean in (0.0, 1.0) or not count:
        exact = round(mean * count)
        return exact, exact
    if loss.chain is None:
        edges = (LEVEL / 2, 1 - LEVEL / 2)
        low, high = (int(scipy.stats.binom.ppf(edge, count, mean)) for edge in edges)
        return low, high
    spread = math.sqrt(count * mean * (1 - mean) * loss.spread_factor)
    reach = float(scipy.stats.norm.ppf(1 - LEVEL / 2)) * spread + 0.5
    return max(math.floor(count * mean - reach), 0), min(math.ceil(count * mean + reach), count)
