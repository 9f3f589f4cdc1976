"""Whole studies of 206 rows: today's rule and moderated variances on the same data.

    python -m benches.calibration.whole [STUDIES] [CELL...] [--into FILE] [--write]

With `--into` every cell is kept in a file as soon as it is counted, and a run that was cut off goes
on there; `--write` puts the tables into docs/calibration.md.

Each cell is a kind of noise. Its studies have the rows of the demonstration (`WORKLOADS`), and are
judged by the evaluation's own functions: `moderate`, `p_pooled`, `pooled_inflation`,
`resolution.floor`, `holm.step_down`, the rules of instability (`counterpart.unstable`). Only the
loops over studies are arrays; `tests/evaluate/test_whole_studies.py` checks that `Judge` gives the
same for the same data. Two rules stand beside each other: *own*, which takes every row's variance
from its own blocks, and *moderated*, the rule of new studies.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.console import Console
from scipy import special

from pentathlon.evaluate.borrowing import groups
from pentathlon.evaluate.diagnostics.serial_correlation import (
    p_pooled,
    pooled_inflation,
    pooled_level,
)
from pentathlon.evaluate.estimators import resolution
from pentathlon.evaluate.estimators.moderated import FEWEST_ROWS, likeness, moderate, standardised
from pentathlon.evaluate.estimators.ratio import ROUNDING, delta_log
from pentathlon.evaluate.multiplicity import holm
from pentathlon.evaluate.planning.alpha_spending import fixed

from .tables import put
from .vectorised import unstable
from .whole_tables import POWER_HEAD, Kept, Line, cell_table, markdown, show

Values = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Generator = np.random.Generator

SEED = 20030101
RATE = 0.05
CHUNK = 250
WORKLOADS = (
    ("process", (("call_styles", 32), ("mmap_munmap", 4), ("signal", 3), ("exec_static", 2),
                 ("create_delete", 2), ("fopen_fclose", 1), ("open_close", 1), ("fork_wait", 1),
                 ("malloc_free", 1), ("pipe_round_trip", 1), ("event", 1), ("futex", 1),
                 ("thread", 1), ("page_fault", 1), ("condition", 1), ("fork_exec", 1),
                 ("getpid", 1))),
    ("arithmetic", (("operations", 32),)),
    ("memory", (("read", 34), ("write", 34), ("copy", 34), ("latency", 17))),
)  # fmt: skip
"""Area -> workloads with their rows: 206 of them."""
NAMES = tuple((area, name) for area, own in WORKLOADS for name, size in own for _ in range(size))
ROWS = len(NAMES)
WEIGHTS = holm.workload_weights([name for _, name in NAMES])
SINGLE = np.array([sum(own == name for own in NAMES) == 1 for name in NAMES])
_OF_ROW = groups([name for _, name in NAMES], [area for area, _ in NAMES])
GROUPS = {
    group: np.array([place for place, own in enumerate(_OF_ROW) if own == group])
    for group in dict.fromkeys(_OF_ROW)
}
"""Group -> its rows."""

BOOT_SD = 0.01


@dataclass(frozen=True)
class Claims:
    """What one rule claims of every row of every study: studies x rows."""

    different: Flags
    equivalent: Flags
    covered: Flags
    """The row's own interval holds the truth."""
    covered_moderated: Flags
    serial: Flags
    """Per study: the pooled test found a dependence."""


