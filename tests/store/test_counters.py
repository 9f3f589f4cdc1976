"""The columns beside a sample are the counters that the agent reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.protocol import agent
from pentathlon.store.schema import COUNTERS, SAMPLES
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem, request


def test_the_columns_are_the_counters_of_the_agent(tmp_path: Path) -> None:
    try:
        program = agent.locate()
    except agent.AgentError as error:
        pytest.skip(str(error))
    target = make_target(FakeSystem(target="local"), program, tmp_path)
    wanted = request("", workloads=[])
    with target.boot(20) as session:
        events = documents(session.run(wanted, 20, 60))
    (opening,) = (event for event in events if event["event"] == "inventory")
    reported = opening["telemetry"]
    assert sorted([*reported["supported"], *reported["unsupported"]]) == sorted(COUNTERS)
    assert set(COUNTERS) < set(SAMPLES)
