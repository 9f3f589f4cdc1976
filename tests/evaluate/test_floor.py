"""Noise floors: how a calibration is made, which comparisons it holds for, what it refuses."""

from __future__ import annotations

import math
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.aggregate.aggregate import direction
from pentathlon.evaluate.planning.calibration import Calibration, calibrate
from pentathlon.evaluate.verdict import Verdict
from pentathlon.report.decision import decisions
from pentathlon.study.aa_study import DEFAULT, two_names
from pentathlon.study.write import to_toml
from tests.fakes.synthetic import Item, Maker, same

ITEMS = [
    Item("process.getpid", "time", {}, "ns", "lower", 60.0, 0.01, 0.002),
    Item("process.fork_wait", "time", {}, "ns", "lower", 6e4, 0.01, 0.002),
    Item("test.spin", "time", {}, "ns", "lower", 850.0, 0.004, 0.002),
]


def aa_result(seed: int = 3, blocks: int = 10):
    return Maker(
        factors={"a": same, "a-again": same}, chosen=ITEMS, blocks=blocks, seed=seed
    ).make()


def comparison(factor: float, made: Calibration | None, **settings: object):
    maker = Maker(
        factors={"a": same, "b": lambda item: factor},
        chosen=ITEMS,
        blocks=20,
        seed=9,
        noise=0.1,
        **settings,
    )
    result = maker.make()
    if made is not None:
        result.calibrations = [made.model_dump(mode="json")]
    return evaluate(result)


@pytest.fixture
def made() -> Calibration:
    return calibrate(evaluate(aa_result()), "2026-01-02T00:00:00Z")


def test_the_floor_is_the_larger_end_of_the_interval(made):
    evaluation = evaluate(aa_result())
    for row, floor in zip(evaluation.rows, made.floors, strict=True):
        effect = row.comparisons[0].effect
        ends = [abs(math.log1p(e / 100)) for e in (effect.low_percent, effect.high_percent)]
        assert math.log1p(floor.floor_percent / 100) == pytest.approx(max(ends))
    assert made.trials == 2 * len(ITEMS)
    assert made.alarm_low <= made.alarm_rate <= made.alarm_high
    assert Calibration.model_validate_json(made.model_dump_json()) == made


def test_false_alarms_are_counted_by_single_tests_in_groups():
    # Ten groups of five blocks for each of three metrics; every group is a test at 5 %.
    made = calibrate(evaluate(aa_result(blocks=50)), "2026-01-02T00:00:00Z")
    assert made.trials == 30
    evaluation = evaluate(aa_result(blocks=50))
    alarms = 0
    for row in evaluation.rows:
        groups = np.array(row.comparisons[0].effect.log_ratios).reshape(10, 5)
        error = groups.std(axis=1, ddof=1) / math.sqrt(5)
        alarms += int(np.sum(np.abs(groups.mean(axis=1)) / error > 2.7764451))
    assert made.alarms == alarms


def test_a_difference_below_the_floor_is_not_claimed(made):
    floors = [one.floor_percent for one in made.floors]
    small = 1 + min(floors) / 200
    before, after = (comparison(small, one, delta_percent=0.1) for one in (None, made))
    assert all(r.comparisons[0].verdict.is_difference for r in before.rows)
    for row in after.rows:
        one = row.comparisons[0]
        assert one.verdict is Verdict.INCONCLUSIVE
        assert "noise floor of this machine" in one.reason
        assert "2026-01-02" in one.reason
    assert before.pairs[0].selected == 3
    assert after.pairs[0].selected == 0
    assert after.pairs[0].areas[0].verdicts == {Verdict.INCONCLUSIVE: 2}
    assert "noise floors of 2026-01-02" in after.pairs[0].calibrated


def test_a_negligible_difference_below_the_floor_is_only_equivalent(made):
    small = 1 + min(one.floor_percent for one in made.floors) / 200
    before, judgement = (comparison(small, one, delta_percent=5.0) for one in (None, made))
    assert {r.comparisons[0].verdict for r in before.rows} == {Verdict.NEGLIGIBLE}
    assert {r.comparisons[0].verdict for r in judgement.rows} == {Verdict.EQUIVALENT}
    assert judgement.pairs[0].selected == 0


