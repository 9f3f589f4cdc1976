"""A result beside a published table: one mapping with `tables`, one unit, and never a verdict."""

from __future__ import annotations

import json

import pytest

from pentathlon.evaluate.evaluation import evaluate
from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.verdict import Verdict
from pentathlon.literature.comparison import (
    OWN,
    Comparison,
    PublishedComparison,
    Value,
    compare_published,
    comparison_grid,
)
from pentathlon.literature.filled.fill import fill
from pentathlon.literature.filled.load import paper, papers
from pentathlon.literature.filled.mapped import filled_tables, mapped
from pentathlon.literature.load import find_study
from pentathlon.literature.problems import PublishedError
from pentathlon.tables.markdown import to_markdown
from tests.fakes import synthetic_papers as planted
from tests.fakes.synthetic import Item, Maker, items

GAMES = tuple(
    Item("cpu.game", "rate", {"test": test, "threads": threads}, "frames/s", "higher", rate)
    for test in ("cpu1", "cpu2")
    for threads, rate in ((1, 10.0), (2, 19.0))
)
COMPRESS = Item("cpu.compress", "rate", {"file_format": "zlib"}, "MB/s", "higher", 80.0)
LOAD = tuple(
    Item("memory.after_boot", name, {}, "MB", better, value)
    for name, better, value in (("used", "lower", 210.0), ("visible", "higher", 2048.0))
)
TRAFFIC = tuple(
    Item(
        "network.traffic",
        name,
        {"protocol": protocol, "ip_version": 4, "size_bytes": size},
        unit,
        better,
        value,
    )
    for protocol in ("tcp", "udp")
    for size in (64, 512)
    for name, unit, better, value in (
        ("throughput", "kbit/s", "higher", 90.0 * size),
        ("round_trip", "ms", "lower", 0.2),
        ("jitter", "ms", "lower", 0.01),
        ("ditg_jitter", "ms", "lower", 0.01),
        ("cpu_sender", "%", "lower", 40.0),
    )
)


@pytest.fixture(scope="module")
def own() -> Evaluation:
    chosen = [
        *items(sizes=(1024, 1 << 20)),
        *planted.memory_tables(),
        *GAMES,
        COMPRESS,
        *LOAD,
        *TRAFFIC,
        *planted.forwarding(),
    ]
    return evaluate(Maker(blocks=3, iterations=2, chosen=chosen).make())


def compared(study: str, table: str, own: Evaluation) -> PublishedComparison:
    found = find_study(study)
    declared = paper(study).find(table)
    if declared is None:
        return compare_published(
            found, found.table(table), own, "mine", (), others=filled_tables(study)
        )
    rows, notes = mapped(declared, own)
    return compare_published(found, declared.table, own, "mine", rows, notes=notes)


def row(found: PublishedComparison, label: str) -> Comparison:
    return next(one for one in found.comparisons if one.label.startswith(label))


def mine(one: Comparison) -> list[Value]:
    return [value for value in one.values if value.source == OWN]


def printed(one: Comparison) -> list[Value]:
    return [value for value in one.values if value.source != OWN]


def test_both_commands_show_the_same_numbers(own: Evaluation) -> None:
    """Every value of `tables` is that of `published compare`, in the same unit."""
    seen = 0
    for filled in fill(own):
        for name in filled.ids:
            declared = paper(filled.study).find(name)
            assert declared is not None
            rows, _ = mapped(declared, own)
            known = {
                (one.metric, one.system): (one.value, one.unit) for row in rows for one in mine(row)
            }
            for line in filled.lines:
                for system, cell in zip(filled.systems, line.cells, strict=True):
                    found = known.get((line.key or line.label, system))
                    if found is not None and cell.value is not None:
                        assert found == (cell.value, line.unit) or len(filled.ids) > 1
                        assert found[0] == pytest.approx(cell.value) or found[1] != line.unit
                        seen += 1
    assert seen > 150


@pytest.mark.parametrize("table", ["table-03", "table-10"])
@pytest.mark.parametrize("label", ["v_Mrd - 8 MB", "v_Mwr - 4 KB", "v_Mcp - 16 MB", "v_Mla"])
def test_the_block_rows_are_filled_from_the_block_set(
    own: Evaluation, table: str, label: str
) -> None:
    one = row(compared("martinovic2012", table, own), label)
    assert one.own_rows == 1
    assert {value.metric.partition("[")[0] for value in mine(one)} <= {
        f"memory.blocks.{name}" for name in ("read", "write", "copy", "random")
    }


def test_the_game_tests_are_those_of_several_threads(own: Evaluation) -> None:
    found = compared("martinovic2012", "table-05", own)
    for label in ("v_CPU1", "v_CPU2"):
        assert {value.metric for value in mine(row(found, label))} == {
            f"cpu.game.rate[test={label[2:].lower()},threads=2]"
        }


def test_differences_follow_the_reference_of_the_paper(own: Evaluation) -> None:
    one = row(compared("martinovic2012", "table-03", own), "v_Mrd - 8 MB")
    values = {value.system: value for value in printed(one)}
    assert values["Windows XP"].difference_percent is None
    assert values["Windows Vista"].value == pytest.approx(25.3)
    assert values["Windows Vista"].difference_percent == pytest.approx(15.0)
    assert (one.direction, one.group) == ("higher", "v")


