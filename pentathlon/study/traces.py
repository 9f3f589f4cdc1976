"""Files of numbers that a study names: `trace @PATH` becomes their numbers and the file's SHA-256.

The text that takes its place, `trace @PATH sha256=HEX V1 V2 ...`, is what plan and result hold and
what hosts are sent, so that a result needs the file no more (`study.distributions` reads it).
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from pentathlon.safeio.reading import ReadError, read_bytes
from pentathlon.study.model import Study
from pentathlon.study.problems import Problem, TomlPath

KEYS = ("size", "packet_rate", "gap", "on", "off", "script")
"""Parameters of flows that hold distributions (docs/network.md)."""

MOST = 100_000
"""Numbers of a file: a plan holds them, and hosts are sent them as text."""

MAX_BYTES = 4 << 20

NAMED = re.compile(r"\btrace\s+@([^;]*)")
READ = re.compile(r"\btrace @(\S+) sha256=[0-9a-f]{64}[^;]*")

STAND_IN = "trace 1"
"""For a file that cannot be used, so that the rest of a wrong study can be checked too."""


class TraceError(ValueError):
    """A file that is no trace; one sentence."""


def expand(
    document: dict[str, Any], directory: Path, known: Mapping[str, str]
) -> Iterator[Problem]:
    """Put the numbers of files in the places of their names, in a study as TOML has it.

    Args:
        directory: of the study file, where relative paths begin.
        known: path -> its text in an older plan, for files that are no longer there.
    """
    for path, parameters in _tables(document):
        for key in KEYS:
            value = parameters.get(key)
            texts = value if isinstance(value, list) else [value]
            for place, text in enumerate(texts):
                if not isinstance(text, str):
                    continue
                try:
                    texts[place] = _expanded(text, directory, known)
                except TraceError as error:
                    texts[place] = NAMED.sub(STAND_IN, text)
                    at = (place,) if isinstance(value, list) else ()
                    yield Problem((*path, key, *at), str(error))
            if isinstance(value, str):
                [parameters[key]] = texts


def kept(study: Study) -> dict[str, str]:
    """Path -> text of every trace of a study whose files were read."""
    tables = [choice.parameters for suite in study.suites for choice in suite.workloads]
    tables += [own for system in study.systems for own in system.parameters.values()]
    found: dict[str, str] = {}
    for table in tables:
        for value in (one for key, one in table.items() if key in KEYS):
            for text in value if isinstance(value, list) else [value]:
                found |= {unquote(one[1]): one[0].rstrip() for one in READ.finditer(str(text))}
    return found


def _tables(document: dict[str, Any]) -> Iterator[tuple[TomlPath, dict[str, Any]]]:
    """Every table of parameters; what has not the form of one is found wrong elsewhere."""
    for number, suite in _rows(document.get("suite")):
        for index, choice in _rows(suite.get("workloads")):
            if isinstance(choice.get("parameters"), dict):
                yield ("suite", number, "workloads", index, "parameters"), choice["parameters"]
    for number, system in _rows(document.get("system")):
        own = system.get("parameters")
        for name, parameters in own.items() if isinstance(own, dict) else ():
            if isinstance(parameters, dict):
                yield ("system", number, "parameters", name), parameters


def _rows(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for index, row in enumerate(value if isinstance(value, list) else ()):
        if isinstance(row, dict):
            yield index, row


def _expanded(text: str, directory: Path, known: Mapping[str, str]) -> str:
    def numbers(found: re.Match[str]) -> str:
        name = found[1].strip()
        file = directory / name
        if name in known and not os.path.exists(file):  # noqa: PTH110
            return known[name]
        return read(name, file)

    return NAMED.sub(numbers, text)


def read(name: str, file: Path) -> str:
    """The text that takes the place of `trace @NAME`.

    Raises:
        TraceError: the file cannot be read, or holds something else than numbers.
    """
    if not name:
        raise TraceError('"trace @" needs the path of a file, such as "trace @lengths.txt"')
    try:
        data = read_bytes(file, MAX_BYTES)
        lines = data.decode("utf-8-sig").splitlines()
    except ReadError as error:
        raise TraceError(f'the trace file "{name}" {error}') from error
    except UnicodeDecodeError as error:
        raise TraceError(f'the trace file "{name}" is no text in UTF-8') from error
    words = []
    for line, text in enumerate(lines, start=1):
        for word in text.split():
            if not _is_number(word):
                # Whoever made the study need not be allowed to read the file: none of it is shown.
                raise TraceError(
                    f'line {line} of the trace file "{name}" holds something that is no number; '
                    "write one number a line, or numbers with blanks between them"
                )
            words.append(word)
    if not words:
        raise TraceError(f'the trace file "{name}" holds no number')
    if len(words) > MOST:
        raise TraceError(
            f'the trace file "{name}" holds {len(words):,} numbers; the most is {MOST:,}'
        )
    return f"trace @{quote(name)} sha256={hashlib.sha256(data).hexdigest()} {' '.join(words)}"


def _is_number(word: str) -> bool:
    try:
        # Python's own forms, such as 1_000, are no numbers of other programs.
        return word.isascii() and "_" not in word and math.isfinite(float(word))
    except ValueError:
        return False
