"""A study against the agent's catalog: workloads, parameters, types, bounds and choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from pentathlon.safeio.suggestion import did_you_mean, listing
from pentathlon.study import flows
from pentathlon.study.catalog import LINKS, Catalog, Parameter, Workload
from pentathlon.study.distributions import ModelError
from pentathlon.study.limits import too_many_cases
from pentathlon.study.link_profile import ProfileError, load_profile
from pentathlon.study.model import Study
from pentathlon.study.names import JOINABLE
from pentathlon.study.problems import Problem, TomlPath
from pentathlon.study.suite import WorkloadChoice
from pentathlon.study.system import Peer, System
from pentathlon.targets import registry

_SCALARS: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "string": (str,),
}
_WORDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "text",
}

CATALOG = '"pentathlon catalog"'
"""The command that lists workloads, and with one of them its parameters and metrics."""

CABLE = "none"
"""A plain cable instead of a link."""


def matches(choice: WorkloadChoice, workload: Workload) -> bool:
    """Whether an entry of a suite names the workload. Patterns never name test-only workloads."""
    if choice.is_pattern:
        return not workload.test_only and fnmatchcase(workload.id, choice.id)
    return choice.id == workload.id


def measured(study: Study, catalog: Catalog) -> list[Workload]:
    """The workloads that the suites of a study name, in the catalog's order."""
    choices = [choice for suite in study.suites for choice in suite.workloads]
    return [w for w in catalog.workloads if any(matches(choice, w) for choice in choices)]


def check_catalog(study: Study, catalog: Catalog) -> list[Problem]:
    """Everything in the study that the catalog does not allow."""
    problems: list[Problem] = []
    named: set[str] = set()
    for suite_index, suite in enumerate(study.suites):
        for index, choice in enumerate(suite.workloads):
            path: TomlPath = ("suite", suite_index, "workloads", index)
            problems += _check_choice(choice, path, catalog)
            if not choice.is_pattern and choice.id in named:
                text = f'"{choice.id}" is chosen twice; put all its values into one entry'
                problems.append(Problem(path, text))
            named.add(choice.id)
    problems += _check_weights(study, catalog)
    problems += _check_installs(study)
    # A suite with a wrong name may well mean the workload that no suite seems to run.
    suites_are_right = not problems
    used = measured(study, catalog)
    ids = {workload.id for workload in used}
    problems += _check_peers(study, catalog)
    for system_index, system in enumerate(study.systems):
        for workload_id in system.commands:
            if study.command(workload_id) is None:
                known = [one.id for one in study.workloads]
                text = f'"{workload_id}" is no [[workload]] of this study'
                hint = did_you_mean(workload_id, known)
                problems.append(
                    Problem(("system", system_index, "commands", workload_id), text + hint)
                )
        for workload_id, parameters in system.parameters.items():
            path = ("system", system_index, "parameters", workload_id)
            workload = catalog.workload(workload_id)
            if workload is None:
                problems.append(Problem(path, _unknown(workload_id, catalog)))
                continue
            if workload_id not in ids and suites_are_right:
                text = f'no suite of this study runs "{workload_id}"; add it to one, or leave it'
                problems.append(Problem(path, text))
            problems += _check_parameters(parameters, path, [workload])
    if not problems:
        problems += _check_flows(study, catalog)
    if suites_are_right:
        problems += _check_declared(study, used)
    return problems


def check_judgement(study: Study, catalog: Catalog) -> list[Problem]:
    """What is wrong in the weights and the declared metrics of a study that was measured."""
    return [*_check_weights(study, catalog), *_check_declared(study, measured(study, catalog))]


def _check_flows(study: Study, catalog: Catalog) -> Iterator[Problem]:
    """Distributions and lines of scripts that say nothing that can be sent."""
    for number, suite in enumerate(study.suites):
        for index, choice in enumerate(suite.workloads):
            workload = catalog.workload(choice.id)
            if workload is None or not flows.defines_flows(workload):
                continue
            requested = workload.defaults() | choice.parameters
            path: TomlPath = ("suite", number, "workloads", index, "parameters")
            yield from _flow_problem(requested, path)
            for place, system in enumerate(study.systems):
                if own := system.parameters.get(workload.id):
                    path = ("system", place, "parameters", workload.id)
                    yield from _flow_problem(requested | own, path)


def _flow_problem(parameters: dict[str, Any], path: TomlPath) -> Iterator[Problem]:
    try:
        for case in flows.cases(parameters):
            flows.flows(parameters, case)
    except ModelError as error:
        yield Problem(path, str(error))


