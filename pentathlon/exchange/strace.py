"""Lines that strace(1) wrote, as system calls.

Read is what `strace -f -ttt -T -y -e trace=file,desc,process -o FILE PROGRAM` writes: one call on
a line, with process id, time of the call in seconds, arguments, result and duration. Calls that
another process interrupted are put together again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LINE = re.compile(
    r"^(?:\[pid +)?(?:(?P<pid>\d{1,10})\]? +)?(?P<time>\d{1,12}\.\d{1,9}) (?P<rest>.*)$"
)
_CALL = re.compile(
    r"^(?P<name>\w+)\((?P<arguments>.*)\) += "
    r"(?P<result>-?(?:0|[1-9]\d{0,18})|\?|0x[0-9a-f]{1,16})\b(?P<tail>.*)$"
)
_RESUMED = re.compile(r"^<\.\.\. \w+ resumed>(?P<rest>.*)$")
MOST_DIGITS = 19
"""Of a number that a file position can be."""
_UNFINISHED = "<unfinished ...>"


ENDED = "+++"
"""Name of the call that stands for the end of a process, which closes its descriptors."""


class StraceError(Exception):
    """A file that is no output of strace as it is needed; the text is one sentence."""


@dataclass(frozen=True)
class Call:
    """One finished system call."""

    pid: int
    time_s: float
    """When it began, in seconds since the epoch."""
    name: str
    arguments: tuple[str, ...]
    """As strace wrote them; a descriptor may carry its path: `3</etc/hosts>`."""
    result: int
    """What it returned; negative for an error."""
    result_path: str | None
    """The path of the descriptor that it returned, where strace printed it (-y)."""

    def argument(self, at: int) -> str:
        """The argument at that place; "" where the line has fewer."""
        return self.arguments[at] if at < len(self.arguments) else ""


def read_calls(lines: Iterable[str]) -> Iterator[Call]:
    """Yields every finished call in the order of their beginnings' lines.

    Raises StraceError if a line has no time in seconds (-ttt), with its number.
    """
    unfinished: dict[int, tuple[float, str]] = {}
    for number, line in enumerate(lines, start=1):
        text = line.rstrip("\n")
        if not text.strip():
            continue
        match = _LINE.match(text)
        if match is None:
            raise StraceError(
                f"line {number} is no line of strace -f -ttt; record with"
                " strace -f -ttt -T -y -e trace=file,desc,process -o FILE PROGRAM"
            )
        pid, time_s, rest = int(match["pid"] or 0), float(match["time"]), match["rest"]
        if rest.startswith("+++"):
            yield Call(pid, time_s, ENDED, (), 0, None)
            continue
        if rest.startswith("---"):
            continue
        if resumed := _RESUMED.match(rest):
            if pid not in unfinished:
                continue
            time_s, head = unfinished.pop(pid)
            rest = head + resumed["rest"]
        elif rest.endswith(_UNFINISHED):
            unfinished[pid] = (time_s, rest[: -len(_UNFINISHED)].rstrip())
            continue
        if call := _parse(pid, time_s, rest):
            yield call


def _parse(pid: int, time_s: float, text: str) -> Call | None:
    match = _CALL.match(text)
    if match is None or match["result"] == "?":
        return None
    return Call(
        pid=pid,
        time_s=time_s,
        name=match["name"],
        arguments=tuple(split_arguments(match["arguments"])),
        result=int(match["result"], 0),
        result_path=descriptor_path(match["result"] + match["tail"].split(" ")[0]),
    )


def split_arguments(text: str) -> list[str]:
    """Splits at the commas that lie in no string, bracket or path of a descriptor."""
    parts: list[str] = []
    depth, start, at = 0, 0, 0
    while at < len(text):
        character = text[at]
        if character == '"':
            at += 1
            while at < len(text) and text[at] != '"':
                at += 2 if text[at] == "\\" else 1
        elif character in "([{<":
            depth += 1
        elif character in ")]}>" and not text.startswith("->", at - 1) and text[at - 1 : at] != "=":
            depth = max(depth - 1, 0)
        elif character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
        at += 1
    rest = text[start:].strip()
    return [*parts, rest] if rest or parts else []


def descriptor(argument: str) -> int | None:
    """The number of a descriptor argument such as `3` or `3</etc/hosts>`."""
    match = re.match(r"^(\d{1,10})(?:<|$)", argument)
    return int(match[1]) if match else None


def descriptor_path(argument: str) -> str | None:
    """The path that strace wrote beside a descriptor, if it is one of the file system."""
    match = re.match(r"^(?:\d+|AT_FDCWD)<(/.*?)>(?:\(deleted\))?$", argument)
    return match[1] if match else None


def string(argument: str) -> str | None:
    """The text of a whole string argument; none if strace cut it short or it is none."""
    if len(argument) < 2 or not (argument.startswith('"') and argument.endswith('"')):
        return None
    return argument[1:-1].encode("latin-1", "replace").decode("unicode_escape", "replace")


def number(argument: str) -> int | None:
    """A whole number from 0 to 2^63 - 1, such as a position in a file."""
    try:
        found = int(argument[:MOST_DIGITS], 0)
    except ValueError:
        return None
    return found if len(argument) <= MOST_DIGITS and 0 <= found < 1 << 63 else None


def size_of_regular_file(text: str) -> int | None:
    """The size in a printed `struct stat` of a regular file."""
    if "S_IFREG" not in text:
        return None
    match = re.search(r"stx?_size=(\d{1,18})\b", text)
    return int(match[1]) if match else None
