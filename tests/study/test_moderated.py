"""Rows of a new study borrow from each other; those of a plan without `moderated` do not."""

from __future__ import annotations

from pathlib import Path

from pentathlon.study.load import parse_study
from pentathlon.study.model import Study
from pentathlon.study.rules import Evaluation

TEXT = """
name = "one"
reference = "a"
[[system]]
name = "a"
target = "local"
[[suite]]
name = "s"
workloads = ["process.getpid"]
"""


def read(evaluation: str = "") -> Study:
    return parse_study(f"{TEXT}{evaluation}", Path("study.toml"))


def test_a_new_study_has_the_rule_unless_it_switches_it_off():
    assert read().evaluation.moderated
    assert read("[evaluation]\ndelta_percent = 2.0").evaluation.moderated
    assert not read("[evaluation]\nmoderated = false").evaluation.moderated


def test_an_older_plan_does_not_and_is_written_as_it_was():
    document = read("[evaluation]\nmoderated = false").model_dump(mode="json", by_alias=True)
    assert "moderated" not in document["evaluation"]
    assert not Evaluation.model_validate(document["evaluation"], strict=False).moderated
    assert read().model_dump()["evaluation"]["moderated"] is True


def test_a_single_row_is_declared_by_its_key():
    rules = Evaluation(declared=("memory.read.bandwidth[block_bytes=65536,variant=vector]",))
    key = "memory.read.bandwidth[block_bytes={},variant=vector]"
    assert rules.declares("memory.read", "bandwidth", key=key.format(65536))
    assert not rules.declares("memory.read", "bandwidth", key=key.format(1024))
