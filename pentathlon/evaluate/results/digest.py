"""What a line over many results needs of each: levels and identity, without the samples.

A note of it beside a result (`levels.json`) spares the reading of journals of many megabytes: two
hundred results are then read in tenths of a second. The note holds only for the files that it was
made from, by their sizes and times; a copy has other times and is read in full once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from pentathlon.evaluate.diagnostics.exclude import exclude
from pentathlon.evaluate.estimate import Series, counted, series
from pentathlon.evaluate.facts import ResultLike, inventories, system_facts
from pentathlon.evaluate.model import SystemFacts
from pentathlon.evaluate.titles import Titles
from pentathlon.safeio.checksum import SealError, sealed, unsealed
from pentathlon.store.directory import CATALOG, PLAN
from pentathlon.store.files import read_bytes, write_whole
from pentathlon.store.journal import JOURNAL, is_locked
from pentathlon.store.query import Result, load_result

NOTE: Final = "levels.json"
FORMAT: Final = 1
"""To be raised whenever the meaning of a field changes."""


@dataclass(frozen=True)
class Level:
    """One row of one system in one result."""

    workload: str
    metric: str
    area: str
    role: str
    unit: str
    direction: str
    lowest: float
    """The smallest sample; NaN where one is not a finite number."""
    log_mean: float
    """Mean logarithm of the boot means; NaN where one is not positive."""


@dataclass(frozen=True)
class SystemDigest:
    """One system of one result."""

    name: str
    layer: str
    cpu: str
    kernel: str
    catalog_version: int | None
    builds: tuple[str, ...]
    parameters: Mapping[str, Mapping[str, Any]]
    """Workload -> parameters that it ran with."""
    levels: Mapping[str, Level]


@dataclass(frozen=True)
class Digest:
    """One result. `unfinished`: how far its run is if it has not ended."""

    study: str
    reference: str
    started: str
    confidence: float
    weights: Mapping[str, float]
    unfinished: str
    systems: Mapping[str, SystemDigest]


def of_series(facts: SystemFacts, parameters: Mapping[str, Mapping[str, Any]],
              rows: Mapping[str, Series], titles: Titles) -> SystemDigest:  # fmt: skip
    """The digest of a system that has been read."""
    return SystemDigest(
        name=facts.name,
        layer=facts.layer,
        cpu=facts.cpu,
        kernel=facts.kernel,
        catalog_version=facts.catalog_version,
        builds=facts.agent_builds,
        parameters=parameters,
        levels={
            key: Level(
                workload=one.workload,
                metric=one.metric,
                area=titles.area(one.workload),
                role=titles.role(one.workload, one.metric),
                unit=one.unit,
                direction=one.direction,
                lowest=one.lowest,
                log_mean=_log_mean(one),
            )
            for key, one in rows.items()
        },
    )


def _log_mean(one: Series) -> float:
    values = np.array(list(one.blocks.values()), dtype=np.float64)
    return float(np.mean(np.log(values))) if one.lowest > 0 and (values > 0).all() else math.nan


def systems_of(result: ResultLike) -> dict[str, SystemDigest]:
    """Every system of a result, with the rules of its own study."""
    plan = result.plan
    names = [one.name for one in plan.study.systems]
    samples = result.samples()
    used, _ = exclude(counted(samples), plan.study.evaluation.exclusions(), names)
    facts = system_facts(plan, used, inventories(result.inventory(), samples))
    titles = Titles(getattr(result, "catalog", None))
    rows: dict[str, dict[str, Series]] = {name: {} for name in names}
    for (key, name), one in series(used).items():
        rows[name][key] = one
    return {
        one.name: of_series(
            one,
            {step.workload: step.parameters for step in plan.steps.get(one.name, ())},
            rows[one.name],
            titles,
        )
        for one in facts
    }


def digest(result: Result) -> Digest:
    """A result that is open."""
    settings = result.study.evaluation
    return Digest(
        study=result.study.name,
        reference=result.study.reference,
        started=result.summary().started,
        confidence=settings.confidence,
        weights=dict(result.study.weights),
        unfinished=result.unfinished,
        systems=systems_of(result),
    )


def read_digest(path: Path) -> Digest:
    """A result directory, from the note beside it where that holds.

    Raises:
        StoreError: it is none, or it is damaged.
    """
    found = _noted(path)
    if found is None:
        result = load_result(path)
        found = digest(result)
        note(path, found)
    return found


def note(path: Path, found: Digest) -> None:
    """Write the note; of a run that has not ended there is none, and none where nothing can be
    written."""
    if found.unfinished or is_locked(path):
        return
    files = _files(path)
    if files is not None:
        with suppress(OSError, ValueError):
            write_whole(path / NOTE, sealed({"format": FORMAT, "files": files, **asdict(found)}))


def _files(path: Path) -> dict[str, list[int]] | None:
    """Size and time of what a digest is made from."""
    try:
        stats = {name: (path / name).stat() for name in (PLAN, CATALOG, JOURNAL)}
    except OSError:
        return None
    return {name: [one.st_size, one.st_mtime_ns] for name, one in stats.items()}


def _noted(path: Path) -> Digest | None:
    try:
        found, has_seal = unsealed(read_bytes(path / NOTE))
        if not has_seal or found.pop("format") != FORMAT or found.pop("files") != _files(path):
            return None
        systems = found.pop("systems")
        return Digest(**found, systems={name: _system(one) for name, one in systems.items()})
    except (OSError, SealError, LookupError, TypeError, AttributeError, ValueError):
        return None


def _system(found: dict[str, Any]) -> SystemDigest:
    levels = {key: Level(**one) for key, one in found.pop("levels").items()}
    builds = tuple(found.pop("builds"))
    return SystemDigest(**found, builds=builds, levels=levels)
