"""Means over everything without one part, for each part in turn, in time linear in the rows.

Every sum over "all parts but one" is the sum over the parts before it plus that over those after
it, so nothing is subtracted and no digits cancel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pentathlon.evaluate.aggregate.weighting import WORTH_MORE, Weighed, worth_of
from pentathlon.evaluate.values import Values

Counts = npt.NDArray[np.int64]

MOST_CELLS = 20_000_000
"""Of the table of parts by sets of blocks; a result with more gets no means without a part."""


@dataclass(frozen=True)
class Rest:
    """What is left without one part, as `weighting.complete` would keep it.

    Attributes:
        name: the part that is left out.
        rows: rows that are kept.
        weight: their weight.
        blocks: the blocks of the mean.
        means: the mean log-ratio of every block.
        installs: block -> pair of installs, of the first row that is kept.
        floors: the mean of the floors' blocks, None unless every row has one.
    """

    name: str
    rows: int
    weight: float
    blocks: list[int]
    means: Values
    installs: Mapping[int, str]
    floors: Values | None


def without_each(
    rows: Sequence[Weighed], names: Sequence[str], floors: Mapping[str, Sequence[float]]
) -> Iterator[Rest]:
    """The rest without each part, in the order of the parts; parts without any rest are left out.

    Args:
        rows: with a weight above 0.
        names: the part of each row.
        floors: key of a row -> log-ratios of a calibration's blocks.
    """
    parts = {name: place for place, name in enumerate(dict.fromkeys(names))}
    own = np.array([parts[name] for name in names], dtype=np.int64)
    chosen = _choices(rows, own, len(parts))
    sums = {blocks: _Sums(rows, own, len(parts), blocks, floors) for blocks in {*chosen}}
    for name, place in parts.items():
        blocks = chosen[place]
        if blocks:
            yield sums[blocks].rest(name, place)


def _choices(rows: Sequence[Weighed], own: Counts, parts: int) -> list[frozenset[int]]:
    """The blocks of each rest, chosen as `weighting.complete` does; empty where there is none."""
    sets = [frozenset(one.ratios) for one in rows]
    places = {one: place for place, one in enumerate(dict.fromkeys(sets))}
    every = sorted(frozenset().union(*places))
    if len(places) * parts > MOST_CELLS:
        return [frozenset()] * parts
    weights = np.zeros((len(places), parts))
    counts = np.zeros((len(places), parts), dtype=np.int64)
    for one, blocks, part in zip(rows, sets, own.tolist(), strict=True):
        weights[places[blocks], part] += one.weight
        counts[places[blocks], part] += 1
    has = np.array([[block in one for block in every] for one in places], dtype=np.float32)
    inside = (has @ (1 - has).T == 0).astype(np.float64)
    """Whether a set lies inside another one: rows of the other have all of its blocks."""
    sizes = has.sum(axis=1)
    kept = _all_but_one(inside @ weights)
    worth = np.where(
        (_all_but_one(counts) > 0) & (sizes[:, None] > 0), worth_of(kept, sizes[:, None]), -1.0
    )
    lacking = _all_but_one(np.rint((1 - has).T @ counts).astype(np.int64))
    whole = _all_but_one(weights.sum(axis=0)[None])[0]
    known = list(places)
    found = []
    for part in range(parts):
        best, blocks = -1.0, frozenset[int]()
        common = frozenset(
            block for block, lack in zip(every, lacking[:, part].tolist(), strict=True) if not lack
        )
        # The first of those that are worth as much, as there.
        top = float(worth[:, part].max(initial=-1.0))
        if top > 0:
            best = top
            blocks = known[int(np.argmax(worth[:, part] * WORTH_MORE >= top))]
        if common and worth_of(whole[part], len(common)) > best * WORTH_MORE:
            blocks = common
        found.append(blocks if whole[part] > 0 else frozenset[int]())
    return found


class _Sums:
    """Sums of the rows that have some blocks, by part."""

    def __init__(
        self,
        rows: Sequence[Weighed],
        own: Counts,
        parts: int,
        blocks: frozenset[int],
        floors: Mapping[str, Sequence[float]],
    ) -> None:
        self.blocks = sorted(blocks)
        kept = [place for place, one in enumerate(rows) if blocks <= one.ratios.keys()]
        self.rows = [rows[place] for place in kept]
        self.own = own[kept]
        weights = np.array([one.weight for one in self.rows])
        grid = np.array([[one.ratios[block] for block in self.blocks] for one in self.rows])
        self.counts = _all_but_one(np.bincount(self.own, minlength=parts)[None])[0]
        self.weights = self._sums(weights[:, None], parts)[0]
        self.values = self._sums(grid * weights[:, None], parts) if blocks else np.zeros((0, parts))
        known = np.array([one.row.key in floors for one in self.rows], dtype=bool)
        self.unknown = _all_but_one(np.bincount(self.own[~known], minlength=parts)[None])[0]
        self.floors: Values | None = None
        if known.any() and not self.unknown.all():
            length = len(next(iter(floors.values())))
            table = np.array([floors.get(one.row.key, [0.0] * length) for one in self.rows])
            self.floors = self._sums(table * weights[:, None], parts)

    def _sums(self, table: Values, parts: int) -> Values:
        summed = np.zeros((parts, table.shape[1]))
        np.add.at(summed, self.own, table)
        return _all_but_one(summed.T)

    def rest(self, name: str, part: int) -> Rest:
        weight = float(self.weights[part])
        first = next(
            one for one, own in zip(self.rows, self.own.tolist(), strict=True) if own != part
        )
        floors = None
        if self.floors is not None and not self.unknown[part]:
            floors = self.floors[:, part] / weight
        return Rest(
            name=name,
            rows=int(self.counts[part]),
            weight=weight,
            blocks=self.blocks,
            means=self.values[:, part] / weight,
            installs=first.installs,
            floors=floors,
        )


Number = TypeVar("Number", np.float64, np.int64)


def _all_but_one(table: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """For each column the sum of the others."""
    before = np.zeros_like(table)
    after = np.zeros_like(table)
    before[:, 1:] = np.cumsum(table[:, :-1], axis=1)
    after[:, :-1] = np.cumsum(table[:, :0:-1], axis=1)[:, ::-1]
    return before + after
