"""Result directories: where they lie, what is in them, which of them can go on.

A directory holds `plan.json`, `catalog.json` and `study.toml` (written once, before anything is
measured), the journal, and what is derived from these. It names no other file by an absolute path,
so it can be copied and still be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pentathlon.procedure.records import RunStart
from pentathlon.store.journal import JOURNAL, LOCK, JournalWriter, StoreError, is_locked
from pentathlon.study.catalog import Catalog
from pentathlon.study.load import LoadedStudy
from pentathlon.study.plan import Plan, canonical_json

RESULTS = Path("results")
PLAN = "plan.json"
CATALOG = "catalog.json"
STUDY = "study.toml"


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
    unfinished = all(name in ours or name.endswith(".part") for name in found)
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
    try:
        _write(directory / CATALOG, canonical_json(catalog.model_dump(mode="json")) + "\n")
        _write(directory / STUDY, loaded.text)
        journal = JournalWriter(directory)
        journal.append(first)
        journal.close()
        _write(directory / PLAN, plan.canonical() + "\n")
    except OSError as error:
        raise StoreError(f"{directory} cannot be written: {error.strerror}") from error


def read_plan(directory: Path) -> Plan:
    """The plan of a result directory.

    Raises:
        StoreError: there is none, or it is damaged.
    """
    try:
        return Plan.from_json((directory / PLAN).read_text(encoding="utf-8"))
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise StoreError(f"{directory} is no result directory: {PLAN}: {reason}") from error
    except ValueError as error:
        raise StoreError(f"{directory / PLAN} cannot be read: {error}") from error


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


def _write(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    draft = path.with_name(path.name + ".part")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
