"""Where reading ahead stops helping (venkata2003, section 4.2.2).

The study reads a file in order and at random in chunks of 1 to 128 KB and finds that from about
64 KB "both sequential and random disk access have comparable performance". A system that fetches
R bytes ahead asks the device for R at a time however small the chunk, while each random chunk c < R
is a request of its own. So ln(sequential / random) falls over ln c and is level from R on:

    y(c) = level + fall(c) for c < R,   y(c) = level for c ≥ R,

with fall(c) = s · (ln R − ln c), which meets the level at R, or with a jump there besides. Chunks
of several R can have another level again, so up to two steps are tried beyond R: from a device in
memory that is set to read 32 KiB ahead, Linux 6.18 reads chunks of 64 KiB faster in order than at
random, and chunks of 128 KiB at a third of the rate. Without a limit in sight the ratio is
constant, falls along a straight line, or follows ln(1 + k/c), where each random request pays as
much time again as k bytes take. A limit is seen only with strong
evidence against all three: a difference of more than 6 in the Bayesian information criterion
(Schwarz 1978; Raftery 1995). The interval reaches over every gap of the grid whose fit is no worse
than Wilks' 95 % bound allows (Wilks 1938); where the limit lies inside its gap is never claimed.
Where the best curve misses the points by more than their error, the error is made as large (Birge
1932), and the interval with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pentathlon.evaluate.cases import case_text, without
from pentathlon.evaluate.derived.model import ReadAhead
from pentathlon.evaluate.derived.series import Curve, curve, curves
from pentathlon.evaluate.display import bytes_text
from pentathlon.evaluate.levels.caches import WILKS_95
from pentathlon.evaluate.model import Row, Scalar
from pentathlon.evaluate.values import Values

WORKLOAD, METRIC = "disk.order", "rate"
CHUNK, ORDER = "chunk_bytes", "order"
SEQUENTIAL, RANDOM = "sequential", ("random_aligned", "random_unaligned")
FEWEST_POINTS, FEWEST_BOOTS = 6, 3
NOISE_FLOOR = 0.03
"""Error of ln(sequential / random) below which the model is not believed."""
SMALLEST_FALL = 0.1
"""ln of the least advantage of reading in order that a limit must end: about 10 %."""
STRONG = 6.0
MOST_STEPS, STEP = 2, 1.5
"""Changes of the level beyond the limit, and what each costs besides its two parameters: so much
that simulated limits, and those that devices were configured with, lie in the interval."""
PLACES = 9
"""Places inside a gap of the grid at which the limit is tried."""
OVERHEADS = 40
NO_LENGTH = 1e-12
"""Square below which what is left of a step is rounding."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Limit:
    """The limit lies from `low` to `high`; `level` is ln(sequential / random) beyond it."""

    low: float
    high: float
    level: float


def find_limit(chunks: Values, advantage: Values, error: float) -> Limit | None:
    """The limit in ln(sequential / random) over chunks, or None if none is seen.

    Args:
        chunks: sizes in bytes, ascending, at least 6.
        advantage: ln(sequential rate / random rate) at each.
        error: standard error of one of them.
    """
    x, sigma = np.log(chunks), max(error, NOISE_FLOOR)
    found = _search(x, advantage, sigma)
    # Where even the best curve misses the points by more than their error, the error is larger
    # than the boots tell (Birge 1932).
    misses = math.sqrt(found.squares / max(len(x) - found.parameters, 1))
    if misses > 1.0:
        sigma *= misses
        found = _search(x, advantage, sigma)
    if _without(x, advantage / sigma) - found.score <= STRONG or found.fall < SMALLEST_FALL:
        return None
    return Limit(float(chunks[found.low]), float(chunks[found.high]), found.level)


@dataclass(frozen=True)
class _Fit:
    """The best curve with a limit, and the gaps of the grid that hold it: from `low` to `high`."""

    score: float
    squares: float
    parameters: int
    level: float
    fall: float
    low: int = 0
    high: int = 0


def _without(x: Values, target: Values) -> float:
    """Criterion of the best curve without a limit."""
    one, penalty = np.ones_like(x), math.log(len(x))
    chunks = np.exp(x)
    line = _squares(np.array([one, x]), target)
    flat = _squares(np.array([one]), target)
    overhead = min(
        _squares(np.array([one, np.log1p(k / chunks)]), target)
        for k in np.geomspace(chunks[0] / 4, chunks[-1] * 4, OVERHEADS)
    )
    return min(flat + penalty, line + 2 * penalty, overhead + 3 * penalty)


