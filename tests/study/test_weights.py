"""Weights and exclusion rules of a study file: what is wrong is said with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.study.load import parse_study
from pentathlon.study.problems import StudyError
from tests.fakes.scripted import catalog

BASE = """\
name = "s"
reference = "a"
{top}
[[system]]
name = "a"
target = "local"
[[suite]]
name = "s"
workloads = ["w.*"]
"""


def read(top: str):
    return parse_study(BASE.format(top=top), Path("s.toml"), catalog())


def test_weights_name_areas_and_workloads():
    study = read('[weights]\nw = 2\n"w.one" = 0.5')
    assert study.weights == {"w": 2.0, "w.one": 0.5}
    assert read("").weights == {}


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("memroy = 1", "neither an area nor a workload"),
        ('"w.onee" = 1', 'did you mean "w.one"'),
        ("w = -1", "weights"),
        ('w = "much"', "weights"),
        ("w = inf", "weights"),
        ("w = 0", "every area of this study has the weight 0"),
    ],
)
def test_wrong_weights_are_named(text, output):
    with pytest.raises(StudyError) as raised:
        read(f"[weights]\n{text}")
    assert output in str(raised.value)


def test_rules_are_read_in_one_form():
    study = read('[evaluation]\nexclude = ["steal_percent>2", " frequency_mhz <= 1e3 "]')
    assert study.evaluation.exclude == ("steal_percent > 2", "frequency_mhz <= 1000")


@pytest.mark.parametrize("rule", ["value > 3", "steal > 1", "steal_percent = 2", "system > 1"])
def test_wrong_rules_are_named(rule):
    with pytest.raises(StudyError, match=r"evaluation\.exclude") as raised:
        read(f'[evaluation]\nexclude = ["{rule}"]')
    assert "Traceback" not in str(raised.value)
