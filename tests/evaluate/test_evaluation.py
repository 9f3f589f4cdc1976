"""From samples to verdicts: planted truths, planted faults, and what must not count."""

from __future__ import annotations

import dataclasses
import json
import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pentathlon.evaluate import Evaluation, Verdict, evaluate
from pentathlon.study.catalog import parse_catalog
from tests.fakes.synthetic import Item, Maker, Synthetic, null_items, same

SPIN = Item("test.spin", "time", {}, "ns", "lower", 850.0, 0.004)
RATE = Item("memory.read", "bandwidth", {"block_bytes": 1024}, "MB/s", "higher", 5e4, 0.004)


def two(factor=1.0, **settings):
    """A result of two systems of one layer; the second is `factor` times as fast."""
    settings.setdefault("chosen", [SPIN, RATE])
    return Maker(factors={"a": same, "b": lambda _: factor}, **settings).make()


def changed(result: Synthetic, table: str, *columns: pl.Expr) -> Synthetic:
    """The result with columns of one table replaced."""
    return dataclasses.replace(
        result, tables={**result.tables, table: result.tables[table].with_columns(*columns)}
    )


def of(system: str) -> pl.Expr:
    return pl.col("system") == system


def where(condition: pl.Expr, column: str, value: object) -> pl.Expr:
    return pl.when(condition).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)


def comparison(evaluation: Evaluation, workload: str, system: str = "b"):
    row = next(row for row in evaluation.rows if row.workload == workload)
    return row.comparison(system)


@pytest.mark.parametrize(("factor", "verdict"), [(1.05, "faster"), (1 / 1.05, "slower")])
def test_a_planted_difference_is_found_in_both_directions(factor, verdict):
    evaluation = evaluate(two(factor))
    for workload in ("test.spin", "memory.read"):
        found = comparison(evaluation, workload)
        assert found.words == f"{verdict} by at least 1\N{NO-BREAK SPACE}%"
        assert found.effect.percent == pytest.approx((factor - 1) * 100, abs=1.5)
        assert found.effect.low_percent < found.effect.percent < found.effect.high_percent
        assert found.effect.adjusted_low_percent <= found.effect.low_percent


def test_the_raw_difference_keeps_the_metrics_own_direction():
    evaluation = evaluate(two(1.25, noise=0.0))
    assert comparison(evaluation, "test.spin").difference_percent == pytest.approx(-20.0)
    assert comparison(evaluation, "memory.read").difference_percent == pytest.approx(25.0)
    assert comparison(evaluation, "test.spin").effect.percent == pytest.approx(25.0)


def test_equal_systems_with_little_noise_are_equivalent():
    evaluation = evaluate(two(1.0, noise=0.1, blocks=8))
    assert comparison(evaluation, "test.spin").verdict is Verdict.EQUIVALENT


def test_a_small_proven_difference_is_negligible():
    evaluation = evaluate(two(1.003, noise=0.02, blocks=8))
    assert comparison(evaluation, "test.spin").verdict is Verdict.NEGLIGIBLE


def test_a_difference_around_delta_is_faster_without_more():
    evaluation = evaluate(two(1.0105, noise=0.2, blocks=8))
    assert comparison(evaluation, "test.spin").verdict is Verdict.FASTER


def test_summaries_are_the_published_model():
    evaluation = evaluate(two())
    row = evaluation.row("test.spin.time")
    samples = (
        two()
        .samples()
        .filter((pl.col("phase") == "measure") & of("a") & (pl.col("key") == row.key))
    )
    summary = row.summary("a")
    values = samples["value"].to_list()
    assert summary.samples == 25
    assert summary.boots == 5
    assert summary.mean == pytest.approx(sum(values) / 25)
    assert (summary.minimum, summary.maximum) == (min(values), max(values))
    assert summary.sd == pytest.approx(samples["value"].std())
    boots = samples.group_by("boot").agg(pl.col("value").mean())["value"].to_list()
    worst = max(abs(boot - summary.mean) for boot in boots) / summary.mean * 100
    assert summary.deviation_percent == pytest.approx(worst)
    assert summary.within_one_percent is (worst <= 1)


