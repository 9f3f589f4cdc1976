"""What it would take to decide a row that is not: how many blocks, and how long they take.

The pilot is the study itself. With the spread that it found, a test at the row's level has power
0.8 for a distance D from n blocks on, where D ≥ (t_{1−α/2} + t_0.8) s/√n (Cohen 1988, section 2.4,
with Student's t for the normal quantiles); for equality, which two tests show, with t_0.9. The
distance is the larger of two: that of the estimate from 0, which would show a difference, and that
from ±δ, which would show equality. Both are estimates, so the number is rough: a plan, and no
promise.
"""

from __future__ import annotations

import math
import shlex
import statistics
from collections.abc import Callable, Sequence
from datetime import datetime

import polars as pl

from pentathlon.evaluate.display import percent_text
from pentathlon.evaluate.estimators.ratio import POWER, log_of, t_quantile
from pentathlon.evaluate.model import Comparison, Effect, Row
from pentathlon.evaluate.model_aggregate import Mean
from pentathlon.evaluate.model_factorial import Factorial, TermEffect
from pentathlon.evaluate.planning.alpha_spending import ONE_LOOK, Levels
from pentathlon.evaluate.planning.fewest import MOST_BLOCKS, fewest
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Verdict
from pentathlon.safeio.escaping import one_line


def blocks_to_decide(effect: Effect, rule: Rule) -> tuple[int, bool] | None:
    """Blocks from which the row is decided with power 0.8, and whether as a difference.

    None where no number of blocks that a study can have decides it.
    """
    assert effect.sd is not None and effect.adjusted_confidence is not None
    # The error with its degrees of freedom, and the level: the row's own, and the one behind its
    # verdict where it borrows, for a claim needs both.
    done, level = effect.blocks, 1.0 - effect.adjusted_confidence
    own = (effect.sd / math.sqrt(done), done - 1.0)
    tests = [(*own, level)]
    if effect.moderated is not None:
        lent = (effect.moderated.error, effect.moderated.freedom)
        tests = [(*lent, level), (*own, rule.rate)]
    return _blocks(effect.mean, done, tests, rule.delta, rule.levels)


def _blocks(
    mean: float,
    done: int,
    tests: Sequence[tuple[float, float, float]],
    delta: float,
    levels_at: Callable[[int], Levels] = lambda _: ONE_LOOK,
) -> tuple[int, bool] | None:
    """Blocks from which all tests, by error, freedom and level, have power 0.8."""
    away, room = abs(mean), delta - abs(mean)
    distance = max(away, room)
    missed = (1.0 - POWER) * (2.0 if away >= room else 1.0)

    def enough(blocks: int) -> bool:
        levels = levels_at(blocks)
        for error, freedom, rate in tests:
            free = freedom * (blocks - 1) / (done - 1)
            needed = t_quantile(levels.nominal(rate), free) + t_quantile(missed, free)
            if not needed * error * math.sqrt(done / blocks) <= distance:
                return False
        return True

    # Enough by this estimate and not decided: half of such studies are not.
    found = fewest(enough, done + 1)
    return None if found is None else (found, away >= room)


def blocks_for_mean(mean: Mean, rule: Rule) -> tuple[int, bool] | None:
    """The same for a mean over rows, whose interval is at the study's confidence for itself alone.

    None where its interval is not known, or no number of blocks decides it.
    """
    if mean.low_percent is None or mean.high_percent is None or mean.blocks < 2:
        return None
    half = (log_of(mean.high_percent) - log_of(mean.low_percent)) / 2.0
    freedom = mean.blocks - 1.0
    test = (half / t_quantile(rule.rate, freedom), freedom, rule.rate)
    return _blocks(mean.mean, mean.blocks, [test], rule.delta)


def block_seconds(samples: pl.DataFrame) -> float | None:
    """Mean time of a block, from the first sample of the study to its last; None if unknown."""
    times = samples["utc"].drop_nulls()
    if times.is_empty():
        return None
    try:
        first, last = (datetime.fromisoformat(str(one)) for one in (times.min(), times.max()))
    except ValueError:
        return None
    seconds = (last - first).total_seconds() / max(1, samples["block"].n_unique())
    return seconds if seconds > 0.0 else None


