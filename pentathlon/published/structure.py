"""Checks of how a study is printed: repeats, labels, units, digits, references."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from pentathlon.published.expression import Formula
from pentathlon.published.findings import Finding, Kind
from pentathlon.published.interval import decimal
from pentathlon.published.judge import Outcome
from pentathlon.published.lookup import terms
from pentathlon.published.model import Row, Severity, Study, Table
from pentathlon.published.printed import Printed, is_number, parse
from pentathlon.published.problems import PublishedError
from pentathlon.published.statements import restated
from pentathlon.published.weigh import numbers_of, weigh

UNLIKELY = "unlikely: it is not a matter of one digit"
PREFIXES = {"K": 10**3, "M": 10**6, "G": 10**9}
TIMES = {"ns": Fraction(1, 10**9), "ms": Fraction(1, 1000), "s": Fraction(1), "min": Fraction(60)}
FAR = 1000
"""Ratio of two experiments beyond which a unit's prefix is doubted."""
WIDE = 10
"""Width in percentage points beyond which a difference printed with decimals is too precise."""


def structure(study: Study) -> Iterator[Finding]:
    """Every check of this module."""
    yield from repeated_tables(study)
    for table in study.tables:
        yield from repeated_labels(table)
        yield from repeated_headings(table)
        yield from impossible_reductions(table)
        yield from too_precise(table)
    yield from undeclared_symbols(study)
    yield from other_units(study)
    yield from other_digits(study)
    yield from references(study)


def repeated_tables(study: Study) -> Iterator[Finding]:
    """Tables with the same numbers under two names, and which of them the text bears out."""
    results = [table for table in study.tables if table.kind == "results" and len(table.row) >= 4]
    for first, second in combinations(results, 2):
        if not _same_numbers(first, second):
            continue
        sides = []
        for table in (first, second):
            against, of = _contradicted(study, table)
            if of:
                sides.append(f"the text contradicts {against} of {of} values of {table.printed_as}")
        yield _finding(
            study.id,
            f"{first.printed_as}; {second.printed_as}",
            "all rows",
            first.section,
            "duplicate",
            "error",
            "Two tables of different measurements hold different numbers.",
            f"{len(first.row)} rows with the same numbers in both",
            "; ".join(sides) or "the numbers of two measurements differ",
            "repeated-tables",
            ocr=UNLIKELY,
        )


def _same_numbers(first: Table, second: Table) -> bool:
    def numbers(table: Table) -> dict[tuple[str, str], str | None]:
        return {(row.id, name): cell.printed for row in table.row for name, cell in row.values.items()}

    one, other = numbers(first), numbers(second)
    return one == other and None not in one.values()


def _contradicted(study: Study, table: Table) -> tuple[int, int]:
    """How many values that the text gives again contradict the table, and how many there are."""
    wrong = of = 0
    for text in study.tables:
        for row in text.row:
            if row.restates is None or row.restates.partition("/")[0] != table.id:
                continue
            for claim in restated(study, text, row):
                numbers = numbers_of(claim, terms(study, claim, row))
                if len(numbers) == 2:
                    of += 1
                    wrong += weigh(claim, numbers).outcome is Outcome.IMPOSSIBLE
    return wrong, of


def repeated_labels(table: Table) -> Iterator[Finding]:
    """One label for several rows: of one group (a mistake), or told apart by place only."""
    groups: dict[tuple[str | None, str], list[Row]] = defaultdict(list)
    for row in table.row:
        groups[row.group, row.label].append(row)
    for (_, label), rows in groups.items():
        if len(rows) < 2 or any(row.factors for row in rows):
            continue
        parts = [row.part for row in rows]
        clash = len(set(parts)) < len(parts)
        yield _finding(
            table.study,
            table.printed_as,
            label,
            rows[0].section or table.section,
            "label",
            "warning" if clash else "note",
            "A label stands for one thing.",
            " | ".join(", ".join(cell.text for cell in row.values.values()) for row in rows),
            f"{len(rows)} rows have this label"
            + ("" if clash else "; only their order tells them apart"),
            "repeated-labels",
            ocr="possible: a label is lost or misread" if clash else UNLIKELY,
        )


