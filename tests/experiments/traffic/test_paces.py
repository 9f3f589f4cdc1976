"""What a study says of the time between packets: units, fractions, and which mean a rate has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from pentathlon.experiments.traffic.flow_analysis import judge
from pentathlon.experiments.traffic.trials import run_trial
from pentathlon.packets import fit
from pentathlon.study import distributions, flows
from pentathlon.study.distributions import ModelError
from tests.experiments.traffic.conftest import PARAMETERS, Pair, task


def gap(**parameters: Any) -> dict[str, Any]:
    """The gap of the one flow that these parameters name."""
    requested = PARAMETERS | parameters
    [case] = flows.cases(requested)
    [flow] = flows.flows(requested, case)
    return flow.gap


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("constant 2 ms", {"model": "constant", "value": 2e-3}),
        ("uniform 1/300000 1/30000", {"model": "uniform", "minimum": 1 / 3e5, "maximum": 1 / 3e4}),
        ("pareto 0.9 100 us", {"model": "pareto", "shape": 0.9, "scale": 1e-4}),
        ("normal 5 1 µs", {"model": "normal", "mean": 5e-6, "sd": 1e-6}),
        ("poisson 5 ms", {"model": "poisson", "mean": 5.0, "unit": 1e-3}),
        ("exponential 0.005", {"model": "exponential", "mean": 0.005}),
    ],
)
def test_times_have_units(text: str, model: dict[str, Any]) -> None:
    found = gap(gap=text)
    assert found["of"] == pytest.approx(model)
    assert found["rate"] is False
    assert gap(on=text, off="constant 1")["on"] == pytest.approx(model)


def test_a_trace_of_times_has_a_unit() -> None:
    assert gap(gap="trace 1 2 s")["of"]["values"] == [1.0, 2.0]
    assert gap(gap="trace 1 2 ns")["of"]["values"] == pytest.approx([1e-9, 2e-9])


@pytest.mark.parametrize("key", ["gap", "on", "off"])
def test_a_poisson_time_without_a_unit_would_be_whole_seconds(key: str) -> None:
    requested = {"on": "constant 1", "off": "constant 1", key: "poisson 0.005"}
    with pytest.raises(ModelError, match="whole numbers of seconds") as found:
        gap(**requested)
    assert key in str(found.value)
    assert '"poisson 5 ms"' in str(found.value)
    assert '"exponential 0.005"' in str(found.value)


@pytest.mark.parametrize("text", ["constant 1/0", "constant 1/", "uniform 1 2 h", "imix"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ModelError):
        gap(gap=text)


def test_the_gaps_of_a_poisson_model_are_whole_numbers_of_its_unit(pair: Pair) -> None:
    work = task(gap="poisson 5 ms")
    [case] = flows.cases(work.parameters)
    [found] = judge(run_trial(work, case, flows.flows(work.parameters, case), *pair))
    gaps = np.diff(found.sent.time_ns)
    assert len(gaps) > 20
    assert (gaps > 0).any()
    assert np.allclose(gaps / 1e6, np.round(gaps / 1e6), atol=1e-4)


def test_the_fit_of_a_poisson_model_knows_its_unit() -> None:
    drawn = stats.poisson(5).rvs(5000, random_state=1) * 1e-3
    sent = np.concatenate([[0], np.cumsum(drawn * 1e9)]).astype(np.int64)
    requested = {"of": distributions.parse_time("poisson 5 ms", "gap"), "rate": False}
    other = {"of": distributions.parse_time("poisson 9 ms", "gap"), "rate": False}
    near, far = (fit.gap_distance(one, sent, sent) for one in (requested, other))
    assert near is not None and far is not None
    assert near < 0.03
    assert far > 0.3


def test_a_rate_is_of_each_packet_or_holds_for_a_while() -> None:
    uniform = {"model": "uniform", "minimum": 30e3, "maximum": 300e3}
    each = gap(packet_rate="uniform 30000 300000")
    held = gap(packet_rate="uniform 30000 300000", rate_interval_ms=1000)
    assert each == {"of": uniform, "rate": True}
    assert held == {"of": uniform, "rate": True, "hold_s": 1.0}
    line = "rate=uniform 30000 300000; rate_interval=0.25"
    assert gap(script=[line]) == held | {"hold_s": 0.25}


def test_the_mean_of_a_rate_that_holds_is_that_of_the_numbers(pair: Pair) -> None:
    """500 and 1500 packets/s in turn are 1000; each for one packet they would be 750."""
    expected = {0: 750, 10: 1000}
    for interval_ms, rate in expected.items():
        work = task(packet_rate="trace 500 1500", rate_interval_ms=interval_ms, duration_s=0.2)
        [case] = flows.cases(work.parameters)
        [found] = judge(run_trial(work, case, flows.flows(work.parameters, case), *pair))
        assert found.due == pytest.approx(0.2 * rate, abs=2)
        assert found.gap_distance is not None


@pytest.mark.parametrize(
    "text",
    [
        "exponential 2000", "uniform 0 1000", "uniform -5 5", "normal 1000 500", "poisson 3",
        "gamma 1 1000", "weibull 0.5 1000", "trace 1000 0",
    ],
)  # fmt: skip
def test_a_rate_without_a_mean_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match="rate"):
        gap(packet_rate=text)
    assert gap(packet_rate=text, rate_interval_ms=1)["hold_s"] == 1e-3


@pytest.mark.parametrize("text", ["cauchy 1000 1", "pareto 1 1000", "constant -5", "imix"])
@pytest.mark.parametrize("interval_ms", [0, 1000])
def test_what_is_no_rate_is_refused(text: str, interval_ms: int) -> None:
    with pytest.raises(ModelError, match="rate"):
        gap(packet_rate=text, rate_interval_ms=interval_ms)


def test_what_a_poisson_process_is_called_is_said_of_an_exponential_rate() -> None:
    with pytest.raises(ModelError, match='"exponential 1/2000" for a Poisson process'):
        gap(packet_rate="exponential 2000")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rate=constant 5; rate_interval=0", "above zero"),
        ("rate=constant 5; rate_interval=0.0001", "less than 0.001 s"),
        ("gap=constant 5; rate_interval=1", 'is for a "rate"'),
    ],
)
def test_an_interval_in_a_script_is_a_time_of_a_rate(line: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        gap(script=[line])
