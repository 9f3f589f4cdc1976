"""`best` takes the fastest transmit backend that works, and states why it left out others."""

from typing import Any

import pytest

from pentathlon.experiments.forwarding import fastest_backend, ndr, sweep
from pentathlon.experiments.forwarding.flow import Flow
from pentathlon.experiments.forwarding.testbed import Unsupported
from pentathlon.testbed.endpoint import CommandError
from pentathlon.testbed.trial import InvalidTrial
from tests.experiments.forwarding.test_testbed import SWEEP, task
from tests.fakes.messages import documents

FLOW = Flow(200, 200, 1000.0, 1000.0, 1000.0, None)


def probed(monkeypatch: pytest.MonkeyPatch, **outcomes: Flow | Exception) -> list[str]:
    """Let flows of each backend end so; those not named work. The backends that were tried."""
    tried: list[str] = []

    def run_flow(_: Any, work: Any, **__: Any) -> Flow:
        backend = work.parameters["transmit_backend"]
        tried.append(backend)
        outcome = outcomes.get(backend, FLOW)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(fastest_backend, "run_flow", run_flow)
    monkeypatch.setattr(fastest_backend, "set_up", lambda *_: None)
    return tried


def chosen(driver: Any = sweep.run_sweep) -> list[dict[str, Any]]:
    work = task("forwarding.sweep", **SWEEP | {"transmit_backend": "best", "offered_kpps": [1, 2]})
    return documents(driver(work, None))


def test_the_first_that_works_is_taken_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = probed(
        monkeypatch, live=CommandError("no live frames", "unsupported"),
        packet=Flow(200, 0, 1000.0, 1000.0, 0.0, None), sendmmsg=InvalidTrial("late"),
    )  # fmt: skip
    used: list[str] = []

    def trial(work: Any, *_: Any) -> sweep.Yield:
        used.append(work.parameters["transmit_backend"])
        return sweep.Yield({"throughput": 1.0}, [])

    monkeypatch.setattr(sweep, "_measured", trial)
    monkeypatch.setattr(sweep, "set_up", lambda *_: None)
    monkeypatch.setattr(sweep.background_load, "calibrate", lambda *_: 1.0)
    events = chosen()
    assert used == ["send", "send"]
    thrice = fastest_backend.TRIES
    assert tried == ["live", *["packet"] * thrice, *["sendmmsg"] * thrice, "send"]
    refused = {
        e["case"]["transmit_backend"]: (e["kind"], e["reason"])
        for e in events
        if e["event"] == "error"
    }
    assert refused == {
        "live": ("unsupported", "no live frames"),
        "packet": ("unsupported", "none of 200 packets came back"),
        "sendmmsg": ("unsupported", "late"),
    }
    cases = [e["case"] for e in events if e["event"] == "sample"]
    assert [(case["offered_kpps"], case["transmit_backend"]) for case in cases] == [
        (1, "send"),
        (2, "send"),
    ]


@pytest.mark.parametrize("driver", [sweep.run_sweep, ndr.run_ndr])
def test_where_none_works_every_reason_is_told(
    monkeypatch: pytest.MonkeyPatch, driver: Any
) -> None:
    probed(monkeypatch, **{r: Unsupported(f"no {r}") for r in fastest_backend.FASTEST_FIRST})
    (parts,) = [e for e in chosen(driver) if e["event"] == "error"]
    assert parts["kind"] == "unsupported"
    assert all(
        f'transmit backend "{backend}": no {backend}' in parts["reason"]
        for backend in fastest_backend.FASTEST_FIRST
    )


def test_a_generator_that_broke_is_not_taken_for_one_that_lacks_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    probed(monkeypatch, live=CommandError("the disk is full"))
    (parts,) = [e for e in chosen() if e["event"] == "error"]
    assert (parts["kind"], parts["reason"]) == ("failed", "the disk is full")


def test_what_the_study_names_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = probed(monkeypatch)
    backend = fastest_backend.FastestBackend(
        task("forwarding.sweep", **SWEEP | {"transmit_backend": "packet"})
    )
    assert list(backend.settle(None, None)) == []  # type: ignore[arg-type]
    assert (tried, backend.task.parameters["transmit_backend"]) == ([], "packet")
