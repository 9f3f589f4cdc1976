"""The words that make netem do what a profile says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pentathlon.study.link_profile import Profile, Way, load_profile, names, parse_profile
from pentathlon.testbed.link.netem import NotNetem, commands, table


def words(text: str) -> list[list[str]]:
    profile = parse_profile(f"[up]\n{text}", "x")
    return commands(profile, profile.up, "e0")


def test_the_papers_link_is_one_netem() -> None:
    profile = load_profile("wan-10m-50ms")
    (command,) = commands(profile, profile.up, "e0")
    line = " ".join(command)
    assert line.startswith("qdisc add dev e0 root handle 1: netem limit ")
    assert "delay 25000us" in line and "rate 10000000bit" in line
    # 44 full frames wait, 21 are on the way, one is on the line.
    assert command[command.index("limit") + 1] == "66"


def test_every_profile_has_netems_words_or_a_reason() -> None:
    for name in names():
        profile = load_profile(name)
        assert commands(profile, profile.down, "e0")


def test_losses_and_the_rest_are_in_netems_order() -> None:
    (command,) = words(
        'delay_ms = 10\nloss = "gilbert 0.01 0.2 0.5 0.001"\nduplicate = 0.02\nreorder = 0.25\n'
    )
    line = " ".join(command)
    assert "loss gemodel 1% 20% 50% 0.1%" in line
    assert "duplicate 2% reorder 25%" in line


def test_a_bucket_lies_before_netem() -> None:
    bucket, netem = words("rate_kbit = 1000\nburst_bytes = 8000\nqueue_bytes = 20000\n")
    assert "tbf rate 1000000bit burst 8000 limit 28000" in " ".join(bucket)
    assert netem[4:6] == ["parent", "1:1"]


def test_what_netem_cannot_do_is_refused() -> None:
    limited = "rate_kbit = 1000\nqueue_packets = 9\n"
    for text, output in [
        (limited + "codel_target_ms = 5\ncodel_interval_ms = 100\n", "CoDel"),
        (limited + 'jitter_ms = "normal 0 1"\n', "keeps the order"),
        ('jitter_ms = "normal 0 1"\nkeep_order = true\n', "keeps the order"),
        ("reorder = 0.1\n", "no delay"),
        (limited + "burst_bytes = 9000\noverhead_bytes = 4\n", "overhead"),
        ('jitter_ms = "trace 1 2 3"\n', "in its order"),
    ]:
        with pytest.raises(NotNetem, match=output):
            words(text)


def test_a_table_gives_the_distribution_back() -> None:
    way = Way(delay_ms=20, jitter_ms="exponential 4")
    text = table(way)
    assert text is not None
    entries = np.array([int(word) for word in text.split()])
    assert len(entries) == 4096
    line = " ".join(commands(Profile("x", "", "", 1500, way, way), way, "e0")[0])
    assert "distribution pentathlon" in line
    centre, spread = (float(word[:-2]) / 1000 for word in line.split("delay ")[1].split()[:2])
    # netem: centre + spread x entry / 8192 (tabledist of sch_netem).
    found = centre + spread * entries / 8192 - 20
    assert np.median(found) == pytest.approx(4 * math.log(2), rel=0.01)
    assert found.mean() == pytest.approx(4, rel=0.01)


def test_netems_own_distributions_need_no_table() -> None:
    assert table(Way(jitter_ms="normal 0 2")) is None
    assert table(Way(jitter_ms="uniform -1 3")) is None
    (command,) = words('delay_ms = 10\njitter_ms = "uniform -1 3"\n')
    assert "delay 11000us 2000us" in " ".join(command)
