"""Read files that others wrote: regular ones, of a bounded size, as UTF-8 text or as TOML."""

from __future__ import annotations

import codecs
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class ReadError(Exception):
    """A file that cannot be used; the end of a sentence that begins with the file's name.

    Attributes:
        line: where in the file, from 1; None for the file as a whole.
    """

    def __init__(self, text: str, line: int | None = None) -> None:
        super().__init__(text)
        self.line = line


class TomlError(ReadError):
    """A text that is no TOML."""


KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_regular(path: Path) -> int:
    """A descriptor for reading of a regular file, by whatever links; others never block it.

    Raises:
        ReadError: it is no regular file.
        OSError: it cannot be opened.
    """
    _check_regular(path.stat())
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _check_regular(os.fstat(descriptor))
    except ReadError:
        os.close(descriptor)
        raise
    return descriptor


def _check_regular(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for is_kind, name in KINDS if is_kind(found.st_mode)), "none")
        raise ReadError(f"is {kind} and no regular file")


def read_bytes(path: Path, most: int) -> bytes:
    """The content of a regular file of at most so many bytes.

    Raises:
        ReadError: it cannot be read, is no regular file, or is larger.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise ReadError(f"cannot be read: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:  # A path with a NUL.
        raise ReadError("cannot be read: this is no name of a file") from error
    if len(data) > most:
        raise ReadError(f"is larger than {_size(most)}")
    return data


def _size(most: int) -> str:
    return f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"


def read_text(path: Path, most: int) -> str:
    """The content as text; a byte order mark of UTF-8 is left out, every line ends with `\\n`.

    Raises:
        ReadError: as `read_bytes`, or it is not UTF-8.
    """
    data = read_bytes(path, most)
    for mark, name in ((codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16")):
        if data.startswith(mark):
            raise ReadError(f"is {name} text; save the file as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ReadError("is not UTF-8 text; save the file as UTF-8", line) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


LONGEST_LINE = 1 << 20
"""Bytes of a line that `read_lines` reads."""


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a regular file of any size; bytes that are no UTF-8 are replaced.

    Raises:
        ReadError: it cannot be read, is no regular file, or has a line of more than a mebibyte.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise ReadError(f"is longer than {_size(LONGEST_LINE)}, as no line is", number)
                yield line.decode("utf-8", "replace")
    except OSError as error:
        raise ReadError(f"cannot be read: {(error.strerror or str(error)).lower()}") from error


DEEPEST = 32
"""Nesting of tables and lists; files of this program have up to 6."""

_KEY = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"""(?<![\w."'-])(?:{_KEY}){{{DEEPEST}}}""")
"""A dotted key of many parts, which tomllib reads in a time of their square."""


def parse_toml(text: str) -> dict[str, Any]:
    """A TOML document (v1.0.0) whose tables and lists are nested at most `DEEPEST` deep.

    Raises:
        TomlError: it is none.
    """
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise TomlError(f"has a key of more than {DEEPEST} parts", line)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax(error) from error
    except RecursionError as error:
        raise TomlError(f"nests tables or lists more than {DEEPEST} deep") from error
    except ValueError as error:  # A number of more digits than Python converts.
        raise TomlError("is no valid TOML: a number has too many digits") from error
    if _depth(document) > DEEPEST:
        raise TomlError(f"nests tables or lists more than {DEEPEST} deep")
    return document


def _syntax(error: tomllib.TOMLDecodeError) -> TomlError:
    message = str(error)
    place = re.search(r"\(at line (\d+), column (\d+)\)", message)
    text = re.sub(r"\s*\(at .*\)$", "", message)
    if place is None:
        return TomlError(f"is no valid TOML: {text}")
    return TomlError(f"is no valid TOML at column {place[2]}: {text}", int(place[1]))


def _depth(document: dict[str, Any]) -> int:
    """Nesting of tables and lists, found without recursion."""
    deepest = 0
    pending: list[tuple[int, Any]] = [(1, document)]
    while pending:
        depth, value = pending.pop()
        deepest = max(deepest, depth)
        if depth > DEEPEST:
            break
        inner = value.values() if isinstance(value, dict) else value
        pending += [(depth + 1, one) for one in inner if isinstance(one, dict | list)]
    return deepest