def judge(
    system: Values,
    reference: Values,
    truth: Values | float,
    delta: float,
    *,
    moderated: bool,
    alone: bool = False,
) -> Claims:
    """Judge studies.

    Args:
        system, reference: logarithms of the boots' mean times: studies x rows x blocks.
        truth: true mean log-ratio of speeds of each row.
        alone: each row is judged as if it were the only one that differs: at the level of the first
            step of Holm's procedure.
    """
    # As from times, so that what is rounded is rounded as in the evaluation.
    ratios = -np.log(np.exp(system) / np.exp(reference))
    studies, rows, blocks = ratios.shape
    free = float(blocks - 1)
    mean = ratios.mean(axis=2)
    alike = np.ptp(ratios, axis=2) <= ROUNDING
    variance = np.where(alike, mean**2 / 6.0, ratios.var(axis=2, ddof=1))
    serial = np.zeros(studies, dtype=np.bool_)
    lent, freedom = variance, np.full((studies, rows), free)
    if moderated:
        floor = resolution.floor(np.exp(system), np.exp(reference))
        variance = np.maximum(variance, floor)
        scaled = standardised(np.where(alike[..., None], 0.0, ratios))
        serial = p_pooled(scaled) <= pooled_level(blocks, likeness(ratios))
        factor = np.where(serial, pooled_inflation(scaled), 1.0)
        variance = variance * factor[:, None] ** 2
        lent, freedom = _lent(ratios, variance, floor, alike, serial)
    levels = fixed(blocks)
    level = levels.nominal(RATE)
    error, own_error = np.sqrt(lent / blocks), np.sqrt(variance / blocks)
    borrowed = freedom != free
    half = special.stdtrit(free, 1.0 - level / 2.0) * own_error
    wide = special.stdtrit(freedom, 1.0 - level / 2.0) * error

    def select(distance: Values) -> Flags:
        with np.errstate(divide="ignore", invalid="ignore"):
            p_value = 2.0 * special.stdtr(freedom, -distance / error)
            p_own = 2.0 * special.stdtr(free, -distance / own_error)
        p_value = np.where(distance <= 0.0, 1.0, np.where(error == 0.0, 0.0, p_value))
        p_own = np.where(distance <= 0.0, 1.0, np.where(own_error == 0.0, 0.0, p_own))
        p_value = np.where(borrowed & (p_own > level), 1.0, p_value)
        overall = np.minimum(1.0, p_value / levels.share)
        if alone:
            return np.asarray(overall <= RATE * WEIGHTS / ROWS, dtype=np.bool_)
        return np.array([holm.step_down(one, WEIGHTS, RATE).selected for one in overall])

    different, equivalent = select(np.abs(mean)), select(delta - np.abs(mean))
    flat = ratios.reshape(-1, blocks)
    trouble = unstable(flat).reshape(studies, rows)
    separated = (np.all(flat > 0, axis=1) | np.all(flat < 0, axis=1)).reshape(studies, rows)
    refused = trouble & ~(different & ~equivalent & separated)
    return Claims(
        different=different & ~refused,
        equivalent=equivalent & ~refused,
        covered=np.abs(mean - truth) <= half,
        covered_moderated=np.abs(mean - truth) <= wide,
        serial=serial,
    )


def _lent(
    ratios: Values, variance: Values, floor: Values, alike: Flags, serial: Flags
) -> tuple[Values, Values]:
    """Moderated variances of all rows, and their degrees of freedom."""
    lent, freedom = variance.copy(), np.full(variance.shape, ratios.shape[2] - 1.0)
    for members in GROUPS.values():
        if len(members) < FEWEST_ROWS:
            continue
        plain = np.flatnonzero(~serial & ~alike[:, members].any(axis=1))
        if len(plain):
            place = np.ix_(plain, members)
            found = moderate(ratios[place], floor[place])
            lent[place] = found.variance
            freedom[place] = found.freedom[:, None]
        for study in np.flatnonzero(~serial & alike[:, members].any(axis=1)):
            own, same = members[~alike[study, members]], members[alike[study, members]]
            if len(own) >= FEWEST_ROWS:
                found = moderate(ratios[study, own], floor[study, own])
                lent[study, own], freedom[study, members] = found.variance, found.freedom
                lent[study, same] = found.of(variance[study, same])
    return lent, freedom


Draw = Callable[[Generator, int, int], tuple[Values, Values]]
"""(generator, studies, blocks) -> logarithms of the times of system and reference."""


@dataclass(frozen=True)
class Cell:
    """One kind of noise.

    Attributes:
        limit: what the share of studies with a false difference must not exceed; None where no
            rule can keep it with so few blocks, which documents what remains.
    """

    name: str
    draw: Draw
    blocks: tuple[int, ...] = (5, 10)
    limit: float | None = 0.06


def _both(noise: Callable[[Generator, tuple[int, ...]], Values]) -> Draw:
    """Both systems with the same kind of noise."""

    def draw(generator: Generator, studies: int, blocks: int) -> tuple[Values, Values]:
        shape = (studies, ROWS, blocks)
        return noise(generator, shape), noise(generator, shape)

    return draw


def _normal(generator: Generator, shape: tuple[int, ...]) -> Values:
    return BOOT_SD * generator.standard_normal(shape)


def _unlike(generator: Generator, studies: int, blocks: int) -> tuple[Values, Values]:
    """Rows whose standard deviations differ, by a factor of e^±0.5."""
    scale = np.exp(0.5 * generator.standard_normal((studies, ROWS, 1)))
    shape = (studies, ROWS, blocks)
    return _normal(generator, shape) * scale, _normal(generator, shape) * scale


