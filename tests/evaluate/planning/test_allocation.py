"""Variance components and the counts that they recommend."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from pentathlon.evaluate.planning.allocation import Costs, allocate, components

BOOT, PROCESS, ITERATION = 0.01, 0.006, 0.02


def draw(generator, boots, processes, iterations, shared=0.0):
    sides = []
    common = generator.normal(0, shared, (boots, 1, 1)) if shared else 0.0
    for _ in range(2):
        sides.append(
            common
            + generator.normal(0, BOOT, (boots, 1, 1))
            + generator.normal(0, PROCESS, (boots, processes, 1))
            + generator.normal(0, ITERATION, (boots, processes, iterations))
        )
    return sides


def test_components_are_estimated_without_bias():
    generator = np.random.default_rng(1)
    found = [components(draw(generator, 10, 3, 4)[0]) for _ in range(3000)]
    for name, truth in (("iteration", ITERATION**2), ("process", PROCESS**2)):
        values = np.array([getattr(one, name) for one in found])
        error = values.std() / math.sqrt(len(values))
        assert values.mean() == pytest.approx(truth, abs=4 * error)
    assert min(one.process for one in found) < 0  # an estimate without bias must be able to


def test_the_counts_are_the_cheapest_ones_by_brute_force():
    generator = np.random.default_rng(2)
    sides = draw(generator, 4000, 4, 6, shared=0.05)
    ratios = sides[0].mean(axis=(1, 2)) - sides[1].mean(axis=(1, 2))
    costs = Costs(iteration=1.0, process=5.0, boot=40.0)
    found = allocate(ratios, sides, costs, 0.5, 0.05)

    def price(iterations: int, processes: int) -> float:
        variance = BOOT**2 + PROCESS**2 / processes + ITERATION**2 / (processes * iterations)
        time = costs.boot + processes * (costs.process + iterations * costs.iteration)
        return variance * time

    best = min(price(i, p) for i, p in product(range(1, 40), range(1, 20)))
    assert price(found.iterations, found.processes) <= 1.03 * best
    assert found.reached
    assert found.half_width_percent <= 0.5
    variance = 2 * (
        BOOT**2 + PROCESS**2 / found.processes + ITERATION**2 / (found.processes * found.iterations)
    )
    # What the blocks share is left out, and about as many blocks follow as the z interval has.
    assert found.blocks == pytest.approx(variance * (1.96 / math.log1p(0.005)) ** 2, rel=0.1)


def test_dear_boots_ask_for_more_inside_them():
    generator = np.random.default_rng(3)
    sides = draw(generator, 500, 3, 5)
    ratios = sides[0].mean(axis=(1, 2)) - sides[1].mean(axis=(1, 2))
    cheap = allocate(ratios, sides, Costs(1.0, 1.0, 1.0), 0.5, 0.05)
    dear = allocate(ratios, sides, Costs(1.0, 1.0, 1000.0), 0.5, 0.05)
    assert dear.processes > cheap.processes
    assert dear.blocks < cheap.blocks


def test_one_process_in_each_boot_has_two_levels():
    generator = np.random.default_rng(4)
    sides = draw(generator, 300, 1, 5)
    assert components(sides[0]).process is None
    ratios = (sides[0] - sides[1]).mean(axis=(1, 2))
    found = allocate(ratios, sides, Costs(1.0, 2.0, 30.0), 1.0, 0.05)
    assert found.processes == 1
    expected = math.sqrt(32 * ITERATION**2 / (BOOT**2 + PROCESS**2))
    assert found.iterations == pytest.approx(expected, abs=2)


def test_what_cannot_be_reached_is_said():
    sides = [
        np.full((5, 1, 2), 0.0) + np.random.default_rng(s).normal(size=(5, 1, 2)) for s in (1, 2)
    ]
    ratios = (sides[0] - sides[1]).mean(axis=(1, 2)) * 50
    assert not allocate(ratios, sides, Costs(1.0, 1.0, 1.0), 0.01, 0.05).reached
