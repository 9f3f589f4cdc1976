"""One number out of the text that a program printed, by a regular expression, a JSON pointer, a
column of CSV, or as the last number of all.

The text is never interpreted: what of it is shown goes through `safeio.escaping`.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pentathlon.safeio.clipping import clip
from pentathlon.safeio.escaping import one_line

NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
"""A number as programs print it in the locale C."""

SHOWN_LINES: Final = 5
SHOWN_CHARACTERS: Final = 160

LONGEST_FIELD: Final = 1 << 20
"""Characters of one field of CSV."""


class NoValue(ValueError):
    """A text that does not hold the value; one sentence, with the last lines of the text."""


def pattern_problem(pattern: str) -> str | None:
    """What is wrong with a regular expression for one value, or None."""
    try:
        groups = re.compile(pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        return f'"{pattern}" is no regular expression of Python: {error}'
    if groups > 1:
        return (
            f'"{pattern}" has {groups} groups; the value is what the one group matches: write the '
            "others as (?:...)"
        )
    return None


def pointer_problem(pointer: str) -> str | None:
    """What is wrong with a JSON pointer (RFC 6901), or None."""
    if pointer and not pointer.startswith("/"):
        return f'"{pointer}" is no JSON pointer (RFC 6901); write it as "/results/0/mean"'
    if re.search(r"~(?![01])", pointer):
        return f'"{pointer}" is no JSON pointer (RFC 6901): "~" stands before 0 or 1 only'
    return None


def matched(pattern: str, text: str) -> str | None:
    """What the pattern's group, or the whole pattern without one, matches last; None: nothing."""
    found = _last(re.finditer(pattern, text, re.MULTILINE))
    if found is None:
        return None
    return found[1] if found.re.groups else found[0]


def by_regex(pattern: str, text: str) -> float:
    """The number that the last match of a regular expression holds.

    Raises:
        NoValue: nothing matches, or it is no number.
    """
    found = matched(pattern, text)
    if found is None:
        raise NoValue(f"the pattern {shown(pattern)} matches nothing of the output{tail(text)}")
    return number(found, f"the pattern {shown(pattern)} matches", text)


def by_pointer(pointer: str, text: str) -> float:
    """The number at a JSON pointer (RFC 6901) in a text that is JSON, or whose end is.

    Raises:
        NoValue: the text is no JSON, or has no number there.
    """
    value = document(text)
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise NoValue(
                f"the JSON of the output has nothing at {shown(pointer)}{tail(text)}"
            ) from error
    if isinstance(value, str):
        return number(value, f"at {shown(pointer)} stands", text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NoValue(f"at {shown(pointer)} of the output's JSON stands no number{tail(text)}")
    return finite(float(value), text)


def document(text: str) -> Any:
    """The JSON document of a text; lines may stand before it, as of programs that warn first.

    Raises:
        NoValue: there is none.
    """
    for start in _starts(text):
        try:
            return json.loads(text[start:])
        except (ValueError, RecursionError):
            continue
    raise NoValue(f"the output is no JSON{tail(text)}")


def _starts(text: str) -> Iterable[int]:
    """Where a document may begin: with the text, or with the first lines that open one."""
    yield 0
    for found, _ in zip(re.finditer(r"^[\[{]", text, re.MULTILINE), range(10), strict=False):
        yield found.start()


def by_column(column: str, text: str) -> float:
    """The number in the last row of a column of CSV (RFC 4180), whose first line has the names.

    Raises:
        NoValue: there is no such column, no row, or no number.
    """
    try:
        csv.field_size_limit(LONGEST_FIELD)
        rows = [row for row in csv.reader(io.StringIO(text)) if row]
    except csv.Error as error:
        raise NoValue(f"the output is no CSV: {error}{tail(text)}") from error
    names = [name.strip() for name in rows[0]] if rows else []
    if column not in names:
        raise NoValue(f"the first line of the output names no column {shown(column)}{tail(text)}")
    if len(rows) < 2 or len(rows[-1]) <= names.index(column):
        raise NoValue(f"the column {shown(column)} of the output is empty{tail(text)}")
    return number(rows[-1][names.index(column)], f"the column {shown(column)} ends with", text)


def last_number(text: str) -> float:
    """The last number of a text.

    Raises:
        NoValue: there is none.
    """
    found = _last(NUMBER.finditer(text))
    if found is None:
        raise NoValue(f"the output holds no number{tail(text)}")
    return finite(float(found[0]), text)


def _last(found: Iterator[re.Match[str]]) -> re.Match[str] | None:
    return next(iter(deque(found, maxlen=1)), None)


def number(word: str, where: str, text: str) -> float:
    """A word as a number; commas between thousands are left out.

    Raises:
        NoValue: it is none.
    """
    plain = word.strip()
    if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?", plain):
        plain = plain.replace(",", "")
    if not NUMBER.fullmatch(plain):
        raise NoValue(f"{where} {shown(word)}, which is no number{tail(text)}")
    return finite(float(plain), text)


def finite(value: float, text: str) -> float:
    """The value.

    Raises:
        NoValue: it is beyond what a double holds.
    """
    if not math.isfinite(value):
        raise NoValue(f"the value is larger than any that can be recorded{tail(text)}")
    return value


def shown(text: str) -> str:
    """A text of others in quotes, short and on one line."""
    return f'"{clip(one_line(text), SHOWN_CHARACTERS)}"'


def tail(text: str) -> str:
    """The last lines of an output, as the end of a sentence."""
    lines = [line for line in text[-20_000:].splitlines() if line.strip()]
    if not lines:
        return "; it is empty"
    last = [clip(one_line(line), SHOWN_CHARACTERS) for line in lines[-SHOWN_LINES:]]
    return f"; its last lines: {' | '.join(last)}"