def test_printed_values_stand_in_the_unit_of_ones_own(own: Evaluation) -> None:
    """Table 7 prints GTexels/s and s, where Table 14 and ours have MTexels/s and µs."""
    fill_rate = row(compared("martinovic2012", "table-07", own), "3D - Fill Rate")
    assert printed(fill_rate)[0].value == pytest.approx(37_100)
    latency = row(compared("venkata2003", "page-fault-latency", own), "Cache-RAM, ram access")
    assert printed(latency)[0].value == pytest.approx(3.088)
    pi = row(compared("martinovic2012", "table-13", own), "t_CPUs16")
    assert pi.values[0].unit == "min" and printed(pi)[0].value == pytest.approx(30.9)


def test_what_was_not_measured_is_reported(own: Evaluation) -> None:
    found = compared("martinovic2012", "table-06", own)
    assert row(found, "t_CPUmd").own_rows == 0
    assert "nothing in your result corresponds" in to_markdown(comparison_grid(found))


def test_the_initial_memory_load_stands_beside_both_experiments(own: Evaluation) -> None:
    one = row(compared("martinovic2012", "text-memory-load", own), "Initial memory load")
    assert [value.value for value in printed(one)] == [259, 1059, 516, 235, 756, 348]
    assert printed(one)[3].system == "Windows XP (experiment 2)"
    assert mine(one)[0].value == pytest.approx(210, rel=0.1)


@pytest.mark.parametrize("table", [2, 9, 16, 17, 18, 19, 20, 21])
def test_the_machines_of_the_paper_stand_beside_ones_own(own: Evaluation, table: int) -> None:
    found = compared("martinovic2012", str(table), own)
    assert all(one.values for one in found.comparisons)
    if table not in (18, 20):
        processor = row(found, "CPU")
        assert "i7" in printed(processor)[0].words or table not in (2, 17)
        assert mine(processor)[0].words.startswith("Intel(R) Xeon(R)")
        assert mine(processor)[0].value is None


def test_links_of_a_column_are_told_apart() -> None:
    made = evaluate(
        Maker(
            factors={"old": lambda _: 1.0},
            ends={"old": ("xp", "server-2003")},
            chosen=list(planted.file_tasks()),
            blocks=2,
        ).make()
    )
    one = row(compared("tolly2007", "b1-copy-wan", made), "10 Mbps, 50 ms: time")
    assert [value.value for value in printed(one)] == [31.24, 12.91, 32.18, 9.47]
    assert printed(one)[1].system == "Windows Server 2003, Windows Vista"


def test_every_study_can_be_compared(own: Evaluation) -> None:
    for one in papers():
        assert filled_tables(one.study.id)
        for name in filled_tables(one.study.id):
            assert compared(one.study.id, name, own).comparisons


def test_the_text_of_vdovjak2021_stands_beside_the_largest_differences(own: Evaluation) -> None:
    found = compared("vdovjak2021", "text-results", own)
    one = row(found, "TCP bandwidth")
    assert [value.value for value in printed(one)] == [84.47, 38.61]
    first, second, _ = mine(one)
    assert first.words == "reference" and first.value is None
    keys = [f"network.traffic.throughput[protocol=tcp,ip_version=4,size_bytes={n}]" for n in
            (64, 512)]  # fmt: skip
    comparisons = [own.row(key).comparison(second.system) for key in keys]
    differences = [one.difference_percent or 0.0 for one in comparisons if one is not None]
    assert second.value == max(differences, key=abs)


def test_the_text_of_salah2010_stands_beside_capacity_and_knee(own: Evaluation) -> None:
    found = compared("salah2010", "text-results", own)
    capacity = row(found, "Maximum forwarding capacity")
    assert [(value.system, value.value) for value in printed(capacity)] == [
        ("Linux", 350),
        ("Windows XP", 75),
    ]
    assert mine(capacity)[0].value == pytest.approx(planted.FORWARD_CAPACITY[0], rel=0.1)
    assert (capacity.group, capacity.direction) == ("v", "higher")
    beside_simplex = row(found, "Simplex: change of the capacity")
    lost = 100 * (planted.FORWARD_CAPACITY[1] / planted.FORWARD_CAPACITY[0] - 1)
    assert mine(beside_simplex)[0].value == pytest.approx(lost, abs=2)
    # Every load has the same delay in the planted result, so there is no rise.
    assert "not up to 40" in " ".join(found.cautions)


def test_no_verdict_and_always_the_caution(own: Evaluation) -> None:
    found = compared("venkata2003", "fig-26", own)
    text = to_markdown(comparison_grid(found)) + json.dumps(found.model_dump(mode="json"))
    assert "The machines differ" in text and "no verdict is given" in text
    directions = {"higher", "lower"}
    for verdict in {one.value for one in Verdict} - directions:
        assert verdict not in text.replace("no verdict", "")


def test_a_table_that_nothing_fills_is_refused_with_those_that_have_rows(own: Evaluation) -> None:
    with pytest.raises(PublishedError, match="table-02, table-03"):
        compared("martinovic2012", "table-01", own)
    with pytest.raises(PublishedError, match="no row that corresponds"):
        compared("salah2010", "text-setup", own)


def test_every_table_of_results_of_martinovic2012_is_mapped() -> None:
    found = find_study("martinovic2012")
    wanted = {one.id for one in found.tables if one.kind in ("results", "inventory")}
    assert wanted <= set(filled_tables("martinovic2012"))
