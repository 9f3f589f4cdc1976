"""Lines of the tables that describe machines and systems: texts from the inventory, no verdict."""

from __future__ import annotations

from pentathlon.evaluate.hardware import NOT_HELD, Property
from pentathlon.evaluate.model import Evaluation
from pentathlon.literature.filled.load import Entry
from pentathlon.literature.filled.table import Cell, Judgement, Line

UNKNOWN = "not reported"


def line(entry: Entry, evaluation: Evaluation, reasons: dict[str, None]) -> Line:
    """The line of a property on every system; reasons for gaps are added, once for all systems."""
    name = entry.row.fact or ""
    found = [system.hardware.get(name, Property(why=NOT_HELD)) for system in evaluation.systems]
    gaps: dict[str, list[str]] = {}
    for system, one in zip(evaluation.systems, found, strict=True):
        if one.value is None:
            gaps.setdefault(one.why, []).append(system.name)
    for why, systems in gaps.items():
        reasons.setdefault(f"{entry.label}, {', '.join(systems)}: {why}.")
    return Line(
        label=entry.label,
        unit="",
        better="",
        cells=tuple(
            Cell(UNKNOWN, missing=True, detail=one.why) if one.value is None else Cell(one.value)
            for one in found
        ),
        judgements=tuple(Judgement(system.name, "", None, "") for system in evaluation.systems[1:]),
        measured=any(one.value is not None for one in found),
        note=entry.row.note,
    )
