"""Studies of several metrics with looks: the chance that anything at all is falsely claimed.

Every trial is a whole study: at each look the rows are tested together, by Holm's procedure where
they are declared and by that of Benjamini and Hochberg where they are exploratory, at the overall
levels that spending gives; the study stops at the first look at which every row is decided. Where
rows are *dropped* (`stopping.drop_decided`), one that is decided at a look is not measured again
and keeps the p values of that look. Here all rows weigh the same, and each is a workload.
`tests/evaluate/test_vectorised.py` checks the claims against the evaluation's own judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from pentathlon.evaluate.estimators.binomial import clopper_pearson
from pentathlon.evaluate.planning.alpha_spending import Levels, levels_at
from pentathlon.study.stopping import DEFAULT_LOOKS

from .vectorised import DELTA

Values = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

SEED = 20030101
TRIALS = 10_000
RATE = 0.05
ROW_SD = 0.008
"""Standard deviation of a block's log-ratio: 0.8 %, so that studies stop at different looks."""
EFFECT = 0.02
SHARED = 0.5
"""Share of the variance that all rows of a block have in common, where they depend."""


@dataclass(frozen=True)
class Case:
    """Rows of one kind of study.

    Attributes:
        real: rows with a true difference of 2 %; the others have none.
        dependent: rows of one block share half of their variance.
        declared: by Holm's procedure, else by that of Benjamini and Hochberg.
    """

    name: str
    rows: int
    real: int
    dependent: bool
    declared: bool


CASES = tuple(
    Case(f"{rows} rows, {real} of them real" if real else f"{rows} rows", rows, real, dep, declared)
    for declared in (True, False)
    for rows, real in ((5, 0), (20, 0), (20, 5))
    for dep in (False, True)
)


@dataclass(frozen=True)
class FamilyCell:
    """One kind of study.

    false: share of studies with a false claim of a difference; for exploratory rows with some real
    differences the mean share of false ones among those claimed.
    """

    case: Case
    trials: int
    false: float
    low: float | None
    """Exact 95 % bounds (Clopper and Pearson 1934), where it is a share of studies."""
    high: float | None
    power: float | None
    """Share of the real differences that were claimed."""
    blocks: float
    dropped_false: float
    """`false` where rows are dropped that are decided; the same random numbers."""
    dropped_low: float | None
    dropped_high: float | None
    dropped_power: float | None
    dropped_row_blocks: float
    """Blocks of a row, on average, where rows are dropped; without that they are `blocks`."""


@dataclass(frozen=True)
class Claims:
    """What is claimed of every row of every study (trials x rows) at its last look."""

    different: Flags
    equivalent: Flags
    blocks: npt.NDArray[np.int64]
    row_blocks: Values
    """Blocks of every row."""


@dataclass(frozen=True)
class Rates:
    """Of one kind of study: false claims with their bounds, real ones found, blocks."""

    false: float
    low: float | None
    high: float | None
    power: float | None
    blocks: float
    row_blocks: float


def cells(trials: int = TRIALS) -> Iterator[FamilyCell]:
    """Every kind of study, always with the same random numbers."""
    for place, case in enumerate(CASES):
        generator = np.random.default_rng([SEED, 7, place])
        ratios = draw(case, generator, trials)
        whole = _rates(case, judge(ratios, case.declared))
        dropped = _rates(case, judge(ratios, case.declared, drop=True))
        yield FamilyCell(
            case=case,
            trials=trials,
            false=whole.false,
            low=whole.low,
            high=whole.high,
            power=whole.power,
            blocks=whole.blocks,
            dropped_false=dropped.false,
            dropped_low=dropped.low,
            dropped_high=dropped.high,
            dropped_power=dropped.power,
            dropped_row_blocks=dropped.row_blocks,
        )


def _rates(case: Case, found: Claims) -> Rates:
    null = np.arange(case.rows) >= case.real
    wrong = found.different & null
    false = wrong.any(axis=1)
    share, bounds = float(false.mean()), clopper_pearson(int(false.sum()), len(false))
    reported: tuple[float | None, float | None] = bounds
    if case.real and not case.declared:
        claimed = np.maximum(found.different.sum(axis=1), 1)
        share, reported = float(np.mean(wrong.sum(axis=1) / claimed)), (None, None)
    return Rates(
        false=share,
        low=reported[0],
        high=reported[1],
        power=float(found.different[:, ~null].mean()) if case.real else None,
        blocks=float(found.blocks.mean()),
        row_blocks=float(found.row_blocks.mean()),
    )


def draw(case: Case, generator: np.random.Generator, trials: int) -> Values:
    """Log-ratios of the blocks: trials x rows x blocks."""
    shape = (trials, case.rows, DEFAULT_LOOKS[-1])
    noise = generator.standard_normal(shape)
    if case.dependent:
        common = generator.standard_normal((trials, 1, shape[2]))
        noise = np.sqrt(1.0 - SHARED) * noise + np.sqrt(SHARED) * common
    truth = np.where(np.arange(case.rows) < case.real, np.log1p(EFFECT), 0.0)
    return np.asarray(truth[None, :, None] + ROW_SD * noise, dtype=np.float64)


