"""Shares, rates and losses from counters with known answers."""

import pytest

from pentathlon.experiments.forwarding import counters
from pentathlon.experiments.forwarding.background_load import Competition, Competitor
from pentathlon.experiments.forwarding.setting import settings
from pentathlon.experiments.forwarding.testbed import places, remarks
from pentathlon.testbed.cables import mask


def reading(begin_s: float, end_s: float, received: list[int], ticks: list[int]) -> dict:
    return {
        "from_ns": begin_s * 1e9,
        "to_ns": end_s * 1e9,
        "host": {
            "cpus": {"cpu": ticks, "cpu1": ticks},
            "softirqs": {"NET_RX": received} if any(received) else {},
        },
        "lines": {"vec0": received},
    }


def test_idle_is_of_the_cpus_asked_for() -> None:
    host = {"cpus": {"cpu": [0] * 8, "cpu0": [0, 0, 0, 100, 0, 0, 0, 0],
                     "cpu1": [10, 0, 0, 25, 5, 0, 60, 0]}}  # fmt: skip
    assert counters.idle_percent(host, [1]) == 25
    assert counters.idle_percent(host, [0, 1]) == 62.5
    assert counters.idle_percent(host, [7]) is None
    assert counters.idle_percent(host, None) is None, "no ticks at all are no reading"
    assert counters.idle_percent({}, [0]) is None


def test_readings_without_a_tick_do_not_hide_the_others() -> None:
    hosts = [
        {"cpus": {"cpu0": [0] * 8}},
        {"cpus": {"cpu0": [10, 0, 0, 30, 0, 0, 0, 0]}},
        {"cpus": {"cpu0": [30, 0, 0, 10, 0, 0, 0, 0]}},
    ]
    assert counters.idle_percent(counters.together(hosts), [0]) == 50
    assert counters.idle_percent(counters.together([{}]), [0]) is None


def test_rates_are_over_the_readings_own_times() -> None:
    readings = [
        reading(0, 2, [100, 300], [1] * 8),
        reading(2, 3, [0, 0], [1] * 8),
        reading(3, 4, [0, 300], [1] * 8),
    ]
    table = ("host", "softirqs")
    assert counters.rate(readings, table, "NET_RX", [1]) == 150
    assert counters.rate(readings, table, "NET_RX", None) == 175
    assert counters.rate(readings, ("lines",), "vec0", None) == 175
    readings[1]["host"]["softirqs"] = None
    assert counters.rate(readings, table, "NET_RX", [1]) is None, "unknown is not zero"


def test_the_middle_leaves_out_the_first_reading() -> None:
    readings = [{"n": n} for n in range(6)]
    assert [one["n"] for one in counters.middle(readings)] == [1, 2, 3]


def test_readings_that_reach_beyond_the_flow_are_not_of_it() -> None:
    readings = [reading(n, n + 1, [1, 1], [1] * 8) for n in range(6)]
    inside = counters.within(readings, 1.5e9, 5e9)
    assert [one["from_ns"] for one in inside] == [2e9, 3e9, 4e9]
    assert counters.within(readings, 1.5e9, 2.5e9) == []


def test_what_the_receiver_lost_is_its_own_queues() -> None:
    whole = {
        "protocols": {"Udp.RcvbufErrors": [7]},
        "softnet": {"cpu0": [1000, 5, 0], "cpu1": [1000, 400, 0]},
    }
    assert counters.receiver_losses(whole, [0]) == 12
    assert counters.receiver_losses({}, [0]) == 0


def test_masks_are_those_of_the_kernels_files() -> None:
    assert mask([1]) == "00000002"
    assert mask([0, 33]) == "00000002,00000001"
    assert mask([]) == "00000000"


def test_shared_cpus_are_told() -> None:
    assert places([0], [1]) == ((0,), (1,))
    assert "share the CPUs [0]" in remarks([0], [0])[0]
    assert remarks([0], [1, 2]) == []
    assert "share one CPU" in remarks([0], [1])[0]


def test_the_competitors_speed_is_against_the_time_before_the_flow() -> None:
    def batch(end_s: float, speed: float) -> dict:
        return {
            "metric": "time", "case": {"f": 1}, "t_ns": end_s * 1e9, "elapsed_ns": 1e8,
            "batch": speed * 1e8,
        }  # fmt: skip

    competition = Competition(started=100.0, flow=(102.0, 104.0))
    before = [batch(0.1 + n / 10, 4.0) for n in range(20)]
    competition.samples = [*before, *(batch(2.1 + n / 10, 1.0) for n in range(20))]
    assert competition.speed_percent() == pytest.approx(25)
    # One batch that the flow held up, and that ended long after it: its share inside counts.
    held = {"metric": "time", "case": {"f": 1}, "t_ns": 6e9, "elapsed_ns": 4e9, "batch": 4e9}
    competition.samples = [*before, held]
    assert competition.speed_percent() == pytest.approx(25)
    # Nothing was done during the flow: that is a speed of zero, and not left out.
    competition.samples = before
    assert competition.speed_percent() == 0
    assert Competition().speed_percent() is None


PARAMETERS = {
    "competitor": ["none", "cpu.simplex"], "copies": [1, 2], "nice": [0], "scheduler": ["other"],
    "frame_bytes": [64], "ip_versions": [4], "steering": ["own"], "routes": [0],
    "firewall_rules": [0], "budgets": [0],
}  # fmt: skip


def test_cases_name_only_what_the_study_sets() -> None:
    plain = [one.case for one in settings(PARAMETERS)]
    assert plain == [
        {"frame_bytes": 64, "competitor": name}
        for name in ("none", "cpu.simplex", "cpu.simplex x2")
    ]
    routes = [one.case["routes"] for one in settings(PARAMETERS | {"routes": [0, 1000]})]
    assert routes == [0, 0, 0, 1000, 1000, 1000]
    one = next(settings(PARAMETERS | {"steering": ["threaded"]}))
    assert one.case["steering"] == "threaded"


def test_a_group_weighs_what_its_programs_would() -> None:
    assert Competitor("none").weight("idle") == 19
    assert Competitor("none").weight("other") == 0
    assert Competitor("cpu.simplex", nice=7).weight("idle") == 7
    assert Competitor("cpu.simplex", scheduler="idle").weight("none") == 19
