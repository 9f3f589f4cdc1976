"""Signals: the first stops, a shield makes it wait, the second does not wait."""

from __future__ import annotations

import os
import signal

import pytest

from pentathlon.cli.exits import Interrupted, StopSignals


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
