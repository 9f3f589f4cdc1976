"""Warm-up, cold start, modes, exclusions and candidates: planted, and nothing where nothing is."""

from __future__ import annotations

import dataclasses
import math
import warnings

import numpy as np
import polars as pl
import pytest
from scipy import stats

from pentathlon.evaluate import Verdict, changepoints, evaluate
from pentathlon.evaluate.changepoints import level_ends_of_each, segment_ends
from pentathlon.evaluate.diagnostics.exclude import exclude
from pentathlon.evaluate.diagnostics.modes import slow_boots, unseen_bound
from pentathlon.evaluate.diagnostics.steady import FEWEST_ITERATIONS, classify
from pentathlon.evaluate.estimate import counted
from pentathlon.evaluate.estimators.binomial import clopper_pearson
from pentathlon.study.exclusion import QUANTITIES, parse_exclusion
from tests.fakes.synthetic import Item, Maker, Synthetic, same

SPIN = Item("test.spin", "time", {}, "ns", "lower", 850.0, 0.004)
RATE = Item("memory.read", "bandwidth", {"block_bytes": 1024}, "MB/s", "higher", 5e4, 0.004)
B = pl.col("system") == "b"


def two(factor=1.0, **settings) -> Synthetic:
    settings.setdefault("chosen", [SPIN, RATE])
    return Maker(factors={"a": same, "b": lambda _: factor}, **settings).make()


def changed(result: Synthetic, *columns: pl.Expr) -> Synthetic:
    samples = result.samples().with_columns(*columns)
    return dataclasses.replace(result, tables={**result.tables, "samples": samples})


def with_rules(result: Synthetic, *rules: str) -> Synthetic:
    study = result.plan.study
    settings = study.evaluation.model_copy(update={"exclude": rules})
    study = study.model_copy(update={"evaluation": settings})
    return dataclasses.replace(result, plan=result.plan.model_copy(update={"study": study}))


def noise(count: int, seed: int, size: float = 0.002) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, size, count)


TOLERANCE = math.log(1.01)


@pytest.mark.parametrize(
    ("steps", "kind", "steady_from"),
    [
        ([(200, 0.0)], "flat", 0),
        ([(60, 0.2), (140, 0.0)], "warm-up", 60),
        ([(60, 0.4), (40, 0.2), (100, 0.0)], "warm-up", 100),
        ([(60, 0.0), (140, 0.2)], "slowdown", 60),
        ([(40, 0.2), (60, 0.0), (100, 0.1)], "slowdown", 100),
        ([(170, 0.0), (30, 0.2)], "no steady state", None),
        ([(20, 0.3), (180, 0.005)], "warm-up", 20),
        ([(100, 0.005), (100, 0.0)], "flat", 0),
    ],
)
def test_planted_courses_are_classified(steps, kind, steady_from):
    levels = np.concatenate([np.full(count, level) for count, level in steps])
    found = classify(levels + noise(len(levels), 7), TOLERANCE)
    assert found.kind == kind
    if steady_from is None:
        assert found.steady_from is None
    else:
        assert found.steady_from == pytest.approx(steady_from, abs=2)


@pytest.mark.parametrize("seed", range(6))
def test_the_cuts_are_those_of_pelt(seed):
    import ruptures  # noqa: PLC0415  each worker would load it to collect these tests

    generator = np.random.default_rng(seed)
    steps = np.repeat(generator.normal(0, 3, 4), generator.integers(5, 30, 4))
    signal = generator.normal(0, 1, len(steps)) + steps
    signal = (signal - signal.mean()) / signal.std()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search = ruptures.Pelt(model="normal", min_size=5, jump=1)
    for penalty in (5.0, 20.0, 60.0):
        theirs = search.fit(signal.reshape(-1, 1)).predict(pen=penalty)
        assert segment_ends(signal, penalty, 5) == theirs


