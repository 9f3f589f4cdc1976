"""Archives where a command takes a result: which argument is one, its results as directories."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pentathlon.cli.commands.existing import is_url
from pentathlon.cli.exits import InputError
from pentathlon.cli.screen import err
from pentathlon.safeio.escaping import one_line

if TYPE_CHECKING:
    from pentathlon.archive.log import Archive
    from pentathlon.archive.reading import Held

HEAD = "archive.json"
MOST_NAMED = 3


def is_archive(path: Path | None) -> bool:
    """Whether an argument names an archive, which no result can be: it has no plan."""
    return path is not None and (is_url(path) or (path / HEAD).is_file())


def text_of(path: Path) -> str:
    """The archive's name as it was given: `Path` takes one slash from a URL."""
    return path.as_posix().replace(":/", "://", 1) if is_url(path) else str(path)


def caution_machines(what: str, machines: Sequence[str]) -> None:
    """Report that results of several machines stand beside each other."""
    remedy = "choose one with --where 'machine = \"NAME\"'"
    why = f"may differ by more than what is looked for; {remedy}"
    _caution(machines, f"{what} of {len(machines)} machines", f"which {why}")


def caution_studies(studies: Sequence[str], remedy: str) -> None:
    """Report that results of several studies would be one line.

    Args:
        remedy: how to choose one.
    """
    why = f"whose procedures may differ by more than what is looked for; {remedy}"
    _caution(studies, f"the results are of {len(studies)} studies", why)


def _caution(names: Sequence[str], what: str, why: str) -> None:
    if len(names) > 1:
        shown = ", ".join(map(one_line, names[:MOST_NAMED]))
        shown += ", …" if len(names) > MOST_NAMED else ""
        err.print(f"! {what} ({shown}), {why}", soft_wrap=True)


def refuse_where(where: str | None) -> None:
    """Refuse a filter where no archive is named.

    Raises:
        InputError: there is one.
    """
    if where is not None:
        raise InputError("--where chooses from an archive; name one (pentathlon archive sync)")


@contextmanager
def some(path: Path | None, where: str | None, most: int) -> Iterator[list[Path | None]]:
    """A result as it is named, or at most so many of an archive, the older first, for a while.

    Raises:
        InputError: there is a filter and no archive.
        StoreError: the archive has none that it chooses, or more.
    """
    if path is None or not is_archive(path):
        refuse_where(where)
        yield [path]
        return
    from pentathlon.archive import reading  # noqa: PLC0415  loads polars
    from pentathlon.archive.log import open_archive  # noqa: PLC0415

    archive = open_archive(text_of(path))
    with directories(archive, reading.one_of(archive, where, most)) as found:
        yield [*found]


@contextmanager
def directories(archive: Archive, found: Sequence[Held]) -> Iterator[list[Path]]:
    """Results of an archive as directories for a while."""
    from pentathlon.archive import reading  # noqa: PLC0415  loads polars

    with tempfile.TemporaryDirectory(prefix="pentathlon-") as scratch:
        made = []
        for one in found:
            # The name of the directory that it came from stands in reports.
            out = Path(scratch) / one.result[:12] / Path(one.name).name
            reading.take(archive, one, out)
            made.append(out)
        yield made
