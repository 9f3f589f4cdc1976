"""Exit codes, and how an error becomes one sentence instead of a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from types import FrameType
from typing import Self

import typer
from rich.text import Text

from pentathlon.cli import start
from pentathlon.cli.screen import err, silence
from pentathlon.literature.problems import PublishedError
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.protocol.agent import AgentError
from pentathlon.store.problems import StoreError
from pentathlon.study.problems import CatalogError, StudyError

TRACEBACK = "PENTATHLON_TRACEBACK"


class Exit(IntEnum):
    """Exit codes of every command (docs/cli.md)."""

    OK = 0
    FAILURES = 1
    """The run finished, but something in it failed."""
    BAD_INPUT = 2
    """A study file, an argument or a result that cannot be used."""
    UNAVAILABLE = 3
    """A target or the agent does not work on this machine."""
    REGRESSION = 4
    """`gate`: something is shown to be slower."""
    INCONCLUSIVE = 5
    """`gate`: something is not known well enough."""
    IDENTICAL = 6
    """Two systems that differ according to the study were the same one: nothing was compared."""
    UNFINISHED = 7
    """`gate`: a run that it judges has not ended; whatever it shows may still change."""
    INTERNAL = 70
    """A mistake of this program (EX_SOFTWARE of sysexits.h)."""
    INTERRUPTED = 130
    """Ctrl-C or SIGTERM; what was measured is kept."""


class InputError(Exception):
    """Something that the user gave is wrong; the text is one sentence."""


class SameSystems(Exception):
    """Systems that are to differ turned out to be one before anything was measured."""


class Interrupted(BaseException):
    """The user or the system asked the run to stop. Like KeyboardInterrupt, no Exception."""


@contextmanager
def domain_errors() -> Iterator[None]:
    """Turn the errors that a user can meet into one sentence on stderr and an exit code."""
    try:
        start.begin()
        yield
    except (StudyError, StoreError, InputError, PublishedError) as error:
        raise stop(str(error), Exit.BAD_INPUT) from error
    except SameSystems as error:
        raise stop(str(error), Exit.IDENTICAL) from error
    except TargetUnavailable as error:
        hint = f"\nTo make it work: {error.remedy}" if error.remedy else ""
        raise stop(f"{error.reason}{hint}", Exit.UNAVAILABLE) from error
    except (TargetError, AgentError, CatalogError) as error:
        raise stop(str(error), Exit.UNAVAILABLE) from error
    except (Interrupted, KeyboardInterrupt) as error:
        raise stop(str(error) or "interrupted", Exit.INTERRUPTED) from error
    except BrokenPipeError as error:
        # Whoever reads has seen enough; what is still buffered must not be an error at the exit.
        silence(sys.stdout)
        raise typer.Exit(Exit.OK) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise stop(f"{where}{(error.strerror or str(error)).lower()}", Exit.BAD_INPUT) from error
    except typer.Exit:
        raise
    except typer.Abort as error:
        raise stop("nothing was done", Exit.INTERRUPTED) from error
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        text = f"a mistake in pentathlon: {type(error).__name__}: {error}"
        raise stop(f"{text}\nSet {TRACEBACK}=1 to see where.", Exit.INTERNAL) from error


@contextmanager
def of_input(*kinds: type[Exception]) -> Iterator[None]:
    """Take errors of these kinds for ones of what the user gave: each text is one sentence.

    Raises:
        InputError: with that text.
    """
    try:
        yield
    except kinds as error:
        raise InputError(str(error)) from error


def stop(text: str, code: Exit) -> typer.Exit:
    """Print an error to standard error; returns what ends the command, to be raised."""
    first, *rest = text.splitlines() or [""]
    with suppress(OSError):  # Where even this cannot be written, the status states it.
        err.print(Text.assemble(("error:", "bold red"), f" {first}"), soft_wrap=True)
        for line in rest:
            err.print(f"       {line}", soft_wrap=True)
    return typer.Exit(code)


class StopSignals:
    """Turns the first SIGINT, SIGTERM or SIGHUP into `Interrupted`, while its context is open.

    Later ones are ignored: the first one stops the session in an orderly way, which puts the
    machine's settings back and must not be cut short. Inside `shield` the first one waits for the
    end of the shield, so that a boot or a stop is never left half done; a second one does not wait.

    Code that cleans up after `Interrupted` can fail by itself, and its error may then be taken for
    one of a task and the run go on: the end of the next shield raises `Interrupted` once more.
    """

    NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self._shields = 0
        self._stop: Interrupted | None = None
        self._waiting = False
        self._raised = False

    def __enter__(self) -> Self:
        # What is ignored from the start stays ignored: SIGHUP under nohup(1), SIGINT in the
        # background of a shell.
        heard = [one for one in self.NUMBERS if signal.getsignal(one) is not signal.SIG_IGN]
        self._before = {number: signal.signal(number, self._handle) for number in heard}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self._raised:
            return
        stop = self._stop = self._stop or Interrupted(f"stopped by {signal.Signals(number).name}")
        if self._shields and not self._waiting:
            self._waiting = True
            return
        self._raised = True
        raise stop

    @contextmanager
    def shield(self) -> Iterator[None]:
        """Keep signals waiting until the end of the context, unless it fails by itself."""
        self._shields += 1
        try:
            yield
        finally:
            self._shields -= 1
        # What is raised already is on its way while an exception is being handled.
        on_its_way = self._raised and sys.exception() is not None
        if self._stop is not None and not self._shields and not on_its_way:
            self._raised = True
            raise self._stop
