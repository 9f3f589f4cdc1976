"""Adding: results become one batch of files and one commit."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import polars as pl

from pentathlon.archive.log import COMMITS, Archive, Contents, File, stamp
from pentathlon.archive.rows import Rows, read, tables
from pentathlon.archive.schema import KINDS, SORTED
from pentathlon.archive.source import look
from pentathlon.archive.stores import Folder
from pentathlon.store.problems import StoreError

MOST_SAMPLES = 1_000_000
"""Samples that a batch gathers before its files are written."""
ROW_GROUP = 1 << 16


@dataclass
class Added:
    """What became of results that were to be added."""

    new: list[tuple[Path, str]] = field(default_factory=list)
    known: list[tuple[Path, str]] = field(default_factory=list)
    """Those that the archive has already."""
    left_out: list[tuple[Path, str]] = field(default_factory=list)
    """(path, reason)"""
    remarks: list[str] = field(default_factory=list)
    """What went wrong beside it, one sentence each."""

    def take(self, other: Added) -> None:
        """What another one did, too."""
        self.new += other.new
        self.known += other.known
        self.left_out += other.left_out
        self.remarks += other.remarks


def add(
    archive: Archive, paths: Sequence[Path], machine: str, *, strict: bool, branch: str = ""
) -> Added:
    """Add results; each is in the archive whole or not at all.

    Args:
        strict: end at the first result that cannot be added; those before it are added.

    Raises:
        StoreError: one cannot be added, with `strict`, or the archive cannot be written; what was
            committed stays.
    """
    contents = archive.contents()
    known = set(contents.results)
    seen = {one.name for one in (*contents.commits, *contents.replaced)}
    done = Added()
    batch = _Batch(archive)
    brought: dict[str, str] = {}
    try:
        for path in paths:
            try:
                source = look(path)
                found = source.identity
                if found in known:
                    done.known.append((path, found))
                    continue
                rows = read(source, machine, batch.name, branch)
            except FileNotFoundError as error:
                reason = (
                    f"{path} is no result directory, or was not copied in full: "
                    f"{Path(str(error.filename or path)).name} is not there"
                )
            except OSError as error:
                reason = f"{path} cannot be read: {error.strerror or error}"
            except StoreError as error:
                reason = str(error)
            else:
                known.add(found)
                batch.take(rows)
                done.new.append((path, found))
                brought[found] = batch.name
                if batch.samples >= MOST_SAMPLES:
                    full, batch = batch, _Batch(archive)
                    seen.add(full.commit())
                continue
            if strict:
                raise StoreError(reason)
            done.left_out.append((path, reason))
    finally:
        seen.add(batch.commit())
    if set(archive.place.sizes(COMMITS)) - seen:
        _leave_twice(done, brought, archive.contents())
    return done


def _leave_twice(done: Added, brought: dict[str, str], contents: Contents) -> None:
    """Count as known what another writer added at the same time, and whose rows count."""
    other = {one for one, batch in brought.items() if contents.results.get(one, batch) != batch}
    done.known += [one for one in done.new if one[1] in other]
    done.new = [one for one in done.new if one[1] not in other]


class _Batch:
    """Results that one commit brings."""

    def __init__(self, archive: Archive) -> None:
        self.name = stamp()
        self.samples = 0
        self._archive = archive
        self._waiting: list[Rows] = []
        self._written: list[str] = []

    def take(self, rows: Rows) -> None:
        """Write the original of a result, whose rows wait for the commit."""
        with self._errors():
            self._archive.place.write(rows.original_name, rows.original)
        self._written.append(rows.original_name)
        self._waiting.append(rows)
        self.samples += rows.samples.height

    def commit(self) -> str:
        """Write what waits; where that fails nothing is left of it. Returns the name of the commit,
        or "" where nothing waits."""
        asked = False
        name = ""
        try:
            with self._errors():
                files = self._write()
                asked = True
                if files:
                    results = {one.result: self.name for one in self._waiting}
                    name = self._archive.commit(files, results)
        except BaseException:
            discard(self._archive, self._written, asked=asked)
            raise
        return name

    def _write(self) -> list[File]:
        files = []
        for study, month in dict.fromkeys((one.study, one.month) for one in self._waiting):
            own = [one for one in self._waiting if (one.study, one.month) == (study, month)]
            found = tables(own)
            for kind in KINDS:
                file = write_file(self._archive, kind, (study, month), self.name, found[kind])
                self._written.append(file.name)
                files.append(file)
        return files

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            place = self._archive.place.text
            raise StoreError(
                f"{place} cannot be written: {error.strerror or error}; what was added before is "
                f"in it, and nothing else: pentathlon archive list --archive {place}"
            ) from error


def discard(archive: Archive, names: Sequence[str], *, asked: bool) -> None:
    """Delete files that no commit names.

    Args:
        asked: a commit that names them was sent and not acknowledged. A store may have it
            nevertheless, or write it later, and then has to keep them.
    """
    if asked and not isinstance(archive.place, Folder):
        return
    for name in names:
        with suppress(OSError):
            archive.place.delete(name)


def write_file(
    archive: Archive,
    kind: str,
    place: tuple[str, str],
    batch: str,
    table: pl.DataFrame,
    *,
    merged: bool = False,
) -> File:
    """Write a table as a file of a study's month.

    Args:
        merged: by a compaction, which sorts samples too: few questions read them, and it would
            take a third of the time of an addition.
    """
    study, month = place
    name = f"{kind}/study={quote(study, safe='')}/month={month}/{batch}.parquet"
    file = io.BytesIO()
    ordered = kind != "samples" or merged
    if ordered:
        table = table.sort(SORTED[kind], maintain_order=True)
    # Statistics of what lies in no order spare no reader anything.
    table.write_parquet(
        file, compression="zstd", compression_level=1, row_group_size=ROW_GROUP, statistics=ordered
    )
    data = file.getvalue()
    archive.place.write(name, data)
    return File(kind, study, month, name, len(data), table.height)
