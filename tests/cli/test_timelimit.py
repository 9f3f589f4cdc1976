"""`run --limit`: blocks and iterations by what a pilot took."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pentathlon.cli import timelimit
from pentathlon.cli.exits import InputError
from pentathlon.cli.spread_pilot import SpreadPilot
from pentathlon.evaluate import evaluate
from pentathlon.evaluate.planning.allocation import Components
from pentathlon.evaluate.planning.decidable import decidable
from pentathlon.evaluate.planning.within_limit import Spread
from pentathlon.evaluate.rule import Rule
from pentathlon.procedure.pilot import SystemEstimate
from pentathlon.protocol import agent
from pentathlon.store.query import load_result
from pentathlon.study.catalog import parse_catalog
from pentathlon.study.load import load_study
from pentathlon.study.plan import make_plan
from tests.cli.conftest import FAKE, STUDY, Shop


@pytest.fixture
def ready(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A study of two systems whose boots take 1 s and whose work takes 4 s, as planned."""
    for name, value in shop.variables().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(shop.directory)
    catalog = parse_catalog(agent.catalog(FAKE))
    loaded = load_study(shop.write(STUDY.replace("blocks = 2", "blocks = 4")), catalog)
    described = {"kind": "local", "layer": "host", "kernel": "x", "options": {}, "notes": []}
    targets = {name: SimpleNamespace(describe=lambda: described) for name in ("a", "b")}
    plan = make_plan(loaded.study, catalog, dict.fromkeys(targets, described))
    count = len(plan.steps["a"])
    estimate = SystemEstimate(
        boot_s=1.0,
        steps_s=dict.fromkeys(range(count), 4.0 / count),
        repeated_s=dict.fromkeys(range(count), 1.0 / count),
    )
    return SimpleNamespace(
        loaded=loaded, catalog=catalog, plan=plan, targets=targets, notes=[],
        estimates={"a": estimate, "b": estimate},
    )  # fmt: skip


def without() -> str:
    """No pilot that shows a spread."""
    return "it was left out"


def pilot(between: float, within: float, correction: float = 1.0) -> SpreadPilot:
    side = Components(within, None)
    return SpreadPilot([Spread(1.0, between, (side, side), 1, 1.0, 0.05)], correction)


@pytest.mark.parametrize(
    ("limit_s", "blocks", "iterations"),
    [
        (109.0, 10, 3),  # A block of both takes 2 (1 + 4) s.
        (1000.0, 100, 3),
        (80.0, 10, 2),  # With 2 iterations and one of warm-up 2 (1 + 3) s.
        (79.0, 13, 1),  # With one 2 (1 + 2) s.
        (20.0, 3, 1),
    ],
)
def test_blocks_come_before_iterations(
    ready: Any, limit_s: float, blocks: int, iterations: int
) -> None:
    before = ready.plan
    timelimit.fit(ready, limit_s, without)
    procedure = ready.plan.study.procedure
    assert (procedure.blocks, procedure.iterations) == (blocks, iterations)
    assert len(ready.plan.blocks) == blocks
    assert all(step.iterations == iterations for step in ready.plan.steps["a"])
    assert ready.plan.hash() != before.hash()
    assert f"{blocks} blocks" in ready.notes[-1] and "after a first run: it was" in ready.notes[-1]
    total = ready.estimates["a"].total_s
    assert 2 * total * blocks <= limit_s and total == pytest.approx(2.0 + iterations)


def test_where_boots_vary_there_are_blocks_and_where_samples_vary_iterations(ready: Any) -> None:
    timelimit.fit(ready, 400.0, lambda: pilot(between=1e-4, within=0.0))
    procedure = ready.plan.study.procedure
    # A block takes 2 (1 + 1 + 1) s with one iteration beside one of warm-up.
    assert (procedure.blocks, procedure.iterations) == (66, 1)
    assert "66 blocks and 1 iteration in place of 3" in ready.notes[-1]
    assert "By the spread in the pilot, half of 1 row will show" in ready.notes[-1]
    timelimit.fit(ready, 400.0, lambda: pilot(between=0.0, within=1e-4))
    assert ready.plan.study.procedure.iterations > 3
    total = ready.estimates["a"].total_s
    assert total == pytest.approx(2.0 + ready.plan.study.procedure.iterations)


def test_blocks_that_took_longer_than_estimated_are_fewer(ready: Any) -> None:
    timelimit.fit(ready, 600.0, lambda: pilot(1e-4, 0.0, correction=2.0))
    assert ready.plan.study.procedure.blocks == 50
    assert ready.estimates["a"].total_s == pytest.approx(6.0)


def test_blocks_of_which_too_few_fit_are_the_fewest(ready: Any) -> None:
    timelimit.fit(ready, 20.0, lambda: pilot(1e-4, 0.0, correction=9.0))
    procedure = ready.plan.study.procedure
    assert (procedure.blocks, procedure.iterations) == (3, 1)
    assert "They may take longer than that" in ready.notes[-1]


@pytest.mark.slow
def test_the_pilot_of_a_run_shows_the_spread(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timelimit, "MOST_BLOCKS", 4)  # Hundreds would fit into the time.
    study = shop.write(STUDY.replace("blocks = 2", "blocks = 4"))
    done = shop.call("run", study, "--limit", "3m", "--no-report")
    assert done.code == 0, done.err
    assert "3 short blocks show the spread" in done.err
    result = load_result(shop.result())
    (note,) = [one for one in result.notes() if one.startswith("Within 3 min")]
    assert "By the spread in the pilot" in note
    assert result.study.procedure.blocks == len(result.plan.blocks)
    samples = result.samples()
    assert samples["block"].n_unique() == result.study.procedure.blocks


def test_a_time_for_less_than_three_blocks_is_refused(ready: Any) -> None:
    with pytest.raises(InputError, match=r"too short: 3 blocks are needed, and one takes about 6"):
        timelimit.fit(ready, 17.0, without)


def test_a_pilot_that_failed_cannot_say_how_long_it_takes(ready: Any) -> None:
    ready.estimates["b"].problem = "it did not boot"
    with pytest.raises(InputError, match="that of a, b failed: it did not boot"):
        timelimit.fit(ready, 100.0, without)


@pytest.mark.parametrize("text", ["", "x", "2 d", "0s", "25h", "-3m"])
def test_what_is_no_time_is_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match="give a time from 1s to 24h"):
        timelimit.seconds_of(text)
    assert timelimit.seconds_of(" 1.5 m ") == 90.0


def test_options_that_exclude_it(shop: Shop) -> None:
    study = shop.write()
    for words in (["--blocks", "3"], ["--no-pilot"]):
        done = shop.call("run", study, "--limit", "1m", *words)
        assert done.code == 2 and "leave out --blocks and --no-pilot" in done.err


def test_an_earlier_run_shows_what_will_be_decidable(shop: Shop, ready: Any) -> None:
    study = shop.write(STUDY.replace("blocks = 2", "blocks = 4"))
    first = shop.call("run", study, "--no-pilot", "--no-report")
    assert first.code == 0, first.err
    timelimit.fit(ready, 100.0, without)
    assert f"By the spread of results/{shop.result().name}, half of" in ready.notes[-1]
    rows = evaluate(load_result(shop.result())).rows
    rule = Rule.declared(load_result(shop.result()).study)
    few, many = decidable(rows, rule, 5), decidable(rows, rule, 50)
    assert few is not None and many is not None and few.rows == many.rows > 0
    assert many.difference_percent < few.difference_percent
    assert few.equality_percent > few.difference_percent
    assert decidable([], rule, 5) is None
