"""A study whose iterations are divided into visits, as its user plans, runs and reads it."""

from __future__ import annotations

import pytest

from pentathlon.store.query import load_result
from tests.cli.conftest import STUDY, Shop

pytestmark = pytest.mark.slow

VISITS = STUDY.replace("iterations = 3", "iterations = 3\nvisits = 2\nwarmup = 2")


@pytest.mark.parametrize("pairing", ["none", "steps"])
def test_each_iteration_is_measured_once(shop: Shop, pairing: str) -> None:
    shop.write(VISITS.replace("visits = 2", f'visits = 2\npairing = "{pairing}"'))
    done = shop.real("run", "study.toml", "--yes", "--no-report")
    assert done.code == 0, done.err
    samples = load_result(shop.result()).samples()
    places = ["system", "block", "key", "phase"]
    own = samples.group_by(places).agg("iteration").to_dicts()
    assert own
    for one in own:
        count = {"measure": 3, "warmup": 4}[one["phase"]]
        assert sorted(one["iteration"]) == list(range(count)), one
    orders = samples.filter(workload="fake.beta", phase="measure").group_by("system", "block")
    assert all(
        len(set(one["workload_order"])) == 2 for one in orders.agg("workload_order").to_dicts()
    )
    methods = shop.call("report", shop.result(), "--format", "methods")
    assert methods.code == 0, methods.err
    text = " ".join((shop.result() / "methods.md").read_text().split())
    assert "divided into up to 2 visits spread over the process start" in text


def test_the_plan_states_them(shop: Shop) -> None:
    shop.write(VISITS)
    plan = shop.call("plan", "study.toml")
    assert plan.code == 0, plan.err
    assert plan.out.count("3 in 2 visits, each + 2 warm-up") == 3


def test_a_limit_is_refused(shop: Shop) -> None:
    shop.write(VISITS)
    done = shop.call("run", "study.toml", "--limit", "1m", "--yes")
    assert done.code == 2 and done.err.count("\n") <= 3
    assert "leave out visits in the study, or --limit" in " ".join(done.err.split())