def _shared(share: float) -> Draw:
    """Rows of a boot that have so much of their variance in common."""

    def draw(generator: Generator, shape: tuple[int, ...]) -> Values:
        common = generator.standard_normal((shape[0], 1, shape[2]))
        own = generator.standard_normal(shape)
        return BOOT_SD * (math.sqrt(share) * common + math.sqrt(1.0 - share) * own)

    return _both(draw)


def _heavy(generator: Generator, shape: tuple[int, ...]) -> Values:
    return BOOT_SD * generator.standard_t(3, shape) / math.sqrt(3.0)


def _lognormal(generator: Generator, shape: tuple[int, ...]) -> Values:
    drawn = generator.lognormal(0.0, 1.0, shape)
    return BOOT_SD * (drawn - math.exp(0.5)) / math.sqrt((math.e - 1.0) * math.e)


def _skewed_in_one(generator: Generator, studies: int, blocks: int) -> tuple[Values, Values]:
    shape = (studies, ROWS, blocks)
    return _lognormal(generator, shape), 0.1 * _normal(generator, shape)


def _modes(share: float) -> Draw:
    """Boots that are slow with this chance, by 5 %, each row for itself."""

    def draw(generator: Generator, shape: tuple[int, ...]) -> Values:
        slow = generator.random(shape) < share
        return np.asarray(0.2 * _normal(generator, shape) + math.log(1.05) * slow)

    return _both(draw)


def _ticks(generator: Generator, shape: tuple[int, ...]) -> Values:
    """A clock that reads 50 or 51 ticks."""
    return np.asarray(np.log(50.0 + (generator.random(shape) < 0.5)), dtype=np.float64)


def _serial(generator: Generator, shape: tuple[int, ...]) -> Values:
    """Boots that follow the one before them with a correlation of 0.3."""
    return _following(generator.standard_normal(shape))


def _serial_shared(generator: Generator, shape: tuple[int, ...]) -> Values:
    """The same with half of the variance in common to all rows of a boot."""
    common = generator.standard_normal((shape[0], 1, shape[2]))
    return _following(math.sqrt(0.5) * (common + generator.standard_normal(shape)))


def _following(found: Values) -> Values:
    for block in range(1, found.shape[2]):
        found[..., block] = 0.3 * found[..., block - 1] + math.sqrt(0.91) * found[..., block]
    return BOOT_SD * found


