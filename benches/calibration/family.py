"""Studies of several metrics with looks: the chance that anything at all is falsely claimed.

Every trial is a whole study: at each look the rows are tested together, by Holm's procedure where
they are declared and by that of Benjamini and Hochberg where they are exploratory, at the overall
levels that spending gives; the study stops at the first look at which every row is decided. Here
all rows weigh the same. `tests/evaluate/test_twin.py` checks the claims against the evaluation's
own judge.
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

from .twin import DELTA

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


@dataclass(frozen=True)
class Claims:
    """What is claimed of every row of every study (trials x rows) at its last look."""

    different: Flags
    equivalent: Flags
    blocks: npt.NDArray[np.int64]


def cells(trials: int = TRIALS) -> Iterator[FamilyCell]:
    """Every kind of study, always with the same random numbers."""
    for place, case in enumerate(CASES):
        generator = np.random.default_rng([SEED, 7, place])
        found = judge(draw(case, generator, trials), case.declared)
        null = np.arange(case.rows) >= case.real
        wrong = found.different & null
        false = wrong.any(axis=1)
        share, bounds = float(false.mean()), clopper_pearson(int(false.sum()), trials)
        low, high = bounds
        reported: tuple[float | None, float | None] = (low, high)
        if case.real and not case.declared:
            claimed = np.maximum(found.different.sum(axis=1), 1)
            share, reported = float(np.mean(wrong.sum(axis=1) / claimed)), (None, None)
        yield FamilyCell(
            case=case,
            trials=trials,
            false=share,
            low=reported[0],
            high=reported[1],
            power=float(found.different[:, ~null].mean()) if case.real else None,
            blocks=float(found.blocks.mean()),
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


def judge(ratios: Values, declared: bool, looks: tuple[int, ...] = DEFAULT_LOOKS) -> Claims:
    """Judge every study at its looks; it stops where every row is decided."""
    trials, rows, _ = ratios.shape
    different = np.zeros((trials, rows), dtype=np.bool_)
    equivalent = np.zeros((trials, rows), dtype=np.bool_)
    blocks = np.zeros(trials, dtype=np.int64)
    going = np.ones(trials, dtype=np.bool_)
    for look in looks:
        at = np.flatnonzero(going)
        shown, equal = claims(ratios[at, :, :look], declared, levels_at(looks, look))
        stops = np.all(shown | equal, axis=1) | (look == looks[-1])
        done = at[stops]
        different[done], equivalent[done] = shown[stops], equal[stops]
        blocks[done] = look
        going[done] = False
    return Claims(different, equivalent, blocks)


def claims(seen: Values, declared: bool, levels: Levels) -> tuple[Flags, Flags]:
    """Which rows of each study are different, and which within ±δ, by the blocks that are seen."""
    look = seen.shape[2]
    mean = seen.mean(axis=2)
    error = seen.std(axis=2, ddof=1) / np.sqrt(look)
    tails = special.stdtr(look - 1, -np.abs(mean) / error)
    inside = special.stdtr(look - 1, (np.abs(mean) - DELTA) / error)
    select = step_down if declared else step_up
    shown = select(overall(levels, 2.0 * tails))
    return shown, select(overall(levels, np.minimum(2.0 * inside, 1.0)))


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
        "| rows are | study | rows depend | false claims, % | real ones found, % | mean blocks |",
        "|---|---|---|---|---|---|",
    ]
    for one in found:
        bounds = (
            ""
            if one.low is None or one.high is None
            else f" ({one.low * 100:.1f}–{one.high * 100:.1f})"
        )
        lines.append(
            f"| {'declared (Holm)' if one.case.declared else 'exploratory (BH)'} | {one.case.name} "
            f"| {'yes' if one.case.dependent else 'no'} | {one.false * 100:.1f}{bounds} "
            f"| {'–' if one.power is None else f'{one.power * 100:.1f}'} | {one.blocks:.1f} |"
        )
    return "\n".join(lines)
