"""A result as an RO-Crate: its data, its plan, its report, and what made them."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from pentathlon.evaluate import Evaluation
from pentathlon.report.crate.metadata import METADATA, Entry, Published, document
from pentathlon.report.crate.problems import CrateError
from pentathlon.report.export import files as export
from pentathlon.store.directory import CATALOG, PLAN, STUDY
from pentathlon.store.files import open_regular, write_whole
from pentathlon.store.journal import JOURNAL
from pentathlon.store.provenance import provenance
from pentathlon.store.query import Result

DATA = (PLAN, CATALOG, STUDY, JOURNAL, "calibration.json", "calibration-made.json")
"""Files of a result that nothing can be derived from again."""
FOLDERS = ("packets", "captures")
FORMATS = ("html", "json", "csv", "methods")
"""What is made of the result beside its data."""
SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*|https?://\S+")


def publish(
    result: Result, evaluation: Evaluation, directory: Path, published: Published
) -> list[Path]:
    """Write a crate into a directory, which must be empty or missing; returns its files.

    Raises:
        CrateError: the run is going on, the directory has something in it, or a name is no license.
        OSError: a file cannot be read or written.
    """
    if result.summary().state == "running":
        raise CrateError(f"{result.path} is being written by a run; publish it when that has ended")
    if published.license and not SPDX.fullmatch(published.license):
        raise CrateError(
            f'"{published.license}" is no licence; use an SPDX identifier such as CC-BY-4.0, or an '
            "address"
        )
    directory.mkdir(parents=True, exist_ok=True)
    if any(directory.iterdir()):
        raise CrateError(f"{directory} is not empty; name a new directory with --out")
    for source in _data(result.path):
        target = directory / source.relative_to(result.path)
        target.parent.mkdir(exist_ok=True)
        with os.fdopen(open_regular(source, os.O_RDONLY), "rb") as old, target.open("xb") as new:
            shutil.copyfileobj(old, new)
    export.write(evaluation, result, directory, FORMATS)
    entries = [
        entry(directory, path)
        for path in sorted(one for one in directory.rglob("*") if one.is_file())
    ]
    write_whole(
        directory / METADATA, document(evaluation, provenance(result.path), entries, published)
    )
    return [directory / one.path for one in entries] + [directory / METADATA]


def entry(directory: Path, path: Path) -> Entry:
    """A file of a crate with its size and its SHA-256."""
    with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = os.fstat(file.fileno()).st_size
    return Entry(path.relative_to(directory).as_posix(), size, digest)


def _data(directory: Path) -> Iterator[Path]:
    for name in DATA:
        if (directory / name).is_file():
            yield directory / name
    for folder in FOLDERS:
        if (directory / folder).is_dir() and not (directory / folder).is_symlink():
            yield from sorted(one for one in (directory / folder).iterdir() if one.is_file())
