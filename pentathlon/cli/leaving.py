"""The way back of other machines, which takes minutes where one restarts: it is reported."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from pentathlon.cli.exits import Exit, Interrupted, StopSignals, stop
from pentathlon.cli.heartbeat import QUIET_S, Heartbeat
from pentathlon.cli.screen import err, seconds
from pentathlon.machine import ends
from pentathlon.machine.activity import current


def activity_text() -> str | None:
    """What is being done, and for how long; None: nothing that has words."""
    one = current()
    if one is None:
        return None
    return f"{one.words}, for {seconds(time.monotonic() - one.since)}"


@contextmanager
def reported(otherwise: str, quiet_s: float = QUIET_S) -> Iterator[None]:
    """While its context is open, a line is printed now and then about what is being done.

    Args:
        otherwise: the line where nothing has words for it.
    """
    with Heartbeat(partial(_say, otherwise), quiet_s):
        yield


def _say(otherwise: str) -> None:
    err.print(activity_text() or otherwise, soft_wrap=True)


def leave(code: str | int | None) -> str | int | None:
    """Do what has to be done before the process ends; returns its exit status.

    A run has led its machines back by then. This is for what ends otherwise: a plan, whose pilot
    booted a machine, or a run that was refused after its pilot.
    """
    try:
        with (
            StopSignals() as signals,
            reported("what was changed on other machines is being put back"),
            signals.shield(),
        ):
            sentences = ends.run()
    except (Interrupted, KeyboardInterrupt) as error:
        hint = "\nLead the machines back with: pentathlon doctor --restore"
        return stop(f"{error or 'interrupted'}{hint}", Exit.INTERRUPTED).exit_code
    for sentence in ends.notes():
        err.print(sentence, soft_wrap=True)
    for sentence in sentences:
        failed = stop(sentence, Exit.UNAVAILABLE).exit_code
        code = code or failed
    return code
