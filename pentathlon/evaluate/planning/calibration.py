"""What one machine does when there is nothing to find: its noise floor and its false alarms.

A calibration comes from a result in which one system was measured under two names. Its true
differences are 0, so what is found is what this machine, this agent and this procedure make up.

Noise floor of a metric: the larger end of the interval of that difference. The calibration has
not shown that the machine favours neither name by more, so no smaller difference is believed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pentathlon.evaluate.comparability import MEMORY_TOLERANCE
from pentathlon.evaluate.compare import Judgement
from pentathlon.evaluate.display import percent_text
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.estimators.binomial import clopper_pearson
from pentathlon.evaluate.estimators.welch import paired
from pentathlon.evaluate.model import Comparison, Evaluation, SystemFacts
from pentathlon.evaluate.verdict import Verdict, words
from pentathlon.store.calibration import FORMAT, IDENTITY, Document, Floor

GROUP_BLOCKS = 5
"""Blocks of one trial for the rate of false alarms; the groups share no block."""
WITHIN = {Verdict.NEGLIGIBLE, Verdict.EQUIVALENT}


class Calibration(Document):
    """One calibration of one machine, for one layer and one catalog."""

    def block_ratios(self) -> dict[str, list[float]]:
        """Key -> log-ratios of the blocks, for the metrics that were measured in every block."""
        return {
            one.key: one.log_ratios for one in self.floors if len(one.log_ratios) == self.blocks
        }

    def fits(self, system: SystemFacts) -> bool:
        """Whether the system runs on the same machine and layer, with the same catalog."""
        memory = (self.memory_bytes, system.memory_bytes)
        alike = not memory[0] or not memory[1] or abs(memory[0] / memory[1] - 1) <= MEMORY_TOLERANCE
        return (
            alike
            and self.layer == system.layer
            and self.cpu == system.cpu
            and self.catalog_version == system.catalog_version
        )


def calibrate(evaluation: Evaluation, made: str) -> Calibration:
    """The calibration from the evaluation of one system under two names.

    Raises:
        ValueError: the evaluation is none of two systems, or nothing was measured twice.
    """
    if len(evaluation.systems) != 2:
        raise ValueError("a calibration measures one system under two names")
    reference, again = evaluation.systems
    if (reference.target, reference.layer, reference.settings, reference.parameters) != (
        again.target,
        again.layer,
        again.settings,
        again.parameters,
    ):
        raise ValueError(f"{again.name} is not {reference.name} under another name")
    rate = 1.0 - evaluation.study.confidence
    floors, trials, alarms, called, blocks = [], 0, 0, 0, 0
    for row in evaluation.rows:
        one = row.comparison(again.name)
        effect = None if one is None else one.effect
        if one is None or effect is None:
            continue
        if effect.low_percent is None or effect.high_percent is None:
            continue
        ends = (ratio.log_of(effect.low_percent), ratio.log_of(effect.high_percent))
        floors.append(
            Floor(
                key=row.key,
                floor_percent=ratio.percent(max(abs(ends[0]), abs(ends[1]))),
                percent=effect.percent,
                low_percent=effect.low_percent,
                high_percent=effect.high_percent,
                log_ratios=list(effect.log_ratios),
            )
        )
        called += one.verdict.is_shown or one.verdict is Verdict.NEGLIGIBLE
        blocks = max(blocks, effect.blocks)
        for start in range(0, effect.blocks - GROUP_BLOCKS + 1, GROUP_BLOCKS):
            group = np.array(effect.log_ratios[start : start + GROUP_BLOCKS])
            trials += 1
            alarms += paired(group).p_different() <= rate
    if not floors:
        raise ValueError("no metric was measured under both names in two blocks or more")
    low, high = clopper_pearson(alarms, trials) if trials else (0.0, 1.0)
    return Calibration(
        format=FORMAT,
        made=made,
        plan_hash=evaluation.study.plan_hash,
        **reference.model_dump(include=set(IDENTITY)),
        blocks=blocks,
        confidence=evaluation.study.confidence,
        trials=trials,
        alarms=alarms,
        alarm_rate=alarms / trials if trials else 0.0,
        alarm_low=low,
        alarm_high=high,
        called=called,
        floors=floors,
    )


def calibrations(documents: Sequence[Mapping[str, Any]] | None) -> tuple[Calibration, ...]:
    """The calibrations that a result keeps; those of another format are left out."""
    return tuple(
        Calibration.model_validate(one) for one in documents or () if one.get("format") == FORMAT
    )


def fitting(
    known: tuple[Calibration, ...], system: SystemFacts, reference: SystemFacts
) -> Calibration | None:
    """The newest calibration that holds for both systems, or None."""
    found = [one for one in known if one.fits(system) and one.fits(reference)]
    return max(found, key=lambda one: one.made, default=None)


def refuse(judgement: Judgement, calibration: Calibration, delta_percent: float) -> Judgement:
    """The comparisons without the claims that lie below the noise floor."""
    floors = {one.key: one.floor_percent for one in calibration.floors}
    comparisons = {
        key: _refused(one, floors[key], calibration, delta_percent) if key in floors else one
        for key, one in judgement.comparisons.items()
    }
    lost = {
        key
        for key, one in comparisons.items()
        if one is not judgement.comparisons[key]
        and judgement.comparisons[key].verdict is not Verdict.EQUIVALENT
    }
    declared = len(lost & judgement.declared)
    return replace(
        judgement,
        comparisons=comparisons,
        selected=judgement.selected - declared,
        exploratory_selected=judgement.exploratory_selected - (len(lost) - declared),
    )


def _refused(
    one: Comparison, floor: float, calibration: Calibration, delta_percent: float
) -> Comparison:
    if one.effect is None:
        return one
    day, text = calibration.made[:10], percent_text(floor)
    below = abs(one.effect.mean) <= math.log1p(floor / 100)
    verdict, reason = Verdict.INCONCLUSIVE, ""
    if below and (one.verdict.is_shown or one.verdict is Verdict.NEGLIGIBLE):
        reason = (
            f"the difference is not above the noise floor of this machine ({text}, "
            f"calibrated {day}): so much was not ruled out between two names of one system"
        )
    if one.verdict in WITHIN and floor > delta_percent:
        reason = (
            f"the noise floor of this machine ({text}, calibrated {day}) is wider than ±δ; "
            "pentathlon calibrate with more blocks may lower it"
        )
    elif one.verdict is Verdict.NEGLIGIBLE:
        verdict = Verdict.EQUIVALENT
    if not reason:
        return one
    sentence = words(verdict, delta_percent, one.effect.mde_percent)
    return one.model_copy(update={"verdict": verdict, "words": sentence, "reason": reason})
