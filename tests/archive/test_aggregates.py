"""Rows of boots: what is computed for plain values is what is computed for all others."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pentathlon.archive.rows import AGGREGATES, PLAIN, _boots
from pentathlon.evaluate.estimate import counted
from pentathlon.store.query import load_result
from tests.archive.conftest import Make


def table(values: list[float]) -> pl.DataFrame:
    texts = ("workload", "metric", "case_json", "unit", "direction", "install", "layer")
    return pl.DataFrame({**{name: ["x"] * len(values) for name in texts}, "value": values})


def figures(values: list[float], *, plain: bool) -> dict[str, float]:
    row = table(values).select(AGGREGATES[plain]).row(0, named=True)
    return {name: row[name] for name in ("n", "mean", "log_mean", "sd", "lowest")}


@given(st.lists(st.floats(1e-100, 1e100), min_size=2, max_size=30))
def test_plain_values_have_the_same_figures_either_way(values: list[float]) -> None:
    assert table(values).select(PLAIN).item()
    assert figures(values, plain=True) == pytest.approx(
        figures(values, plain=False), rel=1e-12, abs=1e-12 * max(values)
    )


@pytest.mark.parametrize("value", [0.0, -1.0, 1e200, 1e-200, math.inf, math.nan])
def test_a_single_value_that_is_not_plain_is_found(value: float) -> None:
    assert not table([1.0, value, 2.0]).select(PLAIN).item()


@pytest.mark.parametrize("checksums", [(None,), ("x",), ("x", "y"), ("y", None), ("y", "x")])
def test_a_boot_has_every_checksum_of_its_samples(
    night: Make, checksums: tuple[str | None, ...]
) -> None:
    result = load_result(night())
    place = pl.int_range(pl.len()).over("system", "key", "block") % len(checksums)
    chosen = pl.Series(checksums, dtype=pl.String)
    used = counted(result.samples())
    used = used.with_columns(chosen.gather(used.select(place).to_series()).alias("checksum"))
    boots = _boots(used, result)
    assert boots.height > 0
    assert boots["n"].min() >= len(checksums)  # type: ignore[operator]
    wanted = ",".join(sorted({one for one in checksums if one is not None}))
    assert set(boots["checksums"]) == {wanted}
