"""The types that requests are built from beside the agent's schema, which reads them."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from pentathlon.protocol.requests.commands import AnyCommand
from pentathlon.protocol.requests.join import JoinRequest
from pentathlon.protocol.requests.session import Request
from tests.protocol.test_schema import Described, kinds, words

__all__ = ["schema"]

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
        said, known = words(ours_of, ours), words(theirs_of, theirs)
        if said and sent == {"string"} and not said <= known:
            found.append(f"{place}.{name}: the words differ")
        default = ours_of.get("default")
        if default not in (None, theirs_of.get("default")) and name not in TAGS:
            found.append(f"{place}.{name}: the defaults differ")
        found += differences(ours_of, ours, theirs_of, theirs, f"{place}.{name}")
    return found


def all_differences(schema: Described) -> list[str]:
    found = []
    for name, model in TYPES.items():
        typed = TypeAdapter(model).json_schema()
        found += differences(typed, typed, {"$ref": f"#/$defs/{name}"}, schema, name)
    return found
