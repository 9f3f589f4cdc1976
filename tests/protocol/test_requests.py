"""The types that requests are built from beside the agent's schema, which reads them."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from pentathlon.protocol.requests.base import RequestPart
from pentathlon.protocol.requests.commands import AnyCommand, Tune
from pentathlon.protocol.requests.emulation import Emulate, Queue, Way
from pentathlon.protocol.requests.join import JoinRequest
from pentathlon.protocol.requests.session import Placement, Request, WorkloadRequest
from tests.protocol.test_schema import Described, kinds, words

TYPES: dict[str, Any] = {
    "Request": Request, "Command": AnyCommand, "JoinRequest": JoinRequest,
}  # fmt: skip
"""Message of the schema -> its type."""

UNSENT = "quit"
"""The one command that nobody gives: an endpoint ends with its standard input."""

TAGS = ("do", "work", "model")


def whole(rule: Described, document: Described) -> Described:
    """The rule itself, where one only names it, or lets nothing through beside it but null."""
    if "$ref" in rule:
        return whole(document["$defs"][rule["$ref"].removeprefix("#/$defs/")], document)
    forms = [one for one in rule.get("anyOf", ()) if one.get("type") != "null"]
    return whole(forms[0], document) if len(forms) == 1 else rule


def forms(rule: Described, document: Described) -> dict[str, Described]:
    """The objects that a rule lets through, by the word that tells them apart."""
    rule = whole(rule, document)
    found: dict[str, Described] = {}
    for form in rule.get("oneOf") or rule.get("anyOf") or ():
        found |= forms(form, document)
    if "properties" in rule:
        tags = [
            words(rule["properties"][tag], document) for tag in TAGS if tag in rule["properties"]
        ]
        # Where several forms have the same fields, one type serves them all.
        return dict.fromkeys(tags[0] if tags and tags[0] else [""], rule)
    return found


def differences(
    built: Described, ours: Described, read: Described, theirs: Described, place: str
) -> list[str]:
    """Where a type that is built and the rule by which it is read do not agree."""
    built, read = whole(built, ours), whole(read, theirs)
    own, other = forms(built, ours), forms(read, theirs)
    other.pop(UNSENT, None)
    found = [f"{place}.{name}: one side lacks it" for name in sorted(set(own) ^ set(other))]
    for name in sorted(set(own) & set(other)):
        found += of_fields(own[name], ours, other[name], theirs, f"{place}.{name}".rstrip("."))
    if not own and not other and "items" in built and "items" in read:
        found += differences(built["items"], ours, read["items"], theirs, f"{place}[]")
    return found


def of_fields(
    built: Described, ours: Described, read: Described, theirs: Described, place: str
) -> list[str]:
    own, other = built["properties"], read["properties"]
    found = [
        f"{place}.{name}: the agent has no such field" for name in sorted(set(own) - set(other))
    ]
    found += [f"{place}.{name}: no type has it" for name in sorted(set(other) - set(own))]
    for name in sorted(set(own) & set(other)):
        ours_of, theirs_of = own[name], other[name]
        if name in read.get("required", ()) and kinds(ours_of, ours) >= {"null"}:
            found.append(f"{place}.{name}: it is required and may be left out")
        sent, taken = kinds(ours_of, ours) - {"null"}, kinds(theirs_of, theirs)
        if "number" in taken:
            taken.add("integer")
        if not taken & {"any"} and not sent <= taken:
            found.append(f"{place}.{name}: {sorted(sent)} is sent, {sorted(taken)} is read")
        stated, known = words(ours_of, ours), words(theirs_of, theirs)
        if name not in TAGS and stated and sent == {"string"} and stated != known:
            found.append(f"{place}.{name}: the words differ")
        default, usual = ours_of.get("default"), theirs_of.get("default")
        if default is not None and usual is not None and default != usual:
            found.append(f"{place}.{name}: the default is {default}, the agent's is {usual}")
        found += differences(ours_of, ours, theirs_of, theirs, f"{place}.{name}")
    return found


def all_differences(schema: Described) -> list[str]:
    found = []
    for name, model in TYPES.items():
        typed = TypeAdapter(model).json_schema()
        found += differences(typed, typed, {"$ref": f"#/$defs/{name}"}, schema, name)
    return found


def test_the_types_of_requests_are_those_of_the_schema(schema: Described) -> None:
    assert all_differences(schema) == []


def test_the_comparison_sees_each_kind_of_difference(schema: Described) -> None:
    changed = deepcopy(schema)
    types = changed["$defs"]
    types["Task"]["properties"]["iterations"]["default"] = 7
    types["Task"]["properties"]["sample_ms"]["type"] = "string"
    types["Placement"]["required"] = ["nice"]
    del types["Queue"]["properties"]["frames"]
    types["ReceiveFlow"]["properties"]["colour"] = {"type": "string"}
    types["Order"]["enum"].remove("cut")
    types["Loss"]["oneOf"].pop()
    place = "Command.start.what"
    assert all_differences(changed) == [
        "Request.placement.nice: it is required and may be left out",
        "Request.workloads[].iterations: the default is 5, the agent's is 7",
        "Request.workloads[].sample_ms: ['number'] is sent, ['string'] is read",
        "Command.listen.flows[].colour: no type has it",
        "Command.order.order: the words differ",
        f"{place}.compete.placement.nice: it is required and may be left out",
        f"{place}.emulate.ways[].loss.gilbert: one side lacks it",
        f"{place}.emulate.ways[].queue.frames: the agent has no such field",
        f"{place}.soak.placement.nice: it is required and may be left out",
    ]


@pytest.mark.parametrize(
    ("requested", "line"),
    [
        (Tune(budget=0), {"do": "tune", "budget": 0}),
        (Placement(cpus=[1]), {"cpus": [1]}),
        (JoinRequest(sent="a", received="b"),
         {"sent": "a", "received": "b", "delay_shares": [], "late_shares": []}),
    ],
)  # fmt: skip
def test_what_is_not_said_is_left_out(requested: RequestPart, line: dict[str, Any]) -> None:
    text = requested.line()
    assert text.endswith(b"\n") and text.count(b"\n") == 1
    assert json.loads(text) == line


def test_a_list_keeps_what_is_none() -> None:
    way = Way(queue=Queue(), mtu_bytes=1500)
    link = Emulate(interfaces=["a", "b"], namespaces=[None, "/run/n"], ways=[way, way], spin_us=5)
    assert json.loads(link.line())["namespaces"] == [None, "/run/n"]


def test_what_no_agent_reads_cannot_be_asked_for() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        WorkloadRequest(id="w", iteration=1)  # type: ignore[call-arg]
    with pytest.raises(ValidationError, match="valid integer"):
        WorkloadRequest(id="w", iterations="5")  # type: ignore[arg-type]
