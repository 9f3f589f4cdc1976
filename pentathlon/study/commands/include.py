"""`include`: files whose `[[workload]]` tables belong to the study too, and packs ("pack:NAME").

Their paths count from where they lie; a complaint about one of their tables names its own file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pentathlon.packs import pack as packs
from pentathlon.safeio.reading import ReadError, parse_toml, read_text
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.study.limits import MOST_BYTES
from pentathlon.study.locate import Locator
from pentathlon.study.problems import Problem, TomlPath

MOST_INCLUDED = 100
"""Files of one study."""


@dataclass
class Included:
    """Where the `[[workload]]` tables of a study come from.

    Attributes:
        origins: place in the list of all tables -> file, its lines, and the place in that file; a
            table that is not named here is the study's own.
        problems: what is wrong with the files as a whole.
    """

    origins: dict[int, tuple[Path, Locator, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def located(self, problem: Problem, own: Locator) -> Problem:
        """The problem with its line, and its file where that is not the study."""
        path = problem.path
        if len(path) > 1 and path[0] == "workload" and path[1] in self.origins:
            file, locator, place = self.origins[int(path[1])]
            inner: TomlPath = ("workload", place, *path[2:])
            return Problem(inner, problem.text, locator.line(inner), file)
        return Problem(path, problem.text, problem.line or own.line(path), problem.file)


def include(document: dict[str, Any], directory: Path) -> Included:
    """Add the tables of the files that a study includes, in a study as TOML has it.

    Args:
        directory: of the study file, where relative paths begin.
    """
    found = Included()
    names = document.get("include")
    if not isinstance(names, list) or not names:
        return found
    own = document.get("workload", [])
    if not isinstance(own, list):
        return found
    if len(names) > MOST_INCLUDED:
        text = f"names {len(names)} files; the most is {MOST_INCLUDED}"
        found.problems.append(Problem(("include",), text))
        return found
    tables = list(own)
    for place, name in enumerate(names):
        if not isinstance(name, str):
            continue  # Said where the types are checked.
        path: TomlPath = ("include", place)
        if name.startswith(packs.PREFIX):
            if unknown := _add_pack(found, tables, name.removeprefix(packs.PREFIX), path):
                found.problems.append(unknown)
            continue
        file = directory / name
        try:
            text = read_text(file, MOST_BYTES)
            inner = parse_toml(text)
        except ReadError as error:
            if error.line is None:
                found.problems.append(Problem(path, f'the file "{name}" {error}'))
            else:
                found.problems.append(Problem((), str(error), error.line, file))
            continue
        locator = Locator(text)
        if problem := _wrong(inner):
            key, sentence = problem
            found.problems.append(Problem((key,), sentence, locator.line((key,)), file))
            continue
        for number, table in enumerate(inner["workload"]):
            found.origins[len(tables)] = (file, locator, number)
            tables.append(_moved(table, name))
    document["workload"] = tables
    return found


def _add_pack(found: Included, tables: list[Any], name: str, path: TomlPath) -> Problem | None:
    """Add the tables of a pack; what is wrong with its name."""
    pack = packs.find(name)
    if pack is None:
        hint = did_you_mean(name, packs.names(), "pentathlon catalog --packs")
        return Problem(path, f'"{name}" is no pack{hint}')
    locator = Locator(pack.file.read_text())
    for number, table in enumerate(pack.workloads):
        found.origins[len(tables)] = (pack.file, locator, number)
        tables.append({"install": pack.install, **_moved(table, str(pack.file))})
    return None


def _wrong(document: Mapping[str, Any]) -> tuple[str, str] | None:
    """What keeps a file from being included: the key, and the sentence."""
    for key in document:
        if key != "workload":
            return key, "is no key of an included file, which holds [[workload]] tables alone"
    tables = document.get("workload")
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        return "workload", "is missing or no table; an included file holds [[workload]] tables"
    return None


def _moved(table: dict[str, Any], name: str) -> dict[str, Any]:
    """A table of an included file, its files as seen from the study."""
    files, place = table.get("files"), os.path.dirname(name)  # noqa: PTH120  keeps "../"
    if not isinstance(files, list) or not place:
        return table
    # A final "/" marks a directory and changes nothing.
    return {
        **table,
        "files": [os.path.join(place, one) if isinstance(one, str) else one for one in files],  # noqa: PTH118
    }
