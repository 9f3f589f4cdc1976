"""The page of all messages of the protocol, from the agent's JSON Schema."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from typing import Any

from pentathlon.protocol import agent
from website.reference.cells import cell, code, table

INTRODUCTION = """\
# All messages of the protocol

Generated from `pentathlon-agent schema`, the JSON Schema of every request and event and of the
catalog. [Protocol](../protocol.md) describes their order and what they mean together.

"""


def page() -> str:
    """The whole page."""
    printed = subprocess.run(
        [str(agent.locate()), "schema"], capture_output=True, check=True, text=True
    )
    schema = json.loads(printed.stdout)
    out = INTRODUCTION + f"{cell(schema['$comment'])}\n\n"
    out += "Messages: " + ", ".join(_named(one) for one in schema["anyOf"]) + ".\n\n"
    for name, one in schema["$defs"].items():
        out += f"## {name}\n\n{_definition(one)}"
    return out


def _definition(one: Mapping[str, Any]) -> str:
    out = f"{_plain(one['description'])}\n\n" if "description" in one else ""
    if "properties" in one:
        required = set(one.get("required", ()))
        rows = [
            [code(key), _type(value), _default(key, value, required), _description(value)]
            for key, value in one["properties"].items()
        ]
        return out + table(["key", "type", "default", "meaning"], rows)
    for variants in (one.get("oneOf"), one.get("anyOf")):
        if variants is None:
            continue
        for variant in variants:
            constants = [
                f"{key} {json.dumps(value['const'])}"
                for key, value in variant.get("properties", {}).items()
                if "const" in value
            ]
            if "properties" in variant:
                title = f"**{', '.join(constants) or variant.get('title', 'object')}**"
                out += f"{title}\n\n{_definition(variant)}"
            else:
                words = f": {_plain(variant['description'])}" if "description" in variant else ""
                out += f"- {_type(variant)}{words}\n"
        return out + "\n"
    return out + _type(one) + "\n\n"


def _named(one: Mapping[str, Any]) -> str:
    name = one["$ref"].rsplit("/", 1)[1]
    return f"[{name}](#{name.lower()})"


def _type(one: Any) -> str:
    if not isinstance(one, Mapping) or not one:
        return "any"
    if "$ref" in one:
        return _named(one)
    if "const" in one:
        return code(json.dumps(one["const"]))
    if "enum" in one:
        return ", ".join(code(json.dumps(value)) for value in one["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in one:
            return " or ".join(dict.fromkeys(_type(part) for part in one[key]))
    kinds = one.get("type", "any")
    names = [kinds] if isinstance(kinds, str) else kinds
    words = []
    for name in names:
        if name == "array" and "prefixItems" in one:
            words.append("[" + ", ".join(_type(part) for part in one["prefixItems"]) + "]")
        elif name == "array":
            words.append(f"list of {_type(one.get('items'))}")
        elif name == "object" and isinstance(one.get("additionalProperties"), Mapping):
            words.append(f"object of {_type(one['additionalProperties'])}")
        else:
            words.append(name)
    return " or ".join(words)


def _default(key: str, value: Any, required: set[str]) -> str:
    if key in required:
        return "required"
    if isinstance(value, Mapping) and value.get("default") not in (None, "", [], {}):
        shown = json.dumps(value["default"])
        return code(shown if len(shown) < 60 else "…")
    return ""


def _description(value: Any) -> str:
    return _plain(value.get("description", "")) if isinstance(value, Mapping) else ""


def _plain(text: str) -> str:
    return cell(text).replace("<", "&lt;")
