"""Characters that the output can show: none is written that its encoding lacks, and no control
character of a text that others wrote (a file name, a log line) reaches the terminal.

What is replaced is replaced before rich lays a page out, so columns stay in line. Text that goes
past rich (CSV, JSON, help) is covered by the error handler of the streams.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import Any

from rich.align import Align
from rich.console import Group
from rich.padding import Padding
from rich.styled import Styled
from rich.table import Table
from rich.text import Span, Text
from rich.tree import Tree

from pentathlon.safeio import escaping

ERRORS = "pentathlon-ascii"
"""Name of the error handler of codecs."""

EQUIVALENTS = {
    "−": "-",
    "–": "-",
    "—": "-",
    "‑": "-",
    "…": "...",
    "±": "+/-",
    "×": "x",
    "·": "|",
    "µ": "u",
    "μ": "u",
    "δ": "d",
    "Δ": "D",
    "σ": "s",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "≠": "!=",
    "∞": "inf",
    "√": "sqrt ",
    "→": "->",
    "←": "<-",
    "↑": "^",
    "↓": "v",
    "▲": "^",
    "△": "^",
    "▼": "v",
    "▽": "v",
    "✓": "+",
    "✗": "x",
    "†": "#",
    "‡": "##",
    "§": "section ",
    "°": " deg",
    "•": "*",
    "“": '"',
    "”": '"',
    "„": '"',
    "‘": "'",
    "’": "'",
    "«": "<<",
    "»": ">>",
    "ß": "ss",
    "æ": "ae",
    "Æ": "AE",
    "ø": "o",
    "Ø": "O",
    "ł": "l",
    "Ł": "L",
    "đ": "d",
    "Đ": "D",
    "\N{SOFT HYPHEN}": "",
    "\N{ZERO WIDTH SPACE}": "",
}
"""What ASCII has instead; accents and the like are taken off by their decomposition (NFKD)."""

NO_BREAK = "\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
TIED = "\ue000"
"""Stands for a space at which no line may end, while a page is laid out: rich ends lines at
no-break spaces too."""

BLOCKS = " _.-=+*%#"
"""The eighths of a block (U+2581 to U+2588), which draw small series."""


def spelling(encoding: str) -> Callable[[str], str]:
    """A function from a character to what is written for it in an encoding."""
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        name = "ascii"
    return lambda character: _spelled(character, name)


@lru_cache(maxsize=4096)
def _spelled(character: str, encoding: str) -> str:
    if character in NO_BREAK:
        return TIED
    if character == escaping.BREAK:
        return character
    shown = escaping.terminal(character)
    if shown != character:
        return shown
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return _ascii(character)
    return character


def _ascii(character: str) -> str:
    if character in EQUIVALENTS:
        return EQUIVALENTS[character]
    if "▁" <= character <= "█":
        return BLOCKS[ord(character) - ord("▁") + 1]
    if "\u2800" <= character <= "\u28ff":
        return "*"
    plain = "".join(part for part in unicodedata.normalize("NFKD", character) if ord(part) < 0x80)
    return plain or ("" if unicodedata.combining(character) else "?")


def spelled(text: str, encoding: str) -> str:
    """A text as it is written in an encoding."""
    return untied("".join(map(spelling(encoding), text)), encoding)


def untied(text: str, encoding: str) -> str:
    """What is written of a text that was laid out."""
    text = text.replace(escaping.BREAK, "")
    if TIED not in text:
        return text
    try:
        "\N{NO-BREAK SPACE}".encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return text.replace(TIED, " ")
    return text.replace(TIED, "\N{NO-BREAK SPACE}")


def showable(renderable: Any, encoding: str) -> Any:
    """A text, or a renderable with texts in it, as it can be shown in an encoding.

    Plain strings are left to the console, which makes texts of them.
    """
    if isinstance(renderable, Text):
        return _text(renderable, encoding)
    if isinstance(renderable, Table):
        _table(renderable, encoding)
    elif isinstance(renderable, Padding | Styled | Align):
        renderable.renderable = showable(renderable.renderable, encoding)
    elif isinstance(renderable, Group):
        return Group(*(showable(one, encoding) for one in renderable.renderables))
    elif isinstance(renderable, Tree):
        renderable.label = showable(renderable.label, encoding)
        for child in renderable.children:
            showable(child, encoding)
    return renderable


def _table(table: Table, encoding: str) -> None:
    table.title = showable(table.title, encoding)
    table.caption = showable(table.caption, encoding)
    for column in table.columns:
        column.header = showable(column.header, encoding)
        column.footer = showable(column.footer, encoding)
        column._cells[:] = [showable(cell, encoding) for cell in column._cells]


def _text(text: Text, encoding: str) -> Text:
    spell = spelling(encoding)
    parts = [spell(character) for character in text.plain]
    joined = "".join(parts)
    if joined == text.plain:
        return text
    places = [0, *accumulate(map(len, parts))]
    last = len(parts)
    changed = text.blank_copy(joined)
    changed.spans = [
        Span(places[min(span.start, last)], places[min(span.end, last)], span.style)
        for span in text.spans
    ]
    return changed


def replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    """Error handler of codecs: ASCII for what an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    # Rich cuts what is too long with an ellipsis, in a page that is laid out already.
    missing = error.object[error.start : error.end].replace("…", "~")
    return spelled(missing, error.encoding), error.end


codecs.register_error(ERRORS, replace_unencodable)
