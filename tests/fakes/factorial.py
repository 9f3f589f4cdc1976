"""Simulated factorial studies that go through the judge itself: for tests and benches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from pentathlon.evaluate.estimate import Series
from pentathlon.evaluate.factorial.contrasts import contrasts
from pentathlon.evaluate.factorial.judge import find_factorial
from pentathlon.evaluate.model import Row
from pentathlon.evaluate.model_factorial import Factorial
from pentathlon.evaluate.rule import Rule
from pentathlon.study.factorial.design import Design
from tests.fakes.simulate import Noise, series

Effect = tuple[str, int]
"""A term and the number of a row."""


def row(key: str, workload: str) -> Row:
    """A time of which nothing is known that could qualify it."""
    return Row(
        key=key,
        area=workload.partition(".")[0],
        workload=workload,
        metric="time",
        case={},
        workload_title=workload,
        title=key,
        case_text="",
        unit="ns",
        direction="lower",
        summaries=(),
        comparisons=(),
    )


@dataclass
class FactorialSimulation:
    """Studies of one design. Effects are planted by the coefficients of their own contrasts."""

    design: Design
    per_workload: tuple[int, ...] = (1, 1, 1, 1, 4, 12)
    blocks: int = 8
    boot_sd: float = 0.01
    """Standard deviation of the logarithm of a boot mean."""
    noise: Noise = "normal"
    planted: Mapping[Effect, float] = field(default_factory=dict)
    """Effect -> its log-ratio."""
    delta_percent: float = 2.0
    moderated: bool = True

    def __post_init__(self) -> None:
        self.terms = contrasts(self.design)
        names = [f"a.w{place}" for place, count in enumerate(self.per_workload)
                 for _ in range(count)]  # fmt: skip
        self.rows = [row(f"{name}.time[{number}]", name) for number, name in enumerate(names)]
        self.rule = Rule(self.delta_percent, 0.95, moderated=self.moderated)
        self.speeds = np.zeros((len(self.rows), len(self.design.arms)))
        for (term, place), size in self.planted.items():
            own = next(one.coefficients for one in self.terms if one.term.name == term)
            # The contrast of its own coefficients is their sum of squares: the others' are 0.
            self.speeds[place] += size * own / float(own @ own)

    def truth(self, term: str, place: int) -> float:
        """The true log-ratio of an effect."""
        own = next(one.coefficients for one in self.terms if one.term.name == term)
        return float(own @ self.speeds[place])

    def study(self, generator: np.random.Generator) -> Factorial:
        """One study, judged."""
        shape = (len(self.rows), self.blocks, len(self.design.arms))
        logs = self._noise(generator, shape) * self.boot_sd
        # Whatever a block does to all its arms.
        logs += generator.normal(0.0, 0.02, (len(self.rows), self.blocks, 1))
        logs -= self.speeds[:, None, :]
        everything: dict[tuple[str, str], Series] = {}
        for one, values in zip(self.rows, np.exp(logs) * 100.0, strict=True):
            for place, name in enumerate(self.design.names):
                own = values[:, place]
                everything[one.key, name] = series(name, one.key, one.workload, own)
        found = find_factorial(self.design, self.rows, everything, self.rule)
        assert found is not None
        return found

    def _noise(self, generator: np.random.Generator, shape: tuple[int, int, int]) -> np.ndarray:
        match self.noise:
            case "normal":
                return generator.normal(size=shape)
            case "common":
                # Half of the variance is shared by all rows of a boot.
                own = generator.normal(size=shape)
                return (own + generator.normal(size=(1, *shape[1:]))) / np.sqrt(2.0)
            case "lognormal":
                raw = generator.lognormal(0.0, 0.75, size=shape)
                return (raw - np.exp(0.75**2 / 2.0)) / raw.std()
            case "heavy":
                return generator.standard_t(3.0, size=shape) / np.sqrt(3.0)
