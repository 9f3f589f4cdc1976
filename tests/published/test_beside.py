"""A result beside a published table: what corresponds, in our unit, and never a verdict."""

from __future__ import annotations

import json

import pytest

from pentathlon.evaluate.evaluation import evaluate
from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.verdict import Verdict
from pentathlon.published.beside import OWN, Beside, beside, beside_grid
from pentathlon.published.formats import to_markdown
from pentathlon.published.load import find_study
from pentathlon.published.problems import PublishedError
from pentathlon.report.papertables.mapped import filled_tables, mapped
from tests.synthetic import Item, Maker


@pytest.fixture(scope="module")
def own() -> Evaluation:
    return evaluate(Maker(blocks=3, iterations=2).make())


def compared(study: str, table: str, own: Evaluation) -> Beside:
    found = find_study(study)
    return beside(found, found.table(table), own, "my-result")


def test_calls_per_second_become_time_per_call(own: Evaluation) -> None:
    found = compared("venkata2003", "fig-26", own)
    assert len(found.comparisons) == 6
    getpid = found.comparisons[0]
    linux, second = getpid.values[:2]
    assert linux.value == pytest.approx(1000 / 1.486661667)
    assert (linux.unit, linux.difference_percent) == ("ns", None)
    assert second.difference_percent == pytest.approx((1.486661667 / 1.466027333 - 1) * 100)
    mine = [value for value in getpid.values if value.source == OWN]
    assert [value.system for value in mine] == ["uml-6.1", "uml-7.2", "host"]
    row = own.row("process.getpid.time")
    summary = row.summary("uml-7.2")
    assert summary is not None and mine[1].value == summary.mean
    comparison = row.comparison("uml-7.2")
    assert comparison is not None
    assert mine[1].difference_percent == pytest.approx(comparison.difference_percent)


def test_differences_follow_the_reference_of_the_paper(own: Evaluation) -> None:
    found = compared("martinovic2012", "table-03", own)
    read = next(one for one in found.comparisons if one.label == "v_Mrd - 8 MB")
    values = {value.system: value for value in read.values if value.source != OWN}
    assert values["Windows XP"].difference_percent is None
    assert values["Windows Vista"].value == pytest.approx(25_300)
    assert values["Windows Vista"].difference_percent == pytest.approx(15.0)
    assert {value.indicator for value in read.values if value.source == OWN} == {
        f"memory.read.bandwidth[block_bytes=8388608,variant={variant}]"
        for variant in ("avx512", "scalar")
    }


def test_what_was_not_measured_is_said(own: Evaluation) -> None:
    found = compared("martinovic2012", "table-03", own)
    odd = next(one for one in found.comparisons if one.label == "v_Mrd - 192 KB")
    assert odd.own_rows == 0
    assert "nothing in your result corresponds" in to_markdown(beside_grid(found))


def test_a_range_of_sizes_takes_every_row_in_it(own: Evaluation) -> None:
    found = compared("venkata2003", "memory-bandwidth", own)
    cache = next(one for one in found.comparisons if one.label == "Cache, read")
    assert cache.own_rows == 2 * 10  # 1 KB to 512 KB in powers of two, two variants
    assert cache.values[0].value == pytest.approx(2888.2118 * 1.048576)


def test_no_verdict_and_always_the_caution(own: Evaluation) -> None:
    found = compared("venkata2003", "fig-26", own)
    text = to_markdown(beside_grid(found)) + json.dumps(found.model_dump(mode="json"))
    assert "The machines differ" in text and "no verdict is given" in text
    for verdict in Verdict:
        assert verdict.value not in text.replace("no verdict", "")


def test_a_table_without_counterparts_is_refused_with_those_that_have(own: Evaluation) -> None:
    with pytest.raises(PublishedError, match="table-03, table-10"):
        compared("martinovic2012", "table-07", own)
    with pytest.raises(PublishedError, match="no row that corresponds"):
        compared("salah2010", "text-results", own)


COMPRESS = Item("cpu.compress", "rate", {"file_format": "zlib"}, "MB/s", "higher", 80.0)


def test_rows_that_the_report_fills_stand_beside_the_paper_in_its_unit() -> None:
    result = evaluate(Maker(blocks=3, iterations=2, chosen=[COMPRESS]).make())
    found = find_study("martinovic2012")
    rows = mapped("martinovic2012", "table-05", result)
    made = beside(found, found.table("table-05"), result, "mine", mapped=rows)
    [measured] = [one for one in made.comparisons if one.own_rows]
    printed = [value for value in measured.values if value.source != OWN]
    mine = [value for value in measured.values if value.source == OWN]
    assert [value.printed.split()[-1] for value in printed] == [printed[0].unit] * len(printed)
    assert {value.unit for value in (*printed, *mine)} == {printed[0].unit}
    assert len(mine) == 3
    [entry] = [one for one in rows if one.indicator == COMPRESS.key]
    assert [value.value for value in mine] == [value for _, value, _ in entry.values]
    summary = result.row(COMPRESS.key).summary("host")
    assert summary is not None and mine[2].difference_percent is not None
    # Rows of the paper that nothing was measured for are there too, and say so.
    assert len(made.comparisons) > 5
    assert "nothing in your result corresponds" in to_markdown(beside_grid(made))


def test_every_table_of_memory_cpu_and_disk_has_counterparts() -> None:
    tables = {f"table-{number:02}" for number in (3, 4, 5, 6, 8, 10, 11, 12, 13, 15)}
    assert tables <= set(filled_tables("martinovic2012"))


def test_a_table_without_counterparts_names_those_that_have_some(own: Evaluation) -> None:
    found = find_study("martinovic2012")
    with pytest.raises(PublishedError, match="table-08"):
        beside(
            found,
            found.table("table-07"),
            own,
            "mine",
            filled=filled_tables("martinovic2012"),
        )
