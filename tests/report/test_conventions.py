"""One convention of means in `compare` and `tables`, and fields that say what they are of."""

from __future__ import annotations

import csv
import io
import math

import polars as pl
import pytest
from rich.console import Console

from pentathlon.evaluate import Evaluation, evaluate
from pentathlon.literature.filled.fill import fill
from pentathlon.literature.filled.write import grid
from pentathlon.report.export import files
from pentathlon.report.html import page as html
from pentathlon.report.terminal.screen import render
from tests.fakes.synthetic import Item, Maker, Synthetic, same

GETPID = Item("process.getpid", "time", {"opt_level": "3"}, "ns", "lower", 100.0, 0.0, 0.0)
OTHER = Item("process.fork_exec", "time", {}, "ns", "lower", 1000.0, 0.0, 0.0)


def planted(a: list[float], b: list[float], item: Item = GETPID) -> Synthetic:
    """The boot means of both systems, exactly."""
    maker = Maker(
        factors={"a": same, "b": same}, chosen=[item, OTHER], blocks=len(a), noise=0.0,
        iterations=1, warmup=0, guest_slowdown=1.0,
    )  # fmt: skip
    made = maker.make()
    values = {
        f"{block}.{name}.0": value
        for name, own in (("a", a), ("b", b))
        for block, value in enumerate(own)
    }
    chosen = pl.col("key") == item.key
    made.tables["samples"] = made.tables["samples"].with_columns(
        pl.when(chosen)
        .then(pl.col("boot").replace_strict(values))
        .otherwise("value")
        .alias("value")
    )
    return made


def getpid_line(evaluation: Evaluation) -> tuple[float, float, float]:
    """(value of a, value of b, Diff %) of the row of venkata2003's figure 26, in calls per us."""
    (table,) = [one for one in fill(evaluation) if one.id == "fig-26"]
    (line,) = [one for one in table.lines if one.key == GETPID.key]
    texts = [cell.text for cell in line.cells]
    texts.append(line.judgements[0].difference.replace("−", "-"))
    first, second, difference = (float(text.replace(",", "")) for text in texts)
    return first, second, difference


@pytest.mark.parametrize("slow", [100.0, 370.0, 20_000.0])
def test_tables_convert_the_mean_that_compare_shows(slow: float) -> None:
    """A boot far off makes the mean of rates another thing than the rate of the mean time."""
    evaluation = evaluate(planted([100.0, 110.0, 90.0], [100.0, 120.0, slow]))
    row = evaluation.row(GETPID.key)
    means = [summary.mean for summary in row.summaries]
    first, second, difference = getpid_line(evaluation)
    assert [first, second] == pytest.approx([1000 / mean for mean in means], rel=0.005)
    time = row.comparisons[0].difference_percent
    assert time is not None
    # The same difference, of times and of rates: their ratios are each other's inverse.
    assert difference == pytest.approx((1 / (1 + time / 100) - 1) * 100, abs=0.1)
    assert (time > 0) is (difference < 0)


def test_a_boot_far_off_is_flagged_alike_in_both() -> None:
    evaluation = evaluate(planted([100.0, 100.9, 99.1], [100.0, 100.0, 102.1]))
    summaries = evaluation.row(GETPID.key).summaries
    (table,) = [one for one in fill(evaluation) if one.id == "fig-26"]
    (line,) = [one for one in table.lines if one.key == GETPID.key]
    assert [cell.flagged for cell in line.cells] == [False, True]
    assert [one.within_one_percent for one in summaries] == [True, False]


# b is faster in five blocks of six and in the paired mean; one boot far off decides its mean.
OPPOSED = ([100.0] * 6, [70.0, 71.0, 70.0, 69.0, 70.0, 320.0])


@pytest.fixture(scope="module")
def opposed() -> Synthetic:
    return planted(*OPPOSED)


def test_means_that_say_the_opposite_of_the_blocks_are_called_so(opposed: Synthetic) -> None:
    evaluation = evaluate(opposed)
    (one,) = evaluation.row(GETPID.key).comparisons
    assert one.effect is not None and one.difference_percent is not None
    assert one.effect.percent > 1 and one.difference_percent > 1, "faster in blocks, longer time"
    assert any("the means show the opposite" in caution for caution in one.cautions)
    (other,) = evaluation.row(OTHER.key).comparisons
    assert not any("opposite" in caution for caution in other.cautions)


def test_small_differences_of_both_signs_are_no_contradiction() -> None:
    logs = [0.004, -0.003, -0.002, -0.002]
    evaluation = evaluate(planted([100.0] * 4, [100.0 * math.exp(x) for x in logs]))
    (one,) = evaluation.row(GETPID.key).comparisons
    assert not any("opposite" in caution for caution in one.cautions)


def shown(evaluation: Evaluation, width: int, *, full: bool = False) -> str:
    text = io.StringIO()
    render(evaluation, Console(file=text, width=width), full)
    return text.getvalue()


@pytest.mark.parametrize("width", [80, 160])
def test_the_terminal_says_what_each_field_is_of(opposed: Synthetic, width: int) -> None:
    text = shown(evaluate(opposed), width)
    flat = " ".join(text.split())
    assert "Diff %" not in text and "of blocks" in text, "one convention of signs"
    assert "‡" in text[text.index("Getpid") :]
    assert "‡ the means show the opposite" in flat
    plain = shown(evaluate(planted([100.0] * 3, [100.0] * 3)), width)
    assert "‡" not in plain


def test_the_files_say_what_each_field_is_of(opposed: Synthetic) -> None:
    evaluation = evaluate(opposed)
    for made in (files.to_markdown(evaluation), files.to_latex(evaluation)):
        plain = made.replace("\\", "")
        assert "Diff % of means b" in plain and "Speed % of paired blocks b" in plain
        assert "the means show the opposite" in plain
    page = html.render(evaluation, opposed)
    assert "of&nbsp;means" not in page and "of&nbsp;blocks" in page
    assert "the means show the opposite" in page
    assert "a verdict is of the ratios in paired blocks" in page, "the tables of the studies too"
    lines = list(csv.DictReader(io.StringIO(files.to_csv(evaluation), newline="")))
    cautions = {line["key"]: line["cautions"] for line in lines if line["system"] == "b"}
    assert "the means show the opposite" in cautions[GETPID.key]
    (table,) = [one for one in fill(evaluation) if one.id == "fig-26"]
    assert any("means shown" in note and "paired blocks" in note for note in grid(table).notes)
