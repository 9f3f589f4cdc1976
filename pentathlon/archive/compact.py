"""Compaction: many small files of a study's month become few, and their commits one.

Everything is written beside what there is, and one commit replaces the others: a disk that fills
leaves the archive as it was. Files that an earlier compaction replaced are deleted.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import polars as pl

from pentathlon.archive import unmerged
from pentathlon.archive.batch import discard, write_file
from pentathlon.archive.format import KINDS, SAMPLES, UNMERGED
from pentathlon.archive.log import Archive, Contents, File, stamp
from pentathlon.archive.schema import KINDS as SCHEMAS
from pentathlon.store.problems import StoreError

MANY_COMMITS = 64
"""So many commits are compacted unasked, at the end of an addition."""
MOST_ROWS = {SAMPLES: 1_000_000, UNMERGED: 1_000_000}
MOST_ROWS_ELSE = 4_000_000
LEAST_UNASKED = {SAMPLES: 8, UNMERGED: 32}
"""Fewer files of a month stay as they are where nobody asked for a compaction: samples are the most
of an archive, and few questions read them."""
MOST_UNASKED = {UNMERGED: 1}
"""So many groups of files are merged then: an addition of thousands of results leaves the others to
the next additions, or to who asks for a compaction."""
MERGED = {UNMERGED: SAMPLES}
"""Kinds of files that become another kind."""


def compact(archive: Archive, *, unasked: bool = False) -> tuple[int, int]:
    """Merge what is small; returns the numbers of files before and after.

    Args:
        unasked: only what makes questions cheaper, at the end of an addition.

    Raises:
        StoreError: there is no room; nothing is lost.
    """
    with archive.place.lock():
        contents = archive.contents()
        before = sum(map(len, contents.files.values()))
        single = len(contents.commits) < 2 and not contents.files[UNMERGED]
        if single and not contents.replaced:
            return before, before
        made: list[File] = []
        kept: list[File] = []
        name = stamp()
        asked = False
        try:
            for kind in KINDS:
                chosen, others = _chosen(contents, kind, unasked=unasked)
                kept += others
                for group in chosen:
                    place = (group[0].study, group[0].month)
                    table = _merged(archive, group, contents)
                    into = MERGED.get(kind, kind)
                    made.append(write_file(archive, into, place, f"{name}-{len(made)}", table))
            # Commits that do not count are named too, and their files die with them.
            replaces = [one.name for one in (*contents.commits, *contents.replaced)]
            asked = True
            archive.commit([*kept, *made], dict(contents.results), replaces)
        except OSError as error:
            discard(archive, [file.name for file in made], asked=asked)
            raise StoreError(
                f"{archive.place.text} cannot be compacted: {error.strerror or error}; "
                "it is as it was before"
            ) from error
        _delete(archive, contents, {file.name for file in kept})
        return before, len(kept) + len(made)


def _chosen(contents: Contents, kind: str, *, unasked: bool) -> tuple[list[list[File]], list[File]]:
    """Groups of files to merge, and files that stay as they are."""
    # Each of these is of one result, so those that do not count are left out whole.
    twice = set(contents.twice)
    each = [one for one in contents.files[UNMERGED] if unmerged.origin(one.name) not in twice]
    files = each if kind == UNMERGED else contents.files[kind]
    if not unasked and kind == UNMERGED:
        return [], []  # They are merged with those that are merged already.
    if not unasked and kind == SAMPLES:
        files = [*files, *each]
    forced = bool(twice) and kind != UNMERGED
    least = 1 if forced else LEAST_UNASKED.get(kind, 2) if unasked else 2
    merged: list[list[File]] = []
    kept: list[File] = []
    for group in _groups(files, kind):
        wanted = len(group) >= least or (not unasked and group[0].kind == UNMERGED)
        if wanted and (not unasked or len(merged) < MOST_UNASKED.get(kind, len(merged) + 1)):
            merged.append(group)
        else:
            kept += group
    return merged, kept


def _groups(files: Sequence[File], kind: str) -> Iterator[list[File]]:
    """Files of one study and month that fit into one file together."""
    most = MOST_ROWS.get(kind, MOST_ROWS_ELSE)
    places: dict[tuple[str, str], list[File]] = {}
    for file in files:
        places.setdefault((file.study, file.month), []).append(file)
    for found in places.values():
        group: list[File] = []
        for file in sorted(found, key=lambda one: one.rows):
            if group and sum(one.rows for one in group) + file.rows > most:
                yield group
                group = []
            group.append(file)
        yield group


def _merged(archive: Archive, group: Sequence[File], contents: Contents) -> pl.DataFrame:
    """The rows of files that count."""
    # A column that an earlier format lacks is null in its rows.
    schema = SCHEMAS[MERGED.get(group[0].kind, group[0].kind)]
    tables = [pl.DataFrame(schema=schema)]
    for file in group:
        data = archive.place.read(file.name)
        try:
            if file.kind == UNMERGED:
                tables.append(unmerged.rows(file.name, data))
            else:
                tables.append(pl.read_parquet(io.BytesIO(data)))
        except (
            ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException,
        ) as error:  # fmt: skip
            raise StoreError(
                f"{archive.place.text}/{file.name} cannot be read: {error}; "
                "put it back from a copy of the archive"
            ) from error
    table = pl.concat(tables, how="diagonal").select(list(schema))
    if contents.twice:
        twice = pl.DataFrame(
            contents.twice, schema={"result": pl.String, "batch": pl.String}, orient="row"
        )
        table = table.join(twice, on=["result", "batch"], how="anti", maintain_order="left")
    return table


def _delete(archive: Archive, contents: Contents, kept: set[str]) -> None:
    """Delete what an earlier compaction replaced: its commits last, so that none of them could
    count again, and their files."""
    live = kept | {file.name for one in contents.commits for file in one.files}
    for one in contents.replaced:
        for file in one.files:
            if file.name not in live:
                archive.place.delete(file.name)
        archive.place.delete(one.name)
