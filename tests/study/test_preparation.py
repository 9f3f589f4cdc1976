"""Steps of a study file: defaults by kind of target, own steps of a system, mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.study.load import parse_study
from pentathlon.study.model import Study
from pentathlon.study.preparation import PUBLISHED, PreparationStep, planned
from pentathlon.study.problems import StudyError

STUDY = """\
name = "steps"
reference = "a"
[procedure]
steps = {steps}
[[system]]
name = "a"
target = "local"
[[system]]
name = "b"
target = "uml"
kernel = "6.1"
{own}
[[suite]]
name = "s"
workloads = ["w.*"]
"""


def study(steps: str, own: str = "") -> Study:
    return parse_study(STUDY.format(steps=steps, own=own), Path("steps.toml"))


def test_the_published_process_has_all_steps_and_the_fast_one_none() -> None:
    assert tuple(step.do for step in study('"published"').procedure.steps) == PUBLISHED
    assert study('"fast"').procedure.steps == () == study("[]").procedure.steps
    assert study('"published"', 'steps = "fast"').system("b").steps == ()


def test_the_wait_of_ten_minutes_is_for_systems_that_hold_more_than_the_agent() -> None:
    step = PreparationStep(do="settle")
    assert planned(step, "local").options["after_boot_s"] == 600
    assert planned(step, "ssh").options["after_boot_s"] == 600
    for guest in ("uml", "gvisor", "qemu"):
        assert planned(step, guest).options["after_boot_s"] == 0
    named = PreparationStep(do="settle", after_boot_s=7.0, quiet_s=99.0)
    assert planned(named, "uml").options["after_boot_s"] == 7
    assert planned(named, "uml").options["limit_s"] == 198


@pytest.mark.parametrize(
    ("steps", "line", "words"),
    [
        ('"publshed"', 4, ['"publshed" is no procedure', '"published"']),
        ('["setle"]', 4, ['"setle"', '"settle"']),
        ('["idle", "idle"]', 4, ['"idle" is named twice']),
        ('[{ do = "idle", times = 3 }]', 4, ['"times" is for the step "train", not for "idle"']),
        ('[{ do = "train", tims = 3 }]', 4, ["unknown key", '"times"']),
        ('[{ do = "train", times = -3 }]', 4, ["at least 0"]),
        ('[{ do = "settle", quiet_s = 9, limit_s = 3 }]', 4, ["shorter than quiet_s"]),
        ('[{ do = "idle", tasks = ["defrag"] }]', 4, ['"defrag"']),
        ('[{ do = "idle", tasks = [] }]', 4, ["list of tasks is empty"]),
        ("[{ times = 3 }]", 4, ["is missing", 'do = "settle"']),
        ("3", 4, ["3 is the wrong type"]),
    ],
)
def test_one_mistake(steps: str, line: int, words: list[str]) -> None:
    with pytest.raises(StudyError) as caught:
        study(steps)
    text = str(caught.value)
    assert f"steps.toml:{line}: procedure.steps" in text
    for word in words:
        assert word in text, text
