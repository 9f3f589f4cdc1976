"""The results of one system in the order of time, as far as they can stand in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pentathlon.evaluate.aggregate.weights import Place, row_weights
from pentathlon.evaluate.results.differing import differing
from pentathlon.evaluate.results.digest import Level, SystemDigest
from pentathlon.evaluate.results.history import FEWEST_POINTS, Course, courses
from pentathlon.evaluate.wording import CONTEXT

if TYPE_CHECKING:
    from pentathlon.evaluate.facts import ResultLike

EVERYTHING = "everything"
"""Key of the weighted mean over all rows that every result has."""


@dataclass(frozen=True)
class Point:
    """One result in time."""

    label: str
    started: str
    found: SystemDigest

    @property
    def build(self) -> str:
        """The build of the agent; several are joined."""
        return "+".join(self.found.builds)


@dataclass(frozen=True)
class Timeline:
    """A system over time.

    Attributes:
        left_out: (label, reason) of results that cannot stand in the line.
        unassessed: why nothing was looked for; "" if it was.
        confidence: of the changes that are named, and of their intervals.
    """

    system: str
    points: tuple[Point, ...]
    left_out: tuple[tuple[str, str], ...]
    courses: tuple[Course, ...]
    unassessed: str
    confidence: float

    @property
    def metrics(self) -> tuple[Course, ...]:
        """The rows without the mean over all of them."""
        return tuple(one for one in self.courses if one.key != EVERYTHING)

    @property
    def regressions(self) -> tuple[Course, ...]:
        """Rows whose last change of level is one to slower."""
        return tuple(one for one in self.courses if one.changes and one.changes[-1].mean < 0)


def point(result: ResultLike, system: str, label: str, started: str) -> Point:
    """One result of a system.

    Raises:
        KeyError: the result has no such system.
    """
    from pentathlon.evaluate.results.digesting import systems_of  # noqa: PLC0415  loads polars

    return Point(label, started, systems_of(result)[system])


def timeline(points: Sequence[Point], confidence: float, weights: dict[str, float]) -> Timeline:
    """The line up to the newest result, which states what the others must share with it.

    Args:
        points: results of one system, at least one.
        weights: stated weights of areas and workloads, for the mean over everything.
    """
    ordered = sorted(points, key=lambda one: (one.started, one.label))
    newest = ordered[-1].found
    kept, left_out = [], []
    for one in ordered:
        reason = _mismatch(one.found, newest)
        if reason is None:
            kept.append(one)
        else:
            left_out.append((one.label, reason))
    system = newest.name
    if len(kept) < FEWEST_POINTS:
        word = "result" if len(kept) == 1 else "results"
        few = (
            f"{len(kept)} comparable {word}; {FEWEST_POINTS} are needed, so that three lie on each "
            "side of a change"
        )
        return Timeline(system, tuple(kept), tuple(left_out), (), few, confidence)
    series = _series(kept, weights)
    none = "" if series else "no metric with the same case is in every result"
    found = courses(series, confidence) if series else ()
    return Timeline(system, tuple(kept), tuple(left_out), found, none, confidence)


def _mismatch(own: SystemDigest, newest: SystemDigest) -> str | None:
    """Why a result cannot stand beside the newest one, or None."""
    if not own.levels:
        return "it has no counted sample"
    versions = (own.catalog_version, newest.catalog_version)
    if None not in versions and versions[0] != versions[1]:
        return f"its catalog has version {versions[0]}, the newest {versions[1]}"
    if own.layer != newest.layer:
        return f"its layer is {own.layer}, that of the newest {newest.layer}"
    if own.cpu and newest.cpu and own.cpu != newest.cpu:
        return f"its CPU is {own.cpu}, that of the newest {newest.cpu}"
    names = differing(own.parameters, newest.parameters)
    if names:
        return f"it ran {', '.join(names[:3])} with other parameters than the newest"
    return None


def _series(
    points: Sequence[Point], weights: dict[str, float]
) -> dict[str, tuple[str, list[float]]]:
    """Key -> (workload, mean log speed of every point), for what every point has."""
    first = points[0].found.levels
    shared = [
        key
        for key, one in points[-1].found.levels.items()
        if one.role != CONTEXT and all(_fits(other.found.levels.get(key), one) for other in points)
    ]
    shared.sort()
    places = [
        Place(key, one.area, one.workload, one.metric) for key in shared for one in [first[key]]
    ]
    series = {key: (first[key].workload, [_speed(p, key) for p in points]) for key in shared}
    shares = row_weights(places, weights)
    if len(shared) > 1 and sum(shares.values()) > 0:
        whole = [
            sum(shares[key] * series[key][1][place] for key in shared)
            for place in range(len(points))
        ]
        series[EVERYTHING] = (EVERYTHING, whole)
    return series


def _fits(own: Level | None, newest: Level) -> bool:
    return (
        own is not None
        and own.lowest > 0
        and (own.unit, own.direction) == (newest.unit, newest.direction)
    )


def _speed(one: Point, key: str) -> float:
    found = one.found.levels[key]
    return found.log_mean if found.direction == "higher" else -found.log_mean
