"""Effects of a factorial design: planted ones are found, and statsmodels finds the same numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from pentathlon.evaluate import Evaluation, evaluate
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Verdict
from pentathlon.report.export.document import to_json
from pentathlon.report.export.effects import to_csv
from pentathlon.report.factorial import aliases, headline
from pentathlon.study.factorial.design import make
from pentathlon.study.factorial.model import Factor, Fraction
from tests.fakes.synthetic import Item, Maker, Synthetic

ITEMS = [
    Item("process.a", "time", {}, "ns", "lower", 100.0, 0.004, 0.004),
    Item("process.b", "time", {}, "ns", "lower", 250.0, 0.004, 0.004),
    Item("memory.c", "bandwidth", {}, "MB/s", "higher", 5e4, 0.004, 0.004),
]
Levels = Mapping[str, int]
Truth = Callable[[Item, Levels], float]
"""Log speed of an item at some levels."""


def factors(*names: str, levels: int = 2) -> tuple[Factor, ...]:
    return tuple(Factor(setting="nice", name=name, levels=tuple(range(levels))) for name in names)


def made(
    truth: Truth,
    own: Sequence[Factor],
    fraction: Fraction | None = None,
    *,
    blocks: int = 8,
    delta: float = 2.0,
    moderated: bool = False,
    **more: object,
) -> Synthetic:
    design = make(own, fraction)

    def arm(levels: Levels) -> Callable[[Item], float]:
        return lambda item: math.exp(truth(item, levels))

    result = Maker(
        factors={
            name: arm(dict(zip(design.factors, levels, strict=True)))
            for name, levels in zip(design.names, design.arms, strict=True)
        },
        chosen=ITEMS,
        blocks=blocks,
        delta_percent=delta,
        **more,
    ).make()
    rules = result.plan.study.evaluation.model_copy(update={"moderated": moderated})
    study = result.plan.study.model_copy(
        update={"evaluation": rules, "factors": tuple(own), "fraction": fraction,
                "design": "factorial"}
    )  # fmt: skip
    result.plan = result.plan.model_copy(update={"study": study})
    return result


def planted(item: Item, at: Levels) -> float:
    """`a` costs 5 % everywhere; `b` gives process.b 6 %, but only where `a` is at its first level;
    `c` does nothing."""
    own = -0.05 * at["a"]
    if item.workload == "process.b":
        own += 0.06 * at["b"] * (1 - at["a"])
    return own


@pytest.fixture(scope="module")
def three() -> tuple[Synthetic, Evaluation]:
    result = made(planted, factors("a", "b", "c"))
    return result, evaluate(result)


def of(evaluation: Evaluation, term: str, workload: str):
    assert evaluation.factorial is not None
    [found] = [one for one in evaluation.factorial.of(term) if one.key.startswith(workload)]
    return found


def test_planted_effects_are_found_and_nothing_else(three):
    _, evaluation = three
    found = evaluation.factorial
    assert found is not None
    shown = {(one.term, one.key.partition(".time")[0].partition(".band")[0])
             for one in found.effects if one.verdict.is_difference}  # fmt: skip
    assert shown == {
        ("a", "process.a"), ("a", "process.b"), ("a", "memory.c"),
        ("b", "process.b"), ("a × b", "process.b"),
    }  # fmt: skip
    assert of(evaluation, "a", "process.a").verdict is Verdict.SLOWER_BY_DELTA
    for term, truth in (("a", -0.08), ("b", 0.03), ("a × b", -0.06)):
        one = of(evaluation, term, "process.b")
        assert ratio.log_of(one.low_percent) < truth < ratio.log_of(one.high_percent)
    assert {one.verdict for one in found.of("c")} == {Verdict.EQUIVALENT}
    # What the levels of `b` make of the effect of `a`.
    parts = dict(of(evaluation, "a × b", "process.b").parts)
    assert parts["0"] == pytest.approx(-4.9, abs=1.0)
    assert parts["1"] == pytest.approx(-10.4, abs=1.0)


def test_the_ranking_starts_with_what_matters_most(three):
    _, evaluation = three
    found = evaluation.factorial
    assert [one.term for one in found.ranking][:3] == ["a", "a × b", "b"]
    assert headline(found) == "Matters: a, b (most first); does not matter: c."
    assert found.ranking[0].shown == 3 and found.ranking[1].shown == 1
    assert found.tested == 3 * 6


def frame(result: Synthetic, workload: str):
    """Boot means as a table with a column for each factor, at −½ and ½."""
    pandas = pytest.importorskip("pandas")
    design = make(result.plan.study.factors, None)
    used = result.samples().to_pandas()
    used = used[(used.workload == workload) & (used.phase == "measure") & used.counted]
    means = used.groupby(["block", "system"], as_index=False).value.mean()
    up = 1.0 if workload.startswith("memory") else -1.0
    means["y"] = up * np.log(means.value)
    for place, name in enumerate(design.factors):
        level = {
            arm: levels[place] - 0.5 for arm, levels in zip(design.names, design.arms, strict=True)
        }
        means[name] = means.system.map(level)
    return pandas.DataFrame(means)


@pytest.mark.parametrize("workload", ["process.a", "process.b", "memory.c"])
def test_statsmodels_finds_the_same_effects(three, workload):
    formula = pytest.importorskip("statsmodels.formula.api")
    result, evaluation = three
    table = frame(result, workload)
    fitted = formula.ols("y ~ C(block) + a * b * c", data=table).fit()
    for term in ("a", "b", "c", "a × b", "a × c", "b × c"):
        one = of(evaluation, term, workload)
        assert one.mean == pytest.approx(fitted.params[term.replace(" × ", ":")], rel=1e-9)


@pytest.mark.parametrize("workload", ["process.b", "memory.c"])
def test_statsmodels_finds_the_same_intervals(three, workload):
    """Each contrast's mean over the blocks by OLS, and F by a repeated-measures ANOVA."""
    api = pytest.importorskip("statsmodels.api")
    anova = pytest.importorskip("statsmodels.stats.anova")
    result, evaluation = three
    table = frame(result, workload)
    factors_used = ["a", "b", "c"]
    found = anova.AnovaRM(table, "y", "block", within=factors_used).fit().anova_table
    rule = Rule.declared(result.plan.study)
    level = rule.levels(8).nominal(rule.rate)
    for term in ("a", "b", "c", "a × b", "a × c", "b × c"):
        one = of(evaluation, term, workload)
        row = found.loc[term.replace(" × ", ":")]
        assert (one.mean / one.error) ** 2 == pytest.approx(row["F Value"], rel=1e-6)
        assert row["Den DF"] == one.blocks - 1
        names = term.split(" × ")
        weights = np.prod([table[name] for name in names], axis=0)
        scale = 4.0 ** len(names) / 2.0 ** len(factors_used)
        values = (table.assign(w=weights * table.y * scale)
                  .groupby("block").w.sum())  # fmt: skip
        fitted = api.OLS(values.to_numpy(), np.ones(len(values))).fit()
        low, high = fitted.conf_int(level)[0]
        assert ratio.log_of(one.low_percent) == pytest.approx(low, abs=1e-9)
        assert ratio.log_of(one.high_percent) == pytest.approx(high, abs=1e-9)


