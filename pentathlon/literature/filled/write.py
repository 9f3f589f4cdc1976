"""Filled tables as grids, which every format is made from, and as JSON.

Texts are rounded for reading; CSV and JSON hold the numbers themselves, in full precision.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from pentathlon.literature.filled.table import Cell, Filled, Judgement, Line
from pentathlon.tables.grid import Grid, GridCell

KIND = ["Unit", "Better", "Group"]
"""Headings of the columns of a table of results that describe its metrics."""

FLAG = "* a boot deviates by more than 1 % from the mean."
GROUPS = (
    "Group: v throughput, t execution time, W_G weighted geometric mean (martinovic2012,"
    " section 5.2)."
)

COMPARED = (
    "Diff % and verdicts are against {}. Diff % is of the means shown, in the unit shown; a verdict"
    " is of the ratios in paired blocks, in which a boot far off counts less, so they can"
    " disagree in sign."
)


def grid(table: Filled) -> Grid:
    """A table with the systems, unit, direction and group, then the differences and verdicts."""
    facts = table.facts
    sides = [] if facts else [heading for name in table.others for heading in ("Diff %", "Verdict")]
    above = [] if facts else [name for name in table.others for _ in range(2)]
    flagged = any(cell.flagged for line in table.lines for cell in line.cells)
    grouped = any(line.group for line in table.lines)
    compared = (COMPARED.format(table.reference),) if above else ()
    kind = [] if facts else KIND
    return Grid(
        title=f"{table.study}, {table.printed_as}: {table.title}",
        groups=("", *("" for _ in table.systems), *("" for _ in kind), *above),
        headings=(table.printed_as.partition(",")[0], *table.systems, *kind, *sides),
        numeric=(
            False,
            *(not facts for _ in table.systems),
            *(False for _ in kind),
            *(name == "Diff %" for name in sides),
        ),
        rows=tuple(tuple(_row(line, facts=facts)) for line in table.lines),
        notes=(
            *compared,
            *((FLAG,) if flagged else ()),
            *((GROUPS,) if grouped else ()),
            *table.notes,
        ),
    )


def _row(line: Line, *, facts: bool) -> Iterator[GridCell]:
    yield GridCell(line.label)
    for cell in line.cells:
        yield _cell(cell)
    if facts:
        return
    yield GridCell(line.unit)
    yield GridCell(line.better.partition(" ")[0])
    yield GridCell(line.group)
    for one in line.judgements:
        yield GridCell(one.difference, value=one.difference_percent)
        yield GridCell(one.words)


def _cell(cell: Cell) -> GridCell:
    text = f"{cell.text} [{cell.interval}]" if cell.interval else cell.text
    return GridCell(f"{text}*" if cell.flagged else text, missing=cell.missing, value=cell.value)


def data_grid(table: Filled) -> Grid:
    """For CSV: every number in a column of its own, and nothing but numbers in it."""
    made = grid(table)
    columns: list[tuple[str, str]] = []
    for place, name in enumerate(table.systems):
        cells = [line.cells[place] for line in table.lines]
        columns.append((name, "value"))
        if any(cell.low is not None for cell in cells):
            columns += [(name, "low"), (name, "high")]
        if any(cell.deviation_percent is not None for cell in cells):
            columns.append((name, "deviation_percent"))
    facts = table.facts
    sides = [] if facts else [(name, part) for name in table.others for part in PARTS]
    kind = [] if facts else KIND
    names = {"value": "", "low": " low", "high": " high", "deviation_percent": " deviation %"}
    rows = []
    for line in table.lines:
        by = dict(zip(table.systems, line.cells, strict=True))
        against = {one.system: one for one in line.judgements}
        shown = [GridCell(line.label)]
        shown += [_data(by[name], part) for name, part in columns]
        shown += [] if facts else [GridCell(line.unit), GridCell(line.better), GridCell(line.group)]
        shown += [_side(against.get(name), part) for name, part in sides]
        rows.append(tuple(shown))
    headings = (
        made.headings[0],
        *(f"{name}{names[part]}" for name, part in columns),
        *kind,
        *(f"{name}: {PARTS[part]}" for name, part in sides),
    )
    return Grid(
        title=made.title,
        groups=("",) * len(headings),
        headings=headings,
        numeric=(False,) * len(headings),
        rows=tuple(rows),
    )


PARTS = {"difference": "Diff %", "words": "Verdict"}


def _data(cell: Cell, part: str) -> GridCell:
    if part == "value":
        number = cell.value
        words = cell.text if number is None and cell.low is None and not cell.missing else ""
        return GridCell(words, missing=cell.missing, value=number)
    value = {"low": cell.low, "high": cell.high}.get(part, cell.deviation_percent)
    return GridCell("", missing=value is None, value=value)


def _side(one: Judgement | None, part: str) -> GridCell:
    if one is None:
        return GridCell("", missing=True)
    if part == "words":
        return GridCell(one.words)
    known = one.difference_percent
    return GridCell("", missing=known is None, value=known)


def to_json(
    tables: Sequence[Filled], unfinished: str = "", before: Sequence[Mapping[str, object]] = ()
) -> str:
    """All tables as JSON: numbers as numbers, null where there is none, with the reason.

    Args:
        unfinished: how far a run is that has not ended; "" if it has.
        before: other tables of the result, which come first.
    """
    found = [*before, *(_mapping(one, unfinished) for one in tables)]
    return json.dumps(found, ensure_ascii=False, indent=1)


def _mapping(table: Filled, unfinished: str) -> dict[str, object]:
    return {
        "unfinished": unfinished,
        "study": table.study,
        "ids": list(table.ids),
        "printed_as": table.printed_as,
        "title": table.title,
        "section": table.section,
        "systems": list(table.systems),
        "reference": table.reference,
        "notes": list(table.notes),
        "rows": [
            {
                "label": line.label,
                "unit": line.unit,
                "direction": {"more": "higher", "less": "lower"}.get(line.better[:4]),
                "group": line.group or None,
                "key": line.key or None,
                "note": line.note,
                "values": {
                    name: _value(cell) for name, cell in zip(table.systems, line.cells, strict=True)
                },
                "against_reference": {
                    one.system: {
                        "difference_percent": one.difference_percent,
                        "verdict": None if one.verdict is None else one.verdict.value,
                        "words": one.words,
                    }
                    for one in line.judgements
                    if line.unit
                },
            }
            for line in table.lines
        ],
    }


def _value(cell: Cell) -> dict[str, object]:
    plain = cell.value is None and cell.low is None and not cell.missing
    return {
        "value": cell.text if plain else cell.value,
        "low": cell.low,
        "high": cell.high,
        "deviation_percent": cell.deviation_percent,
        "flagged": cell.flagged,
        "missing": cell.text if cell.missing else None,
        "detail": cell.detail,
    }
