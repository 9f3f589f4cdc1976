"""What the systems drew: a small picture of every case, for a reader to compare by eye."""

from __future__ import annotations

from dataclasses import dataclass

from pentathlon.evaluate.facts import ResultLike
from pentathlon.evaluate.model import Evaluation


@dataclass(frozen=True)
class Picture:
    """One picture as it stands in the page; `address` is a data URL (RFC 2397)."""

    system: str
    address: str
    width: int
    height: int


@dataclass(frozen=True)
class Case:
    """One case and what the systems drew in it, in the order of the systems."""

    case: str
    pictures: tuple[Picture, ...]
    same: bool
    """Every system that drew it drew the same small picture, byte for byte."""


@dataclass(frozen=True)
class Sheet:
    """The cases of one workload."""

    workload: str
    title: str
    cases: tuple[Case, ...]


def sheets(evaluation: Evaluation, result: ResultLike) -> tuple[Sheet, ...]:
    """Every picture of a result, by workload and case in the order of the plan's first system."""
    reported = getattr(result, "pictures", None)
    if not callable(reported):
        return ()
    names = [system.name for system in evaluation.systems]
    found: dict[str, dict[str, dict[str, Picture]]] = {}
    for row in reported().iter_rows(named=True):
        address = f"data:image/jpeg;base64,{row['jpeg']}"
        picture = Picture(row["system"], address, row["width"], row["height"])
        found.setdefault(row["workload"], {}).setdefault(row["case"], {})[row["system"]] = picture
    titles = {row.workload: row.workload_title for row in evaluation.rows}
    return tuple(
        Sheet(
            workload=workload,
            title=titles.get(workload, workload),
            cases=tuple(_case(case, by_system, names) for case, by_system in cases.items()),
        )
        for workload, cases in found.items()
    )


def _case(case: str, by_system: dict[str, Picture], names: list[str]) -> Case:
    pictures = tuple(by_system[name] for name in names if name in by_system)
    return Case(case, pictures, len({one.address for one in pictures}) == 1)
