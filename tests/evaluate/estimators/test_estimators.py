"""The estimates beside the t interval: known answers, independent implementations, properties."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pentathlon.evaluate.compare import Judge, Pair
from pentathlon.evaluate.diagnostics.serial_correlation import dependence, p_serial, ranks
from pentathlon.evaluate.estimators.binomial import clopper_pearson
from pentathlon.evaluate.estimators.checks import checks, disagreement
from pentathlon.evaluate.estimators.fieller import ratio_of_means
from pentathlon.evaluate.estimators.order_statistics import median_interval
from pentathlon.evaluate.estimators.sign_flip import least_p, p_max_t, p_sign_flip
from pentathlon.evaluate.estimators.superiority import cliffs_delta, probability_faster
from pentathlon.evaluate.multiplicity.fdr import step_up
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Verdict
from tests.fakes.simulate import facts, series

samples = st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=6, max_size=12)


# The median: exact coverages of Conover 1999, table A3, and of scipy's quantile test.


@pytest.mark.parametrize(
    ("count", "rank", "confidence"),
    [(6, 1, 0.96875), (8, 1, 0.9921875), (10, 2, 0.978515625), (20, 6, 0.9586105)],
)
def test_median_interval_has_the_tabled_ranks(count, rank, confidence):
    found = median_interval(np.arange(1.0, count + 1), 0.05)
    assert (found.low, found.high) == (rank, count + 1 - rank)
    assert found.confidence == pytest.approx(confidence, abs=1e-6)


def test_five_values_give_no_median_interval_at_95_percent():
    assert median_interval(np.arange(5.0), 0.05) is None
    assert median_interval(np.arange(5.0), 0.07) is not None


def test_median_interval_agrees_with_scipy():
    sample = np.random.default_rng(3).lognormal(size=23)
    theirs = stats.quantile_test(sample, p=0.5).confidence_interval(0.95)
    ours = median_interval(sample, 0.05)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


# Sign flips.


@given(samples)
@settings(max_examples=40)
def test_sign_flips_by_brute_force(values):
    sample = np.array(values)
    observed = abs(sample.sum()) * (1 - 1e-12)
    hits = [
        abs(np.dot(signs, sample)) >= observed for signs in product((1, -1), repeat=len(values))
    ]
    assert p_sign_flip(sample) == pytest.approx(np.mean(hits), abs=2 / len(hits))


def test_sign_flips_agree_with_scipys_permutation_test():
    sample = np.random.default_rng(4).normal(0.5, 1, 10)
    theirs = stats.permutation_test(
        (sample,), np.mean, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert p_sign_flip(sample) == pytest.approx(theirs)


def test_random_sign_flips_are_seeded_and_close_to_the_t_test():
    sample = np.random.default_rng(5).normal(0.4, 1, 25)
    assert p_sign_flip(sample) == p_sign_flip(sample)
    assert p_sign_flip(sample) == pytest.approx(stats.ttest_1samp(sample, 0).pvalue, abs=0.02)
    assert p_sign_flip(np.full(25, 1.0)) == least_p(25) == 1e-4


def test_max_t_of_one_system_is_the_sign_flip_test():
    sample = np.random.default_rng(6).normal(0.3, 1, 9)
    assert p_max_t(sample[:, None])[0] == pytest.approx(p_sign_flip(sample))


def test_max_t_adjusts_and_keeps_the_family_error():
    generator = np.random.default_rng(7)
    alarms, trials = 0, 400
    for _ in range(trials):
        blocks = generator.normal(size=(8, 4))
        # A common reference makes the comparisons dependent.
        p_values = p_max_t(blocks[:, 1:] - blocks[:, :1])
        singles = [p_sign_flip(column) for column in (blocks[:, 1:] - blocks[:, :1]).T]
        assert np.all(p_values >= np.min(singles) - 1e-12)
        alarms += p_values.min() <= 0.05
    assert alarms <= stats.binom.ppf(0.9999, trials, 0.05)


# Fieller.


def test_fieller_holds_the_ratios_that_a_t_test_does_not_reject():
    generator = np.random.default_rng(8)
    x, y = generator.normal(10, 1, 12), generator.normal(8, 1, 12)
    found = ratio_of_means(x, y, 0.05)
    for end in (found.low, found.high):
        assert stats.ttest_1samp(x - end * y, 0).pvalue == pytest.approx(0.05)
    assert found.low < found.ratio < found.high


def test_fieller_is_unbounded_where_the_denominator_may_be_zero():
    found = ratio_of_means(np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.5, 1.0]), 0.05)
    assert found.unbounded
    assert found.low is found.high is None


# Effect sizes.


@given(samples, samples)
@settings(max_examples=40)
def test_probability_faster_is_the_mann_whitney_statistic(one, other):
    x, y = np.array(one), np.array(other)
    share = stats.mannwhitneyu(x, y).statistic / (len(x) * len(y))
    assert probability_faster(x, y, "higher") == pytest.approx(share)
    assert probability_faster(x, y, "lower") == pytest.approx(1 - share)
    assert cliffs_delta(probability_faster(x, y, "higher")) == pytest.approx(2 * share - 1)


# Order of the blocks.


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=20))
def test_equal_blocks_share_the_mean_of_their_ranks(values):
    assert np.array_equal(ranks(np.array(values, dtype=float)), stats.rankdata(values))


def test_order_is_seen_and_chance_is_not():
    assert p_serial(np.arange(10.0)) < 1e-4
    assert p_serial(np.arange(5.0)) is None
    assert p_serial(np.array([1.0, 8, 2, 7, 3, 6, 4, 5])) > 0.5
    assert dependence(p_serial(np.arange(12.0))) is not None


@pytest.mark.parametrize("blocks", [6, 8, 12, 30])
def test_order_is_tested_at_its_level_and_found_in_wandering_blocks(blocks):
    generator = np.random.default_rng(blocks)
    p_values = [p_serial(row) for row in generator.standard_t(3, (2000, blocks))]
    assert np.mean(np.array(p_values) <= 0.05) <= stats.binom.ppf(0.9999, 2000, 0.05) / 2000
    walks = np.cumsum(generator.normal(size=(200, 30)), axis=1)
    assert np.mean([p_serial(row) <= 0.01 for row in walks]) > 0.95


def test_bartels_agrees_with_the_normal_approximation():
    # Bartels 1982: RVN is nearly normal with mean 2 and variance 4(n−2)(5n²−2n−9)/(5n(n+1)(n−1)²).
    n = 40
    x = np.random.default_rng(9).normal(size=n)
    ranks = stats.rankdata(x)
    rvn = np.sum(np.diff(ranks) ** 2) / np.sum((ranks - ranks.mean()) ** 2)
    variance = 4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2)
    assert p_serial(x) == pytest.approx(stats.norm.cdf((rvn - 2) / np.sqrt(variance)), abs=0.01)


# Exploratory rows.


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=30), st.sampled_from([0.05, 0.1]))
def test_step_up_agrees_with_scipy(p_values, rate):
    found = step_up(np.array(p_values), np.ones(len(p_values)), rate)
    adjusted = stats.false_discovery_control(p_values, method="bh")
    clear = np.abs(adjusted - rate) > 1e-9
    assert np.array_equal(found.selected[clear], (adjusted <= rate)[clear])


def test_intervals_of_selected_rows_have_the_level_of_the_selection():
    found = step_up(np.array([1e-6, 1e-5, 0.9, 0.8, 0.7]), np.ones(5), 0.05)
    assert found.selected.tolist() == [True, True, False, False, False]
    assert found.levels == pytest.approx(2 * 0.05 / 5)


def test_false_coverage_among_the_selected_is_bounded():
    generator = np.random.default_rng(10)
    shares = []
    for _ in range(300):
        truth = np.where(np.arange(40) < 8, 3.0, 0.0)
        values = truth + generator.normal(size=40)
        found = step_up(2 * stats.norm.sf(np.abs(values)), np.ones(40), 0.1)
        half = stats.norm.isf(found.levels / 2)
        missed = (np.abs(values - truth) > half) & found.selected
        shares.append(missed.sum() / max(1, found.selected.sum()))
    assert np.mean(shares) <= 0.1 + 4 * np.std(shares) / np.sqrt(len(shares))


def test_clopper_pearson_agrees_with_scipy():
    for hits, trials in ((0, 20), (3, 50), (50, 50)):
        theirs = stats.binomtest(hits, trials).proportion_ci(method="exact")
        assert clopper_pearson(hits, trials) == pytest.approx((theirs.low, theirs.high))


# In the judgement.


def compare_pair(
    system: np.ndarray, reference: np.ndarray, rule: Rule | None = None, **pair: object
):
    key = "w.time"
    both = Pair(key, "w", series("b", key, "w", system), series("a", key, "w", reference), **pair)
    done = Judge(facts("b"), facts("a"), (), rule or Rule(1.0, 0.95)).judge([both])
    return done, done.comparisons[key]


def test_an_outlier_that_carries_the_difference_is_said():
    reference = np.full(10, 100.0)
    system = reference * np.exp(np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]) + 1e-4)
    found = checks(np.full(10, 0.01), system, reference, "lower", 0.05)
    text = disagreement(
        found.model_copy(update={"p_sign_flip": 0.2, "median_low_percent": -1.0}), 0.1, 2, 10, 0.05
    )
    assert "sign-flip check (p = 0.20)" in text
    assert "do not" in text
    assert disagreement(found, 0.1, 2.0, 10, 0.05) is None
    # Five blocks cannot satisfy the sign flips, and there is no interval of their median.
    five = checks(np.full(5, 0.01), system[:5], reference[:5], "lower", 0.05)
    assert disagreement(five, 0.1, 2.0, 5, 0.05) is None


def test_wandering_blocks_are_refused():
    generator = np.random.default_rng(11)
    reference = np.full(20, 100.0)
    wander = np.cumsum(generator.normal(0, 0.004, 20))
    system = reference * np.exp(wander - wander.mean() + 0.002)
    _, one = compare_pair(system, reference)
    assert one.verdict is Verdict.UNSTABLE
    assert "neighbours in time" in one.reason


def test_exploratory_rows_leave_the_family_of_the_declared_alone():
    generator = np.random.default_rng(12)
    pairs = []
    for number in range(60):
        key = f"w{number}.time"
        noise = generator.normal(0, 0.01, (2, 10))
        shift = 0.016 if number == 0 else 0.0
        own, other = 100 * np.exp(noise[0] + shift), 100 * np.exp(noise[1])
        pairs.append(
            Pair(
                key,
                f"w{number}",
                series("b", key, f"w{number}", own),
                series("a", key, f"w{number}", other),
                declared=number == 0,
            )
        )
    judge = Judge(facts("b"), facts("a"), (), Rule(1.0, 0.95))
    done = judge.judge(pairs)
    assert (done.tested, done.exploratory_tested) == (1, 59)
    level = 1 - done.comparisons["w0.time"].effect.adjusted_confidence
    assert level == pytest.approx(0.05)
    assert done.selected == 1


def test_repeated_intervals_are_wider_at_an_early_look():
    generator = np.random.default_rng(13)
    reference, system = (100 * np.exp(generator.normal(0, 0.01, 10)) for _ in "ab")
    _, plain = compare_pair(system, reference)
    _, early = compare_pair(system, reference, Rule(1.0, 0.95, (10, 15, 20, 30)))
    assert early.effect.low_percent < plain.effect.low_percent
    assert early.effect.high_percent > plain.effect.high_percent
    assert early.effect.nominal_confidence == pytest.approx(1 - 0.000207, abs=1e-6)
    assert early.effect.p_different > plain.effect.p_different


def test_installs_are_the_units_where_there_are_several():
    generator = np.random.default_rng(14)
    install = np.repeat([0.0, 0.02, -0.01, 0.01], 5)
    reference = np.full(20, 100.0)
    system = 100 * np.exp(install + generator.normal(0, 1e-4, 20))
    key = "w.time"
    own = series("b", key, "w", system)
    named = {block: f"i{block // 5}" for block in range(20)}
    own = own.__class__(**{**vars(own), "installs": named})
    pair = Pair(key, "w", own, series("a", key, "w", reference))
    one = Judge(facts("b"), facts("a"), (), Rule(1.0, 0.95)).judge([pair]).comparisons[key]
    assert (one.effect.blocks, one.effect.installs) == (20, 4)
    ends = stats.ttest_1samp([-np.log(system[i : i + 5] / 100).mean() for i in (0, 5, 10, 15)], 0)
    theirs = ends.confidence_interval(1 - 0.05 / (1 + 3 / 4))
    assert np.log1p(one.effect.low_percent / 100) == pytest.approx(theirs.low)
