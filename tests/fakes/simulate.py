"""Simulated studies that go through the judge itself: for tests and benches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from pentathlon.evaluate import published
from pentathlon.evaluate.compare import Judge, Judgement, Pair
from pentathlon.evaluate.estimate import Series
from pentathlon.evaluate.model import BootMean, Summary, SystemFacts
from pentathlon.evaluate.rule import Rule

Noise = Literal["normal", "lognormal", "heavy", "common"]


def facts(name: str) -> SystemFacts:
    """A system of which nothing is known that could qualify a comparison."""
    return SystemFacts(
        name=name,
        title=name,
        target="local",
        layer="host",
        kernel="6.1",
        cpu="cpu",
        memory_bytes=1 << 30,
        agent_builds=("b",),
        agent_platform="x86_64-unknown-linux-gnu",
        catalog_version=1,
        settings={},
        parameters={},
        boots=5,
        samples=5,
    )


def series(system: str, key: str, workload: str, means: np.ndarray) -> Series:
    """One metric on one system, from its boot means."""
    values = means.tolist()
    return Series(
        key=key,
        system=system,
        workload=workload,
        metric="time",
        case_json="",
        unit="ns",
        direction="lower",
        units=1,
        checksums=frozenset(),
        lowest=min(values),
        summary=Summary(
            system=system,
            samples=len(values),
            boots=len(values),
            mean=published.mean(means),
            minimum=min(values),
            maximum=max(values),
            sd=None,
            boot_sd=None,
            deviation_percent=None,
            within_one_percent=None,
            boot_means=tuple(
                BootMean(block=block, value=value) for block, value in enumerate(values)
            ),
        ),
        blocks=dict(enumerate(values)),
    )


@dataclass
class Simulation:
    """Studies of two systems with the same truth, but for `planted`."""

    rows: int = 200
    per_workload: tuple[int, ...] = (1, 1, 1, 1, 1, 1, 1, 1, 15, 34, 34, 34, 34)
    blocks: int = 5
    boot_sd: float = 0.01
    """Standard deviation of the logarithm of a boot mean."""
    noise: Noise = "normal"
    planted: dict[int, float] = field(default_factory=dict)
    """Row -> log-ratio of speeds of the system to the reference."""
    rule: Rule = field(default_factory=lambda: Rule(1.0, 0.95))

    def workloads(self) -> list[str]:
        """The workload of each row; the last one takes what remains."""
        names = [f"w{i}" for i, size in enumerate(self.per_workload) for _ in range(size)]
        return (names + ["rest"] * self.rows)[: self.rows]

    def study(self, generator: np.random.Generator) -> Judgement:
        """Draw one study and judge it."""
        workloads = self.workloads()
        block = generator.normal(0.0, 0.02, (1, self.blocks))
        draws = [block + self._draw(generator) for _ in range(2)]
        for row, log_ratio in self.planted.items():
            draws[1][row] -= log_ratio
        judge = Judge(facts("b"), facts("a"), (), self.rule)
        pairs = []
        for row, workload in enumerate(workloads):
            key = f"{workload}.time[n={row}]"
            sides = [
                series(name, key, workload, 100.0 * np.exp(draw[row]))
                for name, draw in zip("ab", draws, strict=True)
            ]
            pairs.append(Pair(key, workload, sides[1], sides[0]))
        return judge.judge(pairs)

    def _draw(self, generator: np.random.Generator) -> np.ndarray:
        """Logarithms of boot means: rows x blocks."""
        shape = (self.rows, self.blocks)
        match self.noise:
            case "normal":
                return generator.normal(0.0, self.boot_sd, shape)
            case "lognormal":
                skewed = generator.lognormal(0.0, 1.0, shape)
                return self.boot_sd * (skewed - np.exp(0.5)) / np.sqrt((np.e - 1) * np.e)
            case "heavy":
                return self.boot_sd * generator.standard_t(3, shape) / np.sqrt(3.0)
            case "common":
                # Half of the variance is shared by all rows of a boot.
                own = generator.normal(0.0, self.boot_sd * np.sqrt(0.5), shape)
                return own + generator.normal(0.0, self.boot_sd * np.sqrt(0.5), (1, self.blocks))