def judge(
    ratios: Values,
    declared: bool,
    looks: tuple[int, ...] = DEFAULT_LOOKS,
    *,
    drop: bool = False,
) -> Claims:
    """Judge every study at its looks; it stops where every row is decided.

    Args:
        drop: rows that are decided at a look are not measured in later blocks.
    """
    trials, rows, _ = ratios.shape
    different = np.zeros((trials, rows), dtype=np.bool_)
    equivalent = np.zeros((trials, rows), dtype=np.bool_)
    blocks = np.zeros(trials, dtype=np.int64)
    row_blocks = np.zeros((trials, rows))
    p_values = np.ones((2, trials, rows))
    open_rows = np.ones((trials, rows), dtype=np.bool_)
    going = np.ones(trials, dtype=np.bool_)
    select = step_down if declared else step_up
    for look in looks:
        at = np.flatnonzero(going)
        now = p_of_claims(ratios[at, :, :look], levels_at(looks, look))
        p_values[:, at] = np.where(open_rows[at], now, p_values[:, at])
        row_blocks[at] = np.where(open_rows[at], look, row_blocks[at])
        shown, equal = select(p_values[0, at]), select(p_values[1, at])
        if drop:
            open_rows[at] &= ~(shown | equal)
        stops = np.all(shown | equal, axis=1) | (look == looks[-1])
        done = at[stops]
        different[done], equivalent[done] = shown[stops], equal[stops]
        blocks[done] = look
        going[done] = False
    return Claims(different, equivalent, blocks, row_blocks)


def claims(seen: Values, declared: bool, levels: Levels) -> tuple[Flags, Flags]:
    """Which rows of each study are different, and which within ±δ, by the blocks that are seen."""
    select = step_down if declared else step_up
    shown, equal = p_of_claims(seen, levels)
    return select(shown), select(equal)


def p_of_claims(seen: Values, levels: Levels) -> tuple[Values, Values]:
    """Overall p values of "different" and of "within ±δ", by the blocks that are seen."""
    look = seen.shape[2]
    mean = seen.mean(axis=2)
    error = seen.std(axis=2, ddof=1) / np.sqrt(look)
    tails = special.stdtr(look - 1, -np.abs(mean) / error)
    inside = special.stdtr(look - 1, (np.abs(mean) - DELTA) / error)
    return overall(levels, 2.0 * tails), overall(levels, np.minimum(2.0 * inside, 1.0))


def overall(levels: Levels, p_values: Values) -> Values:
    """`Levels.overall` for arrays."""
    if levels.logs is None:
        return np.asarray(np.minimum(1.0, p_values / levels.share), dtype=np.float64)
    logs = np.log(np.maximum(p_values, 1e-300))
    return np.asarray(np.exp(np.interp(logs, levels.logs[1], levels.logs[0])), dtype=np.float64)


def step_down(p_values: Values) -> Flags:
    """Holm's procedure with equal weights, for every line."""
    count = p_values.shape[1]
    order = np.argsort(p_values, axis=1)
    ranked = np.take_along_axis(p_values, order, axis=1)
    passed = np.logical_and.accumulate(ranked <= RATE / (count - np.arange(count)), axis=1)
    return _back(passed, order)


def step_up(p_values: Values) -> Flags:
    """The procedure of Benjamini and Hochberg with equal weights, for every line."""
    count = p_values.shape[1]
    order = np.argsort(p_values, axis=1)
    ranked = np.take_along_axis(p_values, order, axis=1)
    below = ranked <= RATE * (1 + np.arange(count)) / count
    passed = np.logical_or.accumulate(below[:, ::-1], axis=1)[:, ::-1]
    return _back(passed, order)


def _back(flags: Flags, order: npt.NDArray[np.int64]) -> Flags:
    found = np.zeros_like(flags)
    np.put_along_axis(found, order, flags, axis=1)
    return found


def table(found: list[FamilyCell]) -> str:
    """The cells as a Markdown table."""
    lines = [
        "| rows are | study | rows depend | false claims, % | real ones found, % | mean blocks "
        "| decided rows dropped: false claims, % | real ones found, % | mean blocks of a row |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in found:
        lines.append(
            f"| {'declared (Holm)' if one.case.declared else 'exploratory (BH)'} | {one.case.name} "
            f"| {'yes' if one.case.dependent else 'no'} "
            f"| {_share(one.false, one.low, one.high)} | {_power(one.power)} | {one.blocks:.1f} "
            f"| {_share(one.dropped_false, one.dropped_low, one.dropped_high)} "
            f"| {_power(one.dropped_power)} | {one.dropped_row_blocks:.1f} |"
        )
    return "\n".join(lines)


def _share(share: float, low: float | None, high: float | None) -> str:
    bounds = "" if low is None or high is None else f" ({low * 100:.1f}–{high * 100:.1f})"
    return f"{share * 100:.1f}{bounds}"


def _power(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f}"