def repeated_headings(table: Table) -> Iterator[Finding]:
    """Two columns of one group with the same heading."""
    for first, second in combinations(table.column, 2):
        if (first.group, first.title) == (second.group, second.title):
            yield _finding(
                table.study,
                table.printed_as,
                "headings",
                table.section,
                "label",
                "warning",
                "A heading stands for one column.",
                f"{first.group}: {first.title} | {second.title}",
                "two columns of different numbers have this heading",
                "repeated-headings",
                ocr="possible: a heading is lost or misread",
            )


def impossible_reductions(table: Table) -> Iterator[Finding]:
    """Nothing that is positive can be lower by more than 100 %."""
    for row in table.row:
        if row.sense != "reduction" or row.unit != "%":
            continue
        for cell in row.values.values():
            if cell.printed is not None and parse(cell.printed).interval.low > 100:
                base = parse(cell.printed).value
                yield _finding(
                    table.study,
                    table.printed_as,
                    row.name,
                    row.section or table.section,
                    "physical",
                    "error",
                    "A reduction is at most 100 %.",
                    f"{cell.printed} % lower",
                    "0 … 100 %; with the other value as the base it would be "
                    f"{decimal(100 * base / (100 + base), 4)} % lower",
                    "impossible-reductions",
                )


def too_precise(table: Table) -> Iterator[Finding]:
    """Differences with decimals, where the printed inputs leave more than ten points open."""
    for column in table.column:
        if column.derived is None or column.unit != "%":
            continue
        formula = Formula(column.derived)
        for row in table.row:
            cells = {name: row.cell(name).printed or "" for name in (*formula.names, column.id)}
            if not all(is_number(text) for text in cells.values()):
                continue
            try:
                allowed = formula({name: parse(cells[name]).interval for name in formula.names})
            except PublishedError:
                continue
            if allowed.width > WIDE and parse(cells[column.id]).place < 1:
                yield _finding(
                    table.study,
                    table.printed_as,
                    row.name,
                    table.section,
                    "precision",
                    "note",
                    "A difference has no more digits than its inputs allow.",
                    cells[column.id],
                    f"the printed inputs allow {allowed.text()} %",
                    "too-precise",
                )


def undeclared_symbols(study: Study) -> Iterator[Finding]:
    """Symbols of results that the table of definitions does not list."""
    if study.facts.definitions is None:
        return
    definitions = study.table(study.facts.definitions)
    declared = {row.symbol for row in definitions.row}
    used: dict[str, list[str]] = defaultdict(list)
    for table in study.tables:
        for row in table.row:
            if table.kind == "results" and row.symbol is not None:
                used[row.symbol].append(table.printed_as)
    for symbol, tables in used.items():
        if symbol not in declared:
            spare = sorted(s for s in declared if s and s[:3] == symbol[:3] and s not in used)
            yield _finding(
                study.id,
                "; ".join(dict.fromkeys(tables)),
                symbol,
                definitions.section,
                "label",
                "warning",
                f"Every symbol is declared in {definitions.printed_as}.",
                symbol,
                f"{definitions.printed_as} does not list it"
                + (f"; it lists {', '.join(spare)}, which no table uses" if spare else ""),
                "undeclared-symbols",
                ocr="possible: subscripts are easily misread",
            )


def other_units(study: Study) -> Iterator[Finding]:
    """One measurement in different units in different tables, and what follows for its values."""
    places: dict[tuple[str | None, str, str], list[tuple[Table, Row]]] = defaultdict(list)
    for table in study.tables:
        for row in table.row:
            if table.kind == "results" and row.unit and row.symbol is not None:
                plain = re.sub(r"[^a-z0-9]", "", row.label.lower())
                places[row.symbol, plain, row.part or ""].append((table, row))
    for rows in places.values():
        for (first, one), (second, other) in combinations(rows, 2):
            if one.unit == other.unit:
                continue
            ratio = _ratio(first, one, other)
            severity: Severity = "note"
            told = "the units differ"
            if ratio is not None:
                severity = "warning" if max(ratio, 1 / ratio) > FAR else "note"
                told = (
                    f"taken as printed, {first.systems[0].title} is {decimal(ratio, 3)} times "
                    f"{second.printed_as}"
                )
            yield _finding(
                study.id,
                f"{first.printed_as}; {second.printed_as}",
                one.name,
                first.section,
                "unit",
                severity,
                "One measurement has one unit, or its values differ by the factor of the units.",
                f"{_first(first, one)} {one.unit} | {_first(second, other)} {other.unit}",
                told,
                "other-units",
                ocr="possible: a prefix is lost or misread",
            )


