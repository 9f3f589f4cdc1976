"""Numbers as printed: the text is kept, and states how many digits were given.

A printed number v whose last digit has the place value u stands for every real from v − u/2 to
v + u/2, both ends included, as authors round ties either way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from pentathlon.literature.interval import Interval
from pentathlon.literature.problems import PublishedError

NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_MINUS = str.maketrans({"−": "-", "–": "-"})
_COMMA = re.compile(r"(?<=\d),(?=\d+$)")


@dataclass(frozen=True)
class Printed:
    """One printed number.

    Attributes:
        text: as printed, such as "-1.83%" or "3.088e-6".
        value: the number itself.
        place: place value of the last printed digit.
        significant: number of significant digits; zeros at the end of a whole number count.
        qualifier: word of the author, "over" or "under", that moves the number to one end:
            "over 9" stands for 9 to 10.
    """

    text: str
    value: Fraction
    place: Fraction
    significant: int
    qualifier: str | None = None
    exact: bool = False

    @property
    def interval(self) -> Interval:
        """Every real that rounds to the printed number; the number itself if it is exact."""
        if self.exact:
            return Interval.exact(self.value)
        if self.qualifier == "over":
            return Interval(self.value, self.value + self.place)
        if self.qualifier == "under":
            return Interval(self.value - self.place, self.value)
        half = self.place / 2
        return Interval(self.value - half, self.value + half)

    @property
    def cut_off(self) -> Interval:
        """Every real that gives the printed number when its further digits are cut off."""
        if self.exact:
            return self.interval
        if self.value < 0:
            return Interval(self.value - self.place, self.value)
        return Interval(self.value, self.value + self.place)

    @property
    def round_number(self) -> Interval | None:
        """The interval if zeros at the end of a whole number are not significant; None if none."""
        if self.exact or self.value == 0 or self.place != 1 or self.value.denominator != 1:
            return None
        place = 1
        while self.value.numerator % (place * 10) == 0:
            place *= 10
        if place == 1:
            return None
        half = Fraction(place, 2)
        return Interval(self.value - half, self.value + half)


def parse(text: str, qualifier: str | None = None, *, exact: bool = False) -> Printed:
    """Read a printed number; a percent sign and a decimal comma are understood.

    Args:
        text: as printed.
        qualifier: the author's "over" or "under".
        exact: the number is set or counted, so that it stands for itself only.

    Raises:
        PublishedError: the text is no number.
    """
    plain = text.strip().translate(_MINUS).removesuffix("%").strip()
    plain = _COMMA.sub(".", plain)
    if not NUMBER.fullmatch(plain):
        raise PublishedError(
            f'"{text}" is no number; write it as printed, such as "10.9" or "3e-6"'
        )
    try:
        number = Decimal(plain)
    except InvalidOperation as error:  # pragma: no cover - the pattern admits decimals only
        raise PublishedError(f'"{text}" is no number') from error
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    kept = "".join(map(str, digits)).lstrip("0")
    return Printed(
        text, Fraction(number), Fraction(10) ** exponent, len(kept) or 1, qualifier, exact
    )


def is_number(text: str) -> bool:
    """Whether `parse` understands the text."""
    try:
        parse(text)
    except PublishedError:
        return False
    return True
