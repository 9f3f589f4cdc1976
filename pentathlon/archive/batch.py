"""Adding: results become one batch of files and one commit."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from pentathlon.archive.format import BOOTS, INDEX, SYSTEMS, UNMERGED
from pentathlon.archive.log import COMMITS, Archive, Contents, File, stamp
from pentathlon.archive.partition import folder
from pentathlon.archive.rows import Rows, read, tables
from pentathlon.archive.schema import SORTED
from pentathlon.archive.source import look
from pentathlon.archive.stores import Folder
from pentathlon.store.problems import StoreError

MOST_SAMPLES = 1_000_000
"""Samples of the results that one commit brings."""
WRITERS = 4
MOST_UNWRITTEN = 2 * WRITERS
"""Results whose files wait for a disk or a store; their bytes are kept until then."""
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
    archive: Archive, paths: Iterable[Path], machine: str, *, strict: bool, branch: str = ""
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
            except (FileNotFoundError, NotADirectoryError) as error:
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


@dataclass(frozen=True)
class _Waiting:
    """A result whose files are written, or will be, and whose other rows wait for the commit."""

    rows: Rows
    samples: File
    written: Future[None]

    @property
    def names(self) -> list[str]:
        return [self.rows.original_name, self.samples.name]


class _Batch:
    """Results that one commit brings."""

    def __init__(self, archive: Archive) -> None:
        self.name = stamp()
        self.samples = 0
        self._archive = archive
        # A disk or a store takes files while the next results are read, and several at a time:
        # it waits as long for one as for all of them.
        self._writer = ThreadPoolExecutor(WRITERS)
        self._waiting: list[_Waiting] = []
        self._tables: list[str] = []

    def take(self, rows: Rows) -> None:
        """Have the original and the samples of a result written."""
        if len(self._waiting) >= MOST_UNWRITTEN:
            with self._errors():
                self._waiting[-MOST_UNWRITTEN].written.result()
        name, count = rows.samples_name, int(rows.index["samples"])
        samples = File(UNMERGED, rows.study, rows.month, name, len(rows.samples), count)
        files = {rows.original_name: rows.original, name: rows.samples}
        written = self._writer.submit(self._write_files, files)
        self._waiting.append(_Waiting(replace(rows, original=b"", samples=b""), samples, written))
        self.samples += count

    def _write_files(self, files: dict[str, bytes]) -> None:
        for name, data in files.items():
            self._archive.place.write(name, data)

    def commit(self) -> str:
        """Write what waits; where that fails nothing is left of it. Returns the name of the commit,
        or "" where nothing waits."""
        asked = False
        name = ""
        failed = self._settle()
        try:
            with self._errors():
                files = self._write()
                asked = True
                if files:
                    results = {one.rows.result: self.name for one in self._waiting}
                    name = self._archive.commit(files, results)
        except BaseException:
            names = [name for one in self._waiting for name in one.names]
            discard(self._archive, [*names, *self._tables], asked=asked)
            raise
        if failed is not None:
            with self._errors():
                raise failed
        return name

    def _settle(self) -> BaseException | None:
        """Wait for the files; leave out the first result that has none, and those after it."""
        self._writer.shutdown()
        for place, one in enumerate(self._waiting):
            if (error := one.written.exception()) is not None:
                names = [name for other in self._waiting[place:] for name in other.names]
                discard(self._archive, names, asked=False)
                del self._waiting[place:]
                return error
        return None

    def _write(self) -> list[File]:
        files = [one.samples for one in self._waiting]
        rows = [one.rows for one in self._waiting]
        for study, month in dict.fromkeys((one.study, one.month) for one in rows):
            own = [one for one in rows if (one.study, one.month) == (study, month)]
            found = tables(own)
            for kind in (INDEX, SYSTEMS, BOOTS):
                file = write_file(self._archive, kind, (study, month), self.name, found[kind])
                self._tables.append(file.name)
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
) -> File:
    """Write a table as a file of a study's month, in the order that questions want."""
    study, month = place
    name = f"{folder(kind, study, month)}/{batch}.parquet"
    file = io.BytesIO()
    table.sort(SORTED[kind], maintain_order=True).write_parquet(
        file, compression="zstd", compression_level=1, row_group_size=ROW_GROUP
    )
    data = file.getvalue()
    archive.place.write(name, data)
    return File(kind, study, month, name, len(data), table.height)
