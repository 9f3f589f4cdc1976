"""Cache levels from a curve over block size.

A working set of S bytes in a cache of C bytes misses for the share 1 − C/S of uniformly spread
accesses, and for nearly all of a cyclic walk under LRU (Mattson et al. 1970, "Evaluation techniques
for storage hierarchies": the miss share as a function of capacity). The cost of an access is then

    y(S) = y0 + h/S + Σ aₖ f(S/Cₖ),   f(r) = 0 for r ≤ 1, 1 − r^(−p) above,   aₖ ≥ 0,

with p = 1 for uniform accesses and large p for walks. The levels are chosen forward from every gap
of the sampling grid, by the fall of the Bayesian information criterion (Schwarz 1978); the place of
a level is known only to the gaps whose fit is no worse than Wilks' 95 % bound allows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pentathlon.evaluate.values import Values

SHAPES = (1.0, 2.0, 8.0)
NOISE_FLOOR = 0.05
"""Relative error below which the model is not believed, whatever the samples' spread: loop entry,
prefetching and address translation bend a level by some percent, and are no caches."""
SMALLEST_RISE = 0.15
"""A step raises the cost by at least this share of the cost before it."""
MOST_LEVELS = 5
WILKS_95 = 3.84
FEWEST_POINTS = 6
MOST_POINTS = 2000
"""The fit takes time and memory by the square of the points."""


@dataclass(frozen=True)
class Step:
    """A rise of the cost: the capacity lies from `low` to `high`, in bytes."""

    low: float
    high: float
    before: float
    after: float


def find_steps(
    sizes: Values, cost: Values, noise: float | Values = 0.0, overhead: bool = False
) -> tuple[Step, ...]:
    """The steps of a curve, from the smallest capacity to the largest.

    Args:
        sizes: block sizes in bytes, strictly ascending.
        cost: time per access or per byte at each size, positive.
        noise: relative standard error of each point, or of all, from the spread between boots.
        overhead: fit a fixed cost per pass over the block (h/S), as for bandwidth.

    Returns:
        Empty if there are fewer than 6 points or the curve has no step.
    """
    if len(sizes) < FEWEST_POINTS:
        return ()
    base = [np.ones_like(sizes)]
    if overhead:
        base.append(sizes[0] / sizes)
    weight = 1.0 / (cost * np.maximum(noise, NOISE_FLOOR))
    curve = _Curve(sizes, cost * weight, weight, np.array(base), *_candidates(sizes))
    chosen = curve.choose()
    return _merge([curve.place(chosen, atom) for atom in chosen])


def point_noise(errors: Values) -> Values:
    """The relative standard error to believe of each point: its own, and no less than the median.

    A boot that another program disturbed at one size makes that point uncertain, and not the curve.
    The other way round, a few boots can agree by chance, and their point is no better for it.
    """
    return np.maximum(errors, np.median(errors)) if len(errors) else errors


def _candidates(sizes: Values) -> tuple[npt.NDArray[np.int64], Values]:
    """Every possible step: its gap in the grid, and its column f(S/C) over the sizes."""
    gaps, columns = [], []
    for gap in range(len(sizes) - 1):
        capacity = float(np.sqrt(sizes[gap] * sizes[gap + 1]))
        ratio = np.maximum(1.0, sizes / capacity)
        for shape in SHAPES:
            gaps.append(gap)
            columns.append(1.0 - ratio**-shape)
    return np.array(gaps, dtype=np.int64), np.array(columns)


@dataclass(frozen=True)
class _Curve:
    """One curve with everything that its fits share; a step is the number of its column."""

    sizes: Values
    target: Values
    weight: Values
    base: Values
    gaps: npt.NDArray[np.int64]
    columns: Values

    def choose(self) -> list[int]:
        """Forward selection, one step per gap, while the information criterion falls."""
        chosen: list[int] = []
        penalty = 2.0 * np.log(len(self.sizes))  # a place and a height
        current = float(self._fit(self.base[None])[1][0])
        while len(chosen) < MOST_LEVELS and len(self.base) + len(chosen) + 2 <= len(self.sizes):
            pick, squares = self._best(chosen)
            if current - squares <= penalty:
                break
            chosen, current = self._refine([*chosen, pick], squares)
        chosen.sort(key=lambda atom: int(self.gaps[atom]))
        return self._high_enough(chosen)

    def place(self, chosen: list[int], atom: int) -> Step:
        """The range of places of one step that fit nearly as well, and the cost on both sides."""
        others = [one for one in chosen if one != atom]
        solved, squares = self._replacements(others)
        best = float(squares[atom])
        freedom = max(1, len(self.sizes) - len(self.base) - len(chosen) - 1)
        near = (squares - best <= WILKS_95 * max(1.0, best / freedom)) & (solved[:, -1] > 0)
        gaps = set(self.gaps[near].tolist())
        low = high = int(self.gaps[atom])
        while low - 1 in gaps:
            low -= 1
        while high + 1 in gaps:
            high += 1
        own, start = solved[atom], len(self.base)
        below = [k for k, one in enumerate(others) if self.gaps[one] < self.gaps[atom]]
        before = float(own[0] + sum(own[start + k] for k in below))
        return Step(
            float(self.sizes[low]), float(self.sizes[high + 1]), before, before + float(own[-1])
        )

    def _fit(self, designs: Values) -> tuple[Values, Values]:
        """Weighted least squares for a stack of designs: (coefficients, sums of squares)."""
        design = designs * self.weight
        gram = design @ np.swapaxes(design, -1, -2)
        scale = np.trace(gram, axis1=-2, axis2=-1)[..., None, None]
        gram = gram + 1e-12 * scale * np.eye(designs.shape[-2])
        right = design @ self.target
        solved = np.linalg.solve(gram, right[..., None])[..., 0]
        residual = self.target - np.einsum("...k,...kn->...n", solved, design)
        return solved, np.sum(residual**2, axis=-1)

    def _replacements(self, others: list[int]) -> tuple[Values, Values]:
        """The fit of each possible step beside the others, which it comes after."""
        fixed = np.concatenate([self.base, self.columns[others]])
        repeated = np.broadcast_to(fixed, (len(self.columns), *fixed.shape))
        return self._fit(np.concatenate([repeated, self.columns[:, None, :]], axis=1))

    def _best(self, others: list[int]) -> tuple[int, float]:
        """The best further step in a free gap, with every step a rise; infinite if none is."""
        solved, squares = self._replacements(others)
        rises = np.all(solved[:, len(self.base) :] > 0, axis=1) & (solved[:, 0] > 0)
        allowed = rises & ~np.isin(self.gaps, self.gaps[others])
        squares = np.where(allowed, squares, np.inf)
        pick = int(np.argmin(squares))
        return pick, float(squares[pick])

    def _refine(self, chosen: list[int], current: float) -> tuple[list[int], float]:
        """Move one step at a time to a better place until none improves the fit."""
        improved = True
        while improved:
            improved = False
            for place in range(len(chosen)):
                pick, squares = self._best(chosen[:place] + chosen[place + 1 :])
                if squares < current - 1e-9:
                    chosen = [*chosen[:place], pick, *chosen[place + 1 :]]
                    current, improved = squares, True
        return chosen, current

    def _high_enough(self, chosen: list[int]) -> list[int]:
        """Drop the lowest step while it raises the cost by less than SMALLEST_RISE."""
        kept = list(chosen)
        while kept:
            solved, _ = self._fit(np.concatenate([self.base, self.columns[kept]])[None])
            level = float(solved[0, 0])
            shares = []
            for height in solved[0, len(self.base) :]:
                shares.append(float(height) / level)
                level += float(height)
            worst = int(np.argmin(shares))
            if shares[worst] >= SMALLEST_RISE:
                break
            del kept[worst]
        return kept


def _merge(steps: list[Step]) -> tuple[Step, ...]:
    """Join steps whose ranges overlap or touch: the grid cannot separate them."""
    merged: list[Step] = []
    for step in steps:
        if merged and step.low <= merged[-1].high:
            last = merged[-1]
            merged[-1] = Step(last.low, max(last.high, step.high), last.before, step.after)
        else:
            merged.append(step)
    return tuple(merged)