def _search(x: Values, advantage: Values, sigma: float) -> _Fit:
    gaps = _best_of_gaps(x, advantage / sigma)
    best = min(gaps, key=lambda one: one.score)
    near = [number for number, one in enumerate(gaps, 1) if one.score <= best.score + WILKS_95]
    return replace(
        best, level=best.level * sigma, fall=best.fall * sigma, low=near[0], high=near[-1] + 1
    )


def _best_of_gaps(x: Values, target: Values) -> list[_Fit]:
    """The best curve with a limit in each gap of the grid, in units of the error.

    The fall may not rise with the chunk, nor may the jump: reading ahead never costs more than it
    brings to smaller chunks. Where it would, the part is left out. Beyond the limit the level may
    change twice more, either way. All places of all gaps are fitted at once: gaps x places x
    columns x chunks.
    """
    penalty, places = math.log(len(x)), np.arange(len(x))
    gaps = np.arange(1, len(x) - 2)
    limits = np.linspace(x[gaps], x[gaps + 1], PLACES, axis=1)
    fall = np.maximum(0.0, limits[:, :, None] - x)
    below = np.broadcast_to(places <= gaps[:, None, None], fall.shape).astype(np.float64)
    steps = (places >= places[:, None]).astype(np.float64)
    beyond = places >= gaps[:, None] + 2
    best = [_Fit(math.inf, 0.0, 0, 0.0, 0.0) for _ in gaps]
    for parts in ([fall], [below], [fall, below]):
        columns = np.stack([np.ones_like(fall), *parts], axis=2)
        new = np.ones(fall.shape[:2], dtype=bool)
        for count in range(1 + MOST_STEPS):
            if count:
                added, new = _clearest(columns, steps, beyond, target)
                columns = np.concatenate([columns, added[:, :, None, :]], axis=2)
            squares, solved = _fitted(columns, new, target)
            gains = solved[:, :, 1 : 1 + len(parts)]
            # A step costs its height and its place, and must be clear besides.
            parameters = 2 + len(parts) + 2 * count
            score = squares + parameters * penalty + count * STEP
            score[~new | np.any(gains < 0, axis=2)] = math.inf
            for gap, place in enumerate(np.argmin(score, axis=1)):
                if score[gap, place] < best[gap].score:
                    gained = sum(
                        float(a * part[gap, place, 0])
                        for a, part in zip(gains[gap, place], parts, strict=True)
                    )
                    best[gap] = _Fit(
                        float(score[gap, place]), float(squares[gap, place]), parameters,
                        float(solved[gap, place, 0]), gained,
                    )  # fmt: skip
    return best


def _clearest(
    columns: Values, steps: Values, beyond: Flags, target: Values
) -> tuple[Values, Flags]:
    """Which of the steps beyond each gap explains most of what the columns leave of the target, and
    whether that step is no combination of the columns."""
    own = np.linalg.qr(np.swapaxes(columns, 2, 3))[0]
    left = target - (own @ (target @ own)[..., None])[..., 0]
    across = steps - (steps @ own) @ np.swapaxes(own, 2, 3)
    lengths = np.sum(across**2, axis=3)
    explained = (across @ left[..., None])[..., 0] ** 2 / np.maximum(lengths, NO_LENGTH)
    chosen = np.argmax(np.where(beyond[:, None, :], explained, -1.0), axis=2)
    clear = np.take_along_axis(lengths, chosen[..., None], axis=2)[..., 0] > NO_LENGTH
    return steps[chosen], clear


def _fitted(columns: Values, solvable: Flags, target: Values) -> tuple[Values, Values]:
    """Least squares by the normal equations: the squares that are left, and the solutions."""
    products = columns @ np.swapaxes(columns, 2, 3)
    products[~solvable] = np.eye(columns.shape[2])
    solved = np.asarray(np.linalg.solve(products, (columns @ target)[..., None]), dtype=np.float64)
    left = target - np.sum(solved * columns, axis=2)
    return np.sum(left**2, axis=2), solved[..., 0]


def _squares(design: Values, target: Values) -> float:
    solved = np.asarray(np.linalg.lstsq(design.T, target, rcond=None)[0], dtype=np.float64)
    return float(np.sum((target - solved @ design) ** 2))