@pytest.mark.parametrize("seed", range(4))
def test_levels_are_those_of_ruptures(seed):
    import ruptures  # noqa: PLC0415  see above

    steps = np.repeat(np.random.default_rng(seed).normal(0.0, 2.0, 6), 12)
    signal = steps + np.random.default_rng(seed + 9).normal(0.0, 1.0, len(steps))
    search = ruptures.Pelt(model="l2", min_size=3, jump=1)
    for penalty in (2.0, 12.0, 80.0):
        theirs = search.fit(signal.reshape(-1, 1)).predict(pen=penalty)
        assert level_ends_of_each(signal[np.newaxis], penalty, 3) == [theirs]


@pytest.mark.parametrize("shortest", [1, 3, 40])
@pytest.mark.parametrize("count", [40, 95, 96, 97, 300])
def test_a_long_series_has_the_levels_of_a_short_one(count: int, shortest: int) -> None:
    """By a search that leaves out most starts, over flat, stepped, rising and coarse series."""
    generator = np.random.default_rng(count)
    noise = generator.normal(size=count)
    steps = np.repeat(generator.normal(0.0, 2.0, count // 20), 20)
    steps = np.concatenate([steps, np.full(count - len(steps), steps[-1])])
    for signal in (noise, noise + steps, noise + np.linspace(0.0, 9.0, count), np.round(noise)):
        for penalty in (0.5, 4.0, 30.0):
            every = changepoints._level_ends(signal[np.newaxis], penalty, shortest)[0]
            assert changepoints._long_level_ends(signal, penalty, shortest) == every


@pytest.mark.parametrize("size", [0.002, 0.02])
def test_noise_is_flat(size):
    kinds = [classify(noise(80, seed, size), TOLERANCE).kind for seed in range(30)]
    assert kinds.count("flat") >= 29


def test_single_outliers_make_no_segment():
    costs = noise(120, 3)
    costs[[20, 50, 51, 90]] += 0.8
    assert classify(costs, TOLERANCE).kind == "flat"


def test_constant_courses_are_flat():
    assert classify(np.zeros(60), TOLERANCE).kind == "flat"


def test_few_iterations_are_not_assessed():
    found = evaluate(two()).steady
    assert {one.verdict for one in found} == {"not assessed"}
    assert "6 iterations" in found[0].words


def test_a_process_that_warms_up_is_said_beside_the_row():
    result = two(iterations=60, blocks=3, noise=0.2, chosen=[SPIN])
    warm = B & (pl.col("phase") == "measure") & (pl.col("iteration") < 20)
    evaluation = evaluate(
        changed(result, pl.when(warm).then(pl.col("value") * 1.3).otherwise(pl.col("value")))
    )
    courses = {one.system: one for one in evaluation.steady}
    assert courses["a"].verdict == "flat"
    assert courses["b"].counts == {"warm-up": 3}
    assert courses["b"].iterations == 61 >= FEWEST_ITERATIONS
    assert courses["b"].steady_after == pytest.approx(21, abs=1)
    [sentences] = [c for c in evaluation.rows[0].comparison("b").cautions if "not flat" in c]
    assert "on b 3 of 3 processes" in sentences


def test_the_cold_sample_is_an_metric_of_its_own():
    result = two(blocks=8, noise=0.3)
    cold = B & (pl.col("phase") == "warmup") & (pl.col("key") == "test.spin.time")
    planted = changed(result, pl.when(cold).then(pl.col("value") * 3.0).otherwise(pl.col("value")))
    evaluation = evaluate(planted)
    found = {(one.key, one.system): one for one in evaluation.cold}
    spin = found["test.spin.time", "b"]
    assert spin.different
    assert spin.percent == pytest.approx((1 / 3 - 1) * 100, abs=2)
    # The maker's warm-up values are 2 % higher: slower for a time, faster for a rate.
    assert spin.slower_percent == pytest.approx(3.0 * 1.02 * 100 - 100, abs=4)
    assert found["memory.read.bandwidth[block_bytes=1024]", "a"].slower_percent < 0
    assert not found["memory.read.bandwidth[block_bytes=1024]", "b"].different
    assert evaluation.row("test.spin.time").comparison("b").verdict is not Verdict.SLOWER_BY_DELTA


def test_the_interval_of_a_share_is_exact():
    # Clopper and Pearson's own kind of table: 0 of 10, 3 of 20.
    assert clopper_pearson(0, 10, 0.95) == pytest.approx((0.0, 0.30850), abs=1e-5)
    assert clopper_pearson(3, 20, 0.95) == pytest.approx((0.03207, 0.37893), abs=1e-5)
    for hits in range(13):
        exact = stats.binomtest(hits, 12).proportion_ci(0.9, "exact")
        assert clopper_pearson(hits, 12, 0.9) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize("count", [1, 5, 59])
def test_an_unseen_mode_at_its_bound_is_missed_in_one_of_twenty(count):
    assert (1 - unseen_bound(count, 0.95)) ** count == pytest.approx(0.05)
    assert unseen_bound(59, 0.95) < 0.05 < unseen_bound(58, 0.95)


def test_planted_slow_boots_are_found_with_their_size():
    result = two(blocks=10, noise=0.3, chosen=[SPIN, RATE])
    slow = B & pl.col("block").is_in([2, 5, 7]) & (pl.col("workload") == "memory.read")
    evaluation = evaluate(
        changed(result, pl.when(slow).then(pl.col("value") / 1.2).otherwise(pl.col("value")))
    )
    [mode] = evaluation.modes
    assert (mode.system, mode.slow, mode.boots, mode.blocks) == ("b", 3, 10, (2, 5, 7))
    assert mode.percent == pytest.approx(20, abs=2)
    assert mode.low_percent == pytest.approx(6.67, abs=0.01)
    assert mode.also == ()


def test_a_disturbance_of_both_systems_is_said_to_be_one():
    result = two(blocks=10, noise=0.3, chosen=[SPIN])
    hit = pl.col("block") == 4
    modes = evaluate(
        changed(result, pl.when(hit).then(pl.col("value") * 1.5).otherwise(pl.col("value")))
    ).modes
    assert {(one.system, one.also) for one in modes} == {("a", ("b",)), ("b", ("a",))}


@pytest.mark.parametrize("count", [6, 10, 20])
def test_normal_noise_seldom_makes_a_mode(count):
    generator = np.random.default_rng(11)
    found = sum(slow_boots(generator.normal(0, 0.05, count)) is not None for _ in range(1000))
    assert found <= 10


@pytest.mark.parametrize(
    "rule", ["value > 2", "system > 1", "steal_percent", "steal_percent > two", "", "1 > 2"]
)
def test_a_rule_cannot_look_at_anything_but_counters(rule):
    with pytest.raises(ValueError, match="rule"):
        parse_exclusion(rule)


@pytest.mark.parametrize("name", list(QUANTITIES))
def test_every_quantity_can_be_computed(name):
    counters = pl.lit(1000).cast(pl.Int64)
    reported = changed(
        two(),
        *(counters.alias(c) for c in ("steal_ns", "run_delay_ns", "involuntary_switches",
                                      "minor_faults", "major_faults", "interrupts",
                                      "frequency_khz")),
        pl.lit(0).cast(pl.Int64).alias("voluntary_switches"),
    )  # fmt: skip
    found = evaluate(with_rules(reported, f"{name} < 1e12")).excluded
    assert [one.excluded for one in found] == [50, 50]
    assert all(one.untold == 0 for one in found)


def test_cpu_time_is_missing_only_where_nothing_was_waited_for_and_the_clock_is_fine_enough():
    result = two(chosen=[SPIN])
    half = (pl.col("elapsed_ns") / 4).cast(pl.Int64)
    for switches, step, hits in ((0, 1.0, 25), (1, 1.0, 0), (0, 1e12, 0)):
        reported = changed(
            result,
            half.alias("cpu_user_ns"),
            half.alias("cpu_system_ns"),
            pl.lit(switches).cast(pl.Int64).alias("voluntary_switches"),
        )
        rules = [parse_exclusion("lost_cpu_percent > 10")]
        used = counted(reported.samples())
        _, [found, _] = exclude(used, rules, ["a", "b"], {"a": step, "b": step})
        assert (found.excluded, found.untold) == (hits, 25 - hits)


def test_samples_leave_by_a_declared_rule_and_are_counted():
    result = two(blocks=6, noise=0.3, chosen=[SPIN])
    stolen = pl.col("iteration") == 1
    dirty = changed(
        result,
        pl.when(stolen).then(pl.lit(500_000)).otherwise(pl.lit(0)).cast(pl.Int64).alias("steal_ns"),
        pl.when(stolen & (pl.col("phase") == "measure"))
        .then(pl.col("value") * 3)
        .otherwise(pl.col("value")),
    )
    evaluation = evaluate(with_rules(dirty, "steal_percent > 2"))
    assert [(one.system, one.excluded, one.samples) for one in evaluation.excluded] == [
        ("a", 6, 30), ("b", 6, 30),
    ]  # fmt: skip
    assert evaluation.excluded[1].p_uneven == 1.0
    clean = evaluate(result).row("test.spin.time").summary("a")
    assert evaluation.row("test.spin.time").summary("a").mean == pytest.approx(clean.mean, rel=0.01)
    assert evaluation.row("test.spin.time").summary("a").samples == 24
    assert evaluate(dirty).row("test.spin.time").summary("a").mean > clean.mean * 1.3


def test_what_a_system_does_not_tell_excludes_nothing():
    [first, _] = evaluate(with_rules(two(chosen=[SPIN]), "major_faults > 0")).excluded
    assert (first.excluded, first.untold) == (0, 25)


def test_uneven_exclusion_is_said():
    result = changed(
        two(blocks=10, chosen=[SPIN]),
        pl.when(B & (pl.col("iteration") < 2)).then(9).otherwise(0).cast(pl.Int64)
        .alias("involuntary_switches"),
    )  # fmt: skip
    evaluation = evaluate(with_rules(result, "involuntary_switches > 5"))
    assert evaluation.excluded[1].p_uneven < 0.01
    assert any("left out" in text for text in evaluation.rows[0].comparison("b").cautions)


def test_a_counter_that_differs_beside_a_difference_is_a_candidate():
    result = two(1.3, blocks=8, noise=0.3, chosen=[SPIN])
    faults = pl.when(B).then(10).otherwise(4096 * 3).cast(pl.Int64).alias("minor_faults")
    same_switches = pl.lit(4096).cast(pl.Int64).alias("voluntary_switches")
    [why] = evaluate(changed(result, faults, same_switches)).whys
    assert why.system == "b"
    [one] = why.candidates
    assert (one.counter, one.agreeing, one.blocks) == ("minor_faults", 8, 8)
    assert (one.reference, one.value) == pytest.approx((3.0, 10 / 4096))
    assert one.p == pytest.approx(2 / 2**8)


def test_no_difference_needs_no_reason():
    faults = pl.when(B).then(10).otherwise(4096 * 3).cast(pl.Int64).alias("minor_faults")
    assert evaluate(changed(two(1.0, noise=0.3), faults)).whys == ()


def test_a_counter_that_only_wavers_is_no_candidate():
    result = two(1.3, blocks=8, noise=0.3, chosen=[SPIN])
    wavering = (4096 * (2 + (pl.col("block") + B.cast(pl.Int32)) % 2)).cast(pl.Int64)
    assert evaluate(changed(result, wavering.alias("minor_faults"))).whys == ()