def test_a_difference_above_the_floor_stays(made):
    large = 1 + max(one.floor_percent for one in made.floors) / 50
    assert all(r.comparisons[0].verdict.is_difference for r in comparison(large, made).rows)


def test_equivalence_is_refused_where_the_floor_is_wider_than_delta(made):
    wide = made.model_copy(
        update={"floors": [f.model_copy(update={"floor_percent": 3.0}) for f in made.floors]}
    )
    assert {r.comparisons[0].verdict for r in comparison(1.0, None).rows} == {Verdict.EQUIVALENT}
    assert {r.comparisons[0].verdict for r in comparison(1.0, wide).rows} == {Verdict.INCONCLUSIVE}


@pytest.mark.parametrize("key", ["layer", "cpu", "catalog_version"])
def test_a_calibration_of_something_else_does_not_hold(made, key):
    other = made.model_copy(update={key: 99 if key == "catalog_version" else "other"})
    small = 1 + min(one.floor_percent for one in made.floors) / 200
    judgement = comparison(small, other, delta_percent=0.1)
    assert all(r.comparisons[0].verdict.is_difference for r in judgement.rows)
    assert judgement.pairs[0].calibrated == ""


def test_only_one_system_under_two_names_calibrates():
    three = Maker(factors={"a": same, "b": same, "c": same}, chosen=ITEMS).make()
    with pytest.raises(ValueError, match="two names"):
        calibrate(evaluate(three), "t")
    other = Maker(factors={"a": same, "host": same}, chosen=ITEMS).make()
    with pytest.raises(ValueError, match="is not a under another name"):
        calibrate(evaluate(other), "t")


def test_the_study_of_both_names_is_the_same_but_for_the_name():
    document = two_names(DEFAULT, None, 7)
    one, again = document["system"]
    assert again == {**one, "name": "machine-again"}
    assert document["procedure"]["blocks"] == 7
    assert tomllib.loads(to_toml(document)) == document
    with pytest.raises(KeyError):
        two_names(DEFAULT, "nobody", 7)


values = st.recursive(
    st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text('ab.é"-', min_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text('abc-_ é."', min_size=1), values, max_size=4))
@settings(max_examples=150)
def test_toml_that_is_written_reads_back(document):
    assert tomllib.loads(to_toml(document)) == document


def means(factor: float, made: Calibration | None, keep: int = len(ITEMS)):
    result = comparison(factor, made and made.model_copy(update={"floors": made.floors[:keep]}))
    return result, result.aggregates[0].everything


def test_a_mean_has_the_floor_of_the_same_rows_between_two_names(made):
    _, everything = means(1.05, made)
    counterpart = evaluate(aa_result()).aggregates[0].everything
    # Areas count the same here as there: the floor is the larger end of the counterparts' own
    # interval.
    ends = [abs(math.log1p(e / 100)) for e in (counterpart.low_percent, counterpart.high_percent)]
    assert everything.floor_percent == pytest.approx(100 * math.expm1(max(ends)), rel=0.1)
    assert not everything.below_floor


def test_a_mean_below_its_floor_is_not_claimed(made):
    wide = made.model_copy(
        update={
            "floors": [
                one.model_copy(update={"log_ratios": [8 * v for v in one.log_ratios]})
                for one in made.floors
            ]
        }
    )
    without, plain = means(1.004, None)
    result, floored = means(1.004, wide)
    assert plain.low_percent > 0
    assert (plain.low_percent, plain.high_percent) == (floored.low_percent, floored.high_percent)
    assert floored.below_floor and not plain.below_floor
    assert direction(plain) == 1 and direction(floored) == 0
    assert decisions(without)[0].sign == 1
    assert decisions(result)[0].sign == 0
    assert "noise floor of this machine" in decisions(result)[0].headline
    assert all("noise floor" in part.words for part in decisions(result)[0].parts)


def test_a_mean_with_a_row_that_was_not_calibrated_has_no_floor(made):
    result, everything = means(1.05, made, keep=2)
    assert everything.floor_percent is None
    floors = {mean.name: mean.floor_percent for mean in result.aggregates[0].means if mean.name}
    assert floors["process"] is not None
    assert floors["test"] is None


def test_floors_of_an_older_calibration_have_no_blocks(made):
    old = made.model_dump(mode="json")
    for floor in old["floors"]:
        del floor["log_ratios"]
    assert Calibration.model_validate(old).block_ratios() == {}
