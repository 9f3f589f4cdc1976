"""The step-down procedure against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pentathlon.evaluate.multiplicity.holm import step_down, workload_weights


def test_a_worked_example():
    # Levels 0.05 / 4, / 3, / 2, / 1: the third fails (0.03 > 0.025), so the fourth is not reached.
    found = step_down(np.array([0.03, 0.012, 0.04, 0.013]), np.ones(4), 0.05)
    assert found.selected.tolist() == [False, True, False, True]
    assert found.levels == pytest.approx([0.025, 0.0125, 0.025, 0.05 / 3])


def plain_holm(p_values: list[float], rate: float) -> list[bool]:
    """Holm's procedure as it is described in words."""
    rejected = [False] * len(p_values)
    for step, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[place] > rate / (len(p_values) - step):
            break
        rejected[place] = True
    return rejected


p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(p_lists)
def test_equal_weights_are_plain_holm(p_values):
    found = step_down(np.array(p_values), np.ones(len(p_values)), 0.05)
    assert found.selected.tolist() == plain_holm(p_values, 0.05)


@given(p_lists, st.data())
def test_selected_exactly_where_the_level_allows_it(p_values, data):
    count = len(p_values)
    names = data.draw(st.lists(st.sampled_from("abc"), min_size=count, max_size=count))
    weights = workload_weights(names)
    found = step_down(np.array(p_values), weights, 0.05)
    assert found.selected.tolist() == (np.array(p_values) <= found.levels).tolist()
    assert found.levels.max() <= 0.05 + 1e-15


@given(p_lists)
def test_bonferroni_never_finds_more(p_values):
    found = step_down(np.array(p_values), np.ones(len(p_values)), 0.05)
    strict = np.array(p_values) <= 0.05 / len(p_values)
    assert not (strict & ~found.selected).any()


def test_weights_give_each_workload_one_share():
    weights = workload_weights(["a", "b", "b", "b", "c", "c"])
    assert weights.mean() == pytest.approx(1.0)
    assert weights[0] == pytest.approx(weights[1:4].sum()) == pytest.approx(weights[4:].sum())


def test_nothing_to_test():
    assert step_down(np.zeros(0), np.zeros(0), 0.05).selected.tolist() == []
