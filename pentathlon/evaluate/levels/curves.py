"""Curves over block size: the cache levels that they show, beside those that the system claims."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.cases import SIZE, case_text, number, without
from pentathlon.evaluate.display import bytes_text
from pentathlon.evaluate.facts import Inventory
from pentathlon.evaluate.levels.caches import (
    FEWEST_POINTS,
    MOST_POINTS,
    Step,
    find_steps,
    point_noise,
)
from pentathlon.evaluate.levels.translation import counterpart, of_translation
from pentathlon.evaluate.model import Row
from pentathlon.evaluate.model_curves import Boundary, CacheCheck, CurveLevels
from pentathlon.evaluate.values import Values

NEAREST = 4.0
"""A step within this factor of a claimed size is taken to be that cache."""

_LETTERS = {"data": "d", "instruction": "i"}


@dataclass(frozen=True)
class Cache:
    """A cache, as the system's inventory claims it."""

    name: str
    size: int


def claimed_caches(inventory: Inventory, *, instructions: bool = False) -> tuple[Cache, ...]:
    """Caches of one CPU that hold data, smallest first; empty if the system does not report.

    Args:
        instructions: those that hold code instead. Unified caches hold both.
    """
    left_out = "data" if instructions else "instruction"
    found: dict[int, Cache] = {}
    for entry in _entries(inventory):
        level, size = entry.get("level"), entry.get("size_bytes")
        kind = str(entry.get("type", entry.get("kind", "unified"))).lower()
        if isinstance(level, int) and isinstance(size, int) and kind != left_out:
            name = f"L{level}{_LETTERS.get(kind, '')}"
            found.setdefault(level, Cache(name, size))
    return tuple(sorted(found.values(), key=lambda cache: cache.size))


def _entries(inventory: Inventory) -> list[dict[str, object]]:
    """The list of caches, whether it is one value or was taken apart into paths."""
    whole = inventory.values.get("caches")
    if isinstance(whole, str):
        whole = json.loads(whole)
    if isinstance(whole, list):
        return [entry for entry in whole if isinstance(entry, dict)]
    parts: dict[str, dict[str, object]] = {}
    for path, value in inventory.values.items():
        if path.startswith("caches."):
            place, _, name = path.removeprefix("caches.").rpartition(".")
            parts.setdefault(place, {})[name] = value
    return [parts[place] for place in sorted(parts)]


