"""The vectorised counterpart of the calibration agrees with the evaluation, on every kind of
noise."""

from __future__ import annotations

import numpy as np
import pytest

from benches.calibration import family
from benches.calibration.noise import NOISES
from benches.calibration.vectorised import judge, judge_precision, log_ratios
from pentathlon.evaluate.compare import Judge, Pair
from pentathlon.evaluate.estimators.ratio import percent
from pentathlon.evaluate.model import Comparison
from pentathlon.evaluate.planning.alpha_spending import levels_at
from pentathlon.evaluate.planning.stopping import decided
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Verdict
from tests.fakes.simulate import facts, series

LOOKS = (10, 15, 20, 30)


def one_row(reference: np.ndarray, system: np.ndarray, rule: Rule) -> Comparison:
    """The evaluation's judgement of one metric, from boot means."""
    key = "w.time"
    pair = Pair(key, "w", series("b", key, "w", system), series("a", key, "w", reference))
    return Judge(facts("b"), facts("a"), (), rule).judge([pair]).comparisons[key]


def agree(one: Comparison, counterpart, place: int) -> None:
    effect = one.effect
    assert effect is not None
    assert effect.blocks == counterpart.blocks[place]
    assert effect.low_percent == pytest.approx(percent(counterpart.low[place]), abs=1e-9)
    assert effect.high_percent == pytest.approx(percent(counterpart.high[place]), abs=1e-9)
    assert (one.verdict is Verdict.UNSTABLE) == counterpart.unstable[place]
    different = one.verdict.is_difference or one.verdict is Verdict.NEGLIGIBLE
    assert different == counterpart.different[place]
    assert (one.verdict is Verdict.EQUIVALENT) == counterpart.equivalent[place]


@pytest.mark.parametrize("name", NOISES)
def test_looks_and_fixed_numbers(name):
    generator = np.random.default_rng(7)
    reference, system = NOISES[name].draw(generator, 25, 30)
    system[:12] *= 1.02
    system[12:18] = reference[12:18] * np.exp(generator.normal(0, 0.002, (6, 30, 1)))
    ratios = log_ratios(reference, system)
    means = reference.mean(axis=2), system.mean(axis=2)
    for looks, rate in ((LOOKS, 0.05), (LOOKS, 0.01), ((10,), 0.05), ((5,), 0.05)):
        counterpart = judge(ratios, looks, rate)
        rule = Rule(1.0, 1.0 - rate, looks if len(looks) > 1 else ())
        for place in range(len(ratios)):
            for look in looks:
                one = one_row(means[0][place, :look], means[1][place, :look], rule)
                if look == looks[-1] or decided(one, 1.0):
                    break
            agree(one, counterpart, place)


def test_precision():
    reference, system = NOISES["heavy-tailed"].draw(np.random.default_rng(8), 20, 40)
    counterpart = judge_precision(log_ratios(reference, system), 0.8, 10, 0.05)
    assert len(set(counterpart.blocks)) > 3
    rule = Rule(1.0, 0.95, by_precision=True)
    for place in range(20):
        for blocks in range(10, 41):
            means = (times[place, :blocks].mean(axis=1) for times in (reference, system))
            one = one_row(*means, rule)
            low, high = one.effect.low_percent, one.effect.high_percent
            if (np.log1p(high / 100) - np.log1p(low / 100)) / 2 <= np.log1p(0.008):
                break
        agree(one, counterpart, place)


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("look", [15, 30])
def test_several_rows_at_a_look(declared, look):
    case = family.Case("rows", rows=6, real=2, dependent=True, declared=declared)
    ratios = family.draw(case, np.random.default_rng(11), 8)[:, :, :look]
    shown, equal = family.claims(ratios, declared, levels_at(LOOKS, look))
    compared = 0
    for trial, rows in enumerate(ratios):
        pairs = [
            Pair(
                f"w{place}.time",
                f"w{place}",
                series("b", f"w{place}.time", f"w{place}", 100 * np.exp(-logs)),
                series("a", f"w{place}.time", f"w{place}", np.full(look, 100.0)),
                declared,
            )
            for place, logs in enumerate(rows)
        ]
        judgement = Judge(facts("b"), facts("a"), (), Rule(1.0, 0.95, LOOKS)).judge(pairs)
        for place, one in enumerate(judgement.comparisons.values()):
            if one.verdict is Verdict.UNSTABLE:
                continue
            different = one.verdict.is_shown or one.verdict is Verdict.NEGLIGIBLE
            assert different == shown[trial, place]
            assert (one.verdict is Verdict.EQUIVALENT) == (equal & ~shown)[trial, place]
            compared += 1
    assert compared > 40
    assert 0 < shown.sum() < shown.size


@pytest.mark.parametrize("declared", [True, False])
def test_rows_that_were_decided_at_a_look_keep_its_level(declared):
    case = family.Case("rows", rows=6, real=2, dependent=False, declared=declared)
    ratios = family.draw(case, np.random.default_rng(12), 12)
    found = family.judge(ratios, declared, LOOKS, drop=True)
    early = 0
    for trial, rows in enumerate(ratios):
        last = int(found.blocks[trial])
        done = [int(blocks) for blocks in found.row_blocks[trial]]
        decided = {f"w{place}": blocks for place, blocks in enumerate(done) if blocks < last}
        early += len(decided)
        pairs = [
            Pair(
                f"w{place}.time",
                f"w{place}",
                series("b", f"w{place}.time", f"w{place}", 100 * np.exp(-logs[:blocks])),
                series("a", f"w{place}.time", f"w{place}", np.full(blocks, 100.0)),
                declared,
            )
            for place, (logs, blocks) in enumerate(zip(rows, done, strict=True))
        ]
        rule = Rule(1.0, 0.95, LOOKS)
        judgement = Judge(facts("b"), facts("a"), (), rule, decided=decided).judge(pairs)
        for place, one in enumerate(judgement.comparisons.values()):
            if one.verdict is Verdict.UNSTABLE:
                continue
            different = one.verdict.is_shown or one.verdict is Verdict.NEGLIGIBLE
            assert different == found.different[trial, place]
            equal = found.equivalent[trial, place] and not different
            assert (one.verdict is Verdict.EQUIVALENT) == equal
            assert one.effect is not None and one.effect.blocks == done[place]
            level = levels_at(LOOKS, done[place]).nominal(0.05)
            assert one.effect.nominal_confidence == pytest.approx(1.0 - level)
        # A mean over all of them is that of the blocks that they share, at the level of their look.
        first = min((last, *decided.values()))
        assert judgement.nominal_rate == pytest.approx(levels_at(LOOKS, first).nominal(0.05))
    assert early > 12
