"""Adding: results become one batch of files and one commit."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import polars as pl

from pentathlon.archive.log import Archive, File, stamp
from pentathlon.archive.rows import Rows, read, tables
from pentathlon.archive.schema import KINDS, SORTED
from pentathlon.archive.source import look
from pentathlon.store.journal import StoreError

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

    def take(self, other: Added) -> None:
        """What another one did, too."""
        self.new += other.new
        self.known += other.known
        self.left_out += other.left_out


def add(archive: Archive, paths: Sequence[Path], machine: str, *, strict: bool) -> Added:
    """Add results; each is in the archive whole or not at all.

    Args:
        strict: end at the first result that cannot be added; those before it are added.

    Raises:
        StoreError: one cannot be added, with `strict`.
        OSError: the archive cannot be written; what was committed stays.
    """
    known = set(archive.contents().results)
    done = Added()
    waiting: list[Rows] = []
    batch = stamp()
    try:
        for path in paths:
            try:
                source = look(path)
                found = source.identity
                if found in known:
                    done.known.append((path, found))
                    continue
                rows = read(source, machine, batch)
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
                waiting.append(rows)
                archive.place.write(rows.original_name, rows.original)
                done.new.append((path, found))
                if sum(one.samples.height for one in waiting) >= MOST_SAMPLES:
                    _commit(archive, batch, waiting)
                    waiting, batch = [], stamp()
                continue
            if strict:
                raise StoreError(reason)
            done.left_out.append((path, reason))
    finally:
        if waiting:
            _commit(archive, batch, waiting)
    return done


def _commit(archive: Archive, batch: str, waiting: Sequence[Rows]) -> None:
    files = []
    places = dict.fromkeys((one.study, one.month) for one in waiting)
    for study, month in places:
        own = [one for one in waiting if (one.study, one.month) == (study, month)]
        found = tables(own)
        files += [write_file(archive, kind, (study, month), batch, found[kind]) for kind in KINDS]
    archive.commit(files, {one.result: batch for one in waiting})


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
