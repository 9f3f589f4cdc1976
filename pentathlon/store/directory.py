"""Result directories: where they lie, what is in them, which of them can go on.

A directory holds `plan.json`, `catalog.json` and `study.toml` (written once, before anything is
measured), the journal, and what is derived from these. It names no other file by an absolute path,
so it can be copied and still be read.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from pentathlon.procedure.records import RunStart
from pentathlon.store import older
from pentathlon.store.files import DRAFT, read_bytes, write_whole
from pentathlon.store.journal import (
    JOURNAL,
    LOCK,
    JournalWriter,
    StoreError,
    is_locked,
    read_journal,
)
from pentathlon.store.names import CATALOG as CATALOG  # noqa: PLC0414  for who reads a directory
from pentathlon.store.names import PLAN as PLAN  # noqa: PLC0414
from pentathlon.store.names import STUDY as STUDY  # noqa: PLC0414
from pentathlon.store.problems import writing
from pentathlon.study.catalog import Catalog, CatalogError, parse_catalog
from pentathlon.study.load import LoadedStudy
from pentathlon.study.plan import Plan, canonical_json

RESULTS = Path("results")
KEPT = 4
"""Plans and catalogs that are kept: the results of many nights have the same ones."""


def make_directory(out: Path | None, name: str) -> Path:
    """Make the directory of a new result.

    Args:
        out: the directory (`--out`); None for a new one in `./results`.
        name: name of the study.

    Raises:
        StoreError: it exists and is not empty, or cannot be made.
    """
    directory = out if out is not None else _fresh(name)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _remove_stillborn(directory)
        if any(directory.iterdir()):
            raise StoreError(
                f"{directory} is not empty; name a new directory, "
                f"or continue the run in it with --resume {directory}"
            )
    except OSError as error:
        raise StoreError(f"{directory} cannot be made: {error.strerror}") from error
    return directory


def _remove_stillborn(directory: Path) -> None:
    """Remove what a run left that was killed while it made the directory: nothing was measured."""
    found = {path.name: path for path in directory.iterdir()}
    ours = {CATALOG, STUDY, JOURNAL, LOCK}
    unfinished = all(name in ours or name.endswith(DRAFT) for name in found)
    if found and unfinished and not is_locked(directory):
        for path in found.values():
            path.unlink()


def fill_directory(
    directory: Path, loaded: LoadedStudy, plan: Plan, catalog: Catalog, first: RunStart
) -> None:
    """Write what is written once. `plan.json` comes last: a directory that has it has everything.

    Raises:
        StoreError: the file system refuses.
    """
    with writing(directory):
        text = canonical_json(catalog.model_dump(mode="json"))
        write_whole(directory / CATALOG, text + "\n", sync=True)
        write_whole(directory / STUDY, loaded.text, sync=True)
        journal = JournalWriter(directory)
        journal.append(dataclasses.replace(first, catalog_sha256=_sha256(text.encode())))
        journal.close()
        write_whole(directory / PLAN, plan.canonical() + "\n", sync=True)


def read_plan(directory: Path) -> Plan:
    """The plan of a result directory, which is the one that the journal was begun with.

    Raises:
        StoreError: there is none, it is damaged or was changed, or the journal has no start.
    """
    return read_plan_and_start(directory)[0]


def read_plan_and_start(directory: Path) -> tuple[Plan, RunStart]:
    """The same, and the record that began the run.

    Raises:
        StoreError: there is none, it is damaged or was changed, or the journal has no start.
    """
    path = directory / PLAN
    try:
        data = read_bytes(path)
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise StoreError(f"{directory} is no result directory: {PLAN}: {reason}") from error
    start = read_start(directory)
    if _sha256(data.removesuffix(b"\n")) != start.plan_hash:
        raise StoreError(
            f"{path} is not the plan that {JOURNAL} was begun with: it was changed or is damaged. "
            "Put the original back; to judge by other rules than the planned ones, use options: "
            "compare --delta, --confidence, --declared, --weights"
        )
    try:
        return _plan(data), start
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error


def read_start(directory: Path) -> RunStart:
    """The record that began the run.

    Raises:
        StoreError: the journal is none, or does not begin so.
    """
    first = next(read_journal(directory), None)
    if isinstance(first, RunStart):
        return first
    raise StoreError(f"{directory / JOURNAL}:1: this is not the start of a run, which comes first")


def read_catalog(directory: Path, start: RunStart) -> Catalog:
    """The catalog of a result directory, which is the one that its run was begun with.

    Args:
        start: the record that began the run.

    Raises:
        StoreError: there is none, or it is damaged or was changed.
    """
    path, wanted = directory / CATALOG, start.catalog_sha256
    try:
        data = read_bytes(path)
        if wanted is not None and _sha256(data.removesuffix(b"\n")) != wanted:
            raise StoreError(
                f"{path} is not the catalog that {JOURNAL} was begun with: it was changed or is "
                "damaged; put the original back"
            )
        return _catalog(data)
    except (OSError, ValueError, TypeError, LookupError, RecursionError, CatalogError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error


@lru_cache(maxsize=KEPT)
def _plan(data: bytes) -> Plan:
    return Plan.from_json(data.decode())


@lru_cache(maxsize=KEPT)
def _catalog(data: bytes) -> Catalog:
    return parse_catalog(older.catalog(json.loads(data)))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def result_directories(root: Path = RESULTS) -> Iterator[Path]:
    """The result directories in a directory, newest first."""
    if not root.is_dir():
        return
    found = [path for path in root.iterdir() if (path / PLAN).is_file()]
    yield from sorted(found, key=_started, reverse=True)


def _started(directory: Path) -> tuple[float, str]:
    # A copy gets new times, but a copied journal keeps the order of whole directories.
    return (directory / PLAN).stat().st_mtime, directory.name


def _fresh(name: str) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    for number in range(1, 1000):
        directory = RESULTS / (f"{name}-{stamp}" if number == 1 else f"{name}-{stamp}-{number}")
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise StoreError(f"{directory} cannot be made: {error.strerror}") from error
        return directory
    raise StoreError(f"{RESULTS} has a thousand results of this second; use --out")
