"""Former names of the parameters of workloads: studies that use them stay readable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pentathlon.study.catalog import Catalog, Workload
from pentathlon.study.check import matches
from pentathlon.study.model import Study
from pentathlon.study.problems import Problem, TomlPath

NAMES: Final = {"rung": "transmit_backend", "soaker": "cpu_hog"}
"""Former name of a parameter -> its present one."""


def rename(study: Study, catalog: Catalog) -> tuple[list[Problem], list[Problem]]:
    """Replace former names of parameters in the study by the present ones.

    A name stays where the workloads do not have the present one (a catalog of an earlier version).

    Returns:
        A hint for each former name; and a problem for each that stands beside the present one.
    """
    hints: list[Problem] = []
    problems: list[Problem] = []
    for path, parameters, workloads in _places(study, catalog):
        known = {parameter.name for workload in workloads for parameter in workload.parameters}
        for old, new in NAMES.items():
            if old not in parameters or old in known or new not in known:
                continue
            value = parameters.pop(old)
            if new in parameters:
                text = f'is the former name of "{new}", which is set too; leave "{old}" out'
                problems.append(Problem((*path, old), text))
            else:
                text = f'is called "{new}" now; the former name still works'
                hints.append(Problem((*path, old), text))
                parameters[new] = value
    return hints, problems


def _places(
    study: Study, catalog: Catalog
) -> Iterator[tuple[TomlPath, dict[str, Any], list[Workload]]]:
    """Where a study sets parameters: the place, the parameters, the workloads that are meant."""
    for number, suite in enumerate(study.suites):
        for index, choice in enumerate(suite.workloads):
            path = ("suite", number, "workloads", index, "parameters")
            meant = [one for one in catalog.workloads if matches(choice, one)]
            yield path, choice.parameters, meant
    for number, system in enumerate(study.systems):
        for name, parameters in system.parameters.items():
            meant = [one for one in catalog.workloads if one.id == name]
            yield ("system", number, "parameters", name), parameters, meant
