"""Pydantic's complaints about a study file, as sentences that say what would be right."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

from pydantic import BaseModel
from pydantic_core import ErrorDetails
from typing_extensions import is_typeddict

from pentathlon.safeio.suggestion import did_you_mean, listing
from pentathlon.study.commands.model import OwnMetric, OwnWorkload
from pentathlon.study.counting import count_text
from pentathlon.study.factorial.model import Factor, Fraction
from pentathlon.study.model import Study
from pentathlon.study.names import KINDS, OneOf
from pentathlon.study.preparation import PreparationStep
from pentathlon.study.problems import Problem, TomlPath
from pentathlon.study.procedure import Procedure
from pentathlon.study.reach import Ssh
from pentathlon.study.rules import Evaluation
from pentathlon.study.settings import Settings
from pentathlon.study.stopping import Stopping
from pentathlon.study.suite import Suite, WorkloadChoice
from pentathlon.study.system import Peer, System
from pentathlon.targets import registry

KEYS = "docs/study-file.md"
"""The page that lists the keys of a study file."""

_TABLES: dict[tuple[str, ...], type[BaseModel]] = {
    (): Study,
    ("procedure",): Procedure,
    ("procedure", "stopping"): Stopping,
    ("procedure", "steps"): PreparationStep,
    ("evaluation",): Evaluation,
    ("system",): System,
    ("system", "settings"): Settings,
    ("system", "peer"): Peer,
    ("system", "ssh"): Ssh,
    ("system", "peer", "ssh"): Ssh,
    ("system", "steps"): PreparationStep,
    ("factor",): Factor,
    ("fraction",): Fraction,
    ("suite",): Suite,
    ("suite", "workloads"): WorkloadChoice,
    ("workload",): OwnWorkload,
    ("workload", "metric"): OwnMetric,
}

_EXAMPLES = {
    "name": 'name = "two-kernels"',
    "reference": 'reference = "NAME", the system that the others are compared with',
    "system": "at least one [[system]] table",
    "suite": "at least one [[suite]] table",
    "workloads": 'workloads = ["process.*"]',
    "id": 'id = "memory.read"',
    "host": 'host = "NAME"',
    "levels": 'levels = ["other", "batch"]',
    "do": 'do = "settle"',
    "command": 'command = ["./render", "--size", "{size}"]',
}

_PATTERNS = {
    "governor": 'use a name such as "performance"',
    "tcp_congestion_control": 'use a name such as "cubic"',
    "host": "use a name or an address without blanks and characters of the shell",
    "user": "use a name without blanks and characters of the shell",
    "jump": 'use names without blanks and characters of the shell, such as "user@gateway"',
    "name": "use lower-case letters, digits and hyphens",
    "memory": 'write a whole number with K, M or G, such as "640M"',
    "largest_file": 'write a whole number with K, M or G, such as "20G"',
}
_SYSTEM_NAME = 'use letters, digits, "." "_" "+" and "-", such as "uml-6.1"'

_TYPES = {
    "string_type": 'must be text in quotes, such as "text"',
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list, in [ ]",
    "list_type": "must be a list, in [ ]",
    "dict_type": "must be a table, { ... }",
    "model_type": "must be a table, { ... }",
    "model_attributes_type": "must be a table, { ... }",
}


def translate(error: ErrorDetails) -> Problem:
    """One complaint as a problem, without its line."""
    path = _clean(error["loc"])
    return Problem(path, _sentence(error, path))


def _clean(loc: tuple[str | int, ...]) -> TomlPath:
    """The place in the file: the names of union members that pydantic adds are left out."""
    if len(loc) > 2 and "parameters" in loc:
        # system[i].parameters.WORKLOAD.NAME, suite[i].workloads[j].parameters.NAME
        depth = loc.index("parameters") + (3 if loc[0] == "system" else 2)
        return loc[:depth]
    return loc


def _sentence(error: ErrorDetails, path: TomlPath) -> str:  # noqa: PLR0911  one per kind
    kind = error["type"]
    given = error["input"]
    context: dict[str, Any] = error.get("ctx", {})
    key = path[-1] if path and isinstance(path[-1], str) else ""
    if "parameters" in path[:-1]:
        return f"{_show(given)} is no value of a parameter; write a number, text, true or a list"
    if kind == "extra_forbidden":
        return f"unknown key{did_you_mean(str(path[-1]), _keys(path[:-1]), KEYS)}"
    if kind == "missing":
        return f"is missing; add {_example(key)}"
    if kind == "literal_error":
        return f"{_show(given)} is not known{_choices(given, _literals(path))}"
    if kind == "value_error":
        return str(context.get("error", error["msg"]))
    if kind in _TYPES:
        return f"{_show(given)} is the wrong type; it {_TYPES[kind]}"
    if kind == "string_pattern_mismatch":
        advice = _PATTERNS.get(key, _SYSTEM_NAME)
        if key == "reference" or (key == "name" and path[0] == "system"):
            advice = _SYSTEM_NAME
        if key == "id" and path[0] == "workload":
            advice = 'use an area and a name with a dot between them, such as "my.render"'
        return f"{_show(given)} is not allowed; {advice}"
    if kind in ("too_short", "too_long"):
        has = count_text(context["actual_length"], "entry")
        if kind == "too_short":
            return f"has {has}; give at least {context['min_length']}"
        return f"has {has}; give at most {context['max_length']}"
    bounds = {
        "greater_than_equal": ("ge", "at least"),
        "greater_than": ("gt", "more than"),
        "less_than_equal": ("le", "at most"),
        "less_than": ("lt", "less than"),
        "string_too_long": ("max_length", "shorter: its length at most"),
        "string_too_short": ("min_length", "longer: its length at least"),
    }
    if kind in bounds:
        name, words = bounds[kind]
        return f"{_show(given)} is out of range; it must be {words} {context[name]}"
    return f"{_show(given)}: {error['msg']}"


def _example(key: str) -> str:
    if key == "target":
        return f"target = {listing(KINDS.names())}"
    return _EXAMPLES.get(key, key)


def _table(path: TomlPath) -> dict[str, list[Any]]:
    """The keys of a table, each with what its value may be; empty if the table is not known."""
    place = tuple(part for part in path if isinstance(part, str))
    if model := _TABLES.get(place):
        fields = model.model_fields.items()
        return {one.alias or name: [*one.metadata, one.annotation] for name, one in fields}
    if len(place) == 2 and place[0] == "system":
        for kind in registry.kinds():
            own = kind.own_keys.get(place[1])
            if is_typeddict(own):
                return {key: [hint] for key, hint in get_type_hints(own).items()}
    return {}


def _keys(path: TomlPath) -> list[str]:
    of_a_system = [part for part in path if isinstance(part, str)] == ["system"]
    own = [key for kind in registry.kinds() for key in kind.own_keys] if of_a_system else []
    return [*_table(path), *own]


def _literals(path: TomlPath) -> list[str]:
    found: list[str] = []
    pending = list(_table(path[:-1]).get(str(path[-1]), []))
    while pending:
        part = pending.pop()
        if isinstance(part, OneOf):
            found += part.names()
        elif isinstance(part, str):
            found.append(part)
        else:
            pending += reversed(get_args(part))
    return found


def _choices(given: Any, known: list[str]) -> str:
    if isinstance(given, str) and len(known) > 4:
        return did_you_mean(given, known)
    return f"; use {listing(known)}" if known else ""


def _show(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:57]}..."'
    if isinstance(value, dict):
        return "a table"
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
