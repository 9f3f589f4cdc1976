"""Where the work of a command is done: a module of `cli/` that is imported when it is called."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from pentathlon.cli.exits import domain_errors

P = ParamSpec("P")


def done_by(module: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Have a command done by the function of its name in a module of `cli/`.

    The function that is decorated states the arguments, and looks at what needs no import; then the
    work gets all of them by name (tests/cli/test_imports.py compares the two). Errors that a user
    can meet become a sentence and an exit status.
    """

    def decorated(look: Callable[P, None]) -> Callable[P, None]:
        @wraps(look)
        def command(*args: P.args, **kwargs: P.kwargs) -> None:
            look(*args, **kwargs)
            work = getattr(importlib.import_module(f"pentathlon.cli.{module}"), look.__name__)
            with domain_errors():
                work(*args, **kwargs)

        return command

    return decorated
