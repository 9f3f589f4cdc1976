"""Archives where a command takes a result: which argument is one, its results as directories."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pentathlon.cli.commands.existing import is_url
from pentathlon.cli.exits import InputError
from pentathlon.cli.screen import err
from pentathlon.safeio.escaping import one_line

HEAD = "archive.json"
MOST_NAMED = 3


def is_archive(path: Path) -> bool:
    """Whether an argument names an archive, which no result can be: it has no plan."""
    return is_url(path) or (path / HEAD).is_file()


def text_of(path: Path) -> str:
    """The archive's name as it was given: `Path` takes one slash from a URL."""
    return path.as_posix().replace(":/", "://", 1) if is_url(path) else str(path)


def caution_machines(what: str, machines: Sequence[str]) -> None:
    """Report that results of several machines stand beside each other."""
    if len(machines) > 1:
        names = ", ".join(map(one_line, machines[:MOST_NAMED]))
        names += ", …" if len(machines) > MOST_NAMED else ""
        err.print(
            f"! {what} of {len(machines)} machines ({names}), which may differ by more than what "
            "is looked for; choose one with --where 'machine = \"NAME\"'",
            markup=False,
            soft_wrap=True,
        )  # fmt: skip


def caution_studies(studies: Sequence[str], remedy: str) -> None:
    """Report that results of several studies would be one line.

    Args:
        remedy: how to choose one.
    """
    if len(studies) > 1:
        names = ", ".join(map(one_line, studies[:MOST_NAMED]))
        names += ", …" if len(studies) > MOST_NAMED else ""
        err.print(
            f"! the results are of {len(studies)} studies ({names}), whose procedures may differ "
            f"by more than what is looked for; {remedy}",
            markup=False,
            soft_wrap=True,
        )  # fmt: skip


@contextmanager
def one(path: Path | None, where: str | None) -> Iterator[Path | None]:
    """A result as it is named, or the one of an archive that a filter chooses, for a while.

    Raises:
        InputError: there is a filter and no archive.
        StoreError: it chooses none, or several.
    """
    if path is None or not is_archive(path):
        if where is not None:
            raise InputError("--where chooses from an archive; name one (pentathlon archive sync)")
        yield path
        return
    with taken(path, where, 1) as found:
        yield found[0]


@contextmanager
def taken(path: Path, where: str | None, most: int) -> Iterator[list[Path]]:
    """At most so many results of an archive, in the order of time, as directories for a while.

    Raises:
        StoreError: there is none, or there are more.
    """
    from pentathlon.archive import reading  # noqa: PLC0415  loads polars
    from pentathlon.archive.log import open_archive  # noqa: PLC0415

    archive = open_archive(text_of(path))
    found = reading.one_of(archive, where, most)
    with tempfile.TemporaryDirectory(prefix="pentathlon-") as scratch:
        directories = []
        for one in found:
            # The name of the directory that it came from stands in reports.
            out = Path(scratch) / one.result[:12] / Path(one.name).name
            reading.take(archive, one, out)
            directories.append(out)
        yield directories
