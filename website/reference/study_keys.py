"""The page of all keys of a study file, from the model that reads it."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import types
import typing
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

from pentathlon.study import preparation, reach
from pentathlon.study.commands.model import OwnMetric, OwnWorkload
from pentathlon.study.factorial.model import Factor, Fraction
from pentathlon.study.load import parse_study
from pentathlon.study.model import Study
from pentathlon.study.names import OneOf
from pentathlon.study.procedure import Procedure
from pentathlon.study.rules import Evaluation
from pentathlon.study.settings import Settings
from pentathlon.study.stopping import Stopping
from pentathlon.study.suite import Suite, WorkloadChoice
from pentathlon.study.system import Peer, System
from pentathlon.study.table import Table
from pentathlon.targets import registry
from website.reference.cells import cell, code, table

INTRODUCTION = """\
# All keys of a study file

Generated from the model that reads study files. [Study files](../study-file.md) describes what the
keys mean together, with an example.

"""

TABLES: list[tuple[str, type[Table]]] = [
    ("Top level", Study),
    ("`[procedure]`", Procedure),
    ("`stopping`", Stopping),
    ("`[evaluation]`", Evaluation),
    ("`[[system]]`", System),
    ("`[system.settings]`", Settings),
    ("`[system.ssh]`", reach.Ssh),
    ("`[system.peer]`", Peer),
    ("`steps`", preparation.PreparationStep),
    ("`[[factor]]`", Factor),
    ("`[fraction]`", Fraction),
    ("`[[suite]]`", Suite),
    ("`[[suite.workloads]]`", WorkloadChoice),
    ("`[[workload]]`", OwnWorkload),
    ("`[[workload.metric]]`", OwnMetric),
]
"""Headings and the tables of the model."""


LEAST = parse_study(
    """\
name = "one"
reference = "a"
[[system]]
name = "a"
target = "local"
[[suite]]
name = "s"
workloads = ["process.getpid"]
""",
    Path("study.toml"),
)
"""A study that states nothing which has a default."""


def page() -> str:
    """The whole page."""
    out = INTRODUCTION
    for heading, one in TABLES:
        out += f"## {heading}\n\n"
        notes = meanings(one)
        rows = [
            [code(field.alias or name), _field(field), _default(one, name), notes.get(name, "")]
            for name, field in one.model_fields.items()
        ]
        out += table(["key", "type", "default", "meaning"], rows)
    out += "## Keys of one kind of target\n\n"
    rows = [
        [code(key), code(kind.name), _type(value)]
        for kind in map(registry.kind_of, registry.names())
        for key, value in kind.own_keys.items()
    ]
    return out + table(["key", "target", "type"], rows)


def meanings(one: type[Table]) -> dict[str, str]:
    """The words below each attribute of a class, as one line of Markdown."""
    tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(one)))
    assert isinstance(tree.body[0], ast.ClassDef)
    body = tree.body[0].body
    found: dict[str, str] = {}
    for field, after in itertools.pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
        ):
            text = re.sub(r" ?\(docs/[\w.-]+\)", "", str(after.value.value))
            found[field.target.id] = cell(text)
    return found


def _default(one: type[Table], name: str) -> str:
    field = one.model_fields[name]
    if field.is_required():
        return "required"
    # A study file may have another default than a plan of an earlier version.
    stated = {Procedure: LEAST.procedure, Evaluation: LEAST.evaluation}.get(one)
    value = getattr(stated, name, field.get_default(call_default_factory=True, validated_data={}))
    if value is None or value in ((), {}, ""):
        return ""
    if isinstance(value, Table):
        return "see below"
    if isinstance(value, bool):
        return code(str(value).lower())
    return code(f'"{value}"' if isinstance(value, str) else str(value))


def _type(annotation: Any) -> str:
    """A type in the words of TOML."""
    return cell(_words(annotation))


def _field(field: FieldInfo) -> str:
    """The type of a field, with its limits or names."""
    return cell(_words(Annotated[(field.annotation, *field.metadata, None)]))


PLAIN = {str: "text", int: "integer", float: "number", bool: "true or false", dict: "table"}


def _words(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    words = PLAIN.get(annotation, "")
    if origin is typing.Annotated:
        names = [one.names() for one in arguments[1:] if isinstance(one, OneOf)]
        limits = filter(None, (_limit(one) for one in arguments[1:]))
        words = " ".join([_words(arguments[0]), ", ".join(limits)]).strip()
        if names:
            words = ", ".join(f'`"{name}"`' for name in names[0])
    elif origin in (typing.Union, types.UnionType):
        parts = [_words(one) for one in arguments if one is not type(None)]
        words = " or ".join(dict.fromkeys(parts))
    elif origin is typing.Literal:
        quoted = [f'"{one}"' if isinstance(one, str) else str(one) for one in arguments]
        words = ", ".join(f"`{one}`" for one in quoted)
    elif origin in (list, tuple):
        words = f"list of {_words(arguments[0])}"
    elif origin is dict:
        words = f"table of {_words(arguments[1])}"
    elif isinstance(annotation, type) and issubclass(annotation, Table):
        words = "table"
    return words or getattr(annotation, "__name__", str(annotation)).lower()


def _limit(one: Any) -> str:
    signs = {Ge: "≥ {0.ge:,}", Gt: "> {0.gt:,}", Le: "≤ {0.le:,}", Lt: "< {0.lt:,}"}
    if type(one) in signs:
        return signs[type(one)].format(one)
    if isinstance(one, FieldInfo):
        return ", ".join(filter(None, map(_limit, one.metadata)))
    return ""
