"""The audit on planted studies: it finds what is wrong, and nothing in what is right."""

from __future__ import annotations

import tempfile
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pentathlon.literature.audit.audit import audit
from pentathlon.literature.audit.findings import Finding
from pentathlon.literature.load import load_study
from tests.literature.study_files import Planted

reals = st.decimals(min_value=Decimal("0.01"), max_value=Decimal("999"), places=6)
"""Below 1000: with three digits, the zeros at the end of 1450 would not be significant."""


def three_digits(value: Decimal) -> str:
    """As martinovic2012 prints: three significant digits, never in scientific notation."""
    place = value.adjusted() - 2
    rounded = value.quantize(Decimal(1).scaleb(place), ROUND_HALF_EVEN)
    return format(rounded, "f")


def found(planted: Planted, kind: str | None = None) -> list[Finding]:
    with tempfile.TemporaryDirectory() as directory:
        findings = audit(planted.study(Path(directory))).findings
    return [one for one in findings if kind is None or one.kind == kind]


@settings(max_examples=60, deadline=None)
@given(reals, reals)
def test_a_right_difference_is_never_found(old: Decimal, new: Decimal) -> None:
    """The difference of the unrounded values, rounded, can always be."""
    difference = (Fraction(new) / Fraction(old) - 1) * 100
    places = Decimal(difference.numerator) / Decimal(difference.denominator)
    printed = format(places.quantize(Decimal("0.01"), ROUND_HALF_EVEN), "f")
    row = (three_digits(old), three_digits(new), f"{printed}%")
    assert not found(Planted(rows=[row]), "difference")


@settings(max_examples=60, deadline=None)
@given(reals, reals, st.integers(min_value=1, max_value=500), st.booleans())
def test_a_wrong_difference_is_always_found(
    old: Decimal, new: Decimal, hundredths: int, above: bool
) -> None:
    """A difference beyond what the printed values allow, by at least a hundredth."""
    texts = three_digits(old), three_digits(new)
    low, high = allowed(*texts)
    step = Fraction(hundredths, 100)
    edge = high + step + Fraction(1, 100) if above else low - step - Fraction(1, 100)
    value = Decimal(edge.numerator) / Decimal(edge.denominator)
    printed = format(value.quantize(Decimal("0.01"), ROUND_HALF_EVEN), "f")
    findings = found(Planted(rows=[(*texts, f"{printed}%")]), "difference")
    assert [one.severity for one in findings] == ["error"]
    assert findings[0].row == "Row 0"


def allowed(old: str, new: str) -> tuple[Fraction, Fraction]:
    """The range of the difference, by the corners and not by the code under test."""

    def ends(text: str) -> tuple[Fraction, Fraction]:
        decimals = len(text.partition(".")[2])
        half = Fraction(1, 2 * 10**decimals)
        return Fraction(text) - half, Fraction(text) + half

    corners = [(b / a - 1) * 100 for a in ends(old) for b in ends(new)]
    return min(corners), max(corners)


CLAIM = """
[[claim]]
id = "claim"
says = "New is {printed} % more than old."
section = "1"
table = "table-01"
cells = {{ a = "row-0/new", b = "row-0/old" }}
expression = "(a / b - 1) * 100"
printed = "{printed}"
unit = "%"
"""


def test_text_that_contradicts_its_table_is_found_with_a_misread_digit() -> None:
    rows = [("284", "309", "8.80%")]
    wrong = found(Planted(rows=rows, claims=CLAIM.format(printed="3.80")), "text")
    assert len(wrong) == 1 and wrong[0].check == "claim"
    assert "3.80 for 8.80 (the text)" in wrong[0].ocr
    assert not found(Planted(rows=rows, claims=CLAIM.format(printed="8.80")), "text")


def test_a_misread_digit_that_the_printed_difference_refutes_explains_nothing() -> None:
    """Reading 105 as 165 would give the text's 65 %, but not the table's 5.00 %."""
    claim = CLAIM.format(printed="65")
    wrong = found(Planted(rows=[("100", "105", "5.00%")], claims=claim), "text")
    assert len(wrong) == 1
    assert wrong[0].ocr.startswith("unlikely")


