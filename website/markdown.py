"""What the staging and the tests read out of a Markdown page: links, anchors, commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^( *)(```+|~~~+)(\w*)(?: title=\"([^\"]+)\")?")
LINK = re.compile(r"(\]\()([^()\s]+)(\))")
SHELL = frozenset({"sh", "console", "bash"})


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, title (the name of a file), and first line, from 1."""

    language: str
    text: str
    title: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page."""
    opened: tuple[str, str, str, int] | None = None
    held: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        if opened is None and found:
            opened, held = (found[2], found[3], found[4] or "", number + 1), []
        elif opened is not None and line.strip() == opened[0]:
            yield Block(opened[1], "\n".join(held) + "\n", opened[2], opened[3])
            opened = None
        elif opened is not None:
            held.append(line)


def prose(text: str) -> str:
    """A page with its fenced blocks emptied; the numbers of lines stay."""
    lines = text.splitlines()
    inside: str | None = None
    for index, line in enumerate(lines):
        found = FENCE.match(line)
        if inside is None and found:
            inside = found[2]
            lines[index] = ""
        elif inside is not None:
            if line.strip() == inside:
                inside = None
            lines[index] = ""
    return "\n".join(lines)


def links(text: str) -> list[str]:
    """The targets of the links and pictures of a page, without those in code."""
    without_code = re.sub(r"`[^`\n]*`", "", prose(text))
    return [target for _, target, _ in LINK.findall(without_code)]


def relinked(text: str, change: Callable[[str], str]) -> str:
    """A page with other targets of its links; code is left as it is."""
    parts = re.split(r"(^ *```.*?^ *```\n?|`[^`\n]*`)", text, flags=re.M | re.S)
    for index in range(0, len(parts), 2):
        parts[index] = LINK.sub(lambda m: m[1] + change(m[2]) + m[3], parts[index])
    # A link's words may be code, which the split has taken out; what follows it begins with "](".
    return "".join(parts)


def slug(heading: str) -> str:
    """The anchor of a heading, as forges and the site make it."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    kept = re.sub(r"[^\w\- ]", "", plain.strip().lower())
    return kept.replace(" ", "-")


def anchors(text: str) -> set[str]:
    """The anchors of a page: of its headings, and those that it names itself."""
    found: set[str] = set(re.findall(r'(?:id="|\{ ?#)([\w-]+)', text))
    for heading in re.findall(r"^#+ (.+?)(?: \{ ?[#:.].*\})?$", prose(text), re.M):
        name, number = slug(heading), 1
        while name in found:
            name, number = f"{slug(heading)}-{number}", number + 1
        found.add(name)
    return found


def commands(text: str, program: str = "pentathlon") -> list[tuple[int, list[str]]]:
    """The calls of a program in the shell blocks of a page: the line and the arguments of each.

    Lines that end in a backslash go on; each part of a pipe or a list (`&&`, `;`) counts.
    """
    calls: list[tuple[int, list[str]]] = []
    for block in blocks(text):
        if block.language not in SHELL:
            continue
        line, waiting = block.line, ""
        for one in block.text.splitlines():
            line += 1
            if one.rstrip().endswith("\\"):
                waiting += one.rstrip()[:-1] + " "
                continue
            calls += [(line - 1, call) for call in _calls(waiting + one, program)]
            waiting = ""
    return calls


def _calls(line: str, program: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words = [*lexer, ";"]
    call: list[str] | None = None
    skip = False
    for word in words:
        if set(word) <= set("|&;"):
            if call is not None:
                yield call
            call = None
        elif set(word) <= set("<>"):
            skip = True
        elif skip:
            skip = False
        elif call is None and Path(word).name == program:
            call = []
        elif call is not None:
            call.append(word)
