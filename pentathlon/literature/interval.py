"""Closed intervals of rational numbers: what a rounded number can stand for.

Exact (fractions, no rounding of the bounds). The range of an expression in which every variable
occurs once is exactly the interval that these operations give (Moore, "Interval Analysis", 1966,
chapter 3); `expression` refuses expressions in which one occurs twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from pentathlon.literature.problems import PublishedError


@dataclass(frozen=True)
class Interval:
    """All reals from low to high, both included.

    Raises:
        ValueError: low lies above high.
    """

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"an interval from {self.low} to {self.high} is empty")

    @classmethod
    def exact(cls, value: Fraction | int) -> Interval:
        """The interval that holds one number only."""
        return cls(Fraction(value), Fraction(value))

    @property
    def middle(self) -> Fraction:
        return (self.low + self.high) / 2

    @property
    def width(self) -> Fraction:
        return self.high - self.low

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __sub__(self, other: Interval) -> Interval:
        return self + (-other)

    def __mul__(self, other: Interval) -> Interval:
        corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(corners), max(corners))

    def __truediv__(self, other: Interval) -> Interval:
        """Quotient.

        Raises:
            PublishedError: the divisor can be 0, so that the quotient has no bounds.
        """
        if other.low <= 0 <= other.high:
            raise PublishedError(
                f"a division by {other} has no bounds; the divisor's printed value can be 0"
            )
        return self * Interval(1 / other.high, 1 / other.low)

    def meets(self, other: Interval) -> bool:
        """Whether some real lies in both."""
        return self.low <= other.high and other.low <= self.high

    def contains(self, value: Fraction | int) -> bool:
        return self.low <= value <= self.high

    def widened(self, factor: Fraction) -> Interval:
        """Every number that is at most (1 + factor) times larger or smaller than one in it."""
        return self * Interval(1 / (1 + factor), 1 + factor)

    def text(self) -> str:
        """The bounds as decimal numbers, with as many digits as it takes to separate them.

        A single number if they agree in seven digits.
        """
        if self.low == self.high:
            whole = self.low.denominator == 1
            return str(self.low.numerator) if whole else decimal(self.low, 7)
        for digits in range(4, 8):
            if decimal(self.low, digits) != decimal(self.high, digits):
                return f"{decimal(self.low, digits + 1)} … {decimal(self.high, digits + 1)}"
        return decimal(self.middle, 7)

    def __str__(self) -> str:
        return f"[{self.text()}]"


def decimal(value: Fraction, digits: int = 6) -> str:
    """A rational number as text with so many significant digits, zeros at the end left out."""
    text = f"{float(value):.{digits}g}"
    mantissa, mark, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if mark else text
