"""From our units to those of the papers, and from a paper's unit to that of a table here."""

from __future__ import annotations

from fractions import Fraction

from pentathlon.literature.expression import formula
from pentathlon.literature.interval import Interval

PREFIXES = {"n": 1e-9, "µ": 1e-6, "u": 1e-6, "m": 1e-3, "K": 1e3, "k": 1e3, "M": 1e6, "G": 1e9}
SECONDS = {"min": 60.0, "s": 1.0}


def convert(text: str, value: float) -> float:
    """A value through a formula of x; NaN for 0, which no formula here may divide by."""
    if text == "x":
        return value
    if value == 0:
        return float("nan")
    return float(formula(text)({"x": Interval.exact(Fraction(value))}).low)


def factor(printed: str, shown: str) -> float:
    """What a printed value is multiplied by to be in the unit shown.

    1 where the units differ in more than a decimal prefix: then the table's file states what the
    paper's unit means, such as MiB/s for the MB/s of venkata2003.
    """
    if printed == shown:
        return 1.0
    (first, one), (second, other) = _split(printed), _split(shown)
    return first / second if one == other else 1.0


def _split(unit: str) -> tuple[float, str]:
    """The factor of a unit's prefix, and the unit without it, in lower case."""
    if unit in SECONDS:
        return SECONDS[unit], "s"
    if len(unit) > 1 and unit[0] in PREFIXES and (unit[1:] == "s" or unit[1].isupper()):
        return PREFIXES[unit[0]], unit[1:].lower()
    return 1.0, unit.lower()