def find_read_ahead(
    rows: Sequence[Row], systems: Sequence[str], configured: Mapping[str, int | None]
) -> tuple[ReadAhead, ...]:
    """The limit of every pair of a sequential and a random curve on every system.

    Args:
        configured: system -> read-ahead of the scratch device in bytes, as it claims.
    """
    groups = curves(rows, WORKLOAD, METRIC, CHUNK)
    found = []
    for ordered in groups:
        case = ordered[0].case
        if case.get(ORDER) != SEQUENTIAL:
            continue
        for other in groups:
            if other[0].case.get(ORDER) not in RANDOM or _rest(other[0]) != _rest(ordered[0]):
                continue
            for system in systems:
                pair = curve(ordered, system, CHUNK), curve(other, system, CHUNK)
                if pair[0] is not None and pair[1] is not None:
                    found.append(_one(system, pair[0], pair[1], configured.get(system)))
    return tuple(found)


def _rest(row: Row) -> dict[str, Scalar]:
    """What else names the curve: all but the read source, which may differ between the orders."""
    return without(row.case, CHUNK, ORDER, "served")


def _one(system: str, ordered: Curve, random: Curve, claimed: int | None) -> ReadAhead:
    chunks = np.intersect1d(ordered.x, random.x)
    blocks = sorted(set(ordered.blocks) & set(random.blocks))
    advantage = _picked(ordered, chunks, blocks) - _picked(random, chunks, blocks)
    boots = len(blocks)
    limit = None
    enough = len(chunks) >= FEWEST_POINTS and boots >= FEWEST_BOOTS
    if enough:
        limit = find_limit(chunks, np.mean(advantage, axis=0), standard_error(advantage))
    outcome, words = _outcome(limit, claimed, chunks, enough, boots)
    return ReadAhead(
        system=system,
        case_text=case_text(random.case),
        boots=boots,
        points=tuple(
            (int(chunk), float(np.exp(value)))
            for chunk, value in zip(chunks, np.mean(advantage, axis=0), strict=True)
        )
        if boots
        else (),
        low_bytes=None if limit is None else int(limit.low),
        high_bytes=None if limit is None else int(limit.high),
        configured_bytes=claimed,
        outcome=outcome,
        words=words,
    )


def standard_error(advantage: Values) -> float:
    """Error of the mean of boots x chunks at one chunk, without what shifts a whole boot: the level
    is free in every curve that is tried, with a limit or without."""
    boots, chunks = advantage.shape
    shifted = advantage - np.mean(advantage, axis=1, keepdims=True)
    squares = np.sum((shifted - np.mean(shifted, axis=0)) ** 2)
    return float(np.sqrt(squares / ((boots - 1) * (chunks - 1)) / boots))


def _picked(one: Curve, chunks: Values, blocks: Sequence[int]) -> Values:
    """ln of the rates, boots x chunks."""
    rows = [one.blocks.index(block) for block in blocks]
    return np.asarray(np.log(one.boots[rows][:, np.searchsorted(one.x, chunks)]))


def _outcome(
    limit: Limit | None, claimed: int | None, chunks: Values, enough: bool, boots: int
) -> tuple[str, str]:
    phrase = "" if claimed is None else f"; the system claims {bytes_text(claimed)}"
    if not enough:
        text = f"{len(chunks)} chunk sizes in both orders and {boots} boots are too few"
        return "too few", f"{text} to look for a limit{phrase}"
    low, high = bytes_text(float(chunks[0])), bytes_text(float(chunks[-1]))
    if limit is None:
        if claimed is not None and not chunks[1] <= claimed <= chunks[-2]:
            return "outside", f"not seen between {low} and {high}{phrase}, which lies outside"
        return "not seen", f"not seen between {low} and {high}{phrase}"
    place = f"between {bytes_text(limit.low)} and {bytes_text(limit.high)}"
    if claimed is None:
        return "unclaimed", f"{place}; the system claims none"
    if limit.low <= claimed <= limit.high:
        return "agrees", f"{place}{phrase}, which agrees"
    less = claimed > limit.high
    why = (
        "; the device or its own read-ahead may be satisfied sooner"
        if less
        else "; something below the system may read ahead as well"
    )
    return ("smaller" if less else "larger"), f"{place}{phrase}{why}"
