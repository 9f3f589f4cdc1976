"""Every file of examples/ can be run: the model takes it, and so does the agent's catalog."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.study import flows
from pentathlon.study.catalog import Catalog
from pentathlon.study.load import load_study
from pentathlon.study.plan import make_plan
from pentathlon.study.problems import StudyError

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
DRAWN = "graphics."
"""Workloads of a program that is installed apart."""

each = pytest.mark.parametrize("file", [pytest.param(one, id=one.stem) for one in EXAMPLES])


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 10


@each
def test_the_model_takes_it(file: Path) -> None:
    loaded = load_study(file)
    assert loaded.study.title and loaded.study.question
    assert loaded.fallback is None or loaded.fallback in EXAMPLES


@each
def test_it_can_be_planned(file: Path, real_catalog: Catalog, tmp_path: Path) -> None:
    if not any(one.id.startswith(DRAWN) for one in real_catalog.workloads) and drawn(file):
        pytest.skip("the graphics program is not installed")
    loaded = load_study(file, real_catalog)
    for system in loaded.study.systems:
        try:
            made = make_target(system, agent.locate(), tmp_path)
        except TargetUnavailable:
            continue  # This machine lacks it; the study is right.
        assert made.kind == system.target
    plan = make_plan(loaded.study, real_catalog, {one.name: {} for one in loaded.study.systems})
    for name, steps in plan.steps.items():
        assert steps, f"{name} is booted and measures nothing"
        for step in steps:
            if step.workload == "network.traffic":
                cases = list(flows.cases(step.parameters))
                assert cases and all(flows.flows(step.parameters, case) for case in cases)


def drawn(file: Path) -> bool:
    return any(
        choice.id.startswith(DRAWN)
        for suite in load_study(file).study.suites
        for choice in suite.workloads
    )


@each
def test_it_names_itself(file: Path) -> None:
    """The command in its head is its own."""
    named = re.findall(r"pentathlon run (?:--\S+ )*examples/(\S+\.toml)", file.read_text())
    assert set(named) <= {file.name}


def test_examples_that_the_pages_name_exist() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *EXAMPLES]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"examples/([\w.-]+\.toml)", text):
            if name != "NAME.toml":
                assert (ROOT / "examples" / name) in EXAMPLES, f"{page.name}: {name}"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("packet_rate =", "packet_rates ="),
        ("size_bytes = [32,", "size_bytes = [17,"),
        ('packet_rate = "uniform 30000 300000"', 'packet_rate = "uniform 30000"'),
        ('id = "network.traffic"', 'id = "network.trafic"'),
        ("[system.peer]", ""),
    ],
)
def test_a_broken_example_is_found(
    right: str, wrong: str, real_catalog: Catalog, tmp_path: Path
) -> None:
    text = (ROOT / "examples" / "vdovjak2021.toml").read_text(encoding="utf-8")
    assert right in text
    broken = tmp_path / "broken.toml"
    broken.write_text(text.replace(right, wrong), encoding="utf-8")
    with pytest.raises(StudyError):
        test_it_can_be_planned(broken, real_catalog, tmp_path)
