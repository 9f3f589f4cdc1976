"""Numbers as text. Display only: no value is ever rounded in the data."""

from __future__ import annotations

import math

MINUS = "−"

KNOWN = 10_000
"""Factor beyond which the end of an interval of ratios is no useful bound."""
UNKNOWN = "not known"


def significant(value: float, digits: int = 3) -> str:
    """The value with `digits` significant digits, never in scientific notation.

    Source: martinovic2012, section 6.1: "reported with three significant digits". Whole numbers
    with more digits keep them all: 1234 stays 1,234, as in the paper's Table 3 (1039, 780).
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return f"{MINUS if value < 0 else ''}∞"
    if value == 0:
        return "0"
    # The exponent of the rounded value: 9.996 with three digits is 10.0, not 10.00.
    exponent = int(f"{abs(value):.{digits - 1}e}".partition("e")[2])
    places = max(0, digits - 1 - exponent)
    return f"{value:,.{places}f}".replace("-", MINUS)


def signed(value: float, digits: int = 3) -> str:
    """`significant` with a sign, for differences; "0" has none."""
    text = significant(value, digits)
    return f"+{text}" if value > 0 else text


def percent_text(value: float, digits: int = 2) -> str:
    """A percentage without a sign, such as "1 %" or "0.25 %", with a no-break space."""
    if value >= 1000:
        return f"{times_text(1 + value / 100)}"
    text = significant(value, digits)
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text}\N{NO-BREAK SPACE}%"


def times_text(factor: float) -> str:
    """A factor such as "12×", for differences that are no longer readable as percentages."""
    return f"more than {KNOWN:,}×" if factor > KNOWN else f"{significant(factor, 2)}×"


def signed_percent(value: float) -> str:
    """A difference in percent for tables: two decimals below 10 %, as the paper prints them."""
    if math.isnan(value) or math.isinf(value):
        return significant(value)
    size = abs(value)
    places = 2 if size < 10 else 1 if size < 100 else 0
    text = f"{value:+,.{places}f}".replace("-", MINUS)
    if text.strip(f"+{MINUS}0.") == "":
        text = text[1:]
    return text


def is_known(end: float) -> bool:
    """Whether an end of an interval, in percent, bounds anything: is within a factor of KNOWN."""
    return 1 / KNOWN <= 1 + end / 100 <= KNOWN


def interval_text(low: float, high: float, form: str = "[{}, {}]") -> str:
    """An interval in percent, with words where an end (or the whole) is not known."""
    if not is_known(low) and not is_known(high):
        return UNKNOWN
    ends = (signed_percent(end) if is_known(end) else UNKNOWN for end in (low, high))
    return form.format(*ends)


def bytes_text(size: float) -> str:
    """A size in binary units, such as "48 KiB" (IEC 80000-13)."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            number = size / scale
            text = f"{number:.0f}" if number == int(number) else f"{number:.1f}"
            return f"{text} {unit}"
    return f"{size:.0f} B"


def trim(value: float) -> str:
    """A setting as it was written: 5.0 becomes "5", 0.25 stays "0.25"."""
    return f"{value:g}"


SCALES: dict[str, tuple[tuple[float, float, str], ...]] = {
    "ns": ((1e9, 1e9, "s"), (1e6, 1e6, "ms"), (1e3, 1e3, "µs")),
    "MB/s": ((1e4, 1e3, "GB/s"),),
    "B/s": ((1e10, 1e9, "GB/s"), (1e6, 1e6, "MB/s"), (1e3, 1e3, "kB/s")),
    "bit/s": ((1e10, 1e9, "Gbit/s"), (1e6, 1e6, "Mbit/s"), (1e3, 1e3, "kbit/s")),
}
"""Unit -> (smallest value, divisor, unit to show), largest first."""


def scale(unit: str, value: float) -> tuple[float, str]:
    """Divisor and unit that show a value in a readable size: 14,531,723 ns as 14.5 ms."""
    for smallest, divisor, shown in SCALES.get(unit, ()):
        if abs(value) >= smallest:
            return divisor, shown
    return 1.0, unit