def explain(
    rows: Sequence[Row], rule: Rule, study_file: str, seconds: float | None
) -> tuple[Row, ...]:
    """The rows, the inconclusive ones with the reason and the command that would decide them.

    Args:
        study_file: the study file of the run, as the command names it.
        seconds: what a block takes.
    """
    return tuple(
        row.model_copy(
            update={
                "comparisons": tuple(
                    _explained(one, rule, study_file, seconds) for one in row.comparisons
                )
            }
        )
        for row in rows
    )


def _explained(one: Comparison, rule: Rule, study_file: str, seconds: float | None) -> Comparison:
    effect = one.effect
    if one.verdict is not Verdict.INCONCLUSIVE or effect is None or effect.installs > 1:
        return one
    if effect.sd is None or effect.adjusted_confidence is None or effect.sd == 0.0:
        return one
    found = blocks_to_decide(effect, rule)
    sentence = _needs(effect.sd, found, rule, study_file, seconds)
    reason = f"{one.reason}; {sentence}" if one.reason else sentence
    return one.model_copy(update={"reason": reason})


def explain_effects(
    found: Factorial, rule: Rule, study_file: str, seconds: float | None
) -> Factorial:
    """The effects of a factorial design, the inconclusive ones with what would decide them."""
    effects, needed = [], []
    for one in found.effects:
        sd = _open_spread(one)
        if sd is None or one.mean is None or one.adjusted_confidence is None:
            effects.append(one)
            continue
        # By its own spread at the level of the family: what it borrows makes it a little less.
        test = (sd / math.sqrt(one.blocks), one.blocks - 1.0, 1.0 - one.adjusted_confidence)
        blocks = _blocks(one.mean, one.blocks, [test], rule.delta, rule.levels)
        needed.append(MOST_BLOCKS + 1 if blocks is None else blocks[0])
        sentence = _needs(sd, blocks, rule, study_file, seconds)
        reason = f"{one.reason}; {sentence}" if one.reason else sentence
        effects.append(one.model_copy(update={"reason": reason}))
    return found.model_copy(
        update={"effects": tuple(effects), "open": _half(needed, study_file, seconds)}
    )


def _open_spread(one: TermEffect) -> float | None:
    """Standard deviation of an inconclusive effect's blocks; None for any other one."""
    if one.verdict is not Verdict.INCONCLUSIVE or len(one.log_ratios) != one.blocks:
        return None
    sd = statistics.stdev(one.log_ratios) if one.blocks > 1 else 0.0
    return sd if sd > 0.0 else None


def _half(needed: list[int], study_file: str, seconds: float | None) -> str:
    """The command that would decide half of what is open; "" where none would, or nothing is."""
    if not needed:
        return ""
    middle = sorted(needed)[(len(needed) - 1) // 2]
    if middle > MOST_BLOCKS:
        return ""
    which = "the open effect" if len(needed) == 1 else f"half of the {len(needed)} open effects"
    return f"about {middle:,} blocks would decide {which}: {command(study_file, middle, seconds)}"


def _needs(
    sd: float, found: tuple[int, bool] | None, rule: Rule, study_file: str, seconds: float | None
) -> str:
    spread = percent_text(math.expm1(min(sd, 1.0)) * 100.0)
    if found is None:
        return (
            f"its blocks vary by {spread}, so no number of blocks that a study can have would "
            f"decide it; a wider δ than {percent_text(rule.delta_percent)} would"
        )
    blocks, differs = found
    what = "a difference of this size" if differs else f"equality within ±{rule.delta_percent:g} %"
    return (
        f"its blocks vary by {spread}; about {blocks:,} blocks would show {what}: "
        f"{command(study_file, blocks, seconds)}"
    )


def command(study_file: str, blocks: int, seconds: float | None) -> str:
    """The command that measures so many blocks, with its time."""
    # As a shell takes it; a byte that is no character is shown as an escape.
    named = one_line(shlex.quote(study_file))
    took = "" if seconds is None else f", {duration(seconds * blocks)}"
    return f"pentathlon run {named} --blocks {blocks}{took}"


def duration(seconds: float) -> str:
    """A rough time for people: "about 40 s", "about 12 min", "about 3 h"."""
    if seconds < 90.0:
        return f"about {seconds:.0f} s"
    if seconds < 5400.0:
        return f"about {seconds / 60.0:.0f} min"
    return f"about {seconds / 3600.0:.0f} h"
