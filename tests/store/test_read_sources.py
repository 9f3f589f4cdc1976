"""Warm-up reads do not count, and every metric has its own tally."""

from typing import Any

import pytest

from pentathlon.protocol.events import SERVED, Counter, Served, WrongEvent, read_served
from pentathlon.store.read_sources import tallies


def served(**members: Any) -> Served:
    value = {"workload": "disk.access", "case": {}, **members}
    return read_served(Counter(event="counter", name=SERVED, value=value, t_ns=1))


def test_reads_are_tallied_after_the_warm_up() -> None:
    def read(metric: str, served: str) -> dict[str, str]:
        return {"metric": metric, "served": served}

    rounds = [
        *[read("read_first", "device"), read("read_again", "device")],
        *[read("read_first", "device"), read("read_again", "cache")],
        *[read("read_first", "mixed"), read("read_again", "cache")],
    ]
    assert dict(tallies(served(reads=rounds), warmup=1)) == {
        "read_first": {"device": 1, "mixed": 1},
        "read_again": {"cache": 2},
    }


def test_an_event_without_reads_tells_nothing() -> None:
    assert list(tallies(served(reads=[]), warmup=0)) == []
    with pytest.raises(WrongEvent, match="reads is missing"):
        served()
