"""The agent's schema beside the types that read its events, and beside its documentation."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

from pentathlon.protocol.events import AGENT_KINDS, TYPES

DOCUMENTATION = Path(__file__).parent.parent.parent / "docs" / "protocol.md"

OF_TARGETS = {("log", name) for name in ("workload", "index", "process")}
"""Fields of events that targets make: their logs name a workload, those of the agent are of the
session."""

Described = dict[str, Any]


def tagged(schema: Described, name: str, tag: str) -> dict[str, Described]:
    """The forms of a message by the one word that separate them."""
    return {form["properties"][tag]["const"]: form for form in schema["$defs"][name]["oneOf"]}


def kinds(rule: Any, document: Described) -> set[str]:
    """The JSON types that a rule lets through; each of them where there is none."""
    if not isinstance(rule, dict):
        return {"any"}
    if "$ref" in rule:
        return kinds(document["$defs"][rule["$ref"].removeprefix("#/$defs/")], document)
    forms = rule.get("anyOf") or rule.get("oneOf")
    if forms:
        return set().union(*(kinds(form, document) for form in forms))
    if "const" in rule or "enum" in rule:
        return {"string"}
    found = rule.get("type", "any")
    return {found} if isinstance(found, str) else set(found)


def words(rule: Described, document: Described) -> set[str]:
    """The words that a rule lets through; none where it takes any text."""
    if "$ref" in rule:
        return words(document["$defs"][rule["$ref"].removeprefix("#/$defs/")], document)
    if "const" in rule:
        return {rule["const"]}
    listed = set(rule.get("enum", ()))
    for form in rule.get("anyOf", []) + rule.get("oneOf", []):
        listed |= words(form, document)
    return listed


def differences(schema: Described) -> list[str]:
    """Where the types that are read and the schema of the agent do not agree."""
    sent = tagged(schema, "Event", "event")
    outer = schema["$defs"]["Event"]["properties"]
    found = [f"{name}: one side lacks it" for name in sorted(set(sent) ^ AGENT_KINDS)]
    for name in sorted(AGENT_KINDS & set(sent)):
        typed = TYPES[name].model_json_schema()
        fields = {**outer, **sent[name]["properties"]}
        always = {*schema["$defs"]["Event"]["required"], *sent[name]["required"]}
        read = typed["properties"]
        found += [f"{name}.{field}: no type reads it" for field in sorted(set(fields) - set(read))]
        found += [
            f"{name}.{field}: the agent has no such field"
            for field in sorted(set(read) - set(fields))
            if (name, field) not in OF_TARGETS
        ]
        for field in sorted(set(read) & set(fields)):
            if field in typed["required"] and field not in always:
                found.append(f"{name}.{field}: it may be absent and is required")
            taken, given = kinds(read[field], typed), kinds(fields[field], schema)
            if "number" in taken:
                taken.add("integer")
            # What the schema leaves open, the type alone describes.
            if "any" not in taken | given and not given <= taken:
                found.append(f"{name}.{field}: {sorted(given)} is sent, {sorted(taken)} is read")
            known = words(read[field], typed)
            if known and words(fields[field], schema) != known:
                found.append(f"{name}.{field}: the words differ")
    return found


def test_the_types_that_read_events_are_those_of_the_schema(schema: Described) -> None:
    assert differences(schema) == []


def test_the_comparison_sees_each_kind_of_difference(schema: Described) -> None:
    def of(name: str, changed: Described) -> Described:
        return tagged(changed, "Event", "event")[name]

    changed = deepcopy(schema)
    of("done", changed)["properties"]["event"]["const"] = "end"
    del of("sample", changed)["properties"]["unit"]
    of("sample", changed)["required"].remove("batch")
    of("sample", changed)["properties"]["value"] = {"type": ["number", "null"]}
    of("progress", changed)["properties"]["state"]["enum"].append("pause")
    of("log", changed)["properties"]["place"] = {"type": "string"}
    assert differences(changed) == [
        "done: one side lacks it",
        "end: one side lacks it",
        "log.place: no type reads it",
        "progress.state: the words differ",
        "sample.unit: the agent has no such field",
        "sample.batch: it may be absent and is required",
        "sample.value: ['null', 'number'] is sent, ['integer', 'number'] is read",
    ]


def section(heading: str) -> str:
    """A section of the documentation."""
    found = re.search(
        rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", DOCUMENTATION.read_text(), re.DOTALL | re.M
    )
    assert found is not None, heading
    return found[1]


def first_cells(text: str) -> set[str]:
    """The names in the first cells of a section's tables."""
    cells = re.findall(r"^\| ([^|]*`[^|]*) \|", text, re.M)
    return {name for cell in cells for name in re.findall(r"`([\w.]+)`", cell)}


def test_the_documentation_lists_the_fields_of_a_request(schema: Described) -> None:
    types = schema["$defs"]
    documented = first_cells(section("Request"))
    # `policy` and `priority` share a line, where the second one is written `.priority`.
    placement = {name.split(".")[1] for name in documented if "." in name}
    assert placement == set(types["Placement"]["properties"])
    own = {name for name in documented if "." not in name}
    fields = set(types["Request"]["properties"]) | set(types["Task"]["properties"])
    explained = {"protocol", "workloads", "placement", "id", "parameters"}
    assert own == fields - explained
    shown = section("Request")
    assert all(f'"{name}"' in shown for name in explained)


def test_the_documentation_lists_the_events(schema: Described) -> None:
    assert first_cells(section("Events")) == set(tagged(schema, "Event", "event"))


def test_the_documentation_lists_the_commands_and_their_fields(schema: Described) -> None:
    commands = tagged(schema, "Command", "do")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*)\|", section("Endpoint"), re.M))
    del rows["do"]  # the heading
    beside = section("Work beside the trials of an endpoint")
    examples = set(re.findall(r'"do": "(\w+)"', beside))
    assert set(rows) | examples == set(commands)
    for name, cell in rows.items():
        fields = set(commands[name]["properties"]) - {"do"}
        assert fields <= set(re.findall(r"`(\w+)`", cell)), name


def test_the_documentation_lists_the_works_and_their_fields(schema: Described) -> None:
    works = tagged(schema, "Work", "work")
    text = section("Work beside the trials of an endpoint")
    rows = dict(re.findall(r"^\| `(\w+)` (?:\(([^|]*?)\) )?\|", text, re.M))
    del rows["work"]  # the heading
    assert set(rows) == set(works)
    for name, cell in rows.items():
        fields = set(works[name]["properties"]) - {"work"}
        assert fields <= set(re.findall(r"`(\w+)`", cell)), name