def _check_installs(study: Study) -> Iterator[Problem]:
    """Several installs need a way to make each system anew; guests have one of their own."""
    if study.procedure.installs < 2:
        return
    for index, system in enumerate(study.systems):
        chosen = study.procedure.steps if system.steps is None else system.steps
        if not system.kind.is_guest and not any(s.do == "fresh" and s.command for s in chosen):
            yield Problem(
                ("system", index),
                f'{study.procedure.installs} installs need a command that makes "{system.name}" '
                'anew; add { do = "fresh", command = "..." } to its steps',
            )


def _check_weights(study: Study, catalog: Catalog) -> Iterator[Problem]:
    """Weights name areas and workloads of the catalog, and some weight is left."""
    areas = {workload.area for workload in catalog.workloads}
    for name in study.weights:
        if name not in areas and catalog.workload(name) is None:
            known = sorted(areas | set(catalog.ids()))
            text = f'"{name}" is neither an area nor a workload{did_you_mean(name, known, CATALOG)}'
            yield Problem(("weights", name), text)
    used = {w.area for w in measured(study, catalog) if study.weights.get(w.id, 1.0)}
    if used and not any(study.weights.get(area, 1.0) for area in used):
        text = "every area of this study has the weight 0; give at least one of them more"
        yield Problem(("weights",), text)


def _check_declared(study: Study, used: list[Workload]) -> Iterator[Problem]:
    """Every pattern of `evaluation.declared` must name something that the study measures."""
    names = [w.id for w in used]
    names += [f"{w.id}.{metric.id}" for w in used for metric in w.metrics]
    for index, pattern in enumerate(study.evaluation.declared or ()):
        # A whole key names a metric before its case, which only a measurement shows.
        named = pattern.partition("[")[0] if pattern.endswith("]") and "=" in pattern else pattern
        if not any(fnmatchcase(name, named) for name in names):
            text = f'"{pattern}" declares nothing that this study measures'
            yield Problem(
                ("evaluation", "declared", index), text + did_you_mean(pattern, names, CATALOG)
            )


def _check_peers(study: Study, catalog: Catalog) -> Iterator[Problem]:
    """A workload between two hosts that is named, for a system that has only one.

    One that only a pattern matches is left out for such a system.
    """
    named = {c.id for suite in study.suites for c in suite.workloads if not c.is_pattern}
    between = sorted(named & {w.id for w in catalog.workloads if w.hosts > 1})
    for index, system in enumerate(study.systems):
        if between and system.peer is None:
            text = f"{between[0]} needs two hosts, and the system has one; add [system.peer] to it"
            yield Problem(("system", index), text)
        if system.peer is not None:
            yield from _check_peer(system, system.peer, ("system", index, "peer"))


def _check_peer(system: System, peer: Peer, path: TomlPath) -> Iterator[Problem]:
    """A second host that cannot be what the file states."""
    own, other = system.kind, system.peer_kind
    if peer.target is not None and not own.joinable:
        text = f'a system of the target "{system.target}" has a peer of its own kind; leave it out'
        yield Problem((*path, "target"), text)
    if peer.kernel is not None and not other.takes("kernel"):
        text = f'is for a peer of the target {_takers("kernel")}; this one is "{other.name}"'
        yield Problem((*path, "kernel"), text)
    kernel = system.kernel if other == own else None
    if (example := other.required.get("kernel")) and peer.kernel is None and kernel is None:
        yield Problem((*path, "kernel"), f"is missing; add {example}")
    if peer.link_engine != "agent" and not own.joinable:
        text = f'a system of the target "{system.target}" has no emulated links; leave it out'
        yield Problem((*path, "link_engine"), text)
    if peer.ssh is not None and (peer.target is None or not other.takes("ssh")):
        text = f"is for a peer of the target {_takers('ssh')}; leave it out"
        yield Problem((*path, "ssh"), text)
    if peer.ssh is None and peer.target is not None and (example := other.required.get("ssh")):
        yield Problem((*path, "ssh"), f"is missing; add {example}")
    machines = [own.elsewhere, other.elsewhere].count(True)
    far = listing(registry.names(lambda kind: kind.elsewhere))
    if peer.target is None and machines:
        machines = 2  # A forwarder between two cables.
    for key, names in (("interfaces", peer.interfaces), ("joined_to", peer.joined_to)):
        if len(names or ()) != machines:
            many = f"{machines} interface{'s' if machines > 1 else ''}"
            text = f"must name {many}, one for each cable to a machine reached by {far}"
            text = text if machines else f"is for cables to machines reached by {far}; leave it out"
            yield Problem((*path, key), text)
    if peer.link is not None:
        yield from _check_link(system, peer.link, (*path, "link"))


