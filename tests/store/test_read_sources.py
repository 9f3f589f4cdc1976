"""Warm-up reads do not count, and every indicator has its own tally."""

from pentathlon.store.read_sources import tallies


def test_reads_are_tallied_after_the_warm_up() -> None:
    def read(indicator: str, served: str) -> dict[str, str]:
        return {"indicator": indicator, "served": served}

    rounds = [
        *[read("read_first", "device"), read("read_again", "device")],
        *[read("read_first", "device"), read("read_again", "cache")],
        *[read("read_first", "mixed"), read("read_again", "cache")],
    ]
    assert dict(tallies({"reads": rounds}, warmup=1)) == {
        "read_first": {"device": 1, "mixed": 1},
        "read_again": {"cache": 2},
    }


def test_an_event_without_reads_tells_nothing() -> None:
    assert list(tallies({"workload": "disk.access"}, warmup=0)) == []
