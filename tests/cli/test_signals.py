"""Signals: the first stops, a shield makes it wait, the second does not wait."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from pentathlon.cli.exits import Interrupted, StopSignals


@pytest.fixture(autouse=True)
def not_ignored() -> Iterator[None]:
    """What starts the tests may ignore some of the signals, as nohup does."""
    before = {number: signal.getsignal(number) for number in StopSignals.NUMBERS}
    for number, handler in before.items():
        if handler == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number: int = signal.SIGTERM) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", StopSignals.NUMBERS)
def test_the_first_stops_and_later_ones_are_ignored(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    ended = False
    with pytest.raises(Interrupted, match=f"stopped by {number.name}"), StopSignals():
        try:
            send(number)
        finally:
            send(number)
            ended = True
    assert ended and signal.getsignal(number) == before


def test_a_shield_makes_it_wait() -> None:
    done = []
    with StopSignals() as signals:
        with pytest.raises(Interrupted), signals.shield():
            with signals.shield():
                send()
                done.append("inner")
            done.append("outer")
        send()
        done.append("after")
    assert done == ["inner", "outer", "after"]


def test_the_second_does_not_wait() -> None:
    done = []
    with StopSignals() as signals, pytest.raises(Interrupted), signals.shield():
        send()
        done.append("first")
        send()
        done.append("second")
    assert done == ["first"]


def test_an_error_inside_a_shield_is_not_hidden() -> None:
    with StopSignals() as signals, pytest.raises(ValueError, match="own"), signals.shield():
        send()
        raise ValueError("own")


def test_one_that_cleaning_up_has_hidden_is_raised_once_more() -> None:
    hidden = []
    with StopSignals() as signals, pytest.raises(Interrupted, match="SIGTERM"):
        try:
            try:
                send()
            finally:
                with signals.shield():  # It is on its way: nothing is raised here.
                    hidden.append("cleaned up")
                raise ValueError("the next command fails")
        except ValueError:
            hidden.append("taken for a task's")
        with signals.shield():
            hidden.append("goes on")
        hidden.append("never")
    assert hidden == ["cleaned up", "taken for a task's", "goes on"]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_what_the_caller_ignores_stays_ignored(number: signal.Signals) -> None:
    """As under nohup(1), or in the background of a shell."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with StopSignals():
            send(number)
            assert signal.getsignal(number) is signal.SIG_IGN
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)
