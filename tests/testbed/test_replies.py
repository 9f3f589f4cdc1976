"""The types that an endpoint's answers become, beside the agent's schema of them."""

from __future__ import annotations

from copy import deepcopy
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

from pentathlon.testbed.replies import captures, jobs, line, programs, settings, trials
from pentathlon.testbed.replies.verbs import READERS
from tests.protocol.conftest import schema  # noqa: F401
from tests.protocol.test_schema import Described, kinds
from tests.targets.conftest import real_agent  # noqa: F401

ANSWERS: dict[str, Any] = {
    "ready": trials.Ready, "sent": trials.Sent, "received": trials.Received,
    "addressed": settings.Addressed, "set": settings.Set, "forwarding": settings.Forwarding,
    "line": line.Line, "captured": captures.Captured, "performed": programs.Performed,
}  # fmt: skip
"""Answering event -> the type that it becomes."""

YIELDS: dict[str, Any] = {
    "Progress": jobs.CpuHogProgress, "Watched": jobs.Watched, "Pinged": jobs.Pinged,
    "Ended": programs.Ended, "Competed": jobs.Competed, "Line": line.Line, "Probed": jobs.Probed,
}  # fmt: skip
"""What a thread of the work in the background yields, by its name in the schema."""

REPEATED = {"event", "trial", "job", "interface", "on", "after_ms", "to_ns"}
"""Fields that only repeat the command; they are compared with it."""

UNUSED = {
    "sent.exchange",  # The records of the exchange are what is used.
    "Competed.copy", "Competed.runs", "Competed.elapsed_ns",
    "Competed.samples[].phase", "Competed.samples[].value",
}  # fmt: skip
"""Fields that nothing here needs."""

WITHOUT_FIELDS = {"tuned", "clock", "started", "capturing"}
"""Answers that only repeat their command."""

OTHERS = {"endpoint", "records", "fetched", "stopped", "error", "done"}
"""Answers that are no reply to one command alone: `Endpoint` reads them."""


PLAIN = {int: "integer", float: "number", bool: "boolean", str: "string", NoneType: "null"}


def described(hint: Any) -> Described:
    """A type as JSON Schema, as far as the types of answers need it."""
    if is_typeddict(hint):
        fields = {name: described(one) for name, one in get_type_hints(hint).items()}
        required = sorted(hint.__required_keys__)
        return {"type": "object", "properties": fields, "required": required}
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return {"anyOf": [described(one) for one in inner]}
    if origin is list:
        return {"type": "array", "items": described(inner[0])}
    if origin is dict:
        return {"type": "object"}
    return {"type": PLAIN[hint]} if hint in PLAIN else {}


def resolved(rule: Described, document: Described) -> Described:
    """A rule with the type that it names put in its place, and without an alternative of null."""
    if "$ref" in rule:
        named = document["$defs"][rule["$ref"].removeprefix("#/$defs/")]
        own = {**named.get("properties", {}), **rule.get("properties", {})}
        return resolved(named, document) | ({"properties": own} if own else {})
    forms = [one for one in rule.get("anyOf", ()) if one.get("type") != "null"]
    return resolved(forms[0], document) if len(forms) == 1 else rule


def differences(
    read: Described, ours: Described, sent: Described, theirs: Described, place: str
) -> list[str]:
    """Where the type that an answer becomes and the schema by which it is written do not agree."""
    read, sent = resolved(read, ours), resolved(sent, theirs)
    found: list[str] = []
    if "items" in read and "items" in sent:
        found += differences(read["items"], ours, sent["items"], theirs, f"{place}[]")
    if "properties" not in read or "properties" not in sent:
        return found
    own, given = read["properties"], sent["properties"]
    for name in sorted(set(own) | set(given)):
        at = f"{place}.{name}"
        if name not in given:
            # A field of one of two answers with one type.
            if name in read.get("required", own):
                found.append(f"{at}: the agent has no such field")
        elif name not in own:
            if name not in REPEATED and at not in UNUSED:
                found.append(f"{at}: no type reads it")
        else:
            taken, kept = kinds(own[name], ours), kinds(given[name], theirs)
            if "number" in taken:
                taken.add("integer")
            if "any" not in taken | kept and not kept <= taken:
                found.append(f"{at}: {sorted(kept)} is sent, {sorted(taken)} is read")
            found += differences(own[name], ours, given[name], theirs, at)
    return found


def all_differences(document: Described) -> list[str]:
    forms = {
        one["properties"]["event"]["const"]: one for one in document["$defs"]["Answer"]["oneOf"]
    }
    known = set(ANSWERS) | WITHOUT_FIELDS | OTHERS
    found = [f"{name}: one side lacks it" for name in sorted(set(forms) ^ known)]
    pairs = [(name, model, forms[name]) for name, model in ANSWERS.items() if name in forms]
    yielded = {one["$ref"].removeprefix("#/$defs/") for one in document["$defs"]["Yield"]["anyOf"]}
    found += [f"{name}: one side lacks it" for name in sorted(yielded ^ set(YIELDS))]
    pairs += [(name, model, {"$ref": f"#/$defs/{name}"}) for name, model in YIELDS.items()]
    for name, model, sent in pairs:
        typed = described(model)
        found += differences(typed, typed, sent, document, name)
    return found


def test_the_types_of_answers_are_those_of_the_schema(schema: Described) -> None:  # noqa: F811
    assert all_differences(schema) == []


def test_every_command_has_an_answer_with_a_type() -> None:
    assert {answer for answer, _ in READERS.values()} == set(ANSWERS) | WITHOUT_FIELDS


def test_the_comparison_sees_each_kind_of_difference(schema: Described) -> None:  # noqa: F811
    changed = deepcopy(schema)
    types = changed["$defs"]
    del types["FlowSentCounts"]["properties"]["packets"]
    types["Port"]["properties"]["port"] = {"type": "string"}
    types["Window"]["properties"]["colour"] = {"type": "string"}
    types["Pinged"]["properties"]["sent"] = {"type": ["integer", "null"]}
    forms = types["Answer"]["oneOf"]
    forms.remove(next(one for one in forms if one["properties"]["event"]["const"] == "set"))
    assert all_differences(changed) == [
        "set: one side lacks it",
        "ready.flows[].port: ['string'] is sent, ['integer'] is read",
        "sent.flows[].packets: the agent has no such field",
        "sent.host.window.colour: no type reads it",
        "received.host.window.colour: no type reads it",
        "Pinged.sent: ['integer', 'null'] is sent, ['integer'] is read",
    ]
