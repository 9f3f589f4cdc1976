"""Compaction: many small files of a study's month become few, and their commits one.

Everything is written beside what there is, and one commit replaces the others: a disk that fills
leaves the archive as it was. Files that an earlier compaction replaced are deleted.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import polars as pl

from pentathlon.archive.batch import discard, write_file
from pentathlon.archive.log import Archive, Contents, File, stamp
from pentathlon.archive.schema import KINDS
from pentathlon.store.problems import StoreError

MANY_COMMITS = 64
"""So many commits are compacted unasked, at the end of an addition."""
MOST_ROWS = {"samples": 1_000_000}
MOST_ROWS_ELSE = 4_000_000
LEAST_UNASKED = {"samples": 8}
"""Fewer files of a month stay as they are where nobody asked for a compaction: samples are the most
of an archive, and few questions read them."""


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
        if len(contents.commits) < 2 and not contents.replaced:
            return before, before
        made: list[File] = []
        kept: list[File] = []
        name = stamp()
        asked = False
        try:
            for kind in KINDS:
                least = LEAST_UNASKED.get(kind, 2) if unasked else 2
                for number, group in enumerate(_groups(contents.files[kind], kind)):
                    if len(group) < least and not contents.twice:
                        kept += group
                        continue
                    place = (group[0].study, group[0].month)
                    table = _merged(archive, group, contents)
                    made.append(
                        write_file(archive, kind, place, f"{name}-{number}", table, merged=True)
                    )
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
    tables = [pl.DataFrame(schema=KINDS[group[0].kind])]
    for file in group:
        data = archive.place.read(file.name)
        try:
            tables.append(pl.read_parquet(io.BytesIO(data)))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise StoreError(
                f"{archive.place.text}/{file.name} cannot be read: {error}; "
                "put it back from a copy of the archive"
            ) from error
    table = pl.concat(tables, how="diagonal").select(list(KINDS[group[0].kind]))
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
