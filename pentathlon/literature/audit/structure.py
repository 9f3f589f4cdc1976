"""Checks of how a study is printed: repeats, labels, references."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from pentathlon.literature.audit.dependent import mean_columns
from pentathlon.literature.audit.findings import (
    UNLIKELY,
    Check,
    Finding,
    Place,
    in_row,
    in_table,
    in_text,
)
from pentathlon.literature.audit.hardware import unlike_its_name
from pentathlon.literature.audit.judge import Outcome
from pentathlon.literature.audit.physics import (
    frames_above_fill_rate,
    rates_above_clock,
    sizes_above_limit,
)
from pentathlon.literature.audit.quantities import (
    symbols_outside_groups,
    unfit_units,
    unset_settings,
)
from pentathlon.literature.audit.statements import restated
from pentathlon.literature.audit.units import other_digits, other_units, too_precise
from pentathlon.literature.audit.weigh import numbers_of, weigh
from pentathlon.literature.audit.wording import (
    contradictions,
    dangling_mentions,
    impossible_streams,
    unshown_results,
)
from pentathlon.literature.interval import decimal
from pentathlon.literature.lookup import terms
from pentathlon.literature.model import Study
from pentathlon.literature.printed import parse
from pentathlon.literature.tables import Row, Table
from pentathlon.study.counting import count_text

REPEATED_TABLES = Check("repeated-tables", "duplicate", "error", UNLIKELY)
REPEATED_LABELS = Check("repeated-labels", "label", "note", UNLIKELY)
CLASHING_LABELS = replace(
    REPEATED_LABELS, severity="warning", ocr="possible: a label is lost or misread"
)
REPEATED_HEADINGS = Check(
    "repeated-headings", "label", "warning", "possible: a heading is lost or misread"
)
IMPOSSIBLE_REDUCTIONS = Check("impossible-reductions", "physical", "error")
UNDECLARED_SYMBOLS = Check(
    "undeclared-symbols", "label", "warning", "possible: subscripts are easily misread"
)
REFERENCES = Check("references", "reference", "warning")
HEADINGS = Check("headings", "reference", "note")
LISTINGS = Check("listings", "duplicate", "warning", UNLIKELY)

PHYSICAL = (rates_above_clock, frames_above_fill_rate, sizes_above_limit, unlike_its_name)
NAMES = (unfit_units, symbols_outside_groups, unset_settings)
WORDS = (contradictions, unshown_results, dangling_mentions, impossible_streams)
"""Checks of a study as a whole."""


def structure(study: Study) -> Iterator[Finding]:
    """Every check that needs no statement: of this module and of those that it imports."""
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
    for table in study.tables:
        yield from mean_columns(table)
    for check in (*PHYSICAL, *NAMES, *WORDS):
        yield from check(study)


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
        both = f"{first.printed_as}; {second.printed_as}"
        yield REPEATED_TABLES.at(
            Place(study.id, both, "all rows", first.section),
            says="Two tables of different measurements hold different numbers.",
            printed=f"{count_text(len(first.row), 'row')} with the same numbers in both",
            allowed="; ".join(sides) or "the numbers of two measurements differ",
        )


def _same_numbers(first: Table, second: Table) -> bool:
    def numbers(table: Table) -> dict[tuple[str, str], str | None]:
        return {
            (row.id, name): cell.printed for row in table.row for name, cell in row.values.items()
        }

    one, other = numbers(first), numbers(second)
    return one == other and None not in one.values()


def _contradicted(study: Study, table: Table) -> tuple[int, int]:
    """How many values that the text gives again contradict the table, and how many there are."""
    wrong = of = 0
    for text, row in study.rows():
        if row.restates is None or row.restates.partition("/")[0] != table.id:
            continue
        for claim in restated(study, text, row):
            numbers = numbers_of(claim, terms(study, claim, row))
            if len(numbers) == 2:
                of += 1
                wrong += weigh(claim, numbers).outcome is Outcome.IMPOSSIBLE
    return wrong, of


def repeated_labels(table: Table) -> Iterator[Finding]:
    """One label for several rows: of one group (a mistake), or distinguished by place only."""
    groups: dict[tuple[str | None, str], list[Row]] = defaultdict(list)
    for row in table.row:
        groups[row.group, row.label].append(row)
    for (_, label), rows in groups.items():
        if len(rows) < 2 or any(row.factors for row in rows):
            continue
        parts = [row.part for row in rows]
        clash = len(set(parts)) < len(parts)
        section = rows[0].section or table.section
        yield (CLASHING_LABELS if clash else REPEATED_LABELS).at(
            Place(table.study, table.printed_as, label, section),
            says="A label stands for one thing.",
            printed=" | ".join(
                ", ".join(cell.text for cell in row.values.values()) for row in rows
            ),
            allowed=(
                f"{len(rows)} rows have this label"
                + ("" if clash else "; only their order tells them apart")
            ),
        )


def repeated_headings(table: Table) -> Iterator[Finding]:
    """Two columns of one group with the same heading."""
    for first, second in combinations(table.column, 2):
        if (first.group, first.title) == (second.group, second.title):
            yield REPEATED_HEADINGS.at(
                in_table(table, "headings"),
                says="A heading stands for one column.",
                printed=f"{first.group}: {first.title} | {second.title}",
                allowed="two columns of different numbers have this heading",
            )


def impossible_reductions(table: Table) -> Iterator[Finding]:
    """Nothing that is positive can be lower by more than 100 %."""
    for row in table.row:
        if row.sense != "reduction" or row.unit != "%":
            continue
        for cell in row.values.values():
            if cell.printed is not None and parse(cell.printed).interval.low > 100:
                base = parse(cell.printed).value
                yield IMPOSSIBLE_REDUCTIONS.at(
                    in_row(table, row),
                    says="A reduction is at most 100 %.",
                    printed=f"{cell.printed} % lower",
                    allowed=(
                        "0 … 100 %; with the other value as the base it would be "
                        f"{decimal(100 * base / (100 + base), 4)} % lower"
                    ),
                )


def undeclared_symbols(study: Study) -> Iterator[Finding]:
    """Symbols of results that the table of definitions does not list."""
    if study.facts.definitions is None:
        return
    definitions = study.table(study.facts.definitions)
    declared = {row.symbol for row in definitions.row}
    used: dict[str, list[str]] = defaultdict(list)
    for table, row in study.rows("results"):
        if row.symbol is not None:
            used[row.symbol].append(table.printed_as)
    for symbol, tables in used.items():
        if symbol not in declared:
            spare = sorted(s for s in declared if s and s[:3] == symbol[:3] and s not in used)
            names = "; ".join(dict.fromkeys(tables))
            yield UNDECLARED_SYMBOLS.at(
                Place(study.id, names, symbol, definitions.section),
                says=f"Every symbol is declared in {definitions.printed_as}.",
                printed=symbol,
                allowed=(
                    f"{definitions.printed_as} does not list it"
                    + (f"; it lists {', '.join(spare)}, which no table uses" if spare else "")
                ),
            )


def references(study: Study) -> Iterator[Finding]:
    """References, headings and listings that lead elsewhere."""
    targets = {target.id: target for target in study.facts.target}
    for one in study.facts.reference:
        target = targets[one.target]
        if target.subject != one.subject:
            yield REFERENCES.at(
                in_text(study.id, target.printed_as, one.section),
                says="A reference leads to what the sentence speaks of.",
                printed=f"{target.printed_as} for the {one.subject}",
                allowed=f"{target.printed_as} is the {target.subject}",
            )
    for heading in study.facts.heading:
        if not heading.printed.startswith(f"{heading.inside}."):
            yield HEADINGS.at(
                in_text(study.id, heading.printed, heading.inside),
                says="A heading's number begins with that of its section.",
                printed=f"{heading.printed} inside {heading.inside}",
                allowed=f"must begin with {heading.inside}.",
            )
    for first, second in combinations(study.facts.listing, 2):
        if first.sha256 == second.sha256 and first.subject != second.subject:
            both = f"{first.printed_as}; {second.printed_as}"
            yield LISTINGS.at(
                Place(study.id, both, "listing", ""),
                says="Two listings of different programs differ.",
                printed=f"the same code for {first.subject} and for {second.subject}",
                allowed=f"the listing of {second.subject} is not printed",
            )