def _ratio(table: Table, one: Row, other: Row) -> Fraction | None:
    first, second = _scale(one.unit or ""), _scale(other.unit or "")
    if not table.systems or first[1] != second[1]:
        return None
    column = table.systems[0].id
    texts = [row.values[column].printed or "" for row in (one, other)]
    if not all(is_number(text) for text in texts):
        return None
    values = [parse(text).value for text in texts]
    return values[0] * first[0] / (values[1] * second[0]) if values[1] else None


def _scale(unit: str) -> tuple[Fraction, str]:
    """The factor of a unit's prefix, and the unit without it."""
    if unit in TIMES:
        return TIMES[unit], "s"
    if len(unit) > 1 and unit[0] in PREFIXES and unit[1].isupper():
        return Fraction(PREFIXES[unit[0]]), unit[1:]
    return Fraction(1), unit


def _first(table: Table, row: Row) -> str:
    return row.values[table.systems[0].id].text if table.systems else ""


def other_digits(study: Study) -> Iterator[Finding]:
    """Results with another number of significant digits than the paper says it reports."""
    wanted = study.facts.significant_digits
    if wanted is None:
        return
    for table in study.tables:
        for row in table.row if table.kind == "results" else ():
            for column in table.systems:
                text = row.cell(column.id).printed or ""
                number: Printed | None = parse(text) if is_number(text) else None
                if number is not None and number.significant != wanted:
                    yield _finding(
                        study.id,
                        table.printed_as,
                        row.name,
                        table.section,
                        "precision",
                        "note",
                        f"Results are reported with {wanted} significant digits.",
                        f"{text} [{column.title}]",
                        f"{number.significant} significant digits",
                        "other-digits",
                    )


def references(study: Study) -> Iterator[Finding]:
    """References, headings and listings that lead elsewhere."""
    targets = {target.id: target for target in study.facts.target}
    for one in study.facts.reference:
        target = targets[one.target]
        if target.subject != one.subject:
            yield _finding(
                study.id,
                "text",
                target.printed_as,
                one.section,
                "reference",
                "warning",
                "A reference leads to what the sentence speaks of.",
                f"{target.printed_as} for the {one.subject}",
                f"{target.printed_as} is the {target.subject}",
                "references",
            )
    for heading in study.facts.heading:
        if not heading.printed.startswith(f"{heading.inside}."):
            yield _finding(
                study.id,
                "text",
                heading.printed,
                heading.inside,
                "reference",
                "note",
                "A heading's number begins with that of its section.",
                f"{heading.printed} inside {heading.inside}",
                f"must begin with {heading.inside}.",
                "headings",
            )
    for first, second in combinations(study.facts.listing, 2):
        if first.sha256 == second.sha256 and first.subject != second.subject:
            yield _finding(
                study.id,
                f"{first.printed_as}; {second.printed_as}",
                "listing",
                "",
                "duplicate",
                "warning",
                "Two listings of different programs differ.",
                f"the same code for {first.subject} and for {second.subject}",
                f"the listing of {second.subject} is not printed",
                "listings",
                ocr=UNLIKELY,
            )


def _finding(
    study: str,
    table: str,
    row: str,
    section: str,
    kind: Kind,
    severity: Severity,
    says: str,
    printed: str,
    allowed: str,
    check: str,
    ocr: str = "unlikely: no single misread digit explains it",
) -> Finding:
    return Finding(
        study=study,
        table=table,
        row=row,
        section=section,
        kind=kind,
        severity=severity,
        says=says,
        printed=printed,
        allowed=allowed,
        ocr=ocr,
        check=check,
    )