def test_warm_up_and_uncounted_samples_do_not_count():
    result = two()
    clean = evaluate(result)
    extra = result.samples().filter((pl.col("iteration") == 0) & (pl.col("phase") == "measure"))
    poisoned = extra.with_columns(pl.lit(1e9).alias("value"), pl.lit(False).alias("counted"))
    warm = extra.with_columns(pl.lit(1e9).alias("value"), pl.lit("warmup").alias("phase"))
    tables = {**result.tables, "samples": pl.concat([poisoned, result.samples(), warm])}
    assert evaluate(dataclasses.replace(result, tables=tables)).rows == clean.rows


def test_the_order_of_samples_does_not_matter():
    result = two()
    shuffled = result.samples().sample(fraction=1.0, shuffle=True, seed=3)
    again = evaluate(dataclasses.replace(result, tables={**result.tables, "samples": shuffled}))
    for one, other in zip(evaluate(result).rows, again.rows, strict=True):
        assert one.comparisons[0].verdict is other.comparisons[0].verdict
        assert one.comparisons[0].effect.mean == pytest.approx(other.comparisons[0].effect.mean)


@settings(max_examples=15)
@given(st.floats(0.01, 1000.0))
def test_the_unit_does_not_matter(factor):
    result = two(1.05)
    scaled = changed(result, "samples", pl.col("value") * factor)
    for one, other in zip(evaluate(result).rows, evaluate(scaled).rows, strict=True):
        assert one.comparisons[0].words == other.comparisons[0].words
        assert other.summaries[0].mean == pytest.approx(one.summaries[0].mean * factor)


def test_swapping_the_systems_turns_the_sign():
    result = two(1.05)
    swapped = pl.col("system").replace({"a": "b", "b": "a"})
    turned = evaluate(changed(result, "samples", swapped))
    there = comparison(evaluate(result), "test.spin")
    back = comparison(turned, "test.spin")
    assert back.effect.mean == pytest.approx(-there.effect.mean)
    assert (there.verdict, back.verdict) == (Verdict.FASTER_BY_DELTA, Verdict.SLOWER_BY_DELTA)


def test_iterations_are_not_the_unit():
    # Boots that differ by 5 % with iterations that hardly differ: many iterations prove nothing.
    noisy = dataclasses.replace(SPIN, boot_noise=0.05, sample_noise=0.0001)
    alarms = 0
    for seed in range(40):
        result = two(1.0, chosen=[noisy], iterations=40, blocks=3, seed=seed)
        alarms += comparison(evaluate(result), "test.spin").verdict.is_difference
    assert alarms <= 6


def test_a_block_without_a_partner_is_left_out():
    result = two(1.05)
    cut = result.samples().filter(~(of("b") & (pl.col("block") == 2)))
    evaluation = evaluate(dataclasses.replace(result, tables={**result.tables, "samples": cut}))
    assert comparison(evaluation, "test.spin").effect.blocks == 4
    assert evaluation.row("test.spin.time").summary("a").boots == 5


def test_one_paired_block_is_inconclusive_and_says_why():
    found = comparison(evaluate(two(1.5, blocks=1)), "test.spin")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason == "1 paired block; an interval needs at least 2"
    assert found.effect.low_percent is None
    assert found.effect.percent == pytest.approx(50.0, abs=5)


