"""One pair of systems is judged alike, whether the others of its result are looked at or not."""

from __future__ import annotations

import polars as pl
import pytest

from pentathlon.evaluate import evaluate
from tests.fakes.synthetic import Item, Maker, Synthetic, same

CASES = [
    Item("w.shared", "time", {"n": n}, "ns", "lower", 100.0, 0.01, 0.004) for n in range(3)
] + [Item("w.other", "time", {}, "ns", "lower", 100.0, 0.01, 0.004)]


def faster(item: Item) -> float:
    return 1.2 if item.workload == "w.shared" else 1.02


@pytest.fixture(scope="module")
def three() -> Synthetic:
    """Of `w.shared`, case 1 is measured by c alone, case 2 by a alone."""
    made = Maker(factors={"a": same, "b": faster, "c": same}, chosen=CASES, blocks=6).make()
    case, system = pl.col("case"), pl.col("system")
    lacking = ((case == "n=1") & (system != "c")) | ((case == "n=2") & (system != "a"))
    made.tables["samples"] = made.tables["samples"].filter(~lacking)
    return made


def pair(made: Synthetic, reference: str, other: str) -> Synthetic:
    """What `Result.focused` does."""
    names = [reference, other]
    chosen = tuple(one for one in made.plan.study.systems if one.name in names)
    study = made.plan.study.model_copy(update={"reference": reference, "systems": chosen})
    own = {name: table.filter(pl.col("system").is_in(names)) for name, table in made.tables.items()}
    return Synthetic(made.plan.model_copy(update={"study": study}), own)


@pytest.mark.parametrize("other", ["b", "c"])
def test_a_pair_has_one_mean_and_one_judgement(three: Synthetic, other: str) -> None:
    whole, alone = evaluate(three), evaluate(pair(three, "a", other))
    found = next(one for one in whole.aggregates if one.system == other)
    # The plan's hash stays that of the whole study in a real view, and in no guard here.
    assert found.model_copy(update={"guards": ()}) == alone.aggregates[0].model_copy(
        update={"guards": ()}
    )
    assert next(one for one in whole.pairs if one.system == other) == alone.pairs[0]
    for row in alone.rows:
        own, other_row = row.comparison(other), whole.row(row.key).comparison(other)
        assert own is not None and other_row is not None
        assert other_row.verdict is own.verdict
        assert other_row.effect is None or own.effect is not None
        if own.effect is not None and other_row.effect is not None:
            assert own.effect.log_ratios == other_row.effect.log_ratios
            assert own.effect.adjusted_low_percent == other_row.effect.adjusted_low_percent


def test_what_neither_of_a_pair_measured_takes_none_of_its_weight(three: Synthetic) -> None:
    of_b = evaluate(three).aggregates[0]
    everything = of_b.everything
    assert everything is not None
    # w.shared: n=0 on both; n=2 on a alone; n=1 on c alone, which is not of this pair.
    assert {one.key: one.weight for one in of_b.left_out} == {"w.shared.time[n=2]": 0.25}
    assert everything.weight == pytest.approx(0.75)
