"""Take back what was begun, where what follows it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def on_error(undo: Callable[..., object], *arguments: object) -> Iterator[None]:
    """Call `undo` where the context ends by an error or is broken off; the error goes on.

    Args:
        arguments: of `undo`, as they are then: a list may be filled meanwhile.
    """
    try:
        yield
    except BaseException:
        undo(*arguments)
        raise
