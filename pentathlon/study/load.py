"""Read a study file: TOML -> typed study, with every problem of the file listed at once."""

from __future__ import annotations

import copy
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pentathlon.safeio.reading import ReadError, TomlError, parse_toml, read_text
from pentathlon.safeio.suggestion import did_you_mean, listing
from pentathlon.study.catalog import Catalog
from pentathlon.study.check import check_catalog
from pentathlon.study.commands.entries import clashes, extended
from pentathlon.study.commands.include import Included, include
from pentathlon.study.factorial.expand import expand as expand_arms
from pentathlon.study.limits import MOST_BYTES, oversized
from pentathlon.study.locate import Locator
from pentathlon.study.messages import translate
from pentathlon.study.model import Study
from pentathlon.study.problems import Problem, StudyError, TomlPath
from pentathlon.study.renamed import rename
from pentathlon.study.settings import parse_scheduler
from pentathlon.study.system import System
from pentathlon.study.traces import expand
from pentathlon.targets import registry
from pentathlon.targets.descriptor import EVERY
from pentathlon.targets.supplies import Supply, SupplyError, collect


@dataclass(frozen=True)
class LoadedStudy:
    """A study with the file that it came from.

    Attributes:
        file: the study file, absolute.
        text: its content.
        study: the model.
        hints: a sentence for each key of it that has another name now, with its place.
        supplies: the files of its commands."""

    file: Path
    text: str
    study: Study
    hints: tuple[str, ...] = ()
    supplies: tuple[Supply, ...] = ()

    @property
    def sha256(self) -> str:
        """Hash of the file's content."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def fallback(self) -> Path | None:
        """The fallback study's file, absolute."""
        name = self.study.fallback
        return None if name is None else (self.file.parent / name).resolve()


def load_study(
    file: Path,
    catalog: Catalog | None = None,
    *,
    alone: bool = False,
    traces: Mapping[str, str] | None = None,
) -> LoadedStudy:
    """Read and check a study file, against the catalog too where one is given.

    Args:
        alone: the file is a copy that lies apart from its fallback, which is then not looked for.
        traces: the texts of files of numbers that need not be there any more (`study.traces`).

    Raises:
        StudyError: the file cannot be read or is wrong; every problem is listed, with its line.
    """
    text = _read(file)
    study, hints, included = _parse(text, file, catalog, alone=alone, traces=traces or {})
    supplies, problems = _supplies(study, file.parent)
    if problems:
        raise _error(file, text, problems, included)
    return LoadedStudy(file.resolve(), text, study, hints, tuple(supplies))


def _supplies(study: Study, directory: Path) -> tuple[list[Supply], list[Problem]]:
    """The files of the study's commands, and what is wrong with them."""
    supplies, problems = [], []
    for place, own in enumerate(study.workloads):
        try:
            supplies.append(collect(own.id, own.files, directory))
        except SupplyError as error:
            problems.append(Problem(("workload", place, "files", error.place), str(error)))
    return supplies, problems


def parse_study(text: str, file: Path, catalog: Catalog | None = None) -> Study:
    """Check the text of a study file; `file` states where files lie that the text names.

    Raises:
        StudyError: as `load_study`.
    """
    return _parse(text, file, catalog, alone=False, traces={})[0]


def _parse(
    text: str, file: Path, catalog: Catalog | None, *, alone: bool, traces: Mapping[str, str]
) -> tuple[Study, tuple[str, ...], Included]:
    """The study, hints at names that it should not use, and the packs that it includes."""
    try:
        document = parse_toml(text)
    except TomlError as error:
        raise StudyError(file, [Problem((), str(error), error.line)]) from error
    if large := list(oversized(document)):
        locator = Locator(text)
        raise StudyError(file, [Problem(p.path, p.text, locator.line(p.path)) for p in large])
    included = include(document, file.parent)
    missing = list(expand(document, file.parent, traces))
    study, problems = _validate(document)
    if included.problems:
        # The workloads may be what could not be included.
        problems = [
            one for one in problems if (one.path, one.text[:10]) != (("suite",), "is missing")
        ]
    problems += [*missing, *included.problems]
    broken = {problem.path for problem in problems}
    problems = [problem for problem in problems if not _own_key_follows(problem.path, broken)]
    hints: list[Problem] = []
    if study is not None:
        later = _check_study(study, None if alone else file.parent)
        if catalog is not None:
            hints, doubled = rename(study, catalog)
            later += [
                *doubled,
                *clashes(catalog, study.workloads),
                *check_catalog(study, extended(catalog, study.workloads)),
            ]
        problems += [problem for problem in later if not _follows(problem.path, broken)]
        study, wrong = expand_arms(study, translate)
        problems += [one for one in wrong if one.path not in broken]
        if not problems and study.factors:
            problems += _check_arms(study)
    locator = Locator(text)
    if problems or study is None:
        raise _error(file, text, problems, included)
    old = tuple(Problem(p.path, p.text, locator.line(p.path)).located(file) for p in hints)
    return study, old, included


