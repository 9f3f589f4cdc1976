"""A JSON text that somebody else wrote, read with the place of what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeVar

from pentathlon.extraction.tools.rows import ExtractError
from pentathlon.safeio.clipping import described

_MISSING = object()
Kind = TypeVar("Kind")


class Node:
    """A value of a document and where it is, such as `jobs[0].read`."""

    def __init__(self, value: Any, place: str) -> None:
        self.value = value
        self.place = place

    def __getitem__(self, key: str) -> Node:
        """A member that must be there.

        Raises:
            ExtractError: it is not.
        """
        found = self.find(key)
        if found is None:
            raise ExtractError(f"lacks {self._at(key)}")
        return found

    def find(self, key: str) -> Node | None:
        """A member of an object; None if it is not there, or null."""
        value = self.members().get(key, _MISSING)
        return None if value is _MISSING or value is None else Node(value, self._at(key))

    def _at(self, key: str) -> str:
        shown = key if len(key) <= 60 else f"{key[:57]}..."
        plain = shown.replace("_", "").isalnum() and shown.isascii()
        member = shown if plain else json.dumps(shown)
        return f"{self.place}.{member}" if self.place and plain else (
            f"{self.place}[{member}]" if self.place else member
        )  # fmt: skip

    def members(self) -> dict[str, Any]:
        """The object that the value is.

        Raises:
            ExtractError: it is none.
        """
        return self._as(dict, "an object")

    def each(self) -> Iterator[Node]:
        """The elements of the list that the value is.

        Raises:
            ExtractError: it is none.
        """
        for number, one in enumerate(self._as(list, "a list")):
            yield Node(one, f"{self.place}[{number}]")

    def number(self) -> float:
        """The number that the value is.

        Raises:
            ExtractError: it is none.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self._wrong("a number")
        try:
            return float(self.value)
        except OverflowError:
            raise self._wrong("a number that can be recorded") from None

    def whole(self) -> int:
        """The whole number that the value is.

        Raises:
            ExtractError: it is none.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self._wrong("a whole number")
        return self.value

    def text(self) -> str:
        """The text that the value is.

        Raises:
            ExtractError: it is none.
        """
        return self._as(str, "a text")

    def _as(self, kind: type[Kind], expected: str) -> Kind:
        if not isinstance(self.value, kind):
            raise self._wrong(expected)
        return self.value

    def _wrong(self, expected: str) -> ExtractError:
        return ExtractError(
            f"has {described(self.value)} at {self.place or 'its top'}, expected {expected}"
        )


def document(text: str, what: str, *, preface: bool = False) -> Node:
    """The object of a JSON text.

    Args:
        what: what would be right, for the sentence.
        preface: lines before the first one that begins with `{` are remarks of the tool.

    Raises:
        ExtractError: it is none.
    """
    skipped = 0
    if preface:
        lines = text.split("\n")
        skipped = next((n for n, line in enumerate(lines) if line.startswith("{")), 0)
        text = "\n".join(lines[skipped:])
    try:
        value = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        line = error.lineno + skipped
        raise ExtractError(f"is no JSON ({error.msg.lower()}); expected {what}", line) from error
    except RecursionError as error:
        raise ExtractError(f"is nested too deep; expected {what}") from error
    except ValueError as error:  # A number of more digits than Python converts.
        raise ExtractError(f"holds {error}; expected {what}") from error
    if not isinstance(value, dict):
        raise ExtractError(f"is no JSON object; expected {what}")
    return Node(value, "")


def _refuse(text: str) -> float:
    raise ValueError(f"{text}, which is no number of JSON")
