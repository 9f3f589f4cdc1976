"""Whether numbers that were rounded can be what a sentence says of them."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from pentathlon.literature.interval import Interval
from pentathlon.literature.parts import Relation
from pentathlon.literature.printed import Printed


class Outcome(Enum):
    """What the printed numbers say of a statement."""

    HOLDS = "holds"
    CUT_OFF = "holds if digits were cut off, not rounded"
    ROUND = "holds if the zeros at the end are not significant"
    NOT_SHOWN = "can be true, but the printed values do not show it"
    IMPOSSIBLE = "no numbers that round to the printed ones give it"


def judge(
    left: Interval,
    relation: Relation,
    right: Interval,
    printed: Printed | None = None,
    tolerance_percent: float | None = None,
) -> Outcome:
    """Judge `left relation right`.

    Args:
        left: range of what is computed.
        relation: what is stated of it.
        right: range of what it is compared with.
        printed: the right side, if it is a single printed number: it may have been cut off.
        tolerance_percent: for "about".
    """
    if relation == "equals":
        return _equals(left, right, printed)
    if relation == "about":
        factor = Fraction(str(tolerance_percent)) / 100
        return Outcome.HOLDS if left.meets(right.widened(factor)) else Outcome.IMPOSSIBLE
    if relation in ("at-most", "less-than"):
        left, right = -left, -right
    if relation in ("at-least", "at-most"):
        possible, shown = left.high >= right.low, left.middle >= right.middle
    else:
        possible, shown = left.high > right.low, left.middle > right.middle
    if not possible:
        return Outcome.IMPOSSIBLE
    return Outcome.HOLDS if shown else Outcome.NOT_SHOWN


def _equals(left: Interval, right: Interval, printed: Printed | None) -> Outcome:
    if left.meets(right):
        return Outcome.HOLDS
    if printed is not None:
        if left.meets(printed.cut_off):
            return Outcome.CUT_OFF
        wide = printed.round_number
        if wide is not None and left.meets(wide):
            return Outcome.ROUND
    return Outcome.IMPOSSIBLE
