"""CSV with a header (RFC 4180); the user names the columns of values with unit and direction."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence

from pentathlon.extraction.tools.rows import (
    LONGEST,
    MOST_VALUES,
    CaseValue,
    Extracted,
    ExtractError,
    Extractor,
    Metric,
    Options,
    Row,
    finite,
    metric_id,
)
from pentathlon.safeio.clipping import described
from pentathlon.safeio.suggestion import did_you_mean

DELIMITERS = ",;\t"
MOST_COLUMNS = 1000
_WHOLE = re.compile(r"[1-9]\d{0,14}|0")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")


def read(text: str, options: Options) -> Extracted:
    """Every value of the named columns; lines of one case are repetitions within a boot.

    Raises:
        ExtractError: a column is missing, or a value is no number.
    """
    if not options.measures:
        raise ExtractError(
            "holds columns whose units it does not say; name those with values by "
            "--measure 'COLUMN=UNIT,higher' or 'COLUMN=UNIT,lower'"
        )
    lines = _lines(text)
    _, header = next(lines, (1, []))
    wanted = (*options.measures, *options.cases, *filter(None, [options.boots]))
    places = {name: _column(header, name) for name in wanted}
    values: dict[tuple[str, int | None, tuple[str, ...]], list[float]] = {}
    first: dict[tuple[str, int | None, tuple[str, ...]], int] = {}
    count = empty = 0
    for number, cells in lines:
        if len(cells) != len(header):
            raise ExtractError(f"has {len(cells)} fields, and its header {len(header)}", number)
        boot = None
        if options.boots:
            boot = _boot(cells[places[options.boots]], options.boots, number)
        case = tuple(_factor(cells[places[name]], name, number) for name in options.cases)
        for name in options.measures:
            cell = cells[places[name]].strip()
            if not cell:
                empty += 1
                continue
            if not _NUMBER.fullmatch(cell):
                raise ExtractError(f"has {described(cell)} in {name}, expected a number", number)
            key = (name, boot, case)
            values.setdefault(key, []).append(finite(float(cell), f"in {name}"))
            first.setdefault(key, number)
            count += 1
            if count > MOST_VALUES:
                raise ExtractError(f"holds more than {MOST_VALUES} values", number)
    metrics = dict(_metrics(options))
    rows = tuple(
        Row("csv", "CSV", metrics[name], _case(options.cases, case), tuple(own),
            f"line {first[name, boot, case]}", boot)
        for (name, boot, case), own in values.items()
    )  # fmt: skip
    left_out = (f"{empty} empty fields",) if empty else ()
    return Extracted(None, rows, left_out)


def _metrics(options: Options) -> Iterator[tuple[str, Metric]]:
    names: dict[str, str] = {}
    for column, measure in options.measures.items():
        name = metric_id(column)
        if not name:
            raise ExtractError(
                f"has the column {described(column)}, which no metric can be named after"
            )
        if names.setdefault(name, column) != column:
            raise ExtractError(
                f"has the columns {described(names[name])} and {described(column)}, whose "
                f"metrics would both be {name}; rename one"
            )
        yield column, Metric(name, column, measure.unit, measure.direction)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Number and fields of each line that is not empty."""
    head = text.split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=head.count)
    reader = csv.reader(text.split("\n"), delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if len(cells) > MOST_COLUMNS:
                raise ExtractError(f"has more than {MOST_COLUMNS} columns", reader.line_num)
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise ExtractError(f"is no CSV: {error}", reader.line_num) from error


def _column(header: Sequence[str], name: str) -> int:
    names = [one.strip() for one in header]
    if names.count(name) > 1:
        raise ExtractError(f"has the column {described(name)} {names.count(name)} times", 1)
    if name not in names:
        raise ExtractError(f"has no column {described(name)}{did_you_mean(name, names[:50])}", 1)
    return names.index(name)


def _boot(cell: str, column: str, number: int) -> int:
    text = cell.strip()
    if not _WHOLE.fullmatch(text) or not 1 <= int(text) <= 10_000:
        raise ExtractError(f"has {described(cell)} in {column}, expected a number from 1 to 10000",
                           number)  # fmt: skip
    return int(text)


def _factor(cell: str, column: str, number: int) -> str:
    if len(cell) > LONGEST:
        raise ExtractError(f"has more than {LONGEST} characters in {column}", number)
    if (column.endswith("_bytes") or column == "repetitions") and not _WHOLE.fullmatch(cell):
        raise ExtractError(f"has {described(cell)} in {column}, expected a whole number", number)
    return cell.strip()


def _case(names: Sequence[str], values: Sequence[str]) -> dict[str, CaseValue]:
    return {
        name: int(value) if name.endswith("_bytes") or name == "repetitions" else value
        for name, value in zip(names, values, strict=True)
    }


EXTRACTOR = Extractor(
    "csv", "CSV whose columns are named", read, frozenset({"measures", "cases", "boots"})
)