def test_cells_put_together_from_damaged_text_are_named() -> None:
    planted = Planted(more='reconstructed = "two halves"', claims=CLAIM.format(printed="77"))
    assert "put together" in found(planted, "text")[0].ocr


def test_missing_cells_are_not_checked_and_reported(tmp_path: Path) -> None:
    planted = Planted().write(tmp_path)
    file = planted / "table-01.toml"
    file.write_text(file.read_text().replace('new = "110"', 'new = { missing = "torn off" }'))
    done = audit(load_study(planted))
    assert done.checks.get("difference", 0) == 0
    assert [one.reason for one in done.unchecked] == ["the cell is missing: torn off"]
    assert done.unchecked[0].place == "Table 1, Row 0, New"


def duplicates(directory: Path, change: tuple[str, str]) -> list[str]:
    """Checks that find a duplicate, with a second table like the first but for one change."""
    target = Planted(rows=FOUR).write(directory)
    first = (target / "table-01.toml").read_text()
    other = first.replace("table-01", "table-02").replace("Table 1", "Table 2")
    (target / "table-02.toml").write_text(other.replace(*change))
    return [one.check for one in audit(load_study(target)).findings if one.kind == "duplicate"]


FOUR = [("100", "110", "10.00%"), ("1.00", "2.00", "100.00%"), ("3.5", "7.0", "100.0%")]
FOUR += [("20", "30", "50%")]


def test_a_table_printed_twice_is_found(tmp_path: Path) -> None:
    assert duplicates(tmp_path, ("", "")) == ["repeated-tables"]


def test_tables_that_differ_in_one_cell_are_not_printed_twice(tmp_path: Path) -> None:
    assert not duplicates(tmp_path, ('old = "20"', 'old = "20.0"'))


@pytest.mark.parametrize(
    ("planted", "checks"),
    [
        (Planted(facts="significant_digits = 3", rows=[("100", "1039", "939%")]), {"other-digits"}),
        (Planted(facts="significant_digits = 3", rows=[("100", "1.04", "-98.96%")]), set()),
        (Planted(rows=[("0.1", "0.3", "200.00%")]), {"too-precise"}),
        (Planted(rows=[("0.1", "0.3", "200%")]), set()),
    ],
)
def test_digits(planted: Planted, checks: set[str]) -> None:
    assert {one.check for one in found(planted)} == checks


@pytest.mark.parametrize(("value", "count"), [("269", 1), ("100.4", 1), ("100", 0), ("99", 0)])
def test_a_reduction_beyond_100_percent_is_found(tmp_path: Path, value: str, count: int) -> None:
    """100 can stand for 99.6; no real that rounds to 100.4 is at most 100."""
    target = Planted().write(tmp_path)
    (target / "text.toml").write_text(
        f"""
study = "planted"
id = "text"
printed_as = "Text"
title = "Numbers"
kind = "text"
section = "5"

[[column]]
id = "value"
title = "Value"

[[row]]
id = "delay"
label = "Delay is lower"
unit = "%"
sense = "reduction"
values = {{ value = "{value}" }}
"""
    )
    findings = [one for one in audit(load_study(target)).findings if one.kind == "physical"]
    assert len(findings) == count


def test_a_label_that_stands_for_two_rows_is_found(tmp_path: Path) -> None:
    target = Planted(rows=[("100", "110", "10%"), ("100", "120", "20%")]).write(tmp_path)
    file = target / "table-01.toml"
    text = file.read_text()
    assert not [one for one in audit(load_study(target)).findings if one.kind == "label"]
    file.write_text(text.replace('label = "Row 1"', 'label = "Row 0"'))
    labels = [one for one in audit(load_study(target)).findings if one.kind == "label"]
    assert [one.check for one in labels] == ["repeated-labels"]
    assert labels[0].severity == "warning"
