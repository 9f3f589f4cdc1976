"""Two results, the gate and the history: known answers, planted changes, guards."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from pentathlon.evaluate import Verdict, evaluate
from pentathlon.evaluate.estimators.ratio import delta_log
from pentathlon.evaluate.estimators.welch import paired, welch
from pentathlon.evaluate.planning.alpha_spending import ONE_LOOK, fixed, levels_at
from pentathlon.evaluate.results.across import Across, compare_results, side
from pentathlon.evaluate.results.gate import Outcome, gate, of_across, of_evaluation
from pentathlon.evaluate.results.guard import emptied_by
from pentathlon.evaluate.results.history import courses
from pentathlon.evaluate.results.matching import matches
from pentathlon.evaluate.results.timeline import EVERYTHING, point, timeline
from pentathlon.evaluate.rule import Rule
from tests.fakes.synthetic import Item, Maker, Synthetic, same

SPIN = Item("test.spin", "time", {}, "ns", "lower", 850.0, 0.004)
RATE = Item("memory.read", "bandwidth", {"block_bytes": 1024}, "MB/s", "higher", 5e4, 0.004)


def one(factor=1.0, seed=1, **settings) -> Synthetic:
    """A result of one system."""
    settings.setdefault("chosen", [SPIN, RATE])
    return Maker(factors={"a": lambda _: factor}, seed=seed, **settings).make()


def changed(result: Synthetic, table: str, *columns: pl.Expr) -> Synthetic:
    return replace(
        result, tables={**result.tables, table: result.tables[table].with_columns(*columns)}
    )


def compared(baseline: Synthetic, system: Synthetic) -> Across:
    return compare_results(side(baseline, "a"), side(system, "a"), 1.0, 0.95)


def with_inventory(result: Synthetic, path: str, value: str) -> Synthetic:
    where = pl.when(pl.col("path") == path).then(pl.lit(value)).otherwise(pl.col("value_json"))
    return changed(result, "inventory", where.alias("value_json"))


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_welch_is_that_of_scipy(direction):
    generator = np.random.default_rng(3)
    first, second = generator.lognormal(1, 0.1, 7), generator.lognormal(1.1, 0.3, 5)
    found = replace(welch(first, second, direction), levels=ONE_LOOK)
    theirs = stats.ttest_ind(np.log(first), np.log(second), equal_var=False)
    assert found.p_different() == pytest.approx(theirs.pvalue)
    interval = theirs.confidence_interval(0.95)
    edges = (interval.low, interval.high) if direction == "higher" else (
        -interval.high, -interval.low
    )  # fmt: skip
    assert found.interval(0.05) == pytest.approx(edges)


def test_few_boots_cost_welch_what_they_cost_blocks():
    generator = np.random.default_rng(5)
    found = welch(generator.lognormal(1.2, 0.1, 6), generator.lognormal(1, 0.1, 9), "higher")
    plain = replace(found, levels=ONE_LOOK)
    # 1 / (1 + 3 / 6) of the error rate, by the side with fewer boots.
    assert found.p_different() == pytest.approx(1.5 * plain.p_different())
    assert found.interval(0.05) == pytest.approx(plain.interval(0.05 / 1.5))


@pytest.mark.parametrize("levels", [ONE_LOOK, fixed(9), levels_at((10, 15), 10)])
def test_claims_of_an_estimate_agree_with_its_interval(levels):
    found = paired(np.random.default_rng(4).normal(0.03, 0.02, 9), levels)
    for claim, edge in (
        (found.p_not_worse(0.01), lambda low, _: low > -0.01),
        (found.p_different(), lambda low, _: low > 0),
        (found.p_beyond(0.01), lambda low, _: low > 0.01),
        (found.p_equivalent(0.06), lambda _, high: high < 0.06),
    ):
        assert edge(*found.interval(claim * 1.01))
        assert not edge(*found.interval(claim * 0.99))


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.2, Verdict.FASTER_BY_DELTA), (0.8, Verdict.SLOWER_BY_DELTA)]
)
def test_a_difference_between_two_results_is_found(factor, verdict):
    found = compared(one(blocks=8), one(factor, seed=2, blocks=8))
    for row in found.rows:
        assert row.verdict is verdict
        assert row.percent == pytest.approx((factor - 1) * 100, abs=3)
        assert row.low_percent < row.percent < row.high_percent
    assert any("not in common blocks" in text for text in found.cautions)


def test_guards_say_what_they_looked_at_and_found():
    base = one()
    assert [(g.what, g.outcome) for g in compared(base, one()).guards] == [
        ("build", "same"), ("catalog", "same"), ("parameters", "same"), ("machine", "same"),
        ("layer", "same"), ("settings", "same"), ("plan", "same"),
    ]  # fmt: skip
    for path, value, what in (
        ("agent.build", '"other"', "build"),
        ("cpu.model_name", '"another CPU"', "machine"),
        ("memory.total_bytes", "1000000", "memory"),
    ):
        found = compared(base, with_inventory(one(1.3), path, value))
        [guard] = [g for g in found.guards if g.what == what]
        assert guard.outcome == "qualified"
        assert guard.words in found.cautions
        assert found.rows[0].verdict.is_difference, "qualified, not refused"


def test_another_catalog_refuses_every_row():
    found = compared(one(), with_inventory(one(1.3), "agent.catalog_version", "2"))
    assert {row.verdict for row in found.rows} == {Verdict.INVALID}
    assert "versions 1 and 2" in found.rows[0].reason


def test_other_work_is_no_comparison():
    other = changed(one(1.3), "samples", pl.lit("0x0").alias("checksum"))
    assert {row.verdict for row in compared(one(), other).rows} == {Verdict.INVALID}


def test_rows_of_one_side_are_named():
    found = compared(one(), one(chosen=[SPIN]))
    assert [row.key for row in found.rows] == ["test.spin.time"]
    assert found.only_baseline == ("memory.read.bandwidth[block_bytes=1024]",)


def test_an_empty_comparison_says_what_emptied_it():
    two = Maker(factors={"a": same, "b": same}, chosen=[SPIN, RATE]).make()
    system_b = (pl.col("system") == "b") & (pl.col("path") == "agent.catalog_version")
    refused = changed(
        two,
        "inventory",
        pl.when(system_b).then(pl.lit("2")).otherwise(pl.col("value_json")).alias("value_json"),
    )
    rows = evaluate(refused).rows
    text = emptied_by(c for row in rows for c in row.comparisons)
    assert text.startswith("2 rows invalid")
    assert "different versions" in text
    assert emptied_by(c for row in evaluate(two).rows for c in row.comparisons) == ""
    assert "measured on either" in emptied_by([])


def at_gate(baseline, system, **settings):
    found = compared(baseline, system)
    return gate(of_across(found), "a", delta_percent=1.0, confidence=0.95, **settings)


def test_the_gate_opens_for_equal_and_faster_and_closes_for_slower():
    base = one(blocks=10, noise=0.2)
    assert at_gate(base, one(1.0, seed=2, blocks=10, noise=0.2)).outcome is Outcome.PASS
    assert at_gate(base, one(1.2, seed=3, blocks=10, noise=0.2)).outcome is Outcome.PASS
    assert at_gate(base, one(0.9, seed=4, blocks=10, noise=0.2)).outcome is Outcome.REGRESSION
    assert at_gate(base, one(1.0, seed=5, blocks=3, noise=3)).outcome is Outcome.INCONCLUSIVE
    assert at_gate(base, one(1.0, blocks=10, chosen=[SPIN])).outcome is Outcome.FAILURE


def test_failure_weighs_more_than_regression():
    base = one(blocks=10, noise=0.2)
    found = at_gate(base, one(0.8, seed=2, blocks=10, noise=0.2, chosen=[SPIN]))
    assert found.outcome is Outcome.FAILURE
    assert len(found.of(Outcome.REGRESSION)) == 1


def test_a_slowdown_around_delta_closes_the_gate_unless_delta_must_be_shown():
    base, slow = one(blocks=20, noise=0.2), one(1 / 1.0105, seed=2, blocks=20, noise=0.2)
    assert at_gate(base, slow).outcome is Outcome.REGRESSION
    assert at_gate(base, slow, only_by_delta=True).outcome is Outcome.INCONCLUSIVE


def test_the_gate_on_paired_systems():
    made = Maker(
        factors={"a": same, "b": lambda item: 0.9 if item is SPIN else 1.0},
        chosen=[SPIN, RATE], blocks=10, noise=0.2,
    ).make()  # fmt: skip
    entries = of_evaluation(evaluate(made), Rule(1.0, 0.95), delta_log(1.0))
    found = gate(entries, "a", delta_percent=1.0, confidence=0.95)
    assert {row.key: row.outcome for row in found.rows} == {
        "test.spin.time": Outcome.REGRESSION,
        "memory.read.bandwidth[block_bytes=1024]": Outcome.PASS,
    }


def test_no_entries_are_no_pass():
    assert gate([], "a", delta_percent=1.0, confidence=0.95).outcome is Outcome.FAILURE


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        ([], True),
        (["memory.*"], True),
        (["memory.read"], True),
        (["memory.read.bandwidth"], True),
        (["memory.read.bandwidth[block_bytes=1024]"], True),
        (["memory.write", "process.*"], False),
        (["memory"], False),
    ],
)
def test_patterns_choose_metrics(patterns, chosen):
    assert matches("memory.read.bandwidth[block_bytes=1024]", patterns) is chosen


def wave(count, rho, seed):
    """An AR(1) series of standard deviation 1 %."""
    generator = np.random.default_rng(seed)
    values = [generator.normal()]
    for _ in range(count - 1):
        values.append(rho * values[-1] + math.sqrt(1 - rho**2) * generator.normal())
    return np.array(values) * 0.01


def found_in(speeds):
    [course] = courses({"k": ("w", list(speeds))}, 0.95)
    return course.changes


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6])
def test_nothing_is_found_where_nothing_changed(rho):
    alarms = sum(bool(found_in(wave(15, rho, seed))) for seed in range(150))
    # 5 % would be 7.5; more than 17 have a probability below 0.1 %.
    assert alarms <= 17


def test_a_planted_change_is_found_where_it_is():
    speeds = wave(20, 0.0, 5)
    speeds[12:] -= 0.08
    [change] = found_in(speeds)
    assert change.at == 12
    assert change.low < -0.08 < change.high < 0


def test_a_change_needs_three_points_after_it():
    for after in range(1, 6):
        speeds = wave(12 + after, 0.0, 8)
        speeds[12:] -= 0.2
        assert bool(found_in(speeds)) is (after >= 3)


def test_a_single_bad_night_is_no_change():
    speeds = wave(20, 0.0, 9)
    speeds[10] -= 0.3
    assert found_in(speeds) == ()


def test_constant_series_have_no_change():
    assert found_in(np.full(10, 3.0)) == ()


def night(k, factor=1.0, **settings):
    return one(factor, seed=100 + k, blocks=5, **settings)


def test_results_in_time_show_a_planted_slowdown():
    points = [
        point(night(k, 0.9 if k >= 7 else 1.0), "a", f"r{k}", f"2026-01-{k + 1:02d}")
        for k in range(12)
    ]
    line = timeline(points[::-1], 0.95, {})
    assert [one.label for one in line.points] == [f"r{k}" for k in range(12)]
    changes = {course.key: course.changes for course in line.courses}
    assert set(changes) == {SPIN.key, RATE.key, EVERYTHING}
    for [change] in changes.values():
        assert line.points[change.at].label == "r7"
        assert change.mean == pytest.approx(math.log(0.9), abs=0.03)


def test_what_cannot_stand_in_the_line_is_left_out_with_a_reason():
    points = [point(night(k), "a", f"r{k}", f"2026-01-{k + 1:02d}") for k in range(7)]
    other = with_inventory(night(20), "cpu.model_name", '"another CPU"')
    points.append(point(other, "a", "moved", "2026-01-03T12"))
    line = timeline(points, 0.95, {})
    [(label, reason)] = line.left_out
    assert label == "moved"
    assert "another CPU" in reason
    assert len(line.points) == 7
    assert not any(course.changes for course in line.courses)


def test_few_results_are_not_assessed():
    line = timeline([point(night(k), "a", f"r{k}", str(k)) for k in range(5)], 0.95, {})
    assert line.unassessed.startswith("5 comparable results")