def _position(*, balanced: bool) -> Draw:
    """The system that is booted first in a block is 2 % slower, in every row. A balanced order has
    each of two systems first in one of blocks 1 and 2, of 3 and 4, ... (`study.order.balanced`).
    """

    def draw(generator: Generator, studies: int, blocks: int) -> tuple[Values, Values]:
        first = generator.integers(0, 2, (studies, 1, blocks))
        if balanced:
            start = generator.integers(0, 2, (studies, 1, (blocks + 1) // 2))
            first = np.stack([start, 1 - start], axis=-1).reshape(studies, 1, -1)[..., :blocks]
        shape = (studies, ROWS, blocks)
        return _normal(generator, shape) + 0.02 * first, _normal(generator, shape) + 0.02 * (
            1 - first
        )

    return draw


CELLS = (
    Cell("normal", _both(_normal)),
    Cell("rows of unlike noise", _unlike),
    Cell("half of the variance shared", _shared(0.5)),
    Cell("nine tenths shared", _shared(0.9)),
    Cell("heavy-tailed", _both(_heavy)),
    Cell("lognormal in both", _both(_lognormal)),
    Cell("two modes, 50/50", _modes(0.5)),
    Cell("two modes, 30/70", _modes(0.3)),
    Cell("clock of two ticks", _both(_ticks), limit=0.07),
    Cell("position, coin flips", _position(balanced=False), limit=None),
    Cell("position, balanced order", _position(balanced=True)),
    Cell("skewness 6 in one", _skewed_in_one, limit=None),
    Cell("serial correlation 0.3", _both(_serial), limit=None),
    Cell("serial correlation 0.3, half shared", _both(_serial_shared), limit=None),
)


@dataclass
class Count:
    """One rule in one cell, over all studies so far."""

    studies: int = 0
    alarms: int = 0
    """Studies that call some row different."""
    equal: int = 0
    """Studies that call some row equivalent whose truth is δ."""
    covered: float = 0.0
    covered_moderated: float = 0.0
    serial: int = 0

    def add(self, null: Claims, edge: Claims) -> None:
        """Count a chunk of studies without a difference, and the same ones with one of δ."""
        self.studies += len(null.different)
        self.alarms += int(null.different.any(axis=1).sum())
        self.equal += int(edge.equivalent.any(axis=1).sum())
        self.covered += float(null.covered.mean(axis=1).sum())
        self.covered_moderated += float(null.covered_moderated.mean(axis=1).sum())
        self.serial += int(null.serial.sum())


def count(cell: Cell, blocks: int, studies: int, delta: float) -> dict[bool, Count]:
    """Both rules in one cell, by whether variances are moderated; always the same studies."""
    found = {False: Count(), True: Count()}
    place = [one.name for one in CELLS].index(cell.name)
    for number, start in enumerate(range(0, studies, CHUNK)):
        generator = np.random.default_rng([SEED, 11, place, blocks, number])
        system, reference = cell.draw(generator, min(CHUNK, studies - start), blocks)
        for moderated, own in found.items():
            null = judge(system, reference, 0.0, delta, moderated=moderated)
            edge = judge(system - delta, reference, delta, delta, moderated=moderated)
            own.add(null, edge)
    return found


def power(blocks: int, studies: int, *, moderated: bool) -> tuple[float, float]:
    """Share of rows, and of those that are alone in their workload, in which 2 % are found, each as
    the only one that differs.
    """
    generator = np.random.default_rng([SEED, 12, blocks])
    shape = (studies, ROWS, blocks)
    system, reference = _normal(generator, shape), _normal(generator, shape)
    shift = math.log1p(0.02)
    found = judge(
        system - shift, reference, shift, delta_log(1.0), moderated=moderated, alone=True
    ).different
    return float(found.mean()), float(found[:, SINGLE].mean())


def _cells(chosen: list[str]) -> Iterator[Cell]:
    for cell in CELLS:
        if not chosen or any(name in cell.name for name in chosen):
            yield cell


POWER_BLOCKS = (8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 21, 22, 23)
DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def cell_lines(cell: Cell, blocks: int, studies: int) -> list[Line]:
    """Both rules in one cell, the own one first."""
    counts = count(cell, blocks, studies, delta_log(2.0))
    return [
        {"noise": cell.name, "blocks": blocks, "rule": rule, **asdict(counts[moderated])}
        for moderated, rule in ((False, "own"), (True, "moderated"))
    ]


def power_lines(blocks: int, studies: int) -> list[Line]:
    """Both rules' power with so many blocks."""
    own, lent = (power(blocks, studies, moderated=one) for one in (False, True))
    return [
        {"blocks": blocks, "own": own[0], "own_alone": own[1], "all": lent[0], "alone": lent[1]}
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", type=int, nargs="?", default=500)
    parser.add_argument("cells", nargs="*", help="parts of names of cells; all without")
    parser.add_argument("--no-power", action="store_true")
    parser.add_argument("--into", type=Path, help="keep what is counted, and go on there")
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    given = parser.parse_args()
    kept = Kept(given.into)
    limits = {cell.name: cell.limit for cell in CELLS}
    lines = [
        line
        for cell in _cells(given.cells)
        for blocks in cell.blocks
        for line in kept.get(
            f"{cell.name}, {blocks} blocks, {given.studies} studies",
            lambda cell=cell, blocks=blocks: cell_lines(cell, blocks, given.studies),  # type: ignore[misc]
        )
    ]
    head, rows, missed = cell_table(lines, limits)
    console = Console(width=150)
    show(console, head, rows)
    powers: list[list[str]] = []
    if not given.no_power:
        studies = min(given.studies, 2000)
        found = [
            line
            for blocks in POWER_BLOCKS
            for line in kept.get(
                f"power, {blocks} blocks, {studies} studies",
                lambda blocks=blocks: power_lines(blocks, studies),  # type: ignore[misc]
            )
        ]
        powers = [
            [str(one["blocks"]), *(f"{float(one[name]):.1%}".replace("%", " %")
                                   for name in ("own", "own_alone", "all", "alone"))]
            for one in found
        ]  # fmt: skip
        show(console, POWER_HEAD, powers)
    console.print(f"{missed} of the figures with a limit are not shown to keep it")
    if given.write:
        tables = {"whole studies": markdown(head, rows)}
        if powers:
            tables["blocks for a difference"] = markdown(POWER_HEAD, powers)
        put(DOCS / "calibration.md", tables)


if __name__ == "__main__":
    main()
