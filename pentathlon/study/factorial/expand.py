"""From a study with factors to one with a system for each arm.

What is wrong with a level is reported at its factor: nobody wrote the arms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from pentathlon.safeio.suggestion import did_you_mean, listing
from pentathlon.study.factorial.design import Design, make
from pentathlon.study.factorial.fractions import NoFraction
from pentathlon.study.factorial.model import Factor
from pentathlon.study.model import Study
from pentathlon.study.problems import Problem, TomlPath
from pentathlon.study.settings import Settings
from pentathlon.study.system import System
from pentathlon.targets.descriptor import EVERY, Kind

SYSCTL = "sysctl."

OF_ALL = ("cpus", "scratch")
KEYS = ("kernel", "memory", "accelerator", *OF_ALL, "uml_args", "userland", "behaves")
"""Keys of a system that can be a factor, beside those that only its kind of target knows."""

Translate = Callable[[ErrorDetails], Problem]


def keys_of(kind: Kind) -> list[str]:
    """Keys of a system of some kind that can be a factor, beside its settings."""
    return [key for key in KEYS if kind.takes(key) or key in OF_ALL] + list(kind.own_keys)


def design_of(study: Study) -> Design | None:
    """The design of a study whose arms are its systems; None if it has none, or not all arms."""
    if not study.factors:
        return None
    design = make(study.factors, study.fraction)
    names = tuple(system.name for system in study.systems)
    return design if names == design.names else None


def expand(study: Study, translate: Translate) -> tuple[Study, list[Problem]]:
    """The study with its arms as systems, the first of which is the reference.

    Args:
        translate: makes a sentence of a complaint about a value.
    """
    problems = [*_stated(study), *_factors(study)]
    if problems or not study.factors:
        return study, problems
    try:
        design = make(study.factors, study.fraction)
    except NoFraction as error:
        place = "factor" if study.fraction is None else "fraction"
        return study, [Problem((place,), str(error))]
    base = study.systems[0]
    arms = []
    for number, (name, levels) in enumerate(zip(design.names, design.arms, strict=True)):
        chosen = dict(enumerate(levels))
        try:
            arm = _arm(base, study.factors, chosen)
        except ValidationError as error:
            found = {_place(study.factors, chosen, translate(one)) for one in error.errors()}
            problems += [Problem(path, text) for path, text in sorted(found, key=repr)]
            continue
        arms.append(arm.model_copy(update={"name": name, "title": design.title(number)}))
    unique = list({(one.path, one.text): one for one in problems}.values())
    if unique:
        return study, unique
    update = {"systems": tuple(arms), "reference": design.names[0]}
    return study.model_copy(update=update), []


def _stated(study: Study) -> Iterator[Problem]:
    """Whether the tables of a design belong together."""
    if study.design != "factorial":
        text = 'needs design = "factorial" at the top of the file'
        if study.factors:
            yield Problem(("factor", 0), text)
        if study.fraction is not None:
            yield Problem(("fraction",), text)
        return
    if not study.factors:
        example = 'setting = "scheduler" and levels = ["other", "batch"]'
        yield Problem(("design",), f"a factorial design needs a [[factor]] table with {example}")
    if len(study.systems) > 1:
        text = "a factorial design has one system, whose settings are the factors; leave this out"
        yield Problem(("system", 1), text)
    if study.procedure.stopping.rule != "fixed":
        text = (
            "a factorial design judges its effects once, after all blocks; leave out the stopping "
            "rule and name blocks"
        )
        yield Problem(("procedure", "stopping"), text)


def _factors(study: Study) -> Iterator[Problem]:
    counts: Counter[str] = Counter()
    targets: Counter[tuple[str, ...]] = Counter()
    for number, factor in enumerate(study.factors):
        path: TomlPath = ("factor", number)
        if counts[factor.title] or targets[_where(factor)]:
            what = factor.title if counts[factor.title] else _where(factor)[-1]
            yield Problem(path, f'"{what}" is a factor already; every factor needs its own')
        counts[factor.title] += 1
        targets[_where(factor)] += 1
        if study.systems:
            yield from _taken(study.systems[0], factor, path)


def _taken(base: System, factor: Factor, path: TomlPath) -> Iterator[Problem]:
    """Whether the base system can have the factor."""
    if factor.key is not None:
        known = keys_of(base.kind)
        if factor.key not in known:
            text = f'"{factor.key}" can be no factor of a system of the target "{base.target}"'
            yield Problem((*path, "key"), f"{text}; use {listing(known)}")
        elif _given(base, _where(factor)):
            yield Problem((*path, "key"), f'the system has "{factor.key}" already; leave it out')
        return
    where, whole = _where(factor), base.kind.settings == EVERY
    name = where[1]
    known = list(Settings.model_fields) if whole else list(base.kind.settings)
    if name not in Settings.model_fields:
        hint = did_you_mean(name, known) if known else ""
        yield Problem((*path, "setting"), f'"{factor.setting}" is no setting of a system{hint}')
    elif name not in known:
        use = f"; use {listing(known)}" if known else ", which has no settings of a machine"
        text = f'"{name}" is no setting of the target "{base.target}"{use}'
        yield Problem((*path, "setting"), text)
    elif _given(base, where):
        text = f'the system has the setting "{factor.setting}" already; leave it out there'
        yield Problem((*path, "setting"), text)


def _where(factor: Factor) -> tuple[str, ...]:
    """The place of a factor's value in the table of its system."""
    if factor.key is not None:
        return (factor.key,)
    assert factor.setting is not None
    if factor.setting.startswith(SYSCTL):
        return ("settings", "sysctl", factor.setting.removeprefix(SYSCTL))
    return ("settings", factor.setting)


def _given(base: System, where: tuple[str, ...]) -> bool:
    value: Any = base.model_dump()
    for part in where:
        value = value.get(part) if isinstance(value, Mapping) else None
    return bool(value) if where[0] == "uml_args" else value not in (None, "own")


def _arm(base: System, factors: tuple[Factor, ...], levels: Mapping[int, int]) -> System:
    """The base system with some factors at some levels.

    Raises:
        ValidationError: a level is no value of its factor.
    """
    document = base.model_dump(exclude_defaults=True)
    for place, level in levels.items():
        *tables, key = _where(factors[place])
        table = document
        for name in tables:
            table[name] = dict(table.get(name) or {})
            table = table[name]
        table[key] = factors[place].levels[level]
    return System.model_validate(document)


def _place(
    factors: tuple[Factor, ...], levels: Mapping[int, int], problem: Problem
) -> tuple[TomlPath, str]:
    """Where the value that is wrong stands in the file."""
    for number, factor in enumerate(factors):
        where = _where(factor)
        if tuple(map(str, problem.path[: len(where)])) == where:
            return ("factor", number, "levels", levels[number]), problem.text
    return ("factor",), problem.text
