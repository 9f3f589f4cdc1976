"""The section "File services": appendix B and figures 1 to 4 of tolly2007 for the result's systems.

A table for each task has a row for each link, server and client, with the time, the throughput,
the least time of the link and the round trips; then what upgrading the client (phase 1), the
server, or both (phase 2) gains. `assets/file_services.js` draws what `payload` lays out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pentathlon.evaluate.derived.model import FileCell, FileTask, Upgrade
from pentathlon.evaluate.display import significant
from pentathlon.evaluate.model import Evaluation
from pentathlon.report import links as emulated_links
from pentathlon.report.html.overlays import ends
from pentathlon.report.intervals import value_interval

TITLE: Final = "File services"

FIGURES: Final = {
    "files.copy": "Figure 1", "files.open": "Figure 2", "files.roaming": "Figure 3",
    "files.portal": "Figure 4",
}  # fmt: skip
"""Workload -> figure of the paper."""

PHASES: Final = {
    "client": "phase 1, client upgraded",
    "both": "phase 2, both upgraded",
    "server": "server alone upgraded",
    "neither": "the same ends",
}

NO_REFERENCE: Final = "reference not measured here"

CAPTION: Final = (
    "Time of each task over each link, with the interval over the boots; the dash is the least "
    "time of the link: bytes over rate, and a round trip for each step that had to wait. Then "
    "throughput and speed-up over all links."
)


@dataclass(frozen=True)
class Line:
    """One client with one server over one link; texts."""

    system: str
    place: int
    client: str
    server: str
    time: str
    interval: str
    throughput: str
    least: str
    over_least: str
    trips: str
    waiting: str
    phase: str
    faster: str
    faster_interval: str
    words: str


@dataclass(frozen=True)
class Link:
    """One link of a task."""

    name: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Sheet:
    """One task; `part` names its picture."""

    part: str
    title: str
    case_text: str
    figure: str
    links: tuple[Link, ...]


def sheets(evaluation: Evaluation) -> tuple[Sheet, ...]:
    """A sheet for each task and what else names its case."""
    names = [system.name for system in evaluation.systems]
    return tuple(
        Sheet(
            part=_part(own[0]),
            title=own[0].title,
            case_text=own[0].case_text,
            figure=FIGURES.get(own[0].workload, ""),
            links=tuple(Link(one.link, tuple(_lines(one, names))) for one in own),
        )
        for own in _tasks(evaluation)
    )


def title(evaluation: Evaluation) -> str:
    """What the section is called: traffic between hosts uses emulated links too."""
    return TITLE if evaluation.derived.file_tasks else emulated_links.TITLE


def words(evaluation: Evaluation) -> Iterator[tuple[str, str, str]]:
    """(task and link, system with its phase, sentence) for each upgrade."""
    for one in (task for own in _tasks(evaluation) for task in own):
        for upgrade in one.upgrades:
            name = f"{upgrade.system} ({PHASES[upgrade.phase]})"
            yield f"{one.title}, {one.link}, {one.case_text}", name, upgrade.words


def payload(evaluation: Evaluation, short: Callable[[float], Any]) -> list[dict[str, Any]]:
    """The pictures, with short names.

    Each has `w` its part, `l` names of the links, and lists of [link, system, mean, low, high]: `t`
    the times with the least time behind, `r` the throughputs, `f` the speed-ups.
    """
    names = [system.name for system in evaluation.systems]

    found = []
    for own in _tasks(evaluation):
        picture: dict[str, Any] = {"w": _part(own[0]), "l": [one.link for one in own]}
        picture |= {"t": [], "r": [], "f": []}
        for place, one in enumerate(own):
            for cell in one.cells:
                which = [place, names.index(cell.system)]
                least = None if cell.least is None else short(cell.least)
                picture["t"].append([*which, *ends(cell.time, short), least])
                if cell.throughput is not None:
                    picture["r"].append([*which, *ends(cell.throughput, short)])
            for upgrade in one.upgrades:
                which = [place, names.index(upgrade.system)]
                picture["f"].append([*which, *ends(upgrade.faster, short)])
        found.append(picture)
    return found


def _tasks(evaluation: Evaluation) -> list[list[FileTask]]:
    groups: dict[tuple[str, str], list[FileTask]] = {}
    for one in evaluation.derived.file_tasks:
        groups.setdefault((one.workload, one.case_text), []).append(one)
    return [sorted(own, key=_least) for own in groups.values()]


def _least(task: FileTask) -> float:
    """The fastest link comes first, as in the paper."""
    return min((cell.least or 0.0 for cell in task.cells), default=0.0)


def _part(task: FileTask) -> str:
    return f"{task.workload}, {task.case_text}"


def _lines(task: FileTask, names: Sequence[str]) -> Iterator[Line]:
    upgrades = {one.system: one for one in task.upgrades}
    # Servers and, for each, clients: both in the order of the study.
    servers = list(dict.fromkeys(cell.server for cell in task.cells))
    clients = list(dict.fromkeys(cell.client for cell in task.cells))
    for cell in sorted(
        task.cells, key=lambda one: (servers.index(one.server), clients.index(one.client))
    ):
        upgrade = upgrades.get(cell.system)
        yield _line(cell, upgrade, names.index(cell.system))


def _line(cell: FileCell, upgrade: Upgrade | None, place: int) -> Line:
    least, faster = cell.least, None if upgrade is None else upgrade.faster
    return Line(
        system=cell.system,
        place=min(place, 5),
        client=cell.client,
        server=cell.server,
        time=significant(cell.time.value),
        interval=value_interval(cell.time.low, cell.time.high),
        throughput="" if cell.throughput is None else significant(cell.throughput.value),
        least="" if least is None else significant(least),
        over_least="" if not least else significant(cell.time.value / least),
        trips="" if cell.trips is None else f"{cell.trips.value:,.0f}",
        waiting="" if cell.waiting is None else significant(cell.waiting, 2),
        phase=_phase(upgrade, reference=not place),
        faster="" if faster is None else significant(faster.value),
        faster_interval="" if faster is None else value_interval(faster.low, faster.high),
        words="" if upgrade is None else upgrade.words,
    )


def _phase(upgrade: Upgrade | None, *, reference: bool) -> str:
    """What is newer than in the reference; a system without it over a link is not compared."""
    if reference:
        return "reference"
    return NO_REFERENCE if upgrade is None else PHASES[upgrade.phase]
