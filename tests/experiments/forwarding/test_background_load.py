"""What was refused beside a flow is said, and costs no other metric."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from pentathlon.experiments.forwarding import background_load, sweep
from pentathlon.experiments.forwarding.flow import Flow
from pentathlon.packets.flow_metrics import Delay
from pentathlon.testbed.endpoint import CommandError
from pentathlon.testbed.trial import InvalidTrial
from tests.experiments.forwarding.test_counters import reading
from tests.experiments.forwarding.test_testbed import SWEEP, task
from tests.fakes.messages import documents

YIELDED = {
    "watch": [{"readings": [reading(n, n + 1, [0, 50], [1] * 8) for n in range(4)]}],
    "ping": [{"round_trip_ns": [2000, 4000, None]}],
    "soak": [{"progress": [[0, 0, None], [4e9, 120, None]]}],
}
FLOW = Flow(
    1000, 1000, 1000.0, 998.0, 998.0, Delay(50e-6, 0.0, 1.0, {"p50": 40e-6, "p999": 90e-6}),
    late_p99_s=3e-6, late_max_s=7e-6, lost_here=5, times=(100.0, 104.0),
)  # fmt: skip


class Host:
    """An endpoint that refuses some jobs and yields the same for the others."""

    def __init__(self, refusing: tuple[str, ...], late: tuple[str, ...]) -> None:
        self.refusing = refusing
        self.late = late
        self.running: list[str] = []
        self.together: list[set[str]] = []
        self.zero_s = 100.0

    def start(self, job: str, _: dict[str, Any]) -> None:
        if job in self.refusing:
            raise CommandError(f"no {job} here")
        self.running.append(job)
        self.together.append(set(self.running))

    def finish_job(self, job: str) -> dict[str, Any]:
        self.running.remove(job)
        if job in self.late:
            raise CommandError(f"no {job} here")
        return {"yields": YIELDED[job]}


def swept(
    monkeypatch: pytest.MonkeyPatch, *refusing: str, late: tuple[str, ...] = (), **parameters: Any
) -> tuple[dict[str, float], list[tuple[str, str]]]:
    """Values by metric, and the kinds and reasons of the errors, of a sweep of one load."""
    monkeypatch.setattr(sweep, "run_flow", lambda *_, **__: FLOW)
    monkeypatch.setattr(sweep, "set_up", lambda *_: None)
    monkeypatch.setattr(background_load.time, "sleep", lambda _: None)
    forwarder, generator = Host(refusing, late), Host(refusing, late)
    bed: Any = SimpleNamespace(
        forwarder=forwarder, generator=generator, weigh=lambda _: None, incoming="in",
        outgoing="out", forwarder_cpus=(1,),
    )  # fmt: skip
    events = documents(sweep.run_sweep(task("forwarding.sweep", **SWEEP | parameters), bed))
    assert forwarder.running + generator.running == []
    # To the counters the CPU hog's time is busy time.
    assert all(not {"watch", "soak"} <= jobs for jobs in forwarder.together)
    values = {e["metric"]: e["value"] for e in events if e["event"] == "sample"}
    return values, [(e["kind"], e["reason"]) for e in events if e["event"] == "error"]


def test_with_nothing_refused_everything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    values, errors = swept(monkeypatch)
    assert errors == []
    assert values["ping_round_trip"] == pytest.approx(3)
    assert values["softirq_rate"] == pytest.approx(50)
    assert values["cpu_available"] == pytest.approx(100)


@pytest.mark.parametrize(
    ("job", "lacking"),
    [
        ("watch", "cpu_idle, softirq_rate, interrupts_in, interrupts_out"),
        ("ping", "ping_round_trip"),
        ("soak", "cpu_available"),
    ],
)
def test_what_is_refused_is_unsupported_and_costs_nothing_else(
    monkeypatch: pytest.MonkeyPatch, job: str, lacking: str
) -> None:
    whole, _ = swept(monkeypatch)
    for refusing, late in (((job,), ()), ((), (job,))):
        values, errors = swept(monkeypatch, *refusing, late=late)
        assert errors == [("unsupported", f"{lacking}: no {job} here")]
        assert whole.keys() - values.keys() == set(lacking.split(", ")) & whole.keys()


def test_counters_of_the_ramp_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of six readings, the ramp spoils the first two, and one more is left out.
    spoilt = [reading(n, n + 1, [0, 900], [1] * 8) for n in range(3)]
    steady = [reading(n, n + 1, [0, 50], [1] * 8) for n in range(3, 6)]
    monkeypatch.setitem(YIELDED, "watch", [{"readings": spoilt + steady}])
    assert swept(monkeypatch)[0]["softirq_rate"] > 50
    monkeypatch.setitem(globals(), "FLOW", replace(FLOW, times=(102.0, 106.0)))
    assert swept(monkeypatch)[0]["softirq_rate"] == pytest.approx(50)


def test_readings_and_cpu_hog_of_the_time_beside_the_flow_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy = [reading(n, n + 1, [0, 50], [1] * 8) for n in range(2, 5)]
    idle = [reading(n, n + 1, [0, 0], [0, 0, 0, 8, 0, 0, 0, 0]) for n in (0, 1, 5, 6)]
    monkeypatch.setitem(YIELDED, "watch", [{"readings": idle[:2] + busy + idle[2:]}])
    # Alone 1000 units a second over all, but a tenth of that during the flow (2 s to 5 s).
    notes = [[0, 0, None], [2e9, 3350, None], [5e9, 3650, None], [7e9, 7000, None]]
    monkeypatch.setitem(YIELDED, "soak", [{"progress": notes}])
    monkeypatch.setitem(globals(), "FLOW", replace(FLOW, times=(102.0, 105.0)))
    values, _ = swept(monkeypatch)
    assert values["softirq_rate"] == pytest.approx(50)
    assert values["cpu_available"] == pytest.approx(10)
    # What /proc/stat calls idle in the middle, and nothing of what a CPU hog had.
    assert values["cpu_idle"] == pytest.approx(12.5)


def test_the_counters_are_those_of_a_flow_without_the_cpu_hog(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """salah2010, Fig. 4a: what the system calls idle, whatever a CPU hog beside it would get."""
    found = {policy: swept(monkeypatch, cpu_hog=policy)[0] for policy in ("none", "idle", "other")}
    assert {values["cpu_idle"] for values in found.values()} == {12.5}
    assert [policy for policy, values in found.items() if "cpu_available" in values] == [
        "idle",
        "other",
    ]


def test_an_invalid_flow_with_the_cpu_hog_costs_the_other_one_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trial = sweep._trial

    def spoilt(*requested: Any) -> sweep.Yield:
        if requested[-1] is not None:
            raise InvalidTrial("the generator was late")
        return trial(*requested)

    monkeypatch.setattr(sweep, "_trial", spoilt)
    values, errors = swept(monkeypatch)
    assert values["cpu_idle"] == pytest.approx(12.5)
    reason = "cpu_available: the flow with the CPU hog was invalid: the generator was late"
    assert errors == [("unsupported", reason)]


def test_pings_without_an_answer_leave_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(YIELDED, "ping", [{"round_trip_ns": [None, None]}])
    values, errors = swept(monkeypatch)
    assert "ping_round_trip" not in values
    assert errors == [("unsupported", "ping_round_trip: none of 2 echo requests was answered")]


def test_a_cpu_hog_that_got_nothing_alone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(YIELDED, "soak", [{"progress": [[0, 0, 0], [1e9, 0, 0]]}])
    values, errors = swept(monkeypatch)
    assert "cpu_available" not in values
    assert [kind for kind, _ in errors] == ["unsupported"]
    assert "cpu_available: with nothing beside it the CPU hog got no time" in errors[0][1]


def test_what_was_asked_of_the_generator_and_what_it_did_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values, _ = swept(monkeypatch)
    entries = {name: values[name] for name in FLOW.generator()}
    assert entries == pytest.approx(
        {
            "intended_load": 1000, "offered_load": 998, "lateness_p99": 3, "lateness_max": 7,
            "receiver_lost": 0.5,
        }
    )  # fmt: skip


def test_every_quantile_that_is_known_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    values, _ = swept(monkeypatch)
    trips = {name: value for name, value in values.items() if name.startswith("round_trip")}
    assert trips == pytest.approx(
        {"round_trip": 50, "round_trip_median": 40, "round_trip_p999": 90}
    )
