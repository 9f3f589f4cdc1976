"""Where a curve has no point because a system could not be measured there: its line breaks.

A line through the neighbours of such a place would show values that nobody has measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pentathlon.evaluate.cases import SIZE, case_text, number, without
from pentathlon.evaluate.model import Evaluation, Failure, Row
from pentathlon.study.catalog import case_text as canonical


def missing(evaluation: Evaluation, system: str, factor: str, rows: Iterable[Row]) -> list[float]:
    """The places of a factor at which a system failed and has no value, in ascending order.

    Args:
        rows: of one curve: one workload and one case but for the factor.
    """
    own = list(rows)
    if not own:
        return []
    measured = {number(row.case, factor) for row in own if row.summary(system) is not None}
    found: set[float] = set()
    for failure in evaluation.failures:
        if (failure.system, failure.workload) == (system, own[0].workload):
            found |= set(_places(failure, factor, own))
    return sorted(found - measured)


def _places(failure: Failure, factor: str, rows: list[Row]) -> Iterator[float]:
    """Where a failure breaks a curve; one of a whole workload does wherever others have values."""
    if not failure.case:
        yield from (place for row in rows if (place := number(row.case, factor)) is not None)
        return
    parts = dict(part.partition("=")[::2] for part in failure.case.split(","))
    try:
        place = float(parts.pop(factor, ""))
    except ValueError:
        return
    factors = dict(part.partition("=")[::2] for part in canonical(rows[0].case, []).split(","))
    if parts.items() <= factors.items():
        yield place


def of_sizes(evaluation: Evaluation) -> Iterator[tuple[str, str, str, float]]:
    """(workload, case, system, size) of every break in a curve over block size."""
    curves: dict[tuple[str, str], list[Row]] = {}
    for row in evaluation.rows:
        if number(row.case, SIZE) is not None:
            curves.setdefault((row.workload, case_text(without(row.case, SIZE))), []).append(row)
    for (workload, case), rows in curves.items():
        for system in evaluation.systems:
            for size in missing(evaluation, system.name, SIZE, rows):
                yield workload, case, system.name, size
