"""What a new client and a new server gain over each link (tolly2007, appendix B).

The reference is the pair of ends before the upgrade. Phase 1 of the paper changes the client, phase
2 both. Speed-ups are ratios inside one block, the boots are what their intervals come from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from pentathlon.evaluate.cases import case_text, without
from pentathlon.evaluate.derived import wording
from pentathlon.evaluate.derived.model import FileCell, FileTask, Mean, Upgrade
from pentathlon.evaluate.display import significant
from pentathlon.evaluate.model import Row

AREA: Final = "files"
LINK: Final = "link"

Ends = tuple[str, str]
"""Behaviour of the client and of the server."""


def find_file_tasks(
    rows: Sequence[Row], ends: Mapping[str, Ends], level: float
) -> tuple[FileTask, ...]:
    """Every task over every link, in the order of the rows.

    Args:
        ends: system -> how its client and its server behave; the reference first.
        level: 1 − confidence.
    """
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.area == AREA and LINK in row.case:
            rest = case_text(without(row.case, LINK))
            groups.setdefault((row.workload, str(row.case[LINK]), rest), []).append(row)
    found = []
    for (workload, link, rest), own in groups.items():
        known = {row.metric: row for row in own}
        if "task_time" not in known:
            continue
        cells = [cell for system in ends if (cell := _cell(system, known, ends[system], level))]
        reference = next(iter(ends))
        found.append(
            FileTask(
                workload=workload,
                title=own[0].workload_title,
                link=link,
                case_text=rest,
                cells=tuple(cells),
                upgrades=tuple(
                    upgrade
                    for cell in cells
                    if cell.system != reference
                    if (upgrade := _upgrade(reference, cell, cells, known, level))
                ),
            )
        )
    return tuple(found)


def _cell(system: str, known: Mapping[str, Row], ends: Ends, level: float) -> FileCell | None:
    time = _mean(known, "task_time", system, level)
    if time is None:
        return None
    least, trips, empty = (
        _mean(known, name, system, level)
        for name in ("least_time", "round_trips", "link_round_trip")
    )
    waiting = None
    if trips is not None and empty is not None and time.value > 0:
        waiting = 100 * trips.value * empty.value * 1e-3 / time.value
    return FileCell(
        system=system, client=ends[0], server=ends[1], time=time,
        throughput=_mean(known, "throughput", system, level),
        least=None if least is None else least.value, trips=trips,
        round_trip=None if empty is None else empty.value * 1e-3, waiting=waiting,
    )  # fmt: skip


def _upgrade(
    reference: str, cell: FileCell, cells: Sequence[FileCell], known: Mapping[str, Row],
    level: float,
) -> Upgrade | None:  # fmt: skip
    old = next((one for one in cells if one.system == reference), None)
    faster = _ratio(known, "task_time", reference, cell.system, level)
    if old is None or faster is None:
        return None
    changed = (cell.client != old.client, cell.server != old.server)
    phase = {(True, False): "client", (True, True): "both", (False, True): "server"}.get(
        changed, "neither"
    )
    return Upgrade(
        system=cell.system, phase=phase, faster=faster,
        trips=_ratio(known, "round_trips", reference, cell.system, level),
        words=_words(old, cell, faster),
    )  # fmt: skip


def _words(old: FileCell, new: FileCell, faster: Mean) -> str:
    """How much faster, and the round trips beside it."""
    text = f"{significant(faster.value)} times as fast"
    if faster.low is not None and faster.high is not None:
        text += f" ({significant(faster.low)} to {significant(faster.high)})"
    if old.trips is None or new.trips is None:
        return text
    trips = f"{new.trips.value:,.0f} round trips instead of {old.trips.value:,.0f}"
    fewer = round(old.trips.value) - round(new.trips.value)
    saved = old.time.value - new.time.value
    if old.round_trip is None or fewer <= 0 or saved <= 0:
        return f"{text}; {trips}"
    each = significant(old.round_trip * 1e3, 2)
    return (
        f"{text}; {trips}: {fewer:,} fewer of {each} ms are "
        f"{significant(fewer * old.round_trip)} s, and {significant(saved)} s were saved"
    )


def _mean(known: Mapping[str, Row], metric: str, system: str, level: float) -> Mean | None:
    row = known.get(metric)
    return None if row is None else wording.mean([*row.boots(system).values()], level, 0)


def _ratio(
    known: Mapping[str, Row], metric: str, reference: str, system: str, level: float
) -> Mean | None:
    """The reference over the system in each block that has both."""
    if metric not in known:
        return None
    old, new = (known[metric].boots(name) for name in (reference, system))
    shared = sorted(old.keys() & new.keys())
    logs = [math.log(old[block] / new[block]) for block in shared if old[block] * new[block]]
    return wording.ratio(logs, level)
