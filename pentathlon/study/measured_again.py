"""The study of a further run: the same systems, and of the workloads those that are still open."""

from __future__ import annotations

import copy
import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pentathlon.study.absolute import absolute
from pentathlon.study.plan import Plan, Step

LEFT_OUT = ("fallback", "weights", "question")
"""What a further run does not have: its answer is a part of another one's."""
PATTERN = "*?["


def measured_again(
    text: str, directory: Path, plan: Plan, workloads: set[str], blocks: int, *, number: int
) -> dict[str, Any]:
    """The document of a study that measures some workloads of a study again.

    Their parameters and repetitions are those of the study. The order of the systems is drawn
    anew, and the number of blocks is fixed before anything is measured.

    Args:
        text: the study file.
        directory: where its relative names of files begin.
        plan: what was planned by it.
        number: of the further run, from 1.
    """
    document = tomllib.loads(text)
    found = {name: value for name, value in document.items() if name not in LEFT_OUT}
    absolute(found, directory)
    seed = plan.study.seed
    digest = hashlib.sha256(f"{seed}/again/{number}".encode()).digest()
    evaluation = {
        key: value
        for key, value in document.get("evaluation", {}).items()
        if key not in ("declared", "headlines")
    }
    procedure = {k: v for k, v in document.get("procedure", {}).items() if k != "stopping"}
    systems = copy.deepcopy(found.pop("system"))
    for one in systems:
        if isinstance(own := one.get("parameters"), dict):
            one["parameters"] = {key: value for key, value in own.items() if key in workloads}
    return {
        **found,
        "name": f"{plan.study.name[:48]}-again-{number}",
        "seed": int.from_bytes(digest[:7]),
        "procedure": {**procedure, "blocks": blocks},
        "evaluation": evaluation,
        "system": systems,
        "suite": list(_suites(found.pop("suite", None), plan, workloads)),
    }


def _suites(
    suites: list[dict[str, Any]] | None, plan: Plan, workloads: set[str]
) -> Iterator[dict[str, Any]]:
    steps = {(step.suite, step.workload): step for every in plan.steps.values() for step in every}
    if suites is None:  # A study of own commands alone names none.
        names = {step.suite: None for step in steps.values()}
        suites = [
            {"name": name, "workloads": [one for suite, one in steps if suite == name]}
            for name in names
        ]
    exact = {_id(one) for suite in suites for one in suite["workloads"]}
    taken: set[str] = set()
    for suite in suites:
        chosen: list[Any] = []
        for entry in suite["workloads"]:
            if not any(sign in _id(entry) for sign in PATTERN):
                chosen += [entry] if _id(entry) in workloads else []
                continue
            for (name, workload), step in steps.items():
                if name != suite["name"] or workload not in workloads - exact - taken:
                    continue
                if fnmatchcase(workload, _id(entry)):
                    taken.add(workload)
                    chosen.append(_exactly(entry, step))
        if chosen:
            yield {**suite, "workloads": chosen}


def _id(entry: str | Mapping[str, Any]) -> str:
    return entry if isinstance(entry, str) else str(entry["id"])


def _exactly(entry: str | Mapping[str, Any], step: Step) -> dict[str, Any]:
    """An entry with a pattern for one workload, with the parameters that this one has."""
    found = {} if isinstance(entry, str) else dict(entry)
    if isinstance(own := found.get("parameters"), dict):
        found["parameters"] = {k: v for k, v in own.items() if k in step.parameters}
    return {**found, "id": step.workload}