def test_a_fraction_gives_the_sum_of_aliases():
    """In the fraction of three factors in four arms, c = −a × b: the effect of c is found with that
    of the interaction, with its sign."""

    def truth(item: Item, at: Levels) -> float:
        both = (2 * at["a"] - 1) * (2 * at["b"] - 1)
        return 0.02 * (2 * at["c"] - 1) - 0.05 * both

    evaluation = evaluate(made(truth, factors("a", "b", "c"), Fraction(resolution=3)))
    found = evaluation.factorial
    assert found.resolution == 3 and found.generators == ("c = −a × b",)
    assert len(found.arms) == 4 and [one.name for one in found.terms] == ["a", "b", "c"]
    assert found.term("c").aliases == ("−a × b",)
    one = of(evaluation, "c", "process.a")
    # The main effect is twice the half difference; −a × b is the column of c.
    assert ratio.log_of(one.low_percent) < 0.04 + 0.10 < ratio.log_of(one.high_percent)
    assert aliases(found)[2] == "c stands for c − a × b"


def test_more_levels_are_compared_with_the_first():
    def truth(item: Item, at: Levels) -> float:
        return 0.04 * (at["a"] == 2)

    evaluation = evaluate(made(truth, factors("a", levels=3)))
    names = [one.name for one in evaluation.factorial.terms]
    assert names == ["a[1]", "a[2]"]
    assert of(evaluation, "a[1]", "process.a").verdict is Verdict.EQUIVALENT
    assert of(evaluation, "a[2]", "process.a").verdict is Verdict.FASTER_BY_DELTA


