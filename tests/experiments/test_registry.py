"""Experiments between two hosts are found by registries, and named in their own modules only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.evaluate.derived.model import Derived
from pentathlon.evaluate.derived.registry import DERIVATIONS
from pentathlon.experiments.descriptor import Experiment
from pentathlon.experiments.registry import EXPERIMENTS, find
from pentathlon.experiments.systems import make_target
from pentathlon.protocol import agent
from pentathlon.report.experiments.registry import SHOWN
from tests.fakes.catalogs import catalog
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem, entry, request

PACKAGE = Path(__file__).parents[2] / "pentathlon"

OWN = {
    "experiments/traffic", "experiments/forwarding", "experiments/file_services",
    "evaluate/derived/forwarding.py", "evaluate/derived/limits.py", "evaluate/derived/files.py",
    "literature/filled/traffic.py", "literature/filled/forwarding.py",
    "report/file_services.py", "report/html/jitters.py", "report/html/overlays.py",
    "report/experiments",
}  # fmt: skip
"""The modules of the experiments."""

WORDS = {
    # Sentences for people on what a missing program is for.
    ("doctor/probes.py", "files.* over SMB"),
    # A path of an inventory.
    ("evaluate/sameness.py", "network.congestion_control"),
}
"""Other texts that begin like the name of such a workload, and name none that is driven."""


def areas() -> set[str]:
    return {one.area for one in catalog().workloads if one.hosts > 1}


def texts(source: str) -> Iterator[str]:
    """Every text of a module, but for its documentation."""
    tree = ast.parse(source)
    values = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in values
        ):
            yield node.value


def named(source: str, known: set[str]) -> set[str]:
    """Texts of a module that are, or begin with, the name of a workload of these areas."""
    return {text for text in texts(source) if text.startswith(tuple(f"{area}." for area in known))}


def test_no_workload_between_hosts_is_named_outside_its_modules() -> None:
    found = {
        (name, text)
        for module in PACKAGE.rglob("*.py")
        for name in [str(module.relative_to(PACKAGE))]
        if not any(name == own or name.startswith(f"{own}/") for own in OWN)
        for text in named(module.read_text(), areas())
    }
    assert found == WORDS


def test_the_check_sees_a_name() -> None:
    known = areas()
    assert known == {"network", "forwarding", "files"}
    assert named('if step.startswith(("network.", "disk.")):\n    pass\n', known) == {"network."}
    assert named('"""`files.copy` is one."""\nA = {"files.copy": 1}\n', known) == {"files.copy"}
    assert named('A = f"files.{task}"\n', known) == {"files."}
    assert named('A = "networks"\n', known) == set()


def test_the_modules_of_the_experiments_exist() -> None:
    assert [own for own in OWN if not (PACKAGE / own).exists()] == []


def test_a_workload_belongs_to_one_experiment() -> None:
    every = [name for one in EXPERIMENTS for name in one.drivers]
    assert len(every) == len(set(every))
    for one in EXPERIMENTS:
        assert (PACKAGE / "experiments" / one.name / "descriptor.py").is_file()
        assert all(find(name) is one for name in one.drivers)
    assert find("memory.read") is None


def test_every_workload_between_hosts_of_the_catalog_has_a_driver() -> None:
    between = sorted(one.id for one in catalog().workloads if one.hosts > 1)
    driven = sorted(name for one in EXPERIMENTS for name in one.drivers)
    assert between and driven == between


def test_entries_of_other_packages_are_of_these_experiments() -> None:
    drivers = {one.name: set(one.drivers) for one in EXPERIMENTS}
    assert set(DERIVATIONS) <= set(drivers)
    shown = [one.experiment for one in SHOWN]
    assert set(shown) <= set(drivers) and len(shown) == len(set(shown))
    for one in SHOWN:
        assert set(one.pictures) <= drivers[one.experiment]
    fields = [name for own in DERIVATIONS.values() for name in own]
    assert set(fields) <= set(Derived.model_fields) and len(fields) == len(set(fields))


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.name)
def test_only_what_limits_its_trials_needs_links(
    experiment: Experiment[Any],
) -> None:
    """The time of a task over links follows from them, and the catalog states which these are."""
    entries = [catalog().workload(name) for name in experiment.drivers]
    over_links = {entry.over_links for entry in entries if entry is not None}
    assert over_links == {experiment.limits_its_trials}
    assert over_links == {experiment.needs.kind == "links"}


def test_one_host_is_told_what_such_a_workload_needs(tmp_path: Path) -> None:
    between = [one for one in catalog().workloads if one.hosts > 1]
    # A list without a default gets a value, which the agent checks first.
    given = {
        one.id: {p.name: (p.choices or ["any"])[:1] for p in one.parameters if p.default == []}
        for one in between
    }
    entries = [entry(name, parameters=parameters) for name, parameters in given.items()]
    wanted = request("", workloads=entries)
    target = make_target(FakeSystem(target="local"), agent.locate(), tmp_path)
    with target.boot(20) as session:
        events = documents(session.run(wanted, 20, 60))
    errors = [event for event in events if event["event"] == "error"]
    assert [one["workload"] for one in errors] == [one.id for one in between]
    assert {one["kind"] for one in errors} == {"unsupported"}
    assert all(one["reason"].endswith(": give the system a [system.peer]") for one in errors)
