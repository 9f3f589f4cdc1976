"""Curves as one claim: a sweep over block sizes is equivalent as a whole, or differs somewhere.

"Within ±δ at every size" is shown where it is shown at each: the intersection-union test takes the
largest p value of the sizes and needs no correction for their number (Berger 1982,
doi:10.1080/00401706.1982.10487790). The sweeps of a comparison are a family of their own, in which
Holm's procedure gives every workload the same share. The verdicts of the rows are not touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from pentathlon.evaluate.cases import SIZE, case_text, number, without
from pentathlon.evaluate.display import bytes_text, percent_text
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.model import Comparison, Row, Sweep
from pentathlon.evaluate.multiplicity import holm
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Verdict

FEWEST_SIZES = 3

Curve = list[tuple[float, Row, Comparison]]


def find_sweeps(rows: Sequence[Row], system: str, rule: Rule) -> tuple[Sweep, ...]:
    """The sweeps of one system against the reference; () by a rule that moderates nothing."""
    if not rule.moderated:
        return ()
    curves = {
        name: sorted(curve, key=lambda point: point[0])
        for name, curve in _curves(rows, system).items()
        if len(curve) >= FEWEST_SIZES
    }
    p_values = np.array([_p_equivalent(curve, rule) for curve in curves.values()])
    weights = holm.workload_weights([workload for workload, _, _ in curves])
    done = holm.step_down(p_values, weights, rule.rate)
    return tuple(
        _sweep(curve, rest, float(p_value), rule, shown=bool(shown))
        for ((_, _, rest), curve), p_value, shown in zip(
            curves.items(), p_values, done.selected, strict=True
        )
    )


def _curves(rows: Sequence[Row], system: str) -> dict[tuple[str, str, str], Curve]:
    """(workload, metric, rest of the case) -> its sizes; context is none."""
    found: dict[tuple[str, str, str], Curve] = {}
    for row in rows:
        size, one = number(row.case, SIZE), row.comparison(system)
        if size is not None and one is not None and row.score:
            rest = case_text(without(row.case, SIZE))
            found.setdefault((row.workload, row.metric, rest), []).append((size, row, one))
    return found


def _p_equivalent(curve: Curve, rule: Rule) -> float:
    """The largest of the sizes'; 1 where one of them was not judged, is unstable, or where its own
    interval does not lie inside ±δ.
    """
    return max(
        (
            one.effect.p_equivalent
            if one.effect is not None
            and one.effect.p_equivalent is not None
            and one.verdict is not Verdict.UNSTABLE
            and _inside(one, rule)
            else 1.0
        )
        for _, _, one in curve
    )


def _inside(one: Comparison, rule: Rule) -> bool:
    effect = one.effect
    if effect is None or effect.low_percent is None or effect.high_percent is None:
        return False
    ends = (ratio.log_of(effect.low_percent), ratio.log_of(effect.high_percent))
    return -rule.delta <= ends[0] and ends[1] <= rule.delta


def _sweep(curve: Curve, rest: str, p_value: float, rule: Rule, *, shown: bool) -> Sweep:
    row, comparison = curve[0][1:]
    differing = [size for size, _, one in curve if one.verdict.is_difference]
    delta = percent_text(rule.delta_percent)
    verdict: Literal["equivalent", "differs", "inconclusive"]
    span = f"{_size(curve[0][0])} to {_size(curve[-1][0])}"
    if differing:
        verdict = "differs"
        place = _size(differing[0])
        if len(differing) > 1:
            place = f"{place} to {_size(differing[-1])}"
        words = f"differs at {len(differing)} of {len(curve)} sizes, {place}"
    elif shown:
        verdict, words = "equivalent", f"equivalent within {delta} at every size, {span}"
    else:
        inside = sum(1 for *_, one in curve if _inside(one, rule))
        verdict = "inconclusive"
        words = (
            f"not decided as a whole: {inside} of {len(curve)} sizes have their own interval "
            f"inside ±{delta}"
        )
    return Sweep(
        system=comparison.system,
        area=row.area,
        workload=row.workload,
        metric=row.metric,
        title=f"{row.title} ({rest})" if rest else row.title,
        sizes=len(curve),
        differing=tuple(int(size) for size in differing),
        p_equivalent=p_value,
        verdict=verdict,
        words=words,
    )


def _size(value: float) -> str:
    return bytes_text(int(value))
