"""One escaping per output format for text that others wrote: names, ids, cases, units, reasons,
values of the inventory.

Every writer of text goes through one of these functions. HTML is escaped by its own library
(`html.escape`, jinja2 with autoescape), which does the same for every text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Controls of the Unicode bidirectional algorithm (UAX 9), which show text in another order."""

SEPARATORS = frozenset("\u2028\u2029")


def control(character: str) -> str | None:
    r"""A character that acts instead of being shown, as an escape such as `\x1b`; else None.

    These are C0 and C1 (Unicode category Cc, newline and tab too), the controls of direction, the
    separators of lines and paragraphs, tags (U+E0000 to U+E007F) and lone surrogates.
    """
    code = ord(character)
    if unicodedata.category(character) == "Cc":
        return f"\\x{code:02x}"
    if "\udc80" <= character <= "\udcff":
        # A byte of a file name that is no UTF-8 (PEP 383).
        return f"\\x{code - 0xDC00:02x}"
    if character in DIRECTIONS or character in SEPARATORS or "\ud800" <= character <= "\udfff":
        return f"\\u{code:04x}"
    return f"\\U{code:08x}" if 0xE0000 <= code <= 0xE007F else None


def one_line(text: str) -> str:
    """Text without anything that acts: blanks and line ends as one blank each, else escapes."""
    if text.isascii() and text.isprintable():
        return text
    shown = "\n\r\t\v\f\x85\u2028\u2029"
    return "".join(" " if one in shown else control(one) or one for one in text)


BREAK = "\x1f"
"""Where a line may end inside a long name; takes no place, and no screen writes it."""


def breakable(text: str) -> str:
    """A name such as `memory.read.bandwidth[block_bytes=4096,variant=scalar]` or a path, on one
    line, which a narrow screen breaks between its parts and not inside of them."""
    return re.sub(r"([\[,]|(?<=\w)/)(?=.)", rf"\1{BREAK}", one_line(text))


MOST_SHOWN = 1000
"""Characters of a complaint: it may quote a value of any length."""


def complaint(text: str) -> str:
    """A sentence that quotes what others wrote: on one line, without its middle if it is long."""
    shown = one_line(text)
    half = MOST_SHOWN // 2
    return shown if len(shown) <= MOST_SHOWN else f"{shown[:half]}...{shown[-half:]}"


def terminal(character: str) -> str:
    r"""What a terminal is sent for a character: itself, or `\x1b` and the like for a control.

    Newline and tab stay, as the program's own texts have them.
    """
    return character if character in "\n\t" else control(character) or character


_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


def json_document(text: str) -> str:
    r"""A JSON document whose texts hold no control: as `\u009b`, which reads back the same.

    JSON itself escapes C0 only (RFC 8259, section 7); outside of texts there is no such character.
    """
    return _JSON.sub(_json_escape, text)


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?( ?%)?|[+-]")
"""With a sign alone, which tables have for nothing."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_field(value: object) -> object:
    """A field of CSV that no spreadsheet takes for a formula; numbers stay, None is empty.

    A text that begins like a formula gets an apostrophe before it, as spreadsheets mark text
    (OWASP, CSV Injection). Controls become escapes, so a field is one line.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    begins = value.lstrip(" \N{NO-BREAK SPACE}\N{ZERO WIDTH NO-BREAK SPACE}\N{ZERO WIDTH SPACE}")
    shown = one_line(value)
    if begins.startswith(_FORMULA) and not _NUMBER.fullmatch(value):
        return f"'{shown}"
    return shown


_MARKS = re.compile(r"[\\|*_`<>\[\]#~$@]|&(?=#|[a-z])|(?<=:)/(?=/)|(?<=www)\.", re.IGNORECASE)
_BEGINS = re.compile(r"(?:[-+=](?=\s|$|[-+=])|\d{1,9}(?=[.)](?:\s|$)))")


def markdown(text: str) -> str:
    """Text that Markdown takes as it is, in a paragraph, a heading or a cell.

    Characters with a meaning get a backslash (CommonMark 2.4; strikethrough, tables and links
    without brackets of GitHub's form, its formulas too), and so does what would begin a list, a
    line or a heading.
    """
    flat = one_line(text).strip(" ")
    escaped = _MARKS.sub(r"\\\g<0>", flat)
    if begins := _BEGINS.match(flat):
        at = begins.end() if begins[0].isdigit() else 0
        return f"{escaped[:at]}\\{escaped[at:]}"
    return escaped


_LATEX: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\N{NO-BREAK SPACE}": "~",
    "−": r"$-$",
    "–": "--",
    "†": r"\textdagger{}",
    "δ": r"$\delta$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "µ": r"\textmu{}",
    "…": r"\dots{}",
    "∞": r"$\infty$",
    "²": r"$^2$",
}


def latex(text: str) -> str:
    """Text with every character that LaTeX would interpret, or cannot set, replaced."""
    return "".join(_LATEX.get(character, character) for character in one_line(text))


def latex_row(cells: list[str]) -> str:
    r"""The line of a table, of cells that are escaped already.

    `\\` of the line before takes a `*` or `[` that follows for its own, so a row that begins with
    one begins with an empty group.
    """
    guard = "{}" if cells and cells[0].lstrip().startswith(("*", "[")) else ""
    return guard + " & ".join(cells) + r" \\"


def latex_label(text: str) -> str:
    r"""The key of a `\label`: letters, digits, `.`, `:` and `-` of ASCII, `-` for the rest."""
    return re.sub(r"[^A-Za-z0-9.:-]", "-", text)


def latex_comment(text: str) -> str:
    """Text behind a `%`: on one line, which no `^^M` ends."""
    return one_line(text).replace("^^", "^ ^")
