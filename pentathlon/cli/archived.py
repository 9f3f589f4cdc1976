"""Archives where a command takes a result: which argument is one, its results as directories."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pentathlon.cli.commands.existing import is_url

HEAD = "archive.json"


def is_archive(path: Path) -> bool:
    """Whether an argument names an archive, which no result can be: it has no plan."""
    return is_url(path) or (path / HEAD).is_file()


def text_of(path: Path) -> str:
    """The archive's name as it was given: `Path` takes one slash from a URL."""
    return path.as_posix().replace(":/", "://", 1) if is_url(path) else str(path)


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