def test_an_arm_without_a_metric_leaves_its_effects_open(three):
    result, _ = three
    arm = result.plan.study.systems[3].name
    used = result.samples()
    gone = (used["workload"] == "process.a") & (used["system"] == arm)
    cut = Synthetic(result.plan, {**result.tables, "samples": used.filter(~gone)})
    found = [one for one in evaluate(cut).factorial.effects if one.key.startswith("process.a")]
    assert {one.verdict for one in found} == {Verdict.NOT_MEASURED}
    assert all(arm in one.reason and one.percent is None for one in found)


def test_what_is_open_names_the_command_that_would_decide_it():
    evaluation = evaluate(made(lambda item, at: 0.0, factors("a", "b"), blocks=5, delta=0.3))
    open_ones = [one for one in evaluation.factorial.effects if one.verdict.value == "inconclusive"]
    assert open_ones
    assert f"half of the {len(open_ones)} open effects: pentathlon run STUDY --blocks " in (
        evaluation.factorial.open
    )
    assert all("pentathlon run STUDY --blocks " in one.reason for one in open_ones)
    assert all("equality within ±0.3 %" in one.reason or "of this size" in one.reason
               for one in open_ones)  # fmt: skip


def test_a_factor_whose_effects_cancel_out_matters_all_the_same():
    def truth(item: Item, at: Levels) -> float:
        return 0.05 if at["a"] != at["b"] else 0.0

    found = evaluate(made(truth, factors("a", "b", "c"))).factorial
    assert not any(one.verdict.is_difference for one in found.of("a"))
    assert all(one.verdict is Verdict.SLOWER_BY_DELTA for one in found.of("a × b"))
    assert {one.words for one in found.of("a × b")} == {"interact by at least 2\u00a0%"}
    assert headline(found).startswith("Matters: ")
    assert {"a", "b"} == set(headline(found)[9:].partition(" (")[0].split(", "))
    assert headline(found).endswith("does not matter: c.")


def test_borrowing_keeps_the_means_and_its_own_intervals(three):
    _, alone = three
    lent = evaluate(made(planted, factors("a", "b", "c"), moderated=True))
    for one, other in zip(alone.factorial.effects, lent.factorial.effects, strict=True):
        assert (one.mean, one.low_percent) == (other.mean, other.low_percent)


def test_a_part_of_the_arms_and_other_studies_have_no_effects(three):
    result, _ = three
    study = result.plan.study.model_copy(update={"systems": result.plan.study.systems[:2]})
    part = Synthetic(result.plan.model_copy(update={"study": study}), result.tables)
    assert evaluate(part).factorial is None


def test_exports_hold_every_effect(three):
    _, evaluation = three
    assert Evaluation.model_validate_json(to_json(evaluation)) == evaluation
    lines = to_csv(evaluation, evaluation.factorial).splitlines()
    assert len(lines) == 1 + 3 * 6
    assert lines[0].startswith("term,factors,levels,base,aliases,key,")
