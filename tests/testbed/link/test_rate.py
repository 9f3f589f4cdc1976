"""The rate of a calibrated link, from trains through a simulated line that loses and copies."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pentathlon.protocol.requests.emulation import ProbeSend
from pentathlon.study.link_profile import HEADER_BYTES, parse_profile
from pentathlon.testbed.link import calibrate
from pentathlon.testbed.link.probes import once, rate_kbit

PROFILE = "[both]\nrate_kbit = 10000\nqueue_bytes = 200000\nloss = 'random {lost}'\n"


class Line:
    """A line of 10 Mbit/s with a bed around it, whose engine has the line first or last.

    Attributes:
        counted: frames that its engine states it lost on purpose.
    """

    def __init__(self, *, line_first: bool, lost: float, twice: float) -> None:
        self.profile = parse_profile(PROFILE.format(lost=lost), "test")
        self.engine = SimpleNamespace(line_first=line_first)
        self._shares = lost, twice
        self.counted = 0

    def statistics(self) -> dict[str, Any]:
        return {way: {"drops": {"loss": self.counted}} for way in ("up", "down")}

    def exchange(self, bed: Any, sends: dict[str, ProbeSend]) -> dict[str, Any]:
        train = sends["client"]
        random = np.random.default_rng(5)
        lost, twice = (random.random(train.count) < share for share in self._shares)
        frame_ns = (train.size_bytes + calibrate.HEADERS + HEADER_BYTES) * 8 * 100
        came, free = [], 0
        for number in range(train.count):
            copies = 0 if lost[number] else 2 if twice[number] else 1
            times_on_line = 1 if self.engine.line_first else copies
            for _ in range(times_on_line):
                free = max(free, number * train.period_ns) + frame_ns
                if not self.engine.line_first:
                    came.append((number, 0, free))
            if self.engine.line_first:
                came += [(number, 0, free)] * copies
        self.counted += int(lost.sum())
        return {"server": {"came": came}}


@pytest.mark.parametrize("line_first", [True, False])
@pytest.mark.parametrize("twice", [0.0, 0.01, 0.1, 1.0])
@pytest.mark.parametrize("lost", [0.0, 0.05, 0.3])
def test_losses_and_copies_do_not_change_the_rate(
    monkeypatch: pytest.MonkeyPatch, line_first: bool, twice: float, lost: float
) -> None:
    line = Line(line_first=line_first, lost=lost, twice=twice)
    monkeypatch.setattr(calibrate, "exchange", line.exchange)
    found = calibrate._rate(line, "up")  # type: ignore[arg-type]
    assert found == pytest.approx(10_000, rel=0.002)


def test_a_wrong_rate_stays_wrong_however_much_is_lost() -> None:
    """The line is half as fast as its probes are asked to show: the gaps do not hide it."""
    frame_ns = 2 * 1_211_200
    came = [n for n in range(400) if np.random.default_rng(n).random() > 0.3]
    rows = [(n, 0, (n + 1) * frame_ns) for n in came]
    assert rate_kbit(rows, 1514, 400 - len(rows)) == pytest.approx(5_000, rel=0.002)


def test_with_jitter_the_gaps_are_not_looked_at() -> None:
    random = np.random.default_rng(8)
    rows = [(n, 0, int(n * 1_211_200 + random.exponential(5e6))) for n in range(2000) if n % 10]
    assert rate_kbit(rows, 1514, 200, even=False) == pytest.approx(10_000, rel=0.005)


def test_of_a_probe_that_came_twice_the_first_arrival_counts() -> None:
    assert once([(0, 1, 9), (1, 2, 8), (0, 1, 7)]) == [(0, 1, 7), (1, 2, 8)]
