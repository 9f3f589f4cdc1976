"""Several systems against one reference: p values adjusted for all of them (sign_flip.p_max_t)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pentathlon.evaluate.estimate import Series
from pentathlon.evaluate.estimators.paired import pair_blocks
from pentathlon.evaluate.estimators.sign_flip import p_max_t
from pentathlon.evaluate.model import Comparison

FEWEST_BLOCKS = 2


def adjust(
    judgements: Mapping[str, dict[str, Comparison]],
    everything: Mapping[tuple[str, str], Series],
    reference: str,
) -> dict[str, dict[str, Comparison]]:
    """The comparisons of every system with max-T p values where a row has several systems.

    Args:
        judgements: system -> key -> comparison with the reference.
    """
    done = {system: dict(comparisons) for system, comparisons in judgements.items()}
    for key in dict.fromkeys(key for own in judgements.values() for key in own):
        systems = [name for name, own in judgements.items() if _tested(own.get(key))]
        if len(systems) < 2:
            continue
        paired = {
            name: pair_blocks(everything[key, name], everything[key, reference]) for name in systems
        }
        common = set.intersection(*(set(one.blocks) for one in paired.values()))
        if len(common) < FEWEST_BLOCKS or any(one.installs > 1 for one in paired.values()):
            continue
        columns = [
            [
                value
                for block, value in zip(one.blocks, one.log_ratios, strict=True)
                if block in common
            ]
            for one in paired.values()
        ]
        for name, p_value in zip(systems, p_max_t(np.array(columns).T), strict=True):
            done[name][key] = _with(done[name][key], float(p_value))
    return done


def _tested(one: Comparison | None) -> bool:
    return one is not None and one.effect is not None and one.effect.checks is not None


def _with(one: Comparison, p_value: float) -> Comparison:
    assert one.effect is not None and one.effect.checks is not None
    found = one.effect.checks.model_copy(update={"p_max_t": p_value})
    return one.model_copy(update={"effect": one.effect.model_copy(update={"checks": found})})
