"""A table or figure of a paper as a grid of text, which every format is made from."""

from __future__ import annotations

from pentathlon.literature.model import Figure, Study
from pentathlon.literature.tables import Column, Row, Table
from pentathlon.tables.grid import Grid, GridCell, plain

DIRECTIONS = {"higher": "more is better", "lower": "less is better"}


def table_grid(study: Study, table: Table) -> Grid:
    """A table as in the paper: labels, values, unit, differences."""
    labels = [name for name in ("group", "part", "label") if any(_of(r, name) for r in table.row)]
    values = [column for column in table.column if column.derived is None]
    derived = [column for column in table.column if column.derived is not None]
    equations = any(column.derived is not None for column in table.column[:-1]) and not derived[
        0
    ].id.startswith("diff")
    if equations:  # an equation in the paper: its parts stay beside its result
        values, derived = list(table.column), []
    units = any(row.unit for row in table.row) and not all(column.unit for column in values)
    titles = {"group": "", "part": "Measured", "label": _label_title(table)}
    columns = [*values, *derived]
    grouped = [column.group or "" for column in values]
    groups = [""] * len(labels) + grouped + [""] * units + [c.group or "" for c in derived]
    return Grid(
        title=f"{study.id}, {table.printed_as}: {table.title}",
        groups=tuple(groups if any(groups) else [""] * len(groups)),
        headings=(
            *(titles[name] for name in labels),
            *(_heading(column, table) for column in values),
            *(["Unit"] * units),
            *(_heading(column, table) for column in derived),
        ),
        numeric=(
            *(False for _ in labels),
            *(column.kind == "number" for column in values),
            *([False] * units),
            *(True for _ in derived),
        ),
        rows=tuple(
            (
                *(GridCell(_of(row, name)) for name in labels),
                *(_cell(row, column.id) for column in values),
                *([GridCell(row.unit or "")] * units),
                *(_cell(row, column.id) for column in derived),
            )
            for row in table.row
        ),
        notes=_notes(table, columns),
    )


def figure_grid(study: Study, figure: Figure) -> Grid:
    """A figure's numbers: one row per place on the x axis, one column per series."""
    points = figure_points(study, figure)
    places = list(dict.fromkeys(point["x"] for point in points))
    names = [series.title for series in figure.series]
    by = {(point["x"], point["series"]): point["printed"] for point in points}
    tables = dict.fromkeys(study.table(series.table).printed_as for series in figure.series)
    return plain(
        f"{study.id}, {figure.printed_as}: {figure.title}",
        [figure.x_title, *(f"{name}, {figure.y_title}" for name in names)],
        [figure.x_scale != "category", *(True for _ in names)],
        ([x, *(by.get((x, name), "missing") for name in names)] for x in places),
        [f"The numbers are those of {', '.join(tables)}."],
    )


def figure_points(study: Study, figure: Figure) -> list[dict[str, str]]:
    """A figure's points: series, x and y as printed; missing cells are left out."""
    points = []
    for series in figure.series:
        table = study.table(series.table)
        rows = [table.find_row(name) for name in series.rows] or list(table.row)
        for row in rows:
            cell = row.cell(series.y)
            if cell.printed is None:
                continue
            x = row.name if series.x is None else row.factors.get(series.x, "")
            points.append({"series": series.title, "x": x, "printed": cell.printed})
    return points


def _of(row: Row, name: str) -> str:
    value = getattr(row, name)
    return value if isinstance(value, str) else ""


def _label_title(table: Table) -> str:
    if table.kind == "inventory":
        return "Component"
    return "Performance metrics" if table.kind == "results" else "Subject"


def _heading(column: Column, table: Table) -> str:
    same = column.unit and column.unit != "%" and table.kind in ("results", "text")
    return f"{column.title} ({column.unit})" if same else column.title


def _cell(row: Row, column: str) -> GridCell:
    cell = row.cell(column)
    return GridCell(cell.text, cell.reconstructed is not None, cell.printed is None)


def _directions(table: Table) -> list[str]:
    """Which values are better: of the whole table, or of the rows that have a direction."""
    better = {row.direction for row in table.row}
    if None in better:  # a size or a clock is neither better nor worse
        return [
            f"{text.capitalize()} in {'; '.join(labels)}."
            for direction, text in DIRECTIONS.items()
            if (labels := [row.label for row in table.row if row.direction == direction])
        ]
    if len(better) == 2:
        lower = [row.label for row in table.row if row.direction == "lower"]
        return [f"More is better, except for {', '.join(lower)}."]
    return [f"{DIRECTIONS[one].capitalize()}." for one in better if one is not None]


def _notes(table: Table, columns: list[Column]) -> tuple[str, ...]:
    notes = _directions(table)
    notes += [
        f"{column.title}: {column.derived}, {column.formula}."
        for column in columns
        if column.derived is not None and column.formula is not None
    ]
    notes += table.notes
    how = dict.fromkeys(
        cell.reconstructed
        for row in table.row
        for cell in (row.cell(name) for name in row.values)
        if cell.reconstructed is not None
    )
    notes += [f"† put together from damaged text: {text}." for text in how if text is not None]
    gone = dict.fromkeys(
        cell.missing for row in table.row for cell in row.values.values() if cell.missing
    )
    notes += [f"missing: {text}." for text in gone]
    notes += [f"Scan: {text}" for text in table.ocr]
    notes += [f"Scan, {row.label}: {text}" for row in table.row for text in row.ocr]
    where = f"section {table.section}" if table.section[:1].isdigit() else table.section
    page = f", page {table.page}" if table.page is not None else ""
    return (*notes, f"Source: {table.study}, {where}{page}.")
