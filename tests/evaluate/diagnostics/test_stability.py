"""The rule that calls a row unstable: what it must catch and what it must leave alone."""

from __future__ import annotations

import numpy as np

from pentathlon.evaluate.diagnostics.stability import instability, separated


def test_two_groups_of_blocks_are_named():
    found = instability(np.array([0.001, -0.002, 0.15, 0.152, 0.149]))
    assert found is not None
    assert "two groups (2 and 3 of 5)" in found


def test_one_slow_block_is_no_group_but_a_spread():
    assert instability(np.array([0.0, 0.001, -0.001, 0.002, 0.05])) is None
    found = instability(np.array([0.0, 0.001, -0.001, 0.002, 0.5]))
    assert found is not None
    assert "standard deviation" in found


def test_small_gaps_are_no_modes():
    assert instability(np.array([0.0, 0.0001, 0.015, 0.0151, 0.0152])) is None


def test_few_blocks_are_not_judged():
    assert instability(np.array([0.0, 0.5])) is None
    assert instability(np.array([0.0, 0.0, 0.06, 0.06])) is None


def test_ordinary_noise_is_seldom_unstable():
    generator = np.random.default_rng(4)
    found = sum(instability(generator.normal(0.0, 0.03, 5)) is not None for _ in range(4000))
    assert found / 4000 < 0.02


def test_shifts_and_signs_do_not_matter():
    blocks = np.array([0.001, -0.002, 0.15, 0.152, 0.149])
    assert instability(blocks + 3.0) == instability(blocks)
    assert (instability(-blocks) is None) == (instability(blocks) is None)


def test_separated():
    assert separated(np.array([0.1, 0.2]))
    assert separated(np.array([-0.1, -0.2]))
    assert not separated(np.array([-0.1, 0.2]))
