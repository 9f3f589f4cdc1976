"""Damaged captures and recordings: each is read, or refused with one sentence."""

from __future__ import annotations

import pytest

from pentathlon.exchange.pcapng import read
from pentathlon.experiments.file_services.capture.summary import summarise
from tests.experiments.file_services.packets import CLIENT, SERVER
from tests.hostile.captures import TALKS, capture, captures, recordings


@pytest.mark.parametrize("name", TALKS)
def test_a_whole_capture_is_read(name: str) -> None:
    talk = TALKS[name]
    found = summarise(read(capture(talk)), CLIENT, SERVER, talk[0][0])
    assert found.exchanges, "the talk has exchanges, which damage can reach"


def test_no_damaged_capture_ends_otherwise_than_read_or_refused() -> None:
    ends = captures(2000, seed=19)
    assert ends["read"] > 200 and ends["refused"] > 200


def test_no_damaged_recording_ends_otherwise_than_read_or_refused() -> None:
    ends = recordings(2000, seed=19)
    assert ends["read"] > 200 and ends["refused"] > 200
