"""The log of an archive: which files are in it.

Every change is one file in `commits/`, written last and whole: what it names is there, and what no
commit names does not exist for readers. Nobody changes a commit, so that any number of writers need
no lock. Where two add the same result at once, the first commit's rows count (`Contents.twice`).
A compaction replaces commits by one with fewer, larger files; of two that replace the same commit
the first counts. What a compaction replaced stays until the next one, for who reads it still.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pentathlon.archive.format import FORMAT, KINDS
from pentathlon.archive.stores import Folder, Place, open_place
from pentathlon.safeio.checksum import SealError, sealed, unsealed
from pentathlon.store.files import DRAFT
from pentathlon.store.problems import StoreError

HEAD: Final = "archive.json"
COMMITS: Final = "commits"
PROGRAM: Final = "pentathlon archive"
TRIES: Final = 3


@dataclass(frozen=True)
class File:
    """One file of Parquet."""

    kind: str
    study: str
    month: str
    name: str
    size: int
    rows: int


@dataclass(frozen=True)
class Commit:
    """One change."""

    name: str
    files: tuple[File, ...]
    results: dict[str, str]
    """Id of each result that it holds -> batch that brought it."""
    replaces: tuple[str, ...] = ()


@dataclass(frozen=True)
class Contents:
    """What is in an archive now."""

    commits: tuple[Commit, ...]
    replaced: tuple[Commit, ...] = ()
    """Commits that no longer count."""
    files: dict[str, list[File]] = field(default_factory=dict)
    """Kind -> files."""
    results: dict[str, str] = field(default_factory=dict)
    """Id -> batch whose rows count."""
    twice: tuple[tuple[str, str], ...] = ()
    """(id, batch) of rows that do not count: another batch brought the same result before."""


class Archive:
    """An archive that is open.

    Raises:
        StoreError: there is none, it is of a newer format, or damaged.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        try:
            document, has_seal = unsealed(place.read(HEAD))
        except FileNotFoundError:
            raise StoreError(
                f"{place.text} is no archive: it has no {HEAD}; make one with: "
                f"pentathlon archive add --archive {place.text} RESULT"
            ) from None
        except (OSError, SealError) as error:
            raise StoreError(f"{place.text}: {HEAD} cannot be read: {error}") from error
        if document.get("program") != PROGRAM or not has_seal:
            raise StoreError(f"{place.text} is no archive: {HEAD} is of another program")
        _known(place.text, HEAD, document)

    def contents(self) -> Contents:
        """Read the log.

        Raises:
            StoreError: a commit is damaged or newer, or a file that it names is not there.
        """
        for _ in range(TRIES - 1):
            with suppress(FileNotFoundError):  # A compaction ended while the log was read.
                return self._contents()
        return self._contents()

    def _contents(self) -> Contents:
        names = (name for name in self.place.sizes(COMMITS) if name.endswith(".json"))
        every = [self._commit(name) for name in sorted(names)]
        gone: set[str] = set()
        replaced_by: dict[str, str] = {}
        used: list[Commit] = []
        for one in every:
            # Of two compactions at once the later one had not seen the earlier one, which it does
            # not name; one that has seen it names both what that one replaced and it.
            seen = all(replaced_by.get(name, name) in one.replaces for name in one.replaces)
            if seen:
                gone.update(one.replaces)
                replaced_by.update(dict.fromkeys(one.replaces, one.name))
                used.append(one)
            else:
                gone.add(one.name)
        live = [one for one in used if one.name not in gone]
        files: dict[str, list[File]] = {kind: [] for kind in KINDS}
        results: dict[str, str] = {}
        twice = []
        for one in live:
            for file in one.files:
                files[file.kind].append(file)
            for result, batch in one.results.items():
                if results.setdefault(result, batch) != batch:
                    twice.append((result, batch))
        self._whole(files)
        replaced = tuple(one for one in every if one.name in gone)
        return Contents(tuple(live), replaced, files, results, tuple(twice))

    def commit(self, files: Sequence[File], results: dict[str, str],
               replaces: Sequence[str] = ()) -> str:  # fmt: skip
        """Make files a part of the archive; returns the name of the commit."""
        name = f"{COMMITS}/{stamp()}.json"
        document = {
            "format": FORMAT,
            "files": [list(vars(one).values()) for one in files],
            "results": results,
            "replaces": list(replaces),
        }
        self.place.write(name, sealed(document))
        return name

    def _commit(self, name: str) -> Commit:
        where = f"{self.place.text}/{name}"
        try:
            document, has_seal = unsealed(self.place.read(name))
            if not has_seal:
                raise SealError("it has no checksum")
            _known(self.place.text, name, document)
            return Commit(
                name,
                tuple(File(*one) for one in document["files"]),
                dict(document["results"]),
                tuple(document["replaces"]),
            )
        except FileNotFoundError:
            raise
        except (OSError, SealError, LookupError, TypeError, ValueError) as error:
            raise StoreError(
                f"{where} cannot be read: {error}; put it back from a copy of the archive"
            ) from error

    def _whole(self, files: dict[str, list[File]]) -> None:
        """See that every file is there in its full length."""
        wanted = [file for one in files.values() for file in one]
        found: dict[str, int] = {}
        for folder in {file.name.rpartition("/")[0] for file in wanted}:
            found |= self.place.sizes(folder)
        for file in wanted:
            size = found.get(file.name)
            if size != file.size:
                what = (
                    "is not there" if size is None else f"has {size} bytes instead of {file.size}"
                )
                raise StoreError(
                    f"{self.place.text} is not whole: {file.name} {what}; copy the archive again, "
                    f"{COMMITS} first"
                )


def open_archive(text: str) -> Archive:
    """Open an archive that there is."""
    return Archive(open_place(text))


def make_archive(text: str) -> Archive:
    """Open an archive, or make an empty one where nothing lies.

    Raises:
        StoreError: something else lies there.
    """
    place = open_place(text)
    if place.size(HEAD) is None:
        if isinstance(place, Folder) and not _free(place.path):
            raise StoreError(
                f"{text} is no archive and not empty; name another directory with --archive"
            )
        head: dict[str, Any] = {"program": PROGRAM, "format": FORMAT}
        place.write(HEAD, sealed(head))
    return Archive(place)


def _free(path: Path) -> bool:
    """Whether an archive can be made there; a second writer may be making it already."""
    if not path.exists():
        return True
    ours = {HEAD, COMMITS, "originals", "lock", *KINDS}
    return path.is_dir() and all(
        one.name in ours or one.name.endswith(DRAFT) for one in path.iterdir()
    )


def stamp() -> str:
    """A name that no other writer makes; names sort by time."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}"


def _known(where: str, name: str, document: dict[str, Any]) -> None:
    stated = document.get("format")
    if type(stated) is not int or stated < 1:
        raise StoreError(f"{where}: {name} states no format")
    if stated > FORMAT:
        raise StoreError(
            f"{where}: {name} has format {stated}, and this version reads up to {FORMAT}; "
            "use the version that wrote it, or a newer one"
        )
