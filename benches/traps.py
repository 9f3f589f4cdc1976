"""What common habits of benchmarking claim, on systems whose truth is known.

    python -m benches.traps

prints the figures of docs/explanation/traps.md, from the seed 20030101, in seconds. The noise is
that of docs/calibration.md: boots of a system differ with a standard deviation of 1 %, iterations
within a boot with 1 %. `tests/website/test_traps.py` compares the page with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

SEED = 20030101
STUDIES = 10_000
SD = 0.01
"""Of boots and of iterations, as logarithms."""

Array = NDArray[np.float64]
Random = np.random.Generator


@dataclass(frozen=True)
class Trap:
    """One habit.

    Attributes:
        name: what the page calls it.
        habit: the share of studies, in percent, that it makes wrong.
        remedy: the same share with what replaces it.
    """

    name: str
    habit: float
    remedy: float


def boots(random: Random, shape: tuple[int, ...], iterations: int = 20) -> Array:
    """Means of boots, as logarithms: what the boot adds, and what its iterations add."""
    return random.normal(0, SD, shape) + random.normal(0, SD / np.sqrt(iterations), shape)


def welch(a: Array, b: Array) -> Array:
    """p values of Welch's test along the last axis."""
    return np.asarray(stats.ttest_ind(a, b, axis=-1, equal_var=False).pvalue)


def paired(differences: Array) -> Array:
    """p values of the t test on differences along the last axis."""
    return np.asarray(stats.ttest_1samp(differences, 0.0, axis=-1).pvalue)


def share(wrong: NDArray[np.bool_]) -> float:
    """A share in percent."""
    return float(100 * np.mean(wrong))


def one_boot(random: Random) -> Trap:
    """Twenty iterations of one boot of each system, against ten blocks; the systems are equal."""
    shape = (STUDIES, 20)
    a, b = (
        random.normal(0, SD, (STUDIES, 1)) + random.normal(0, SD, shape) for _system in range(2)
    )
    blocks = boots(random, (STUDIES, 10)) - boots(random, (STUDIES, 10))
    return Trap(
        "one boot, many iterations", share(welch(a, b) < 0.05), share(paired(blocks) < 0.05)
    )


def pooled(random: Random) -> Trap:
    """Five boots of twenty iterations taken as 100 observations, against the means of the boots."""
    shape = (STUDIES, 5, 20)
    a, b = (
        random.normal(0, SD, (STUDIES, 5, 1)) + random.normal(0, SD, shape) for _system in range(2)
    )
    flat = welch(a.reshape(STUDIES, -1), b.reshape(STUDIES, -1))
    return Trap(
        "iterations of several boots pooled",
        share(flat < 0.05),
        share(paired(a.mean(axis=2) - b.mean(axis=2)) < 0.05),
    )


def order(random: Random) -> Trap:
    """All boots of one system, then all of the other, while the machine slows by 0.2 % a boot."""
    drift = 0.002 * np.arange(20)
    a = boots(random, (STUDIES, 10)) + drift[:10]
    b = boots(random, (STUDIES, 10)) + drift[10:]
    first = random.integers(0, 2, (STUDIES, 10))
    place = 2 * np.arange(10)
    c = boots(random, (STUDIES, 10)) + 0.002 * (place + first)
    d = boots(random, (STUDIES, 10)) + 0.002 * (place + 1 - first)
    return Trap(
        "one system after the other", share(welch(a, b) < 0.05), share(paired(c - d) < 0.05)
    )


def peeking(random: Random) -> Trap:
    """A test after each block from the 3rd to the 30th until one is significant, against the levels
    of four looks."""
    blocks = boots(random, (STUDIES, 30)) - boots(random, (STUDIES, 30))
    each = np.zeros(STUDIES, bool)
    for n in range(3, 31):
        each |= paired(blocks[:, :n]) < 0.05
    spent = np.zeros(STUDIES, bool)
    # Levels of the looks of an O'Brien-Fleming-type spending function (docs/evaluation.md).
    for n, level in ((10, 0.00021), (15, 0.0030), (20, 0.0111), (30, 0.0461)):
        spent |= paired(blocks[:, :n]) < level
    return Trap("measure until it is significant", share(each), share(spent))


def many_rows(random: Random) -> Trap:
    """Fifty metrics, each at 5 %, against Holm's procedure; a study is wrong if any is called."""
    blocks = boots(random, (STUDIES, 50, 10)) - boots(random, (STUDIES, 50, 10))
    p = paired(blocks)
    return Trap(
        "many metrics, each at 5 %",
        share((p < 0.05).any(axis=1)),
        share((p < 0.05 / 50).any(axis=1)),  # Holm's first step decides whether any is called.
    )


def absence(random: Random) -> Trap:
    """A slowdown of 1 %, five blocks: "not significant, so equal", against equivalence in ±1 %."""
    blocks = 0.01 + boots(random, (STUDIES, 5)) - boots(random, (STUDIES, 5))
    mean, error = blocks.mean(axis=1), blocks.std(axis=1, ddof=1) / np.sqrt(5)
    reach = stats.t.ppf(0.975, 4) * error
    within = (mean - reach > -np.log(1.01)) & (mean + reach < np.log(1.01))
    return Trap("not significant, so equal", share(paired(blocks) >= 0.05), share(within))


def minimum(random: Random) -> Trap:
    """The best of ten boots where 30 % of one system's boots take 5 % longer: a study is wrong that
    finds them equal within half a percent, against the interval of the mean within ±0.5 %."""
    a = boots(random, (STUDIES, 10))
    b = boots(random, (STUDIES, 10)) + np.log(1.05) * (random.random((STUDIES, 10)) < 0.3)
    best = np.abs(a.min(axis=1) - b.min(axis=1)) < 0.005
    d = b - a
    reach = stats.t.ppf(0.975, 9) * d.std(axis=1, ddof=1) / np.sqrt(10)
    within = (d.mean(axis=1) - reach > -0.005) & (d.mean(axis=1) + reach < 0.005)
    return Trap("the best of ten runs", share(best), share(within))


def omission() -> tuple[float, float]:
    """99th percentiles of the latency in ms, closed loop and by schedule: a server that answers in
    1 ms stalls for 1 s in every 10 s; a request is due every 10 ms, for 100 s."""
    closed: list[float] = []
    now = 0.0
    while now < 100_000:
        closed.append(_answered(now) - now)
        now += max(10.0, closed[-1])
    due = np.arange(0, 100_000, 10.0)
    free, scheduled = 0.0, []
    for moment in due:
        free = _answered(max(moment, free))
        scheduled.append(free - moment)
    return float(np.percentile(closed, 99)), float(np.percentile(scheduled, 99))


def _answered(begun: float) -> float:
    """When a request that is begun at a time is answered, ms; each tenth second is the stall."""
    into = begun % 10_000
    return begun + 1.0 if into < 9_000 else begun + (10_000 - into) + 1.0


TRAPS: tuple[Callable[[Random], Trap], ...] = (
    one_boot, pooled, order, peeking, many_rows, absence, minimum,
)  # fmt: skip


def figures() -> list[Trap]:
    """Every trap with its shares; each has random numbers of its own."""
    return [trap(np.random.default_rng([SEED, i])) for i, trap in enumerate(TRAPS)]


def main() -> None:
    """Prints the table of the page."""
    for trap in figures():
        print(f"| {trap.name} | {trap.habit:.1f} % | {trap.remedy:.1f} % |")
    closed, scheduled = omission()
    print(f"latency, 99th percentile: closed loop {closed:.0f} ms, by schedule {scheduled:.0f} ms")


if __name__ == "__main__":
    main()
