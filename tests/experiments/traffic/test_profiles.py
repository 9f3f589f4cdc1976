"""Each application's traffic, run shortly: lengths and the schedule are those of its definition."""

from __future__ import annotations

import numpy as np
import pytest

from pentathlon.experiments.traffic.flow_analysis import judge
from pentathlon.experiments.traffic.trials import run_trial
from pentathlon.study import flows
from pentathlon.study.application_profiles import PROFILES
from tests.experiments.traffic.conftest import Pair, task

LENGTHS = {
    "telnet": ((32, 32), (32, 128)),
    "dns": ((32, 64), (64, 512)),
    "voip-g711": ((172, 172), (172, 172)),
    "voip-g729": ((32, 32), (32, 32)),
    # Six standard deviations about the mean, and no packet below its header.
    "game": ((39, 128), (32, 419)),
    "video": ((1328, 1328), (1328, 1328)),
    "bulk": ((1448, 1448), (1448, 1448)),
}
"""Shortest and longest payload, bytes: there, and back."""

GAPS = {
    "telnet": ((0.1, np.inf), (0.1, np.inf)),
    "dns": ((0, np.inf), (0, np.inf)),
    "voip-g711": ((0.02, 0.02), (0.02, 0.02)),
    "voip-g729": ((0.02, 0.02), (0.02, 0.02)),
    "game": ((0.04, 0.04), (0.0123, 0.1047)),
    "video": ((1 / 380, 1 / 380), (1 / 380, 1 / 380)),
}
"""Shortest and longest time between packets of the schedule, s; bulk has none."""


def test_every_profile_has_its_definition_here() -> None:
    assert set(LENGTHS) == set(PROFILES) == {*GAPS, "bulk"}


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_sends_what_it_is(pair: Pair, name: str) -> None:
    short = {"bulk": 0.1, "telnet": 1.5, "dns": 1.5}.get(name, 0.4)
    work = task(profiles=[name], both_ways=True, duration_s=short)
    [case] = flows.cases(work.parameters)
    requested_flows = flows.flows(work.parameters, case)
    assert [flow.protocol for flow in requested_flows] == [PROFILES[name].protocol] * 2
    results = judge(run_trial(work, case, requested_flows, *pair))
    for result, (least, most) in zip(results, LENGTHS[name], strict=True):
        lengths = result.sent.length
        assert len(lengths) > 0
        assert least <= lengths.min() and lengths.max() <= most
        assert (len(set(lengths.tolist())) > 1) == (least != most and len(lengths) > 1)
    for result, (shortest, longest) in zip(results, GAPS.get(name, ()), strict=False):
        gaps = np.diff(result.sent.time_ns) * 1e-9
        assert (gaps >= shortest - 1e-8).all() and (gaps <= longest + 1e-8).all()