def _takers(key: str) -> str:
    return listing(registry.names(lambda kind: kind.takes(key)))


def _check_link(system: System, link: str, path: TomlPath) -> Iterator[Problem]:
    """A profile that cannot be used, or a system that cannot have one."""
    if not system.kind.joinable:
        joined = listing(JOINABLE.names(), "and")
        text = f'a link is emulated between hosts of the targets {joined}, not "{system.target}"'
        yield Problem(path, text)
    if complaint := _link_problem(link):
        yield Problem(path, complaint)


def _check_choice(choice: WorkloadChoice, path: TomlPath, catalog: Catalog) -> Iterator[Problem]:
    found = [workload for workload in catalog.workloads if matches(choice, workload)]
    place = (*path, "id")
    if not found:
        if choice.is_pattern:
            hidden = [w.id for w in catalog.workloads if fnmatchcase(w.id, choice.id)]
            patterns = sorted({f"{w.area}.*" for w in catalog.workloads if not w.test_only})
            text = f'"{choice.id}" matches no workload'
            text += (
                f"; test-only workloads must be named: {', '.join(hidden)}"
                if hidden
                else did_you_mean(choice.id, [*patterns, *catalog.ids()], CATALOG)
            )
            yield Problem(place, text)
        else:
            yield Problem(place, _unknown(choice.id, catalog))
        return
    yield from _check_parameters(choice.parameters, (*path, "parameters"), found)


def _unknown(workload_id: str, catalog: Catalog) -> str:
    hint = did_you_mean(workload_id, catalog.ids(), CATALOG)
    return f'"{workload_id}" is no workload of this agent{hint}'


def _check_parameters(
    parameters: Mapping[str, Any], path: TomlPath, workloads: list[Workload]
) -> Iterator[Problem]:
    """Values for one workload, or for those of a pattern that have the parameter."""
    for name, value in parameters.items():
        having = [known for w in workloads if (known := w.parameter(name)) is not None]
        if not having:
            ids = workloads[0].id if len(workloads) == 1 else "none of the workloads"
            known_names = sorted({p.name for w in workloads for p in w.parameters})
            verb = "has no parameter" if len(workloads) == 1 else "has the parameter"
            text = f'{ids} {verb} "{name}"'
            text += did_you_mean(name, known_names, CATALOG) if known_names else "; it has none"
            yield Problem((*path, name), text)
            continue
        complaint = next((c for known in having if (c := value_problem(known, value))), None)
        if complaint is None and name == LINKS and any(w.over_links for w in workloads):
            links = (link for link in value if link != CABLE)
            complaint = next((c for link in links if (c := _link_problem(link))), None)
        if complaint:
            yield Problem((*path, name), complaint)
    for workload in workloads:
        named = {k: v for k, v in parameters.items() if workload.parameter(k) is not None}
        if many := too_many_cases(workload.defaults() | named):
            yield Problem(path, f"{workload.id}: {many}")
            return


def _link_problem(link: str) -> str | None:
    """What is wrong with the profile of a link, or None."""
    try:
        load_profile(link)
    except ProfileError as error:
        return str(error)
    return None


def value_problem(parameter: Parameter, value: Any) -> str | None:
    """What is wrong with a value of a parameter, or None."""
    if not parameter.type.startswith("list["):
        return _scalar_problem(parameter, parameter.type, value)
    element = parameter.type[len("list[") : -1]
    if not isinstance(value, list):
        return f"{value!r} is no list; write [{_toml(value)}]"
    if not value:
        return "the list is empty; name at least one value"
    for item in value:
        if complaint := _scalar_problem(parameter, element, item):
            return complaint
    repeated = next((item for item, count in Counter(value).items() if count > 1), None)
    if repeated is not None:
        return f"{_toml(repeated)} is named twice; each value makes one case"
    return None


def _scalar_problem(parameter: Parameter, kind: str, value: Any) -> str | None:
    right_type = isinstance(value, _SCALARS[kind])
    if not right_type or (isinstance(value, bool) and kind != "boolean"):
        return f"{_toml(value)} is the wrong type; {parameter.name} takes {_WORDS[kind]}"
    if parameter.choices is not None and value not in parameter.choices:
        return f"{_toml(value)} is not known; use {listing(str(c) for c in parameter.choices)}"
    unit = f" {parameter.unit}" if parameter.unit else ""
    if parameter.minimum is not None and value < parameter.minimum:
        return f"{value} is too small; the least is {_number(parameter.minimum)}{unit}"
    if parameter.maximum is not None and value > parameter.maximum:
        return f"{value} is too large; the most is {_number(parameter.maximum)}{unit}"
    return None


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)
