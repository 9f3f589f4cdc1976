"""Noise of simulated studies: what differs from boot to boot and from iteration to iteration.

All values are logarithms of the time of one metric. A boot's mean is the logarithm of the
arithmetic mean of its iterations, as the evaluation takes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Generator = np.random.Generator

BOOT_SD = 0.01
"""Standard deviation between boots: 1 %."""
ITERATION_SD = 0.01
"""Standard deviation within a boot: 1 %."""
ITERATIONS = 5
BLOCK_SD = 0.02
"""What both systems of a block share."""
SLOW_MODE = math.log(1.05)
"""A slow boot takes 5 % longer."""
AR1 = 0.9
DRIFT = 0.002
"""A machine that slows by 0.2 % from boot to boot."""


@dataclass(frozen=True)
class Noise:
    """One kind of noise.

    Attributes:
        boots: (generator, shape) -> deviations of boots.
        slow_share: share of slow boots.
        one_sided: the slow mode is in one system only; no A/A comparison is made of it.
        ar1: correlation of neighbouring iterations of a boot.
        drift: growth from each boot of the study to the next.
    """

    name: str
    boots: Callable[[Generator, tuple[int, ...]], Values]
    slow_share: float = 0.0
    one_sided: bool = False
    ar1: float = 0.0
    drift: float = 0.0

    @property
    def bias(self) -> float:
        """True mean log-ratio of speeds that the noise itself makes: slow boots in one system."""
        return -self.slow_share * SLOW_MODE if self.one_sided else 0.0

    def draw(
        self, generator: Generator, trials: int, blocks: int, iterations: int = ITERATIONS
    ) -> tuple[Values, Values]:
        """Times of reference and system: trials x blocks x iterations."""
        shape = (trials, blocks)
        shared = generator.normal(0.0, BLOCK_SD, shape)
        # Random order within a block: who is booted first.
        first = generator.integers(0, 2, shape)
        times = []
        for system in (0, 1):
            level = shared + self.boots(generator, shape)
            if self.drift:
                place = 2 * np.arange(blocks) + (first if system == 0 else 1 - first)
                level = level + self.drift * place
            if self.slow_share and (system == 1 or not self.one_sided):
                level = level + SLOW_MODE * (generator.random(shape) < self.slow_share)
            within = self._within(generator, (*shape, iterations))
            times.append(np.exp(level[:, :, None] + within))
        return times[0], times[1]

    def _within(self, generator: Generator, shape: tuple[int, ...]) -> Values:
        steps = generator.normal(0.0, ITERATION_SD, shape)
        if self.ar1:
            scale = math.sqrt(1.0 - self.ar1**2)
            for number in range(1, shape[-1]):
                steps[..., number] = self.ar1 * steps[..., number - 1] + scale * steps[..., number]
        return steps


def _normal(generator: Generator, shape: tuple[int, ...]) -> Values:
    return generator.normal(0.0, BOOT_SD, shape)


def _lognormal(generator: Generator, shape: tuple[int, ...]) -> Values:
    """Lognormal with sigma 1, shifted and scaled to mean 0 and SD 1 %: skewness 6."""
    drawn = generator.lognormal(0.0, 1.0, shape)
    return BOOT_SD * (drawn - math.exp(0.5)) / math.sqrt((math.e - 1.0) * math.e)


def _heavy(generator: Generator, shape: tuple[int, ...]) -> Values:
    """Student's t with 3 degrees of freedom, scaled to SD 1 %."""
    return BOOT_SD * generator.standard_t(3, shape) / math.sqrt(3.0)


NOISES: Mapping[str, Noise] = {
    noise.name: noise
    for noise in (
        Noise("normal", _normal),
        Noise("lognormal", _lognormal),
        Noise("heavy-tailed", _heavy),
        Noise("10 % slow boots", _normal, slow_share=0.1),
        Noise("30 % slow boots", _normal, slow_share=0.3),
        Noise("10 % slow boots in one", _normal, slow_share=0.1, one_sided=True),
        Noise("30 % slow boots in one", _normal, slow_share=0.3, one_sided=True),
        Noise("AR(1) within boots", _normal, ar1=AR1),
        Noise("drift", _normal, drift=DRIFT),
    )
}
