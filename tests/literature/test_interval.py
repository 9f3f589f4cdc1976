"""Interval arithmetic: it contains every real that it must, and no more than it must."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pentathlon.literature.audit.judge import Outcome, judge
from pentathlon.literature.audit.misread import readings
from pentathlon.literature.expression import Formula
from pentathlon.literature.interval import Interval
from pentathlon.literature.printed import parse
from pentathlon.literature.problems import PublishedError

numbers = st.fractions(min_value=-1000, max_value=1000, max_denominator=1000)
shares = st.fractions(min_value=0, max_value=1, max_denominator=100)


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    first, second = draw(numbers), draw(numbers)
    return Interval(min(first, second), max(first, second))


def inside(interval: Interval, share: Fraction) -> Fraction:
    return interval.low + share * interval.width


@given(intervals(), intervals(), shares, shares)
def test_operations_contain_every_result(
    a: Interval, b: Interval, at_a: Fraction, at_b: Fraction
) -> None:
    x, y = inside(a, at_a), inside(b, at_b)
    assert (a + b).contains(x + y)
    assert (a - b).contains(x - y)
    assert (a * b).contains(x * y)
    if not b.contains(0):
        assert (a / b).contains(x / y)


@given(intervals(), intervals())
def test_bounds_are_reached(a: Interval, b: Interval) -> None:
    """The interval is no wider than the range: each bound is the result of two corners."""
    corners = {x * y for x in (a.low, a.high) for y in (b.low, b.high)}
    assert {(a * b).low, (a * b).high} <= corners
    assert (a - b).low == a.low - b.high


def test_a_division_by_what_can_be_zero_is_refused() -> None:
    with pytest.raises(PublishedError, match="no bounds"):
        Interval.exact(1) / parse("0.0").interval


def test_an_empty_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        Interval(Fraction(2), Fraction(1))


@given(
    st.decimals(min_value=-(10**6), max_value=10**6, allow_nan=False, allow_infinity=False),
    st.integers(min_value=0, max_value=6),
)
def test_a_printed_number_stands_for_what_rounds_to_it(value: object, places: int) -> None:
    text = f"{value:.{places}f}"
    printed = parse(text)
    assert printed.interval.contains(Fraction(str(value)))
    assert printed.interval.width == Fraction(1, 10**places)


@pytest.mark.parametrize(
    ("text", "low", "high", "significant"),
    [
        ("10.9", "10.85", "10.95", 3),
        ("-1.83%", "-1.835", "-1.825", 3),
        ("0.06", "0.055", "0.065", 1),
        ("1039", "1038.5", "1039.5", 4),
        ("84,47", "84.465", "84.475", 4),
        ("3.088e-6", "0.0000030875", "0.0000030885", 4),
        ("1.00", "0.995", "1.005", 3),
        ("−2", "-2.5", "-1.5", 1),
    ],
)
def test_known_printed_numbers(text: str, low: str, high: str, significant: int) -> None:
    printed = parse(text)
    assert printed.interval == Interval(Fraction(low), Fraction(high))
    assert printed.significant == significant


def test_words_of_the_author_move_a_number_to_one_end() -> None:
    assert parse("9", "over").interval == Interval(Fraction(9), Fraction(10))
    assert parse("1", "under").interval == Interval(Fraction(0), Fraction(1))


def test_an_exact_number_stands_for_itself() -> None:
    assert parse("64", exact=True).interval == Interval.exact(64)


@pytest.mark.parametrize("text", ["Failed", "-", "", "1.2.3", "1 2", "0x10", "nan", "1e"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(PublishedError, match="no number"):
        parse(text)


def test_a_formula_is_evaluated_over_intervals() -> None:
    formula = Formula("(new / old - 1) * 100")
    assert formula.names == ("new", "old")
    found = formula({"new": parse("1.27").interval, "old": parse("0.31").interval})
    assert found.contains(Fraction("301.62"))
    assert not found.contains(Fraction("301.50"))
    least = Formula("min(a, b) - max(c, 2)")
    exact = {name: Interval.exact(value) for name, value in (("a", 5), ("b", 4), ("c", 1))}
    assert least(exact) == Interval.exact(2)
    assert Formula("0.1 * x")({"x": Interval.exact(10)}) == Interval.exact(1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x / x", "twice"),
        ("min(x, y) / x", "twice"),
        ("x ** 2", "may hold"),
        ("__import__('os')", "may hold"),
        ("x.real", "may hold"),
        ("True + x", "may hold"),
        ("(x", "no formula"),
        ("min(x)", "may hold"),
    ],
)
def test_a_wrong_formula_is_refused(text: str, reason: str) -> None:
    with pytest.raises(PublishedError, match=reason):
        Formula(text)


@pytest.mark.parametrize(
    ("left", "relation", "right", "outcome"),
    [
        ("2.42", "equals", "2.4", Outcome.HOLDS),
        ("2.4201", "equals", "2.5", Outcome.IMPOSSIBLE),
        ("3.0889", "equals", "3.088", Outcome.CUT_OFF),
        ("73.0", "equals", "70", Outcome.ROUND),
        ("13.9", "less-than", "13.9", Outcome.NOT_SHOWN),
        ("13.8", "less-than", "13.9", Outcome.HOLDS),
        ("14.1", "less-than", "13.9", Outcome.IMPOSSIBLE),
        ("111", "at-least", "110", Outcome.HOLDS),
        ("80", "at-least", "92", Outcome.IMPOSSIBLE),
        ("80", "at-most", "80", Outcome.HOLDS),
    ],
)
def test_outcomes(left: str, relation: str, right: str, outcome: Outcome) -> None:
    printed = parse(right)
    assert judge(parse(left).interval, relation, printed.interval, printed) is outcome  # type: ignore[arg-type]


@given(st.integers(min_value=1, max_value=10**6), shares)
def test_about_is_symmetric(value: int, tolerance: Fraction) -> None:
    """A twice as large number is as far away as a half as large one."""
    one, other = Interval.exact(value), Interval.exact(value * 2)
    percent = float(tolerance * 200)
    forth = judge(one, "about", other, None, percent)
    assert forth is judge(other, "about", one, None, percent)
    assert (forth is Outcome.HOLDS) == (Fraction(str(percent)) >= 100)


def test_other_readings_change_one_digit_and_never_lead_with_zero() -> None:
    found = list(readings("68.1"))
    assert "58.1" in found and "66.1" in found and "08.1" not in found
    assert all(sum(a != b for a, b in zip("68.1", one, strict=True)) == 1 for one in found)
    assert all(one.startswith("0.") for one in readings("0.31"))
