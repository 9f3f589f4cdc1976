"""Installs that differ are the units of every interval: of the rows, of the means, of the gate."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.results.gate import of_evaluation
from pentathlon.evaluate.rule import Rule
from tests.fakes.synthetic import Item, Maker, Synthetic, same

ITEMS = [
    Item("process.getpid", "time", {}, "ns", "lower", 60.0, 0.004, 0.002),
    Item("memory.read", "bandwidth", {}, "MB/s", "higher", 9000.0, 0.004, 0.002),
]
INSTALL_SD = 0.01
"""What an install fixes, in each metric: more than twice what differs between boots."""


def study(seed: int, installs: int, blocks: int, *, labelled: bool = True) -> Synthetic:
    """Two equal systems, each installed several times; `labelled`: samples name their install."""
    made = Maker(
        factors={"a": same, "b": same}, chosen=ITEMS, blocks=blocks, iterations=2, warmup=0,
        seed=seed,
    ).make()  # fmt: skip
    generator = np.random.default_rng([seed, 1])
    names = [
        {"system": system, "key": item.key, "number": number,
         "shift": float(np.exp(generator.normal(0, INSTALL_SD)))}
        for system in "ab" for item in ITEMS for number in range(installs)
    ]  # fmt: skip
    samples = (
        made.tables["samples"]
        .with_columns((pl.col("block").cast(pl.Int64) * installs // blocks).alias("number"))
        .join(pl.DataFrame(names), on=["system", "key", "number"], maintain_order="left")
        .with_columns(
            pl.col("value") * pl.col("shift"),
            (pl.col("number") if labelled else pl.lit(0)).cast(pl.String).alias("install"),
        )
        .drop("number", "shift")
    )
    return Synthetic(made.plan, made.tables | {"samples": samples})


def alarms(trials: int, *, labelled: bool) -> tuple[int, int]:
    """Own intervals that exclude 0, and means over everything that do, in studies of equals."""
    rows = means = 0
    for seed in range(trials):
        evaluation = evaluate(study(seed, 4, 12, labelled=labelled))
        for row in evaluation.rows:
            effect = row.comparisons[0].effect
            rows += effect.low_percent > 0 or effect.high_percent < 0
        whole = evaluation.aggregates[0].everything
        means += whole.low_percent > 0 or whole.high_percent < 0
    return rows, means


@pytest.mark.slow
def test_false_alarms_are_right_with_installs_and_far_too_many_without() -> None:
    trials = 20
    rows, means = alarms(trials, labelled=True)
    blind_rows, blind_means = alarms(trials, labelled=False)
    # At 5 %: 40 rows give 7 or more in less than 1 % of such tests, 20 means 5 or more.
    assert rows < 7
    assert means < 5
    assert blind_rows >= 7
    assert blind_means >= 5


def test_every_interval_counts_the_installs() -> None:
    evaluation = evaluate(study(7, 4, 12))
    row = evaluation.rows[0]
    effect = row.comparisons[0].effect
    assert (effect.blocks, effect.installs, len(effect.units)) == (12, 4, 4)
    assert effect.sample == effect.units
    groups = np.array(effect.log_ratios).reshape(4, 3).mean(axis=1)
    assert effect.units == pytest.approx(groups.tolist())
    assert [boot.install for boot in row.summaries[0].boot_means] == list("000111222333")
    rule = Rule(1.0, 0.95)
    [first, *_] = of_evaluation(evaluation, rule, 0.01)
    whole = evaluation.aggregates[0].everything
    assert whole.blocks == 12
    # The gate's p value is that of the 4 installs: it is larger than that of 12 blocks.
    blocks = evaluate(study(7, 4, 12, labelled=False))
    assert of_evaluation(blocks, rule, 0.01)[0].p_not_worse != first.p_not_worse


def test_one_install_is_no_level() -> None:
    effect = evaluate(study(7, 1, 6)).rows[0].comparisons[0].effect
    assert (effect.installs, effect.units) == (1, ())
    assert effect.sample == effect.log_ratios