def find_levels(
    rows: Sequence[Row], systems: Sequence[str], claimed: dict[str, tuple[Cache, ...]]
) -> tuple[CurveLevels, ...]:
    """Cache levels of every curve over block size, on every system."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if number(row.case, SIZE) is not None:
            name = case_text(without(row.case, SIZE))
            groups.setdefault((row.workload, row.metric, name), []).append(row)
    steps = _steps(groups, systems)
    found = []
    for (workload, metric, name, system), (sizes, own) in steps.items():
        row = groups[workload, metric, name][0]
        caches = claimed.get(system, ())
        twin = counterpart(without(row.case, SIZE))
        huge = steps.get((workload, metric, case_text(twin), system)) if twin else None
        no_cache = of_translation(own, huge[1], [one.size for one in caches]) if huge else ()
        offered = [place for place in range(len(own)) if place not in no_cache]
        checks, left = check([own[place] for place in offered], caches, sizes)
        found.append(
            CurveLevels(
                system=system,
                workload=workload,
                metric=metric,
                case_text=name,
                unit="ns/B" if row.direction == "higher" else row.unit,
                boundaries=boundaries(own),
                checks=checks,
                unexplained=tuple(sorted([*no_cache, *(offered[place] for place in left)])),
            )
        )
    return tuple(found)


def boundaries(steps: Sequence[Step]) -> tuple[Boundary, ...]:
    """The steps as data."""
    return tuple(
        Boundary(
            low_bytes=int(step.low),
            high_bytes=int(step.high),
            before=step.before,
            after=step.after,
        )
        for step in steps
    )


def _steps(
    groups: Mapping[tuple[str, str, str], Sequence[Row]], systems: Sequence[str]
) -> dict[tuple[str, str, str, str], tuple[Values, tuple[Step, ...]]]:
    """(workload, metric, case, system) -> sizes and steps of the curve, where it has enough."""
    found = {}
    for (workload, metric, name), members in groups.items():
        for system in systems:
            sizes, cost, noise = _curve(members, system)
            if not FEWEST_POINTS <= len(sizes) <= MOST_POINTS:
                continue  # It could show no step, which is not the same as having none.
            rate = members[0].direction == "higher"
            steps = find_steps(sizes, cost, noise, overhead=rate)
            found[workload, metric, name, system] = sizes, steps
    return found


def _curve(rows: Sequence[Row], system: str) -> tuple[Values, Values, Values]:
    """(sizes, cost, relative standard error of each point) of one curve on one system.

    A rate in MB/s becomes a time in ns per byte: 1 MB/s is 10^6 B/s, hence 1000 ns/B.
    """
    points = []
    for row in rows:
        summary, size = row.summary(system), number(row.case, SIZE)
        if summary is None or size is None or summary.mean <= 0:
            continue
        cost = 1000.0 / summary.mean if row.direction == "higher" else summary.mean
        sd = summary.boot_sd or 0.0
        points.append((size, cost, sd / summary.mean / math.sqrt(summary.boots)))
    points.sort()
    table = np.array(points, dtype=np.float64).reshape(-1, 3)
    return table[:, 0], table[:, 1], point_noise(table[:, 2])


def check(
    steps: Sequence[Step], caches: Sequence[Cache], sizes: Values
) -> tuple[tuple[CacheCheck, ...], tuple[int, ...]]:
    """Each claimed cache beside the step that shows it, and the steps left over."""
    taken: dict[int, int] = {}
    for place, cache in enumerate(caches):
        for number_, step in enumerate(steps):
            if number_ not in taken.values() and step.low <= cache.size <= step.high:
                taken[place] = number_
                break
    last = len(caches) - 1
    for place, cache in enumerate(caches):
        if place in taken:
            continue
        free = [
            (distance, number_)
            for number_, step in enumerate(steps)
            if number_ not in taken.values()
            and _in_order(number_, place, taken)
            and _near(distance := _distance(step, cache.size), step, cache, place == last)
        ]
        if free:
            taken[place] = min(free)[1]
    checks = tuple(
        _outcome(cache, steps[taken[place]] if place in taken else None, float(sizes[-1]))
        for place, cache in enumerate(caches)
    )
    used = set(taken.values())
    return checks, tuple(place for place in range(len(steps)) if place not in used)


def _in_order(step: int, cache: int, taken: dict[int, int]) -> bool:
    """Whether giving the step to the cache keeps larger caches on later steps."""
    return all((step < other) == (cache < place) for place, other in taken.items())


def _near(distance: float, step: Step, cache: Cache, last_level: bool) -> bool:
    """Whether a step that misses a claimed size can still be that cache.

    The last level is shared: a guest or a busy machine may get any part of it.
    """
    return distance <= math.log(NEAREST) or (last_level and step.high < cache.size)


def _distance(step: Step, size: float) -> float:
    """How far a size lies outside a step's range, as a logarithm of their ratio."""
    return max(0.0, math.log(step.low / size), math.log(size / step.high))


def _outcome(cache: Cache, step: Step | None, largest: float) -> CacheCheck:
    claimed = f"{cache.name} {bytes_text(cache.size)} claimed"
    if step is None:
        outside = cache.size >= largest
        text = (
            f"{claimed}; the largest block measured is {bytes_text(largest)}"
            if outside
            else f"{claimed}; the curve shows no step there"
        )
        outcome, low, high = "outside" if outside else "not seen", None, None
    else:
        low, high = int(step.low), int(step.high)
        outcome = "smaller" if high < cache.size else "larger" if low > cache.size else "agrees"
        place = f"{bytes_text(low)} and {bytes_text(high)}"
        ending = {
            "agrees": "which agrees",
            "smaller": "less than claimed: part of it is out of reach, or shared with others",
            "larger": "more than claimed",
        }[outcome]
        text = f"{claimed}; the step lies between {place}, {ending}"
    return CacheCheck(
        level=cache.name,
        claimed_bytes=cache.size,
        found_low_bytes=low,
        found_high_bytes=high,
        outcome=outcome,
        words=text,
    )
