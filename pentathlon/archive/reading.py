"""Results of an archive: listed, chosen by a filter, and taken out as they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pentathlon.archive import queries
from pentathlon.archive.engines import Engine, engine
from pentathlon.archive.log import Archive
from pentathlon.archive.original import unpack
from pentathlon.archive.where import to_sql
from pentathlon.store.problems import StoreError

SHOWN = 12
"""Digits of an id that are shown; any beginning that is unique names a result."""
FEWEST_DIGITS = 4
MOST_NAMED = 3


@dataclass(frozen=True)
class Held:
    """One result in an archive."""

    result: str
    study: str
    started: str
    machine: str
    systems: tuple[str, ...]
    name: str
    failures: int
    row: Mapping[str, Any]
    """The row of the index."""

    @property
    def label(self) -> str:
        """Names it on screens."""
        return f"{self.name} ({self.result[:SHOWN]})"


def chosen(run: Engine, where: str | None) -> list[Held]:
    """The results that a filter chooses, in the order of time."""
    return [
        Held(
            result=row["result"],
            study=row["study"],
            started=row["started"],
            machine=row["machine"],
            systems=tuple(row["systems"].split(",")),
            name=row["name"],
            failures=int(row["failures"]),
            row=row,
        )
        for row in run.rows(queries.listed(to_sql(where)))
    ]


@dataclass(frozen=True)
class Overview:
    """What the results that a filter chooses have in common, without each of them.

    Attributes:
        last: the row of the index of the newest one.
    """

    last: Mapping[str, Any]
    studies: tuple[str, ...]
    machines: tuple[str, ...]


def overview(archive: Archive, where: str | None, run: Engine) -> Overview:
    """Over at least one result.

    Raises:
        StoreError: there is none.
    """
    condition = to_sql(where)
    last = run.rows(queries.newest(condition))
    if not last:
        raise _none(archive, where)
    pairs = run.rows(queries.origins(condition))
    studies, machines = (
        tuple(sorted({row[name] for row in pairs})) for name in ("study", "machine")
    )
    return Overview(last[0], studies, machines)


def some(archive: Archive, where: str | None, run: Engine | None = None) -> list[Held]:
    """The same; at least one.

    Raises:
        StoreError: there is none.
    """
    found = chosen(run or engine(archive), where)
    if not found:
        raise _none(archive, where)
    return found


def _none(archive: Archive, where: str | None) -> StoreError:
    what = f"that --where {where!r} chooses" if where else "yet"
    return StoreError(f"{archive.place.text} has no result {what}")


def by_id(archive: Archive, text: str) -> Held:
    """The result whose id begins so, or whose directory had that name.

    Raises:
        StoreError: there is none, or several could be meant.
    """
    every = chosen(engine(archive), None)
    found = [one for one in every if one.name == text] or [
        one for one in every if len(text) >= FEWEST_DIGITS and one.result.startswith(text.lower())
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        if len(text) < FEWEST_DIGITS:
            raise StoreError(
                f'"{text}" is no name of a result, and too short for the beginning of an id; give '
                f"{FEWEST_DIGITS} digits or more"
            )
        raise StoreError(
            f'{archive.place.text} has no result "{text}"; list them with: pentathlon archive list'
        )
    raise StoreError(f'"{text}" may mean {_names(found)}; give more digits of the id')


def take(archive: Archive, one: Held, out: Path) -> None:
    """Make a result's directory again, with every file as it was.

    Raises:
        StoreError: it is damaged, or the directory exists.
        OSError: it cannot be written.
    """
    name = one.row["original"]
    what = f"{archive.place.text}/{name}"
    try:
        data = archive.place.read(name)
    except FileNotFoundError as error:
        raise StoreError(
            f"{archive.place.text} is not whole: {name} is not there; copy the archive again"
        ) from error
    unpack(data, one.row["original_sha256"], out, what)


def _names(found: Sequence[Held]) -> str:
    text = ", ".join(one.label for one in found[:MOST_NAMED])
    more = len(found) - MOST_NAMED
    return f"{text} and {more} more" if more > 0 else text


def one_of(archive: Archive, where: str | None, most: int) -> list[Held]:
    """At most so many results that a filter chooses.

    Raises:
        StoreError: it chooses more, or none.
    """
    found = some(archive, where)
    if len(found) > most:
        wanted = "one" if most == 1 else f"{most} at most"
        have = f"{archive.place.text} has" if where is None else "--where chooses"
        of = "" if where is None else f" of {archive.place.text}"
        raise StoreError(
            f"{have} {len(found)} results{of} ({_names(found)}), and {wanted} can be judged so; "
            "choose with --where 'result like \"DIGITS%\"' or --where 'started > \"TIME\"'"
        )
    return found
