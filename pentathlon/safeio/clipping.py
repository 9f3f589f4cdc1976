"""Values that others wrote, short enough for a sentence."""

from __future__ import annotations

from typing import Any


def clip(text: str, limit: int = 160) -> str:
    """The text, cut to `limit` characters for an error message."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def described(value: Any) -> str:
    """A value that somebody else sent, for a sentence: short and on one line."""
    if value is None:
        return "missing"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number of more than 64 bits"
    return clip(repr(value), 60)
