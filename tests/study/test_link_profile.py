"""Link profiles: what comes with the program, and what is refused."""

from pathlib import Path

import pytest

from pentathlon.study.link_profile import Loss, ProfileError, load_profile, names, parse_profile
from pentathlon.testbed.link.request import ways

# Tolly 207180, appendix B: rate in kbit/s and delay in ms of its seven links.
PAPER = {
    "wan-10m-50ms": (10_000, 50),
    "wan-5m-100ms": (5_000, 100),
    "wan-2m-150ms": (2_000, 150),
    "wan-1m-200ms": (1_000, 200),
    "wan-512k-300ms": (512, 300),
    "lan-100m-5ms": (100_000, 5),
    "lan-1000m-1ms": (1_000_000, 1),
}


def test_the_papers_seven_links_are_there() -> None:
    for name, (rate, round_trip) in PAPER.items():
        profile = load_profile(name)
        assert profile.up.rate_kbit == profile.down.rate_kbit == rate
        assert profile.round_trip_ms == round_trip
    assert set(PAPER) | {"t1", "e1", "dsl", "4g", "satellite"} == set(names())


def test_every_profile_has_a_title_a_source_and_room_for_a_bandwidth_delay_product() -> None:
    for name in names():
        profile = load_profile(name)
        assert profile.title and profile.source
        for way in (profile.up, profile.down):
            assert way.rate_kbit and way.queue_bytes
            assert way.queue_bytes >= way.rate_kbit * profile.round_trip_ms / 8 * 0.95


def test_a_direction_goes_before_both() -> None:
    profile = parse_profile(
        "[both]\nrate_kbit = 100\ndelay_ms = 3\nqueue_packets = 9\n[down]\nrate_kbit = 200\n", "x"
    )
    assert (profile.up.rate_kbit, profile.down.rate_kbit) == (100, 200)
    assert profile.down.delay_ms == 3
    sent = ways(profile)
    assert [way.rate_bps for way in sent] == [1e5, 2e5]
    assert sent[0].delay_ns == 3_000_000 and sent[0].queue.frames == 9


def test_the_time_on_the_line_counts_all_headers() -> None:
    way = load_profile("wan-10m-50ms").up
    # 1514 bytes at 10 Mbit/s.
    assert way.line_ms(1472) == pytest.approx(1.2112)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[both]\nrate = 5\n", 'did you mean "rate_kbit"?'),
        ("[bith]\n", 'did you mean "both"?'),
        ("[both]\nrate_kbit = 0\nqueue_packets = 5\n", "up.rate_kbit is 0, it must be more than 0"),
        ("[both]\nrate_kbit = 10\n", "queue_bytes or queue_packets"),
        ("[down]\ndelay_ms = -1\n", "down.delay_ms is -1, it must be at least 0"),
        ('[both]\ndelay_ms = "5"\n', "up.delay_ms must be a number"),
        ("[both]\nkeep_order = 1\n", "true or false"),
        ("[both]\nreorder = 1.5\n", "a share is from 0 to 1"),
        ('[both]\njitter_ms = "normal 3"\n', 'write "normal MEAN SD"'),
        ('[both]\njitter_ms = "table 5 1"\n', "rising order"),
        ('[both]\njitter_ms = "imix"\n', "sizes of packets"),
        ('[both]\nloss = "random 2"\n', "each from 0 to 1"),
        ('[both]\nloss = "gilbert 0 0 1 0"\n', "gilbert P R LOSS_BAD LOSS_GOOD"),
        ("[both]\nloss = 0.1\n", "random SHARE"),
        ("[both]\ncodel_target_ms = 5\n", "codel_interval_ms"),
        ("mtu_bytes = 20\n", "at least 68"),
        ("mtu_bytes = 20.5\n", "whole number"),
        ("[both\n", "no valid TOML"),
        ("both = 3\n", "must be a table"),
        ("title = 3\n", "must be text"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(ProfileError) as error:
        parse_profile(text, "x")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_name_that_is_not_there_is_answered_with_a_near_one(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match='did you mean "wan-10m-50ms"'):
        load_profile("wan-10m-50")
    with pytest.raises(ProfileError, match="no such file"):
        load_profile("mine.toml", tmp_path)
    (tmp_path / "mine.toml").write_text("[both]\ndelay_ms = 7\n")
    assert load_profile("mine.toml", tmp_path).round_trip_ms == 14


def test_losses_in_bursts_vary_more() -> None:
    assert Loss(0.1).spread_factor == 1
    # A chain that changes after every packet as if by a fair coin remembers nothing.
    assert Loss(chain=(0.5, 0.5, 1.0, 0.0)).spread_factor == pytest.approx(1)
    # All lost in the bad state: variance of a two-state chain, (1 + k) / (1 - k), k = 1 - p - r.
    assert Loss(chain=(0.01, 0.1, 1.0, 0.0)).spread_factor == pytest.approx(1.89 / 0.11)
    assert Loss(chain=(0.01, 0.1, 1.0, 0.0)).mean == pytest.approx(1 / 11)
