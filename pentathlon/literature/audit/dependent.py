"""Columns of measurements that the other columns determine: the mean of all the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from pentathlon.literature.audit.findings import UNLIKELY, Check, Finding, in_table
from pentathlon.literature.interval import Interval
from pentathlon.literature.printed import Printed, is_number, parse
from pentathlon.literature.tables import Column, Row, Table

MEAN_COLUMNS = Check("mean-columns", "dependent", "error", UNLIKELY)
LEAST_ROWS = 3
LEAST_PROBABILITY = Fraction(1, 10**6)
"""Chance of a coincidence over all rows below which a column is called dependent."""


def mean_columns(table: Table) -> Iterator[Finding]:
    """A column that holds the mean of the others in every row, which no measurement does.

    The chance of a coincidence is taken as the product over the rows of the width of what is
    printed (own rounding and that of the mean) by the range of the other columns.
    """
    if table.kind != "results":
        return
    for columns in _alike(table):
        for own in columns:
            others = [one for one in columns if one is not own]
            rows = [row for row in table.row if _whole(row, columns)]
            if len(others) < 2 or len(rows) < LEAST_ROWS or len(rows) < len(table.row):
                continue
            means = (_number(row, own).interval.meets(_mean(row, others)) for row in rows)
            if all(means) and _telling(rows, own, others):
                yield _finding(table, own, others)


def _alike(table: Table) -> list[list[Column]]:
    """The columns of measurements, those of one unit together."""
    units: dict[str | None, list[Column]] = defaultdict(list)
    for column in table.column:
        if column.kind == "number" and column.derived is None:
            units[column.unit].append(column)
    return list(units.values())


def _whole(row: Row, columns: list[Column]) -> bool:
    return all(is_number(row.cell(one.id).printed or "") for one in columns)


def _number(row: Row, column: Column) -> Printed:
    return parse(row.cell(column.id).printed or "", exact=row.exact)


def _mean(row: Row, others: list[Column]) -> Interval:
    total = Interval.exact(0)
    for one in others:
        total = total + _number(row, one).interval
    return total / Interval.exact(len(others))


def _telling(rows: list[Row], own: Column, others: list[Column]) -> bool:
    probability = Fraction(1)
    for row in rows:
        numbers = [_number(row, one) for one in others]
        spread = max(one.value for one in numbers) - min(one.value for one in numbers)
        width = _number(row, own).place + max(one.place for one in numbers)
        probability *= min(Fraction(1), width / spread) if spread else 1
    return probability < LEAST_PROBABILITY


def _finding(table: Table, own: Column, others: list[Column]) -> Finding:
    places = [place for place, one in enumerate(table.column, 1) if one in others]
    own_place = table.column.index(own) + 1
    return MEAN_COLUMNS.at(
        in_table(table, "all rows"),
        says="A column of measurements is not computed from the other columns.",
        printed=f"column {own_place}: {own.name}",
        allowed=(
            f"in every row it is the mean of columns {', '.join(map(str, places))} "
            f"({'; '.join(one.name for one in others)})"
        ),
        note="A column of averages stands where that of the measurement should.",
    )
