"""Context (what the work took of the system) is reported, and counts in no score."""

from __future__ import annotations

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.results.gate import gate, of_evaluation
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Verdict, words
from pentathlon.evaluate.wording import QUALITY, SPEED, wording
from pentathlon.report.answer import answers, speed_words
from pentathlon.study.catalog import parse_catalog
from tests.fakes.synthetic import Item, Maker, Synthetic, same

TIME = Item("network.traffic", "round_trip", {}, "ms", "lower", 0.4, 0.004)
LOST = Item("network.traffic", "lost", {}, "%", "lower", 2.0, 0.004)
INTERRUPTS = Item("network.traffic", "interrupts", {}, "1/s", "lower", 9000.0, 0.004)
BUSY = Item("network.traffic", "cpu", {}, "%", "lower", 40.0, 0.004)
ITEMS = [TIME, LOST, INTERRUPTS, BUSY]


class WithRoles:
    """A result whose catalog states which metrics are context."""

    def __init__(self, result: Synthetic, *context: str):
        metrics = [
            {
                "id": item.metric,
                "title": item.metric,
                "unit": item.unit,
                "direction": item.direction,
                "role": "context" if item.metric in context else "performance",
            }
            for item in ITEMS
        ]
        workload = {"id": "network.traffic", "area": "network", "title": "Traffic"}
        self.catalog = parse_catalog(
            {
                "protocol": 2,
                "catalog_version": 1,
                "agent": {},
                "workloads": [workload | {"metrics": metrics}],
            }
        )
        self._result = result

    def __getattr__(self, name):
        return getattr(self._result, name)


def half_the_interrupts(item: Item) -> float:
    """Twice as "fast" in the interrupts that a system wants few of, equal in the rest."""
    return 2.0 if item is INTERRUPTS else 1.0


def evaluated(*context: str, factor=half_the_interrupts):
    result = Maker(factors={"a": same, "b": factor}, chosen=ITEMS).make()
    return evaluate(WithRoles(result, *context))


def row(evaluation, metric):
    [found] = [one for one in evaluation.rows if one.metric == metric]
    return found, found.comparisons[0]


def test_half_the_interrupts_are_fewer_and_not_faster():
    found, one = row(evaluated("interrupts", "cpu"), "interrupts")
    assert (one.verdict, one.words) == (Verdict.LOWER, "fewer")
    # The ratio is that of the values, whatever end would be the better one.
    assert one.effect is not None
    assert one.effect.percent == pytest.approx(-50, abs=1)
    assert one.difference_percent == pytest.approx(-50, abs=1)
    assert one.verdict.sign == 0
    assert not found.declared


def test_context_is_in_no_mean_and_in_no_answer():
    with_context, without = evaluated("interrupts", "cpu"), evaluated()
    assert without.aggregates[0].everything.percent > 10
    everything = with_context.aggregates[0].everything
    assert everything.rows == 2
    assert abs(everything.percent) < 2
    assert everything.weight == pytest.approx(1)
    [answer] = answers(with_context)
    assert answer.headline.startswith("No difference between b and a was shown in 2 metrics")
    assert not answer.findings
    assert sum(count for _, _, count in answer.counts) == 2, "as many as the headline names"
    assert answers(without)[0].headline.startswith("b is faster than a for 1 of 4 metrics")


def test_context_belongs_to_a_study_only_where_it_is_named_itself():
    evaluation = evaluated("interrupts", "cpu").study
    assert evaluation.declared is None
    study = Maker(factors={"a": same, "b": same}, chosen=ITEMS).make().plan.study.evaluation
    named = study.model_copy(update={"declared": ("network.*", "network.traffic.cpu")})
    assert named.declares("network.traffic", "round_trip")
    assert not named.declares("network.traffic", "interrupts", context=True)
    assert named.declares("network.traffic", "cpu", context=True)


def test_more_of_context_is_no_regression():
    twice = evaluated("interrupts", "cpu", factor=lambda item: 0.5 if item is INTERRUPTS else 1.0)
    assert row(twice, "interrupts")[1].words == "more"
    entries = of_evaluation(twice, Rule(1.0, 0.95), 0.01)
    assert {one.key for one in entries} == {TIME.key, LOST.key}
    passed = gate(entries, "a", delta_percent=5.0, confidence=0.95)
    assert passed.outcome == "pass"
    scored = evaluated(factor=lambda item: 0.5 if item is INTERRUPTS else 1.0)
    failed = gate(
        of_evaluation(scored, Rule(1.0, 0.95), 0.01), "a", delta_percent=5.0, confidence=0.95
    )
    assert failed.outcome == "regression"


def test_a_share_is_better_and_not_faster():
    evaluation = evaluated("interrupts", "cpu", factor=lambda item: 1.5 if item is LOST else 1.0)
    _, one = row(evaluation, "lost")
    assert (one.verdict, one.words) == (
        Verdict.FASTER_BY_DELTA,
        "better by at least 1\N{NO-BREAK SPACE}%",
    )
    [answer] = answers(evaluation)
    assert answer.headline.startswith("b is better than a for 1 of 2 metrics")
    assert answer.findings[0].size.endswith("better")


def test_every_kind_of_unit_has_its_words():
    assert wording("performance", "ns") is SPEED
    assert wording("performance", "%") is QUALITY
    values = {
        unit: (w.up, w.down) for unit in ("1/s", "MB", "%") if (w := wording("context", unit))
    }
    assert values == {"1/s": ("more", "fewer"), "MB": ("more", "less"), "%": ("higher", "lower")}
    assert words(Verdict.HIGHER, 1.0, kind=wording("context", "%")) == "higher"
    assert words(Verdict.SLOWER, 1.0, kind=QUALITY) == "worse"
    assert words(Verdict.EQUIVALENT, 1.0, kind=QUALITY) == words(Verdict.EQUIVALENT, 1.0)
    assert speed_words(-1.0, QUALITY) == "2.7 times worse"
    assert speed_words(-1.0) == "1/2.7 of the speed"
