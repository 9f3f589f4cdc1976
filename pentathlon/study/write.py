"""A study as TOML text again, for studies that the program makes itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def to_toml(document: Mapping[str, Any]) -> str:
    """TOML (v1.0.0) of a document as tomllib reads it; dates do not occur in studies."""
    lines = [
        f"{_key(name)} = {_value(value)}"
        for name, value in document.items()
        if not _is_table(value)
    ]
    for name, value in document.items():
        if not _is_table(value):
            continue
        header = "[{}]" if isinstance(value, Mapping) else "[[{}]]"
        for table in [value] if isinstance(value, Mapping) else value:
            lines += ["", header.format(_key(name))]
            lines += [f"{_key(key)} = {_value(inner)}" for key, inner in table.items()]
    return "\n".join(lines) + "\n"


def _is_table(value: Any) -> bool:
    several = isinstance(value, list) and value and all(isinstance(v, Mapping) for v in value)
    return isinstance(value, Mapping) or bool(several)


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("-", "_").isidentifier() else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(_value(item) for item in value)}]"
    return repr(value)


def _text(text: str) -> str:
    # A JSON string is a TOML basic string, but for one control character.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
