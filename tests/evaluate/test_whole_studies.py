"""The simulation of whole studies judges as the evaluation does, and the rules keep their word."""

from __future__ import annotations

import numpy as np
import pytest

from benches.calibration import whole
from pentathlon.evaluate.compare import Judge, Judgement, Pair
from pentathlon.evaluate.diagnostics.serial_correlation import (
    COMMON_LEVEL,
    LIKENESS,
    p_pooled,
    pooled_inflation,
    pooled_level,
)
from pentathlon.evaluate.estimators.moderated import likeness, standardised
from pentathlon.evaluate.estimators.ratio import delta_log
from pentathlon.evaluate.estimators.welch import Estimate
from pentathlon.evaluate.multiplicity.families import p_borne
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Verdict
from tests.fakes.simulate import facts, series

pytestmark = pytest.mark.slow

DELTA = 2.0


def judged(system: np.ndarray, reference: np.ndarray, *, moderated: bool) -> Judgement:
    """One study by the evaluation: rows x blocks of logarithms of times."""
    pairs = []
    for place, (area, workload) in enumerate(whole.NAMES):
        key = f"{workload}.time[n={place}]"
        own, other = (
            series(name, key, workload, np.exp(logs[place]))
            for name, logs in (("b", system), ("a", reference))
        )
        pairs.append(Pair(key, workload, own, other, area=area))
    rule = Rule(DELTA, 0.95, moderated=moderated)
    return Judge(facts("b"), facts("a"), (), rule).judge(pairs)


@pytest.mark.parametrize("moderated", [False, True])
@pytest.mark.parametrize(
    "name",
    ["rows of unlike noise", "two modes, 50/50", "clock of two ticks", "serial", "half shared"],
)
def test_the_simulation_says_what_the_evaluation_says(name, moderated):
    cell = next(one for one in whole.CELLS if name in one.name)
    system, reference = cell.draw(np.random.default_rng(5), 4, 6)
    # Some rows differ, so that the procedures have something to find.
    system[:, ::7] -= 0.05
    system[2:] = reference[2:] + 0.1 * (system[2:] - reference[2:])
    found = whole.judge(system, reference, 0.0, delta_log(DELTA), moderated=moderated)
    claimed = 0
    for study in range(len(system)):
        judgement = judged(system[study], reference[study], moderated=moderated)
        for place, one in enumerate(judgement.comparisons.values()):
            effect = one.effect
            assert effect is not None
            shown = one.verdict.is_difference or one.verdict is Verdict.NEGLIGIBLE
            assert shown == found.different[study, place]
            equal = one.verdict in (Verdict.NEGLIGIBLE, Verdict.EQUIVALENT)
            assert equal == found.equivalent[study, place]
            claimed += shown
            assert (effect.low_percent <= 0 <= effect.high_percent) == found.covered[study, place]
    assert claimed > 0


def test_rows_borrow_only_from_five_blocks_on_and_publish_both_intervals():
    generator = np.random.default_rng(6)
    for blocks, borrows in ((4, False), (5, True)):
        system, reference = 0.01 * generator.standard_normal((2, whole.ROWS, blocks))
        for one in judged(system, reference, moderated=True).comparisons.values():
            assert (one.effect.moderated is not None) == borrows
            if borrows:
                assert one.effect.moderated.low_percent < one.effect.percent
                assert one.effect.moderated.freedom > blocks - 1
        for one in judged(system, reference, moderated=False).comparisons.values():
            assert one.effect.moderated is None
            assert "moderated" not in one.effect.model_dump()


def test_a_claim_needs_the_rows_own_interval_too():
    own, lent = Estimate(0.01, 0.004, 4.0), Estimate(0.01, 0.001, 40.0)
    for claim in (Estimate.p_different, lambda one: one.p_equivalent(0.02)):
        assert 0.05 < claim(own) < 0.1
        assert claim(lent) < 1e-8
        assert p_borne(claim, own, lent, 0.05) == 1.0
        assert p_borne(claim, own, lent, 0.1) == claim(lent)
        assert p_borne(claim, own, None, 0.05) == claim(own)


def test_blocks_that_follow_their_neighbours_stop_the_borrowing_and_widen_the_intervals():
    cell = next(one for one in whole.CELLS if "serial" in one.name)
    system, reference = cell.draw(np.random.default_rng(8), 1, 8)
    judgement = judged(system[0], reference[0], moderated=True)
    alone = judged(system[0], reference[0], moderated=False)
    assert "depend on their neighbours" in judgement.cautions[0]
    for key, one in judgement.comparisons.items():
        assert one.effect.moderated is None
        own = alone.comparisons[key].effect
        width = one.effect.high_percent - one.effect.low_percent
        assert width > 1.1 * (own.high_percent - own.low_percent)
        assert judgement.cautions[0] in one.cautions


def test_rows_that_vary_together_borrow_only_where_little_speaks_for_dependence():
    generator = np.random.default_rng(12)
    cell = next(one for one in whole.CELLS if "half of the variance" in one.name)
    system, reference = cell.draw(generator, 40, 5)
    ratios = reference - system
    alike, p_values = likeness(ratios), p_pooled(standardised(ratios))
    between = (alike > LIKENESS) & (p_values > 0.05) & (p_values <= COMMON_LEVEL)
    above = (alike > LIKENESS) & (p_values > COMMON_LEVEL)
    for chosen, borrows in ((np.argmax(between), False), (np.argmax(above), True)):
        assert (between | above)[chosen]
        judgement = judged(system[chosen], reference[chosen], moderated=True)
        lent = [one.effect.moderated is not None for one in judgement.comparisons.values()]
        assert all(lent) if borrows else not any(lent)
        stated = any("cannot rule out that they depend" in one for one in judgement.cautions)
        assert stated != borrows


def test_the_level_of_the_pooled_test():
    generator = np.random.default_rng(13)
    common, own = generator.standard_normal((2, 100, 50, 5))
    assert np.mean(likeness(own)) < 0.01
    assert 0.05 < np.mean(likeness(common[:, :1] + own)) < 0.25
    assert likeness(own[:, :1]).max() == 0.0
    assert pooled_level(5, np.array([0.01, 0.05])).tolist() == [0.05, COMMON_LEVEL]
    assert pooled_level(10, np.array([0.01, 0.05])).tolist() == [0.02, 0.02]


def test_the_pooled_test_is_exact_and_sees_what_rows_share():
    generator = np.random.default_rng(9)
    alike = generator.standard_normal((400, 1, 5)) + 0.1 * generator.standard_normal((400, 20, 5))
    assert 0.02 < np.mean(p_pooled(standardised(alike)) <= 0.05) < 0.08
    serial = whole._serial(generator, (100, 206, 5))
    assert np.mean(p_pooled(standardised(serial)) <= 0.05) > 0.9
    plain = generator.standard_normal((100, 206, 5))
    assert pooled_inflation(standardised(plain)).mean() < 1.1
    # 1.38 is what a correlation of 0.3 costs five blocks.
    assert pooled_inflation(standardised(serial)).mean() == pytest.approx(1.38, abs=0.1)
