"""What a competitor for the CPU does to forwarding, and what it loses itself (salah2010, 3.2).

Everything is a difference inside one boot, between the loads that were measured both ways there,
and the boots are what the intervals come from. Per boot:

    capacity   the highest throughput over the loads (salah2010, 3.1: "forwarding capacity")
    loss       share lost with the competitor less that without it, percentage points, mean of the
               loads
    delay      mean round-trip time with the competitor over that without it, geometric mean of the
               loads

Loads that were searched (`load_percent`) are shares of the highest load that the boot's own
search found without the competitor. Inside a boot a share is one rate for all competitors, so the
differences above are those of one load too. Between boots the rates of a share differ: a share is
joined with the same share and never with a rate, so loss and delay "at 110 %" are those in the same
overload of each boot, and how the limits themselves differ is said by `knee` and by the capacities,
which are rates. Listed loads (`offered_kpps`) and searched ones are judged apart.

Two systems are compared by the ratio (loss: by the difference) of these in each block, so that it
is said with an interval which of them the competitor hurts more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pentathlon.evaluate.cases import case_text, number, without
from pentathlon.evaluate.derived import wording
from pentathlon.evaluate.derived.model import Against, Competition, LoadChange, Mean
from pentathlon.evaluate.display import significant
from pentathlon.evaluate.model import Row, Scalar

WORKLOAD = "forwarding.sweep"
LISTED, SEARCHED, COMPETITOR, NONE = "offered_kpps", "load_percent", "competitor", "none"
KNEE = "knee"

LOST = (-100.0, 100.0)
"""Between these lies the difference of two shares, in percentage points."""

Boots = dict[int, dict[float, float]]
"""Block -> load -> mean of the boot."""


@dataclass(frozen=True)
class _Pair:
    """One metric without and with the competitor, for one system: the loads with both."""

    free: Boots
    busy: Boots

    def loads(self, block: int) -> list[float]:
        free, busy = self.free.get(block, {}), self.busy.get(block, {})
        return sorted(free.keys() & busy.keys())

    def blocks(self) -> list[int]:
        return [block for block in sorted(self.free) if self.loads(block)]

    def each(self, change: Callable[[float, float], float | None]) -> dict[int, dict[float, float]]:
        """Block -> load -> the change there, where there is one."""
        return {
            block: {
                load: value
                for load in self.loads(block)
                if (value := change(self.free[block][load], self.busy[block][load])) is not None
            }
            for block in self.blocks()
        }


@dataclass(frozen=True)
class _Rows:
    """The rows of one setting, the factor of their loads, and the competitor in question."""

    rows: tuple[Row, ...]
    factor: str
    competitor: str
    setting: dict[str, Scalar]

    def boots(self, system: str, metric: str, competitor: str) -> Boots:
        found: Boots = {}
        for row in self.rows:
            if row.metric != metric or row.case.get(COMPETITOR, NONE) != competitor:
                continue
            load = number(row.case, self.factor)
            if load is None:
                continue
            for block, value in row.boots(system).items():
                found.setdefault(block, {})[load] = value
        return found

    def pair(self, system: str, metric: str) -> _Pair:
        free, busy = (self.boots(system, metric, one) for one in (NONE, self.competitor))
        return _Pair(free, busy)


def find_competitions(
    rows: Sequence[Row], systems: Sequence[str], level: float
) -> tuple[Competition, ...]:
    """Every competitor on every system; `level` is 1 − confidence."""
    found = []
    for factor, setting, alike in groups(rows):
        competitors = dict.fromkeys(str(row.case.get(COMPETITOR, NONE)) for row in alike)
        for competitor in competitors:
            if competitor == NONE:
                continue
            knees = {
                summary.system: [boot.value for boot in summary.boot_means]
                for row in rows
                if row.workload == WORKLOAD
                and row.metric == KNEE
                and setting_of(row.case) == setting
                and factor == SEARCHED
                for summary in row.summaries
            }
            own_rows = _Rows(tuple(alike), factor, competitor, setting)
            first: dict[str, dict[int, float]] = {}
            for system in systems:
                knee = wording.mean(knees.get(system, []), level, 0)
                one = _one(own_rows, system, level, first, knee)
                if one is not None:
                    found.append(one)
    return tuple(found)


def groups(rows: Sequence[Row]) -> Iterator[tuple[str, dict[str, Scalar], list[Row]]]:
    """(factor of the loads, setting, rows) of all rows at a load, in their order."""
    own = [row for row in rows if row.workload == WORKLOAD]
    for factor in (LISTED, SEARCHED):
        loaded = [row for row in own if number(row.case, factor) is not None]
        settings = dict.fromkeys(tuple(setting_of(row.case).items()) for row in loaded)
        for setting in map(dict, settings):
            yield factor, setting, [row for row in loaded if setting_of(row.case) == setting]


def setting_of(case: dict[str, Scalar]) -> dict[str, Scalar]:
    """A case without its load and its competitor."""
    return without(case, LISTED, SEARCHED, COMPETITOR)


def _one(
    own: _Rows,
    system: str,
    level: float,
    first: dict[str, dict[int, float]],
    knee: Mean | None,
) -> Competition | None:
    """`first` holds the changes of the first system, by kind and block; it is filled by it."""
    pairs = {name: own.pair(system, name) for name in ("throughput", "lost", "round_trip")}
    throughput = pairs["throughput"]
    blocks = throughput.blocks()
    if not blocks:
        return None
    free, busy = (
        {block: max(boots[block][load] for load in throughput.loads(block)) for block in blocks}
        for boots in (throughput.free, throughput.busy)
    )
    capacity = {
        block: math.log(busy[block] / free[block]) for block in blocks if free[block] * busy[block]
    }
    lost = pairs["lost"].each(lambda a, b: b - a)
    delay = pairs["round_trip"].each(lambda a, b: math.log(b / a) if a > 0 < b else None)
    forwarded = throughput.each(lambda a, b: math.log(b / a) if a > 0 < b else None)
    changes = {"capacity": capacity, "lost": _per_block(lost), "delay": _per_block(delay)}
    against = None
    if first:
        shared = {
            name: [values[block] - first[name][block] for block in values if block in first[name]]
            for name, values in changes.items()
        }
        against = Against(
            capacity=wording.ratio(shared["capacity"], level),
            lost=wording.mean(shared["lost"], level, *(2 * end for end in LOST)),
            delay=wording.ratio(shared["delay"], level),
        )
    else:
        first.update(changes)
    speed = own.boots(system, "competitor_speed", own.competitor)
    slowest = [min(boot.values()) for boot in speed.values()]
    loads = sorted({load for block in blocks for load in throughput.loads(block)})
    found = Competition(
        system=system,
        competitor=own.competitor,
        case_text=case_text(own.setting),
        boots=len(blocks),
        factor=own.factor,
        loads=tuple(loads),
        knee=knee,
        capacity_alone=wording.mean(list(free.values()), level, 0),
        capacity_beside=wording.mean(list(busy.values()), level, 0),
        capacity=wording.ratio(list(capacity.values()), level),
        lost=wording.mean(list(changes["lost"].values()), level, *LOST),
        delay=wording.ratio(list(changes["delay"].values()), level),
        speed=wording.mean(
            [float(np.mean(list(one.values()))) for one in speed.values()], level, 0
        ),
        slowest=wording.mean(slowest, level, 0),
        each=tuple(
            LoadChange(
                load_kpps=load if own.factor == LISTED else None,
                load_percent=load if own.factor == SEARCHED else None,
                throughput=wording.ratio(
                    [one[load] for one in forwarded.values() if load in one], level
                ),
                lost=wording.mean(
                    [one[load] for one in lost.values() if load in one], level, *LOST
                ),
                delay=wording.ratio([one[load] for one in delay.values() if load in one], level),
            )
            for load in loads
        ),
        against=against,
    )
    return found.model_copy(update={"words": tuple(_words(found, systems_first=not against))})


def _per_block(each: dict[int, dict[float, float]]) -> dict[int, float]:
    return {block: float(np.mean(list(own.values()))) for block, own in each.items() if own}


def _words(found: Competition, *, systems_first: bool) -> list[str]:
    words = []
    if found.factor == SEARCHED:
        text = "loads are shares of the highest that each boot forwards without a competitor"
        if found.knee is not None:
            text += f"; 100 % are {wording.thousands(found.knee)} thousand packets/s"
        words.append(text)
    if found.capacity and found.capacity_alone and found.capacity_beside:
        alone, beside = found.capacity_alone.value / 1e3, found.capacity_beside.value / 1e3
        words.append(
            f"capacity {significant(alone)} thousand packets/s alone and {significant(beside)} "
            f"beside {found.competitor}: {wording.percent(found.capacity)}"
        )
    if found.lost:
        words.append(f"loss, mean of the loads: {wording.points(found.lost)}")
    if found.delay:
        words.append(f"round-trip time, mean of the loads: {wording.percent(found.delay)}")
    if found.speed and found.slowest:
        usual, least = (
            wording.interval(one, significant, " %") for one in (found.speed, found.slowest)
        )
        words.append(
            f"{found.competitor} keeps {usual} of its speed in the mean of the loads, {least} at "
            "the load that slows it most"
        )
    if found.against is not None:
        parts = [
            f"{name} {text}"
            for name, text in (
                ("capacity", found.against.capacity and wording.percent(found.against.capacity)),
                ("loss", found.against.lost and wording.points(found.against.lost)),
                ("round-trip time", found.against.delay and wording.percent(found.against.delay)),
            )
            if text
        ]
        if parts:
            words.append(f"its effect against that on the reference: {', '.join(parts)}")
    if found.boots < 2 and systems_first:
        words.append("one boot, so no interval")
    return words