def _error(file: Path, text: str, problems: Iterable[Problem], included: Included) -> StudyError:
    locator = Locator(text)
    return StudyError(file, [included.located(problem, locator) for problem in problems])


def _read(file: Path) -> str:
    try:
        return read_text(file, MOST_BYTES)
    except ReadError as error:
        raise StudyError(file, [Problem((), str(error), error.line)]) from error


def _validate(document: dict[str, Any]) -> tuple[Study | None, list[Problem]]:
    """The study and what is wrong with it.

    Wrong values are taken out, or replaced where a key is required, and the rest is validated
    again, so that one wrong type does not hide a wrong name elsewhere. The study is None if nothing
    can stand for what is missing.
    """
    problems: dict[TomlPath, Problem] = {}
    rest = copy.deepcopy(document)
    for _ in range(4):
        try:
            return Study.model_validate(_today(rest)), list(problems.values())
        except ValidationError as error:
            found = [translate(detail) for detail in error.errors()]
            # A table that lacks what was taken out of it is wrong for no reason of its own.
            known = {*problems, *(path[:-1] for path in problems if path)}
            fresh = [problem for problem in found if problem.path not in known]
            if not fresh:
                break
            problems |= {problem.path: problem for problem in reversed(fresh)}
            for problem in sorted(fresh, key=lambda p: len(p.path), reverse=True):
                _remove(rest, problem.path)
    return None, _without_echoes(list(problems.values()), document)


def _today(document: dict[str, Any]) -> dict[str, Any]:
    """The document with what a new study has unless it has it otherwise, and an old plan lacks."""
    evaluation = document.get("evaluation", {})
    if not isinstance(evaluation, dict):
        return document
    today = {**document, "evaluation": {"moderated": True, **evaluation}}
    procedure = document.get("procedure")
    if not isinstance(procedure, dict):
        return today
    stopping = procedure.get("stopping")
    if isinstance(stopping, dict) and stopping.get("rule") == "looks":
        today["procedure"] = {**procedure, "stopping": {"drop_decided": True, **stopping}}
    return today


def _without_echoes(problems: list[Problem], document: dict[str, Any]) -> list[Problem]:
    """Leaves out "is missing" for what is there and was only taken out because it is wrong."""
    return [
        problem
        for problem in problems
        if not problem.text.startswith("is missing") or _at(document, problem.path) is _ABSENT
    ]


_ABSENT = object()


def _at(document: Any, path: TomlPath) -> Any:
    """What lies there in the document, or `_ABSENT`."""
    for part in path:
        try:
            document = document[part]
        except (KeyError, IndexError, TypeError):
            return _ABSENT
    return document


_STAND_INS = {
    "name": "stand-in", "target": registry.names()[0], "reference": "stand-in", "id": "*",
}  # fmt: skip
"""Values for required keys, so that the rest of a wrong file can be checked too."""


def _remove(document: Any, path: TomlPath) -> None:
    document = _at(document, path[:-1])
    # List elements stay: removing one would move the others to wrong places.
    if not path or not isinstance(document, dict):
        return
    key = path[-1]
    document.pop(key, None)
    if key in _STAND_INS:
        document[key] = _STAND_INS[str(key)]


def _follows(path: TomlPath, broken: set[TomlPath]) -> bool:
    """Whether a problem is only the echo of one that is reported already."""
    if path in broken:
        return True
    # What a system may have depends on its target.
    return path[:1] == ("system",) and (*path[:2], "target") in broken


def _own_key_follows(path: TomlPath, broken: set[TomlPath]) -> bool:
    """Whether a key is wrong only because its system's kind, which alone knows it, is wrong."""
    own = {key for kind in registry.kinds() for key in kind.own_keys}
    return len(path) > 2 and path[2] in own and (*path[:2], "target") in broken