def test_a_missing_side_is_not_measured_with_the_reason():
    result = two()
    cut = result.samples().filter(~(of("b") & (pl.col("workload") == "test.spin")))
    reason = "the system has no such call"
    rows = [
        {"block": 0, "system": "b", "workload": "test.spin", "case": "", "kind": "unsupported",
         "reason": reason, "resolved": False}
    ]  # fmt: skip
    failed = pl.DataFrame(rows, schema=result.failures().schema, strict=False)
    tables = {**result.tables, "samples": cut, "failures": failed}
    evaluation = evaluate(dataclasses.replace(result, tables=tables))
    found = comparison(evaluation, "test.spin")
    assert found.verdict is Verdict.NOT_MEASURED
    assert found.reason == f"b: unsupported, {reason}"
    assert evaluation.failures[0].reason == reason
    assert comparison(evaluation, "memory.read").verdict is not Verdict.NOT_MEASURED


def test_different_checksums_are_invalid():
    wrong = of("b") & (pl.col("workload") == "test.spin")
    evaluation = evaluate(changed(two(1.5), "samples", where(wrong, "checksum", "0xbad")))
    found = comparison(evaluation, "test.spin")
    assert found.verdict is Verdict.INVALID
    assert "the checksums differ" in found.reason
    assert comparison(evaluation, "memory.read").verdict is Verdict.FASTER_BY_DELTA


def test_a_checksum_that_changes_within_a_system_is_invalid():
    wrong = of("a") & (pl.col("iteration") == 3)
    evaluation = evaluate(changed(two(), "samples", where(wrong, "checksum", "0xbad")))
    assert "different results for the same work" in comparison(evaluation, "test.spin").reason


def test_checksums_of_warm_up_do_not_count():
    wrong = of("a") & (pl.col("phase") == "warmup")
    evaluation = evaluate(changed(two(), "samples", where(wrong, "checksum", "0xbad")))
    assert comparison(evaluation, "test.spin").verdict is not Verdict.INVALID


def test_own_parameters_qualify_the_rows_of_their_workload():
    result = two(0.95, parameters={"b": {"test.spin": {"slowdown_percent": 5}}})
    wrong = of("b") & (pl.col("workload") == "test.spin")
    evaluation = evaluate(changed(result, "samples", where(wrong, "checksum", "0xother")))
    found = comparison(evaluation, "test.spin")
    assert found.cautions == ("the parameters differ: b has slowdown_percent = 5",)
    assert found.verdict is Verdict.SLOWER_BY_DELTA
    assert comparison(evaluation, "memory.read").cautions == ()


def test_an_invalid_run_makes_its_rows_invalid_unless_it_was_made_good():
    result = two()
    row = {"block": 1, "system": "a", "workload": "test.spin", "case": "", "kind": "invalid",
           "reason": "the loop did no work", "resolved": False}  # fmt: skip
    for resolved, expected in ((False, True), (True, False)):
        failed = pl.DataFrame(
            [{**row, "resolved": resolved}], schema=result.failures().schema, strict=False
        )
        tables = {**result.tables, "failures": failed}
        found = comparison(evaluate(dataclasses.replace(result, tables=tables)), "test.spin")
        assert (found.verdict is Verdict.INVALID) is expected
        assert ("the loop did no work" in found.reason) is expected


def test_values_that_cannot_be_right_are_invalid():
    wrong = of("b") & (pl.col("block") == 0) & (pl.col("iteration") == 1)
    evaluation = evaluate(changed(two(), "samples", where(wrong, "value", 0.0)))
    assert "zero or negative" in comparison(evaluation, "test.spin").reason


FAULTS = Item("memory.faults", "page_reads", {}, "1/s", "lower", 40.0, 0.004)


class WithCatalog:
    """A result whose catalog states which metric may be zero."""

    def __init__(self, result: Synthetic, zero_allowed: bool):
        metric = {"id": "page_reads", "title": "Page reads", "unit": "1/s"}
        metric |= {"direction": "lower", "zero_allowed": zero_allowed}
        workload = {"id": "memory.faults", "area": "memory", "title": "Faults"}
        self.catalog = parse_catalog(
            {
                "protocol": 2,
                "catalog_version": 1,
                "agent": {},
                "workloads": [workload | {"metrics": [metric]}],
            }
        )
        self._result = result

    def __getattr__(self, name):
        return getattr(self._result, name)


