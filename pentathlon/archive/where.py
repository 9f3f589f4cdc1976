"""Filters such as `study = "nightly" and machine like "bench%"`: checked, and made to SQL.

A filter is no SQL of the user's own: it is read into columns of the index, operators and values,
so that it means the same to every engine and can do nothing but choose. Texts stand in double or
single quotes.
"""

from __future__ import annotations

import re
from typing import Final

from pentathlon.archive.format import INDEX_COLUMNS
from pentathlon.safeio.clipping import clip
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.store.problems import StoreError

LEFT_OUT: Final = ("batch", "weights_json", "original", "original_bytes", "original_sha256")
COLUMNS: Final = {name: kind for name, kind in INDEX_COLUMNS.items() if name not in LEFT_OUT}
COMPARED: Final = ("=", "!=", "<>", "<", "<=", ">", ">=")
MOST_LENGTH: Final = 4096
MOST_DEPTH: Final = 50
ALWAYS: Final = "1 = 1"
"""The condition that holds for everything."""

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<text>"[^"\\]*"|'[^'\\]*')|(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"""
    r"""|(?P<word>[A-Za-z_]\w*)|(?P<sign><=|>=|<>|!=|=|<|>|\(|\)|,))"""
)


class _Reader:
    """Reads one filter by recursive descent."""

    def __init__(self, text: str, prefix: str) -> None:
        self.text, self.prefix = text, prefix
        self.tokens: list[tuple[str, str]] = []
        self.place = 0
        end = 0
        stripped = text.rstrip()
        while end < len(stripped):
            found = _TOKEN.match(text, end)
            if found is None:
                raise self.wrong(f"{clip(text[end:].strip(), 20)!r} cannot be read")
            assert found.lastgroup is not None
            self.tokens.append((found.lastgroup, found[found.lastgroup]))
            end = found.end()

    def wrong(self, what: str) -> StoreError:
        return StoreError(
            f'--where {clip(self.text, 120)!r}: {what}; write it as study = "nightly" and '
            'machine like "bench%"'
        )

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.place] if self.place < len(self.tokens) else ("end", "its end")

    def next(self) -> tuple[str, str]:
        found = self.peek()
        self.place += 1
        return found

    def word(self, *words: str) -> bool:
        """Whether one of these words is next; it is then taken."""
        kind, text = self.peek()
        if kind == "word" and text.lower() in words:
            self.place += 1
            return True
        return False

    def either(self, depth: int = 0) -> str:
        parts = [self.both(depth)]
        while self.word("or"):
            parts.append(self.both(depth))
        return parts[0] if len(parts) == 1 else f"({' or '.join(parts)})"

    def both(self, depth: int) -> str:
        parts = [self.one(depth)]
        while self.word("and"):
            parts.append(self.one(depth))
        return parts[0] if len(parts) == 1 else f"({' and '.join(parts)})"

    def one(self, depth: int) -> str:
        if depth > MOST_DEPTH:
            raise self.wrong(f"it is nested more than {MOST_DEPTH} deep")
        if self.word("not"):
            return f"not ({self.one(depth + 1)})"
        if self.peek() == ("sign", "("):
            self.next()
            found = self.either(depth + 1)
            self.expect(")")
            return found
        return self.comparison()

    def comparison(self) -> str:
        kind, name = self.next()
        if kind != "word":
            raise self.wrong(f"a column is wanted where {name} stands")
        if name.lower() not in COLUMNS:
            near = did_you_mean(name.lower(), list(COLUMNS))
            meant = f" ({near.lstrip('; ')})" if near else ""
            raise self.wrong(f'"{name}" is no column{meant}; columns are {", ".join(COLUMNS)}')
        column = name.lower()
        refused = self.word("not")
        if self.word("like"):
            found = f"{self.prefix}{column} like {self.value('study')}"
            if column in COLUMNS and COLUMNS[column] is not str:
                raise self.wrong(f"{column} is a number, which like does not compare")
        elif self.word("in"):
            self.expect("(")
            values = [self.value(column)]
            while self.peek() == ("sign", ","):
                self.next()
                values.append(self.value(column))
            self.expect(")")
            found = f"{self.prefix}{column} in ({', '.join(values)})"
        else:
            kind, sign = self.next()
            if refused or sign not in COMPARED:
                raise self.wrong(f"=, !=, <, <=, >, >=, like or in is wanted where {sign} stands")
            found = f"{self.prefix}{column} {sign.replace('!=', '<>')} {self.value(column)}"
        return f"not ({found})" if refused else found

    def value(self, column: str) -> str:
        kind, text = self.next()
        wanted = "text" if COLUMNS[column] is str else "number"
        if kind != wanted:
            shown = "a text in quotes" if wanted == "text" else "a number"
            raise self.wrong(f"{column} is compared with {shown}, not with {text}")
        return text if kind == "number" else quoted(text[1:-1])

    def expect(self, sign: str) -> None:
        _, text = self.next()
        if text != sign:
            raise self.wrong(f"{sign} is wanted where {text} stands")


def to_sql(text: str | None, prefix: str = "") -> str:
    """The condition of a filter in SQL; that of none holds for everything.

    Args:
        prefix: of the columns, such as "r.".

    Raises:
        StoreError: it cannot be read; the sentence states where.
    """
    if text is None:
        return ALWAYS
    if len(text) > MOST_LENGTH:
        raise StoreError(f"--where has more than {MOST_LENGTH} characters")
    reader = _Reader(text, prefix)
    found = reader.either()
    kind, rest = reader.peek()
    if kind != "end":
        raise reader.wrong(f"and, or or its end is wanted where {rest} stands")
    return found


def both(one: str, other: str) -> str:
    """Two conditions at once."""
    return other if one == ALWAYS else one if other == ALWAYS else f"({one}) and ({other})"


def quoted(text: str) -> str:
    """A text as a literal of SQL, which all engines read alike: they differ in escapes, so that a
    text with a quote or a backslash is put together of its characters."""
    if "'" not in text and "\\" not in text:
        return f"'{text}'"
    parts = [
        f"chr({ord(part)})" if part in "'\\" else f"'{part}'"
        for part in re.split(r"(['\\])", text)
        if part
    ]
    return f"concat({', '.join(parts)})"
