"""What a line over many results needs of each: levels and identity, without the samples.

A note of it beside a result (`levels.json`) spares the reading of journals of many megabytes: two
hundred results are then read in tenths of a second. The note holds only for the files that it was
made from, by their sizes and times; a copy has other times and is read in full once.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from pentathlon.safeio.checksum import SealError, sealed, unsealed
from pentathlon.store.files import read_bytes, write_whole
from pentathlon.store.names import CATALOG, JOURNAL, PLAN

NOTE: Final = "levels.json"
FORMAT: Final = 2
"""To be raised whenever the meaning of a field, or where it stands, changes."""
NATURE: Final = 6
"""The first fields of `Level`, which the rows of many cases share."""


class Level(NamedTuple):
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


def read_digest(path: Path) -> Digest:
    """A result directory, from the note beside it where that holds.

    Raises:
        StoreError: it is none, or it is damaged.
    """
    found = _noted(path)
    if found is None:
        from pentathlon.evaluate.results.digesting import digest  # noqa: PLC0415  loads polars
        from pentathlon.store.query import load_result  # noqa: PLC0415

        found = digest(load_result(path))
        note(path, found)
    return found


def note(path: Path, found: Digest) -> None:
    """Write the note; of a run that has not ended there is none, and none where nothing can be
    written."""
    from pentathlon.store.journal import is_locked  # noqa: PLC0415  loads pydantic

    if found.unfinished or is_locked(path):
        return
    files = _files(path)
    if files is None:
        return
    document = {
        "format": FORMAT,
        "files": files,
        **vars(found),
        "weights": dict(found.weights),
        "systems": {name: _columns(one) for name, one in found.systems.items()},
    }
    with suppress(OSError, ValueError):
        write_whole(path / NOTE, sealed(document))


def _columns(one: SystemDigest) -> dict[str, Any]:
    """A system for the note: what many rows share stands there once, the rest by columns."""
    levels = one.levels.values()
    natures = list(dict.fromkeys(level[:NATURE] for level in levels))
    places = {nature: place for place, nature in enumerate(natures)}
    return {
        **vars(one),
        "levels": {
            "natures": natures,
            "key": list(one.levels),
            "nature": [places[level[:NATURE]] for level in levels],
            "lowest": [level.lowest for level in levels],
            "log_mean": [level.log_mean for level in levels],
        },
    }


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
        _texts(found["study"], found["reference"], found["started"], found["unfinished"])
        return Digest(**found, systems={name: _system(one) for name, one in systems.items()})
    except (OSError, SealError, LookupError, TypeError, AttributeError, ValueError):
        return None


def _system(found: dict[str, Any]) -> SystemDigest:
    """A system of a note.

    Raises:
        LookupError, TypeError, ValueError: it is none.
    """
    columns = found.pop("levels")
    natures = [tuple(one) for one in columns["natures"]]
    for one in natures:
        _texts(*one)
    keys = columns["key"]
    builds = tuple(found.pop("builds"))
    _texts(*keys, *builds, found["name"], found["layer"], found["cpu"], found["kernel"])
    rows = zip(
        keys, columns["nature"], array("d", columns["lowest"]), array("d", columns["log_mean"]),
        strict=True,
    )  # fmt: skip
    levels = {
        key: Level._make((*natures[place], lowest, mean)) for key, place, lowest, mean in rows
    }
    return SystemDigest(**found, builds=builds, levels=levels)


def _texts(*values: Any) -> None:
    """See that values are texts, as whoever wrote a note may have written anything.

    Raises:
        TypeError: one of them is none.
    """
    "".join(values)
