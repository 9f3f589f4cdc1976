"""A result of one's own beside a published table: never a verdict, always with the caution.

Only ratios inside one study mean anything: the machines differ. So every value is given with its
difference to the reference of its own study (martinovic2012, formula (4)), in one unit.
"""

from __future__ import annotations

from collections.abc import Sequence

from pentathlon.evaluate.display import signed, significant
from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.warnings import warnings
from pentathlon.literature.model import Study
from pentathlon.literature.parts import Part
from pentathlon.literature.problems import PublishedError
from pentathlon.literature.tables import Table
from pentathlon.tables.grid import Grid, GridCell

OWN = "yours"


class Value(Part):
    """One value, published or one's own, in one unit."""

    source: str
    """The study's name, or "yours"."""
    system: str
    metric: str
    value: float | None
    """None for words, and where there is no value."""
    unit: str
    difference_percent: float | None
    """To the reference of its own study; None for the reference, or if there is no value."""
    printed: str
    """As printed, with its unit; "" for one's own."""
    low: float | None = None
    high: float | None = None
    """Interval of a derived figure."""
    words: str = ""
    """What stands in the place of a number, such as the name of a processor."""
    note: str = ""


class Comparison(Part):
    """One published row and what corresponds to it in the result."""

    label: str
    values: tuple[Value, ...]
    own_rows: int
    """Lines of the result that correspond; 0 if it measured none."""
    direction: str = ""
    """"higher", "lower", or "" where neither is better."""
    group: str = ""
    """Group of the metric (martinovic2012, section 5.2): "v", "t", "W_G" or ""."""
    note: str = ""


class PublishedComparison(Part):
    """A published table beside a result.

    Attributes:
        unfinished: how far the result's run is that has not ended; "" if it has.
    """

    unfinished: str = ""
    study: str
    table: str
    result: str
    cautions: tuple[str, ...]
    comparisons: tuple[Comparison, ...]


def compare_published(
    study: Study,
    table: Table,
    evaluation: Evaluation,
    result: str,
    rows: Sequence[Comparison],
    *,
    name: str = "",
    notes: Sequence[str] = (),
    others: Sequence[str] = (),
) -> PublishedComparison:
    """Put a result beside a published table.

    Args:
        rows: the table's rows as the report's tables map and fill them.
        name: what the table is called, where that is not the name of `table`.
        notes: what qualifies the filled table.
        others: ids of the tables of the study that have such rows.

    Raises:
        PublishedError: nothing of ours corresponds to a row or column of the table.
    """
    called = name or f"{table.printed_as}: {table.title}"
    if not rows:
        where = f"; of {study.id}, these do: {', '.join(others)}" if others else ""
        raise PublishedError(
            f"{table.printed_as} of {study.id} has no row that corresponds to a metric"
            f" of a workload{where}"
        )
    return PublishedComparison(
        unfinished=evaluation.study.unfinished,
        study=study.id,
        table=called,
        result=result,
        cautions=(*_cautions(study, table, evaluation), *notes),
        comparisons=tuple(rows),
    )


def _cautions(study: Study, table: Table, evaluation: Evaluation) -> tuple[str, ...]:
    machines = ", ".join(dict.fromkeys(system.cpu or "?" for system in evaluation.systems))
    layers = ", ".join(dict.fromkeys(system.layer for system in evaluation.systems))
    hardware = [one.printed_as for one in study.tables if one.kind == "inventory"]
    where = f" (described in {', '.join(hardware)})" if hardware else ""
    return (
        f"The machines differ: {study.id} measured in {study.facts.year} on its own hardware"
        f"{where}; yours is {machines}, layer {layers}. A value of one says nothing about the "
        "other.",
        "The programs differ too: the published values come from other benchmark programs and "
        "other versions of the systems. Compare, if anything, the differences inside each study.",
        "Published values are means without intervals; no verdict is given here.",
        *(f"{table.printed_as}: {note}" for note in table.notes),
        *warnings(evaluation),
    )


BETTER = {"higher": "more", "lower": "less", "": ""}


def comparison_grid(found: PublishedComparison) -> Grid:
    """The comparison as a grid, one line per value."""
    rows = []
    for one in found.comparisons:
        for place, value in enumerate(one.values):
            rows.append(_line(one, value, place == 0))
        if not one.own_rows:
            nothing = GridCell("nothing in your result corresponds", missing=True)
            label = GridCell("" if one.values else one.label)
            rows.append((label, GridCell(OWN), nothing, *[GridCell("")] * 6))
    notes = dict.fromkeys(one.note for one in found.comparisons if one.note)
    return Grid(
        title=f"{found.study}, {found.table}, beside {found.result}",
        groups=("",) * 9,
        headings=(
            "Published row", "Source", "System", "Value", "Unit", "Better", "Group", "Diff %",
            "As printed",
        ),
        numeric=(False, False, False, True, False, False, False, True, True),
        rows=tuple(rows),
        notes=(*found.cautions, *notes, "Diff %: to the reference of the same source."),
        unfinished=found.unfinished,
    )  # fmt: skip


def _line(one: Comparison, value: Value, first: bool) -> tuple[GridCell, ...]:
    label = one.label if first else (value.metric if value.source == OWN else "")
    difference = value.difference_percent
    return (
        GridCell(label),
        GridCell(value.source),
        GridCell(value.system),
        GridCell(_shown(value), value=value.value),
        GridCell(value.unit),
        GridCell(BETTER[one.direction]),
        GridCell(one.group),
        GridCell("" if difference is None else signed(difference), value=difference),
        GridCell(value.printed or value.note),
    )


def _shown(value: Value) -> str:
    if value.value is not None:
        return significant(value.value)
    if value.low is not None and value.high is not None:
        return f"{significant(value.low)} to {significant(value.high)}"
    return value.words or "–"
