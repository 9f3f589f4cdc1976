"""What is wrong with a result directory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class StoreError(Exception):
    """A result directory that cannot be used; the text is one sentence."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say of what the file system refuses that this file or directory cannot be written.

    Raises:
        StoreError: it was refused.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error
