"""The fields of an answer, each checked as it is read.

An endpoint is another program, perhaps on another machine: nothing of what it says is used or
written down before it has passed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from pentathlon.machine.errors import TargetError
from pentathlon.safeio.clipping import clip, described

MOST_UNSIGNED: Final = (1 << 64) - 1
LATEST_NS: Final = (1 << 62) - 1
"""The latest time of a timer, 146 years after its start: differences of such times fit 64 bits."""
WORDS: Final = 65_536
"""Longest text of one field, in characters."""
NAME: Final = 4096
"""Longest name, and longest reason, in characters."""


class AnswerRefused(TargetError):
    """What an endpoint sent is not the answer to the command; the text is one sentence."""


class Fields:
    """An object of an answer.

    Args:
        host: which source answered.
        verb: the command that was answered.
        found: the object.
        path: where it lies in the answer; "" for the answer itself.
    """

    def __init__(self, host: str, verb: str, found: Mapping[str, Any], path: str = "") -> None:
        self.host = host
        self.verb = verb
        self.path = path
        self._found = found

    def wrong(self, name: str, what: str) -> AnswerRefused:
        """The error for a field; `what` is the end of a sentence that begins with its name."""
        place = f"{self.path}.{name}" if self.path else name
        return AnswerRefused(f'{self.host}: the answer to "{self.verb}" is refused: {place} {what}')

    def has(self, name: str) -> bool:
        """Whether there is something in the field."""
        return self._found.get(name) is not None

    def names(self, most: int) -> list[str]:
        """The names of its fields, where these are not known beforehand."""
        if len(self._found) > most:
            raise self.wrong("it", f"has {len(self._found)} fields, at most {most} are taken")
        for name in self._found:
            if len(name) > NAME:
                raise self.wrong(clip(name, 40), f"has a name of {len(name)} characters")
        return list(self._found)

    def whole(self, name: str, most: int = MOST_UNSIGNED, least: int = 0) -> int:
        """A whole number."""
        value = self._found.get(name)
        if type(value) is not int:
            raise self.wrong(name, f"is {described(value)}, expected a whole number")
        if not least <= value <= most:
            raise self.wrong(name, f"is {described(value)}, expected {least} to {most}")
        return value

    def time_ns(self, name: str) -> int:
        """A time of a timer, or a length of time, ns."""
        return self.whole(name, LATEST_NS)

    def number(self, name: str, least: float, most: float) -> float:
        """A finite number, whole or not."""
        value = self._found.get(name)
        if type(value) is not int and type(value) is not float:
            raise self.wrong(name, f"is {described(value)}, expected a number")
        if not least <= value <= most or not math.isfinite(value):
            raise self.wrong(name, f"is {described(value)}, expected {least:g} to {most:g}")
        return float(value)

    def text(self, name: str, longest: int = WORDS) -> str:
        """A text, which may be empty."""
        value = self._found.get(name)
        if not isinstance(value, str):
            raise self.wrong(name, f"is {described(value)}, expected a text")
        if len(value) > longest:
            raise self.wrong(name, f"has {len(value)} characters, at most {longest} are taken")
        return value

    def one_of(self, name: str, known: Collection[str]) -> str:
        """One of some words."""
        value = self.text(name, NAME)
        if value not in known:
            raise self.wrong(name, f"is {described(value)}, expected {' or '.join(known)}")
        return value

    def same(self, name: str, wanted: str | int) -> None:
        """See that the answer belongs to the command."""
        value = self._found.get(name)
        if value != wanted or type(value) is not type(wanted):
            raise self.wrong(
                name, f"is {described(value)}, and the command has {described(wanted)}"
            )

    def flag(self, name: str) -> bool:
        """Yes or no."""
        value = self._found.get(name)
        if type(value) is not bool:
            raise self.wrong(name, f"is {described(value)}, expected true or false")
        return value

    def object(self, name: str) -> Fields:
        """An object inside this one."""
        value = self._found.get(name)
        if not isinstance(value, dict):
            raise self.wrong(name, f"is {described(value)}, expected an object")
        return self._inside(name, value)

    def objects(self, name: str, most: int = WORDS, least: int = 0) -> list[Fields]:
        """A list of objects."""
        found = []
        for place, value in enumerate(self.items(name, most, least)):
            if not isinstance(value, dict):
                raise self.wrong(f"{name}[{place}]", f"is {described(value)}, expected an object")
            found.append(self._inside(f"{name}[{place}]", value))
        return found

    def items(self, name: str, most: int, least: int = 0) -> list[Any]:
        """A list; what is in it is not checked yet."""
        value = self._found.get(name)
        if not isinstance(value, list):
            raise self.wrong(name, f"is {described(value)}, expected a list")
        if not least <= len(value) <= most:
            raise self.wrong(name, f"has {len(value)} entries, expected {least} to {most}")
        return value

    def texts(self, name: str, most: int, longest: int = NAME) -> list[str]:
        """A list of texts."""
        values = self.items(name, most)
        for place, value in enumerate(values):
            if not isinstance(value, str) or len(value) > longest:
                raise self.wrong(f"{name}[{place}]", f"is {described(value)}, expected a text")
        return values

    def integers(self, name: str, most: int, *, entries: int, least_entries: int = 0) -> list[int]:
        """A list of whole numbers of 0 to `most`."""
        values = self.items(name, entries, least_entries)
        for place, value in enumerate(values):
            if type(value) is not int or not 0 <= value <= most:
                what = f"is {described(value)}, expected a whole number of 0 to {most}"
                raise self.wrong(f"{name}[{place}]", what)
        return values

    def rows(self, name: str, columns: int, most: int, *, least: int = 0) -> list[list[int]]:
        """A list of rows of so many whole numbers of 0 to `most`."""
        rows = self.items(name, MANY_ROWS, least)
        for place, row in enumerate(rows):
            if not isinstance(row, list) or len(row) != columns:
                what = f"is {described(row)}, expected {columns} numbers"
                raise self.wrong(f"{name}[{place}]", what)
            for value in row:
                if type(value) is not int or not 0 <= value <= most:
                    what = f"holds {described(value)}, expected whole numbers of 0 to {most}"
                    raise self.wrong(f"{name}[{place}]", what)
        return rows

    def scalars(self, most: int) -> dict[str, str | int | float | bool | None]:
        """All of its fields, none of which is a list or an object."""
        found: dict[str, str | int | float | bool | None] = {}
        for name in self.names(most):
            value = self._found[name]
            if isinstance(value, dict | list):
                raise self.wrong(name, f"is {described(value)}, expected a number or a text")
            found[name] = value
        return found

    def maybe(self, name: str, read: Callable[[str], Any]) -> Any:
        """What `read` makes of a field; None where the field holds nothing."""
        return read(name) if self.has(name) else None

    def _inside(self, name: str, value: Mapping[str, Any]) -> Fields:
        path = f"{self.path}.{name}" if self.path else name
        return Fields(self.host, self.verb, value, path)


MANY_ROWS: Final = 1 << 22
"""Rows of one list: more than a line of 16 MiB holds."""
