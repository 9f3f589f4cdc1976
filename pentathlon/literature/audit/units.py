"""Checks of units and of the number of digits."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from pentathlon.evaluate.display import significant
from pentathlon.literature.audit.findings import Check, Finding, Place, in_row
from pentathlon.literature.expression import formula
from pentathlon.literature.model import Study
from pentathlon.literature.printed import Printed, is_number, parse
from pentathlon.literature.problems import PublishedError
from pentathlon.literature.tables import Row, Table

OTHER_UNITS = Check("other-units", "unit", "note", "possible: a prefix is lost or misread")
OTHER_DIGITS = Check("other-digits", "precision", "note")
TOO_PRECISE = Check("too-precise", "precision", "note")
MILLION = "Million "
PREFIXES = {"K": 10**3, "M": 10**6, "G": 10**9}
TIMES = {"ns": Fraction(1, 10**9), "ms": Fraction(1, 1000), "s": Fraction(1), "min": Fraction(60)}
FAR = 1000
"""Ratio of two experiments beyond which a unit's prefix is doubted."""
WIDE = 10
"""Width in percentage points beyond which a difference printed with decimals is too precise."""


def other_units(study: Study) -> Iterator[Finding]:
    """One measurement in different units in different tables, and what follows for its values."""
    places: dict[tuple[str | None, str, str], list[tuple[Table, Row]]] = defaultdict(list)
    for table, row in study.rows("results"):
        if row.unit and row.symbol is not None:
            plain = re.sub(r"[^a-z0-9]", "", row.label.lower())
            places[row.symbol, plain, row.part or ""].append((table, row))
    for rows in places.values():
        for (first, one), (second, other) in combinations(rows, 2):
            if one.unit == other.unit:
                continue
            ratio = _ratio(first, one, other)
            check, text = OTHER_UNITS, "the units differ"
            if ratio is not None:
                if max(ratio, 1 / ratio) > FAR:
                    check = replace(check, severity="warning")
                system, times = first.systems[0].title, significant(float(ratio))
                text = f"as printed, {system} is {times} times that of {second.printed_as}"
            both = f"{first.printed_as}; {second.printed_as}"
            yield check.at(
                Place(study.id, both, one.name, first.section),
                says="One measurement has one unit, or values that differ by its factor.",
                printed=f"{_first(first, one)} {one.unit} | {_first(second, other)} {other.unit}",
                allowed=text,
            )


def _ratio(table: Table, one: Row, other: Row) -> Fraction | None:
    first, second = scale(one.unit or ""), scale(other.unit or "")
    if not table.systems or first[1] != second[1]:
        return None
    column = table.systems[0].id
    texts = [row.values[column].printed or "" for row in (one, other)]
    if not all(is_number(text) for text in texts):
        return None
    values = [parse(text).value for text in texts]
    return values[0] * first[0] / (values[1] * second[0]) if values[1] else None


def scale(unit: str) -> tuple[Fraction, str]:
    """The factor of a unit's prefix, and the unit without it."""
    if unit.startswith(MILLION):
        return Fraction(10**6), unit.removeprefix(MILLION)
    if unit in TIMES:
        return TIMES[unit], "s"
    if len(unit) > 1 and unit[0] in PREFIXES and unit[1].isupper():
        return Fraction(PREFIXES[unit[0]]), unit[1:]
    return Fraction(1), unit


def _first(table: Table, row: Row) -> str:
    return row.values[table.systems[0].id].text if table.systems else ""


def other_digits(study: Study) -> Iterator[Finding]:
    """Results with another number of significant digits than the paper states it reports."""
    wanted = study.facts.significant_digits
    if wanted is None:
        return
    for table, row in study.rows("results"):
        for column in table.systems:
            text = row.cell(column.id).printed or ""
            number: Printed | None = parse(text) if is_number(text) else None
            if number is not None and number.significant != wanted:
                yield OTHER_DIGITS.at(
                    in_row(table, row),
                    says=f"Results are reported with {wanted} significant digits.",
                    printed=f"{text} [{column.title}]",
                    allowed=f"{number.significant} significant digits",
                )


def too_precise(table: Table) -> Iterator[Finding]:
    """Differences with decimals, where the printed inputs leave more than ten points open."""
    for column in table.column:
        if column.derived is None or column.unit != "%":
            continue
        rule = formula(column.derived)
        for row in table.row:
            cells = {name: row.cell(name).printed or "" for name in (*rule.names, column.id)}
            if not all(is_number(text) for text in cells.values()):
                continue
            try:
                allowed = rule({name: parse(cells[name]).interval for name in rule.names})
            except PublishedError:
                continue
            if allowed.width > WIDE and parse(cells[column.id]).place < 1:
                yield TOO_PRECISE.at(
                    in_row(table, row),
                    says="A difference has no more digits than its inputs allow.",
                    printed=cells[column.id],
                    allowed=f"the printed inputs allow {allowed.text()} %",
                )