def _check_study(study: Study, directory: Path | None) -> list[Problem]:
    """What the types cannot say: names that must be unique or known, keys that need a target."""
    problems: list[Problem] = []
    names = [system.name for system in study.systems]
    if study.reference not in names:
        problems.append(
            Problem(
                ("reference",),
                f'"{study.reference}" is no system of this study'
                f"{did_you_mean(study.reference, names)}",
            )
        )
    problems += _duplicates("system", names)
    problems += _duplicates("suite", [suite.name for suite in study.suites])
    for index, system in enumerate(study.systems):
        given = {factor.key for factor in study.factors}
        problems += [
            one
            for one in _check_target(system, ("system", index))
            if one.path[-1] not in given or not one.text.startswith("is missing")
        ]
    problems += _check_boots(study)
    fallback = None if directory is None or study.fallback is None else directory / study.fallback
    # `Path.is_file` raises where a name is too long to be one.
    if fallback is not None and not os.path.isfile(fallback):  # noqa: PTH113
        text = f'"{study.fallback}" is no file beside this study; name one, or leave the key out'
        problems.append(Problem(("fallback",), text))
    return problems


def _check_arms(study: Study) -> Iterator[Problem]:
    """What levels mean only together, for the first arm in which something is wrong."""
    for arm in study.systems:
        for problem in _check_target(arm, ()):
            yield Problem(("factor", 0), f"with {arm.title} {problem.path[-1]} {problem.text}")
            return


def _check_boots(study: Study) -> list[Problem]:
    """kexec leaves devices as the kernel before left them, so such boots are compared among
    them."""
    restarted = [
        (index, system)
        for index, system in enumerate(study.systems)
        if system.boot is not None or (system.ssh is not None and system.ssh.reboot)
    ]
    firmware = next((s.name for _, s in restarted if s.boot is None or s.boot.by_firmware), None)
    if firmware is None:
        return []
    text = (
        f'kexec leaves devices as the kernel before left them, and the boots of "{firmware}" begin '
        "with the firmware: the two cannot be compared; use one way for all systems of a study"
    )
    return [
        Problem(("system", index, "boot", "method"), text)
        for index, system in restarted
        if system.boot is not None and not system.boot.by_firmware
    ]


def _duplicates(table: str, names: list[str]) -> list[Problem]:
    counts: Counter[str] = Counter()
    problems = []
    for index, name in enumerate(names):
        if counts[name]:
            text = f'"{name}" is used twice; every {table} needs its own name'
            problems.append(Problem((table, index, "name"), text))
        counts[name] += 1
    return problems


def listing_or(words: Iterable[str]) -> str:
    """Words in quotes: "a" or "b"."""
    return " or ".join(f'"{word}"' for word in words)


def _check_settings(system: System, path: TomlPath) -> list[Problem]:
    changed, known = system.settings.changed(), system.kind.settings
    if known == EVERY:
        return []
    if known:
        text = f'target "{system.target}" knows {listing_or(known)}; set it on that machine itself'
        return [Problem((*path, "settings", key), text) for key in changed if key not in known]
    if changed:
        whole = listing(registry.names(lambda kind: kind.settings == EVERY), "and")
        text = f'are for targets {whole}; this system\'s target is "{system.target}"'
        return [Problem((*path, "settings"), text)]
    return []


def _check_target(system: System, path: TomlPath) -> list[Problem]:
    problems = []
    for key in dict.fromkeys(key for kind in registry.kinds() for key in kind.keys):
        if not system.kind.takes(key) and getattr(system, key):
            takers = listing_or(kind.name for kind in registry.kinds() if kind.takes(key))
            text = f'is for target {takers}; this system\'s target is "{system.target}"'
            problems.append(Problem((*path, key), text))
    for key, example in system.kind.required.items():
        other = system.kind.instead.get(key)
        named = [one for one in (key, other) if one and getattr(system, one, None) is not None]
        if not named:
            problems.append(Problem((*path, key), f"is missing; add {example}"))
        elif len(named) > 1:
            problems.append(Problem((*path, key), f"is for a system without {other}; leave it out"))
    problems += _check_settings(system, path)
    scheduler, quota = system.settings.scheduler, system.settings.cpu_quota_percent
    if scheduler is not None and quota is not None and parse_scheduler(scheduler)[1]:
        text = (
            f'"{scheduler}" cannot be combined with cpu_quota_percent: a quota holds for ordinary '
            "processes only; leave one of them"
        )
        problems.append(Problem((*path, "settings", "scheduler"), text))
    return problems