@pytest.mark.parametrize("zero_allowed", [True, False])
def test_zero_is_a_value_where_the_catalog_says_so(zero_allowed):
    quiet = where(of("b") & (pl.col("block") == 0), "value", 0.0)
    result = changed(two(chosen=[FAULTS]), "samples", quiet)
    found = comparison(evaluate(WithCatalog(result, zero_allowed)), "memory.faults")
    if zero_allowed:
        assert (found.verdict, found.effect) == (Verdict.INCONCLUSIVE, None)
        assert "zero" in found.reason
        assert found.difference_percent < 0
    else:
        assert found.verdict is Verdict.INVALID


def test_zero_in_some_samples_only_leaves_the_ratio():
    some = of("b") & (pl.col("iteration") == 1)
    result = changed(two(chosen=[FAULTS]), "samples", where(some, "value", 0.0))
    found = comparison(evaluate(WithCatalog(result, True)), "memory.faults")
    assert found.effect is not None and found.effect.percent > 0


def test_negative_is_never_a_value():
    result = changed(two(chosen=[FAULTS]), "samples", where(of("b"), "value", -1.0))
    found = comparison(evaluate(WithCatalog(result, True)), "memory.faults")
    assert found.verdict is Verdict.INVALID


def test_units_that_differ_are_invalid():
    evaluation = evaluate(changed(two(), "samples", where(of("b"), "unit", "ms")))
    found = comparison(evaluation, "test.spin")
    assert (found.verdict, found.difference_percent) == (Verdict.INVALID, None)
    assert found.reason == "the units differ (ns and ms)"


def test_layers_are_named_on_every_row():
    result = Maker(factors={"uml-6.1": same, "host": same}, chosen=[SPIN, RATE]).make()
    evaluation = evaluate(result)
    sentence = "compares layers uml and host, not kernels"
    assert [one.cautions for row in evaluation.rows for one in row.comparisons] == [
        (sentence,),
        (sentence,),
    ]
    assert evaluation.pairs[0].cautions == (sentence,)


def inventory_with(path: str, value: object) -> Synthetic:
    here = of("b") & (pl.col("path") == path)
    return changed(two(), "inventory", where(here, "value_json", json.dumps(value)))


def test_another_build_qualifies_and_another_catalog_forbids():
    built = evaluate(inventory_with("agent.build", "0000"))
    assert comparison(built, "test.spin").cautions == ("the agents are of 2 builds (5f1e0c, 0000)",)
    ported = evaluate(inventory_with("agent.target", "x86_64-pc-windows-gnu"))
    (caution,) = comparison(ported, "test.spin").cautions
    assert "x86_64-unknown-linux-gnu and x86_64-pc-windows-gnu" in caution
    cataloged = evaluate(inventory_with("agent.catalog_version", 2))
    found = comparison(cataloged, "test.spin")
    assert found.verdict is Verdict.INVALID
    assert found.reason == "the agents' catalogs have different versions (1 and 2)"


def test_another_machine_is_named():
    cautions = evaluate(inventory_with("cpu.model_name", "Other CPU")).pairs[0].cautions
    assert len(cautions) == 1
    assert "the CPUs differ" in cautions[0]
    cautions = evaluate(inventory_with("memory.total_bytes", 1 << 30)).pairs[0].cautions
    assert cautions == ("the memory sizes differ (640 MiB and 1,024 MiB)",)
    assert (
        evaluate(inventory_with("memory.total_bytes", (640 << 20) - 4096)).pairs[0].cautions == ()
    )


def test_inventory_differences_leave_out_what_varies_between_boots():
    evaluation = evaluate(Maker().make())
    paths = {line.path: line.values for line in evaluation.inventory_differences}
    assert paths["clocksource.current"] == {"uml-6.1": "timer", "uml-7.2": "timer", "host": "tsc"}
    assert paths["mitigations.spectre_v2"]["uml-6.1"] == "unsupported"
    assert "memory.free_bytes" not in paths
    assert "agent.build" not in paths


