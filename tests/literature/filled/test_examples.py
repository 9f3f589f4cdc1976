"""The shipped studies measure what the tables of the stand-alone papers show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pentathlon.literature.filled.figures import OPT_LEVEL
from pentathlon.literature.filled.load import Entry, papers
from pentathlon.literature.filled.model import Wanted
from pentathlon.protocol import agent
from pentathlon.study.catalog import Catalog, Workload, parse_catalog
from pentathlon.study.load import load_study
from pentathlon.study.plan import Plan, Step, make_plan

EXAMPLES = Path(__file__).parents[3] / "examples"
STUDIES = ("three-layers", "desktop-study", "venkata2003", "venkata2003-paper")
PAPERS = ("martinovic2012", "venkata2003")
ALONE = ("arithmetic", "cpu", "disk", "memory", "process")
"""Areas of work on one host that draws nothing."""

KIB, MIB = 1 << 10, 1 << 20
LARGE_CACHE = 105 * MIB
"""A last level that processors of today have (Intel Xeon of 2023)."""
USUAL_READ_AHEAD = 128 * KIB
"""VM_READAHEAD_PAGES of Linux: what a disk has unless it is configured otherwise."""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    try:
        return parse_catalog(agent.catalog())
    except agent.AgentError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def plans(catalog: Catalog) -> dict[str, Plan]:
    made = {}
    for name in STUDIES:
        study = load_study(EXAMPLES / f"{name}.toml", catalog).study
        made[name] = make_plan(study, catalog, {system.name: {} for system in study.systems})
    return made


def rows() -> Iterator[tuple[str, str, dict[str, Wanted]]]:
    """Name, workload and case of every row that stand-alone work fills."""
    for paper in papers():
        if paper.study.id not in PAPERS:
            continue
        for declared in paper.tables:
            for entry in declared.entries:
                if entry.row.fact is not None:
                    continue
                workload, case = source(entry)
                if workload.partition(".")[0] in ALONE:
                    yield f"{declared.id}: {entry.label}", workload, case


def source(entry: Entry) -> tuple[str, dict[str, Wanted]]:
    """The workload that fills a row, and what its case must be."""
    if entry.row.metric is not None:
        return entry.row.metric.rpartition(".")[0], entry.row.case
    kind, what, _ = (entry.row.derived or "").split("/")
    if kind == "regions":
        return "memory.regions", {"swap": 1} if "swap" in what else {}
    workload = {"code-size": "memory.code_size", "data-size": "memory.code_plus_data"}[kind]
    return workload, {"opt_level": OPT_LEVEL}


def measures(step: Step, known: Workload, case: dict[str, Wanted]) -> bool:
    """Whether a step has every factor of a case at the wanted value.

    A parameter bears the name of its factor, or its plural. A factor without one has all its values
    in every study: those the agent alone knows, such as the phases of `disk.phases`.
    """
    for factor, wanted in case.items():
        chosen = step.parameters.get(factor, step.parameters.get(f"{factor}s"))
        if chosen is None:
            assert factor in {one.name for one in known.factors}, f"{known.id}: {factor}"
        elif not any(
            fit(one, wanted) for one in (chosen if isinstance(chosen, list) else [chosen])
        ):
            return False
    return True


def fit(value: object, wanted: Wanted) -> bool:
    if isinstance(wanted, tuple):
        return isinstance(value, int) and wanted[0] <= value <= wanted[1]
    return value == wanted


def unfilled(catalog: Catalog, plans: list[Plan]) -> list[str]:
    """Rows that none of the plans measures on any of its systems."""
    steps: dict[str, list[Step]] = {}
    for plan in plans:
        for own in plan.steps.values():
            for step in own:
                steps.setdefault(step.workload, []).append(step)
    missing = []
    for name, workload, case in rows():
        known = catalog.workload(workload)
        assert known is not None, workload
        if not any(measures(step, known, case) for step in steps.get(workload, [])):
            missing.append(name)
    return missing


def test_the_papers_have_the_rows_that_are_looked_for() -> None:
    names = [name for name, _, _ in rows()]
    assert len(names) > 250
    assert {"table-13: t_CPUs16", "code-size: the published loop, L2: cache less that size"} < set(
        names
    )


def test_every_row_is_measured_by_a_shipped_study(catalog: Catalog, plans: dict[str, Plan]) -> None:
    assert unfilled(catalog, list(plans.values())) == []


def test_three_layers_fills_all_but_what_takes_long_or_needs_root(
    catalog: Catalog, plans: dict[str, Plan]
) -> None:
    missing = unfilled(catalog, [plans["three-layers"]])
    large = tuple(f"fig-22: {1 << power} KB," for power in range(13, 17))
    left = [name for name in missing if not name.startswith(large) and "wap disk" not in name]
    assert left == ["table-06: t_CPUs16", "table-13: t_CPUs16"]


@pytest.mark.parametrize("workload", ["memory.read", "memory.latency", "memory.regions"])
def test_curves_go_on_beyond_a_large_cache(plans: dict[str, Plan], workload: str) -> None:
    """Two sizes above it, in memory that every system of the study has."""
    for step in plans["three-layers"].steps["uml"]:
        if step.workload == workload:
            most = step.parameters.get("largest_bytes") or max(step.parameters["block_bytes"])
            assert most >= 4 * LARGE_CACHE


@pytest.mark.parametrize("name", STUDIES)
def test_no_usual_read_ahead_lies_outside_the_chunks(plans: dict[str, Plan], name: str) -> None:
    for own in plans[name].steps.values():
        for step in own:
            if step.workload == "disk.order":
                assert sorted(step.parameters["chunk_bytes"])[-2] >= 4 * USUAL_READ_AHEAD
