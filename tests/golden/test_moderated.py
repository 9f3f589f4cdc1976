"""The demonstration as it was measured before rows borrowed from each other, judged both ways.

`two-kernels-2026-11-23.json.xz` has the boot means of its 206 rows, five blocks of two kernels of
user-mode Linux. `python benches/rejudge.py RESULT` does the same with a whole result.
"""

from __future__ import annotations

import dataclasses
import json
import lzma
import statistics
from pathlib import Path

import numpy as np
import pytest

from pentathlon.evaluate.compare import Judge, Judgement, Pair
from pentathlon.evaluate.rule import Rule
from tests.fakes.simulate import facts, series

FILE = Path(__file__).parent / "two-kernels-2026-11-23.json.xz"


def judged(*, moderated: bool) -> Judgement:
    pairs = []
    for row in json.loads(lzma.decompress(FILE.read_bytes())):
        sides = [
            dataclasses.replace(
                series(name, row["key"], row["workload"], np.array(row[side])),
                direction=row["direction"],
            )
            for name, side in (("b", "system"), ("a", "reference"))
        ]
        pairs.append(Pair(row["key"], row["workload"], *sides, area=row["area"]))
    return Judge(facts("b"), facts("a"), (), Rule(1.0, 0.95, moderated=moderated)).judge(pairs)


@pytest.mark.parametrize(
    ("moderated", "differences", "detectable"), [(False, 11, 45.3), (True, 18, 17.4)]
)
def test_the_demonstration_is_judged_by_both_rules(moderated, differences, detectable):
    found = judged(moderated=moderated).comparisons.values()
    assert len(found) == 206
    assert sum(one.verdict.is_shown for one in found) == differences
    median = statistics.median(one.effect.mde_percent for one in found)
    assert median == pytest.approx(detectable, abs=0.1)


def test_a_difference_that_both_rules_show_has_one_direction():
    own, moderated = (judged(moderated=one).comparisons for one in (False, True))
    both = [
        (own[key].verdict.sign, one.verdict.sign)
        for key, one in moderated.items()
        if one.verdict.is_shown and own[key].verdict.is_shown
    ]
    assert len(both) >= 10
    assert all(before == after for before, after in both)