def test_two_groups_of_boots_are_unstable():
    slow = of("b") & pl.col("block").is_in([1, 3])
    result = changed(
        two(),
        "samples",
        pl.when(slow).then(pl.col("value") * 1.3).otherwise(pl.col("value")).alias("value"),
    )
    found = comparison(evaluate(result), "test.spin")
    assert found.verdict is Verdict.UNSTABLE
    assert "two groups" in found.reason


def test_modes_do_not_hide_a_difference_on_which_all_blocks_agree():
    slow = of("b") & pl.col("block").is_in([1, 3])
    result = changed(
        two(0.02),
        "samples",
        pl.when(slow).then(pl.col("value") * 1.3).otherwise(pl.col("value")).alias("value"),
    )
    found = comparison(evaluate(result), "test.spin")
    assert found.verdict is Verdict.SLOWER_BY_DELTA
    assert any("every block agrees" in caution for caution in found.cautions)


def test_inconclusive_rows_tell_their_mde():
    found = comparison(evaluate(two(1.0, noise=3.0)), "test.spin")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.words.startswith("inconclusive (MDE ")
    assert found.effect.mde_percent > 1.0


def test_curves_of_a_result_agree_with_the_claims():
    result = Maker(factors={"uml-6.1": same, "uml-7.2": same}).make()
    evaluation = evaluate(result)
    huge = next(
        one
        for one in evaluation.curves
        if one.case_text == "huge pages" and one.system == "uml-6.1"
    )
    assert [(one.level, one.outcome) for one in huge.checks] == [
        ("L1d", "agrees"),
        ("L2", "agrees"),
        ("L3", "smaller"),
    ]
    assert huge.unexplained == ()


@pytest.mark.parametrize(("sizes", "curves"), [(5, False), (6, True)])
def test_curves_too_short_to_show_a_cache_say_nothing_of_caches(sizes, curves):
    result = Maker(factors={"uml-6.1": same, "uml-7.2": same}).make()
    sweep = pl.col("case").str.extract(r"block_bytes=(\d+)").cast(pl.Int64)
    kept = result.samples().filter(sweep.is_null() | (sweep < 1024 << sizes))
    result = dataclasses.replace(result, tables={**result.tables, "samples": kept})
    assert bool(evaluate(result).curves) == curves


def test_an_empty_result_has_its_failures_and_no_rows():
    result = Maker().make()
    tables = {**result.tables, "samples": result.samples().clear()}
    evaluation = evaluate(dataclasses.replace(result, tables=tables))
    assert evaluation.rows == ()
    assert len(evaluation.failures) == 2
    assert [system.samples for system in evaluation.systems] == [0, 0, 0]


def test_a_single_system_is_summarised():
    evaluation = evaluate(Maker(factors={"a": same}, chosen=[SPIN]).make())
    assert evaluation.pairs == ()
    assert evaluation.rows[0].comparisons == ()
    assert evaluation.rows[0].summary("a").samples == 25


def test_the_evaluation_survives_json():
    evaluation = evaluate(Maker(chosen=[SPIN, RATE, *null_items(5)]).make())
    assert Evaluation.model_validate_json(evaluation.model_dump_json()) == evaluation


def test_deterministic():
    assert evaluate(Maker().make()).model_dump_json() == evaluate(Maker().make()).model_dump_json()


def test_effects_are_paired_by_block():
    # A block that slows both systems by half must not reach the ratio.
    shaken = pl.when(pl.col("block") == 2).then(pl.col("value") * 1.5).otherwise(pl.col("value"))
    calm, loud = two(1.05), changed(two(1.05), "samples", shaken.alias("value"))
    one, other = comparison(evaluate(calm), "test.spin"), comparison(evaluate(loud), "test.spin")
    assert other.effect.mean == pytest.approx(one.effect.mean)
    assert math.isclose(other.effect.sd, one.effect.sd, rel_tol=1e-9)
