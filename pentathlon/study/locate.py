"""Where in a TOML file a value stands: path -> line.

`tomllib` gives values without lines. This scanner walks a document that tomllib has accepted, so it
need not check the grammar (TOML v1.0.0, toml.io); it only follows keys, tables and brackets.
"""

from __future__ import annotations

import tomllib

from pentathlon.study.problems import TomlPath

_SPACE = " \t"
_BLANK = " \t\r\n"
_BARE_END = " \t\r\n.=]},#"


class Locator:
    """Lines of the keys and values of one document.

    Attributes:
        lines: path -> line (from 1) of the key, or of the element in a list.
    """

    def __init__(self, text: str) -> None:
        self.lines: dict[TomlPath, int] = {}
        _Scanner(text, self.lines).document()

    def line(self, path: TomlPath) -> int | None:
        """The line of that path, or of the nearest thing around it; None for the whole file."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return None


class _Scanner:
    def __init__(self, text: str, lines: dict[TomlPath, int]) -> None:
        self.text = text
        self.at = 0
        self.line = 1
        self.lines = lines
        self.lists: dict[TomlPath, int] = {}
        """Lists of tables that `[[...]]` headers build -> index of the newest element."""

    def document(self) -> None:
        table: TomlPath = ()
        while self.skip(_BLANK):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)

    def header(self) -> TomlPath:
        """`[a.b]` or `[[a.b]]`; returns the path of the table that it opens."""
        line = self.line
        double = self.text.startswith("[[", self.at)
        self.step(2 if double else 1)
        keys = self.keys()
        self.skip(_SPACE)
        self.step(2 if double else 1)
        path: TomlPath = ()
        for place, key in enumerate(keys):
            path = (*path, key)
            self.note(path, line)
            last = place == len(keys) - 1
            if last and double:
                self.lists[path] = self.lists.get(path, -1) + 1
                path = (*path, self.lists[path])
                self.note(path, line)
            elif path in self.lists and not last:
                # A header may go through a list of tables: it means the newest element.
                path = (*path, self.lists[path])
        return path

    def pair(self, table: TomlPath) -> None:
        """`key = value`, where the key may be dotted."""
        line = self.line
        path = table
        for key in self.keys():
            path = (*path, key)
            self.note(path, line)
        self.skip(_SPACE)
        self.step()  # the equals sign
        self.skip(_SPACE)
        self.value(path)

    def keys(self) -> list[str]:
        keys = []
        while True:
            self.skip(_SPACE)
            keys.append(self.key())
            self.skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return keys
            self.step()

    def key(self) -> str:
        start = self.at
        if self.text[self.at] in "\"'":
            self.string()
            return _quoted_key(self.text[start : self.at])
        while self.at < len(self.text) and self.text[self.at] not in _BARE_END:
            self.step()
        return self.text[start : self.at]

    def value(self, path: TomlPath) -> None:
        first = self.text[self.at]
        if first in "\"'":
            self.string()
        elif first == "[":
            self.array(path)
        elif first == "{":
            self.inline_table(path)
        else:  # a number, a boolean or a date: it ends at a separator, a comment or the line
            while self.at < len(self.text) and self.text[self.at] not in ",]}#\r\n":
                self.step()

    def array(self, path: TomlPath) -> None:
        self.step()
        index = 0
        while self.skip(_BLANK + ",") and self.text[self.at] != "]":
            self.note((*path, index), self.line)
            self.value((*path, index))
            index += 1
        self.step()

    def inline_table(self, path: TomlPath) -> None:
        self.step()
        while self.skip(_BLANK + ",") and self.text[self.at] != "}":
            self.pair(path)
        self.step()

    def string(self) -> None:
        """Skips a string of any of the four kinds."""
        quote = self.text[self.at]
        long = self.text.startswith(quote * 3, self.at)
        mark = quote * 3 if long else quote
        self.step(len(mark))
        while not self.text.startswith(mark, self.at):
            self.step(2 if quote == '"' and self.text[self.at] == "\\" else 1)
        self.step(len(mark))
        while long and self.text.startswith(quote, self.at):
            self.step()  # a long string may end in one or two quotes of its own

    def skip(self, blank: str) -> bool:
        """Skips blanks and comments; whether anything is left."""
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "#":
                while self.at < len(self.text) and self.text[self.at] != "\n":
                    self.step()
            elif character in blank:
                self.step()
            else:
                return True
        return False

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            if self.text[self.at : self.at + 1] == "\n":
                self.line += 1
            self.at += 1

    def note(self, path: TomlPath, line: int) -> None:
        # The first mention wins: `[a]` before `[a.b]`, the first `[[x]]` for the list itself.
        self.lines.setdefault(path, line)


def _quoted_key(text: str) -> str:
    """The key that a quoted text means."""
    [key] = tomllib.loads(f"{text} = 0")
    return key
