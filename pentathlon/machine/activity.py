"""What is being done that may take minutes, in words, for whatever reports progress.

The code that waits for a machine knows what it waits for, and nothing of screens; a screen reads
here what that is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Activity:
    """Something that is being done.

    Attributes:
        words: a clause, such as "bench1 restarts into its default entry".
        since: when it began, by time.monotonic().
    """

    words: str
    since: float = field(default_factory=time.monotonic)


_open: list[Activity] = []


@contextmanager
def activity(words: str) -> Iterator[None]:
    """While its context is open, this is being done."""
    one = Activity(words)
    _open.append(one)
    try:
        yield
    finally:
        _open.remove(one)


def current() -> Activity | None:
    """The innermost one; also from another thread than the one that does it."""
    try:
        return _open[-1]
    except IndexError:
        return None
