"""The studies' tables: what they name exists, values are those of the evaluation, gaps say why."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.model_curves import CacheCheck
from pentathlon.literature.filled import figures
from pentathlon.literature.filled.fill import fill
from pentathlon.literature.filled.load import papers
from pentathlon.literature.filled.section import sections
from pentathlon.literature.filled.units import convert
from pentathlon.literature.filled.write import data_grid, to_json
from pentathlon.protocol import agent
from pentathlon.report.export import files
from pentathlon.report.html import overlays, sweeps
from pentathlon.report.html import page as html
from pentathlon.store import schema
from pentathlon.study.catalog import parse_catalog
from pentathlon.tables.comma_separated import to_csv
from tests.fakes import synthetic_papers as planted
from tests.fakes.synthetic import Item, Maker, items, newer_kernel, same

TABLES = {
    "salah2010": {f"figure-{n:02}" for n in (2, 3, 4, 5)} | {"text-results", "testbed"},
    "vdovjak2021": {
        *(f"figure-02-tcp-{name}" for name in ("bandwidth", "cpu", "delay", "jitter")),
        *(f"figure-02-udp-{name}" for name in ("bandwidth", "cpu", "jitter")),
        "figure-03-udp-delay",
        "text-results",
        "table-01",
    },
    "tolly2007": {
        "appendix-a",
        "b1-copy-wan",
        "b2-open-wan",
        "b3-roaming-wan",
        "b4-sharepoint-wan",
        "b5-copy-lan",
        "b6-open-lan",
    },
    "martinovic2012": {f"table-{n:02}" for n in range(2, 22)}
    | {"text-memory-load", "figure-05", "figure-06"},
    "venkata2003": {
        "memory-bandwidth",
        "page-fault-latency",
        "code-size",
        "fig-22",
        "fig-26",
        "hardware",
        "fig-32",
        "text",
    },
}
SYSTEMS = {"uml-6.1": same, "uml-7.2": newer_kernel}


@pytest.fixture(scope="module")
def result():
    chosen = [*items(sizes=(1024, 1 << 20)), *planted.everything()]
    return Maker(factors=SYSTEMS, chosen=chosen, iterations=2).make()


@pytest.fixture(scope="module")
def evaluation(result):
    return evaluate(result)


@pytest.fixture(scope="module")
def filled(evaluation):
    return {(one.study, one.id): one for one in fill(evaluation)}


def small(**settings):
    """Latency in the caches, on two systems."""
    chosen = [
        Item("memory.levels", "latency", {"level": level, "threads": "one"}, "ns", "lower", value)
        for level, value in (("memory", 90.0), ("L1", 1.2))
    ]
    return Maker(factors=SYSTEMS, chosen=chosen, **settings).make()


def test_every_table_of_the_studies_is_declared():
    found = {paper.study.id: {one.id for one in paper.tables} for paper in papers()}
    assert found == TABLES


def test_every_row_of_the_papers_is_filled_by_something():
    for paper in papers():
        for declared in paper.tables:
            named = {entry.row.row for entry in declared.entries}
            if declared.table.kind == "results" and declared.table.systems:
                assert named == {row.id for row in declared.table.row}, declared.table.id


def test_every_figure_from_2_to_42_has_a_place():
    (paper,) = [one for one in papers() if one.study.id == "venkata2003"]
    named = [one.printed_as for one in (*paper.figures, *paper.listings)]
    numbers = [int(number) for text in named for number in re.findall(r"\d+", text)]
    assert sorted(set(numbers)) == list(range(1, 43))


def test_values_are_converted_means_of_boots(evaluation, filled):
    line = filled["venkata2003", "fig-26"].lines[0]
    row = evaluation.row(line.key)
    boots = [boot.value for boot in row.summary("uml-6.1").boot_means]
    shown = float(line.cells[0].text.replace(",", ""))
    assert shown == pytest.approx(1000.0 / (sum(boots) / len(boots)), rel=0.005)


def test_the_difference_has_the_papers_direction(filled):
    """getpid is 32 % faster: less time, but more calls per second."""
    line = filled["venkata2003", "fig-26"].lines[0]
    assert float(line.judgements[0].difference.replace("+", "")) == pytest.approx(32, abs=4)
    assert line.judgements[0].verdict.value == "faster-by-delta"


def test_calls_and_operations_stand_with_and_without_optimisation(filled):
    for table, times in (("fig-26", 1.2), ("fig-32", 5.0)):
        lines = {line.label: line for line in filled["venkata2003", table].lines if line.measured}
        optimised = [label for label in lines if ", with optimisation" in label]
        assert len(optimised) == len(lines) / 2 >= 6
        for label in optimised:
            other = label.replace(", with ", ", without ")
            fast, slow = (
                float(lines[one].cells[0].text.replace(",", "")) for one in (label, other)
            )
            assert fast / slow == pytest.approx(times, rel=0.05), label


def test_rates_of_operations_are_absolute(filled):
    """Millions of operations a second, not a ratio to the reference."""
    lines = {line.label: line for line in filled["venkata2003", "fig-32"].lines}
    line = lines["Integer division, without optimisation"]
    assert line.unit == "Mops/s"
    assert line.better == "more is better"
    assert float(line.cells[0].text) == pytest.approx(600 / 11, rel=0.01)


def test_a_write_of_64_bytes_is_a_time():
    case = {"interface": "descriptor_sync", "chunk_bytes": 64}
    item = Item("disk.access", "write", case, "MB/s", "higher", 0.064 / 63.52)
    table = next(
        one
        for one in fill(evaluate(Maker(factors=SYSTEMS, chosen=[item]).make()))
        if one.id == "text"
    )
    (line,) = [line for line in table.lines if line.measured]
    assert line.unit == "ms"
    assert float(line.cells[0].text) == pytest.approx(63.52, rel=0.02)


def test_units_are_those_of_the_papers(filled):
    line = filled["martinovic2012", "table-03"].lines[0]
    assert (line.label, line.unit) == ("v_Mrd - 16 MB", "GB/s")
    assert float(line.cells[0].text) == pytest.approx(11.0, rel=0.05)


@pytest.mark.parametrize(
    ("text", "value", "wanted"), [("x", 3.0, 3.0), ("1000 / x", 8.0, 125.0), ("x / 60", 90.0, 1.5)]
)
def test_conversion(text, value, wanted):
    assert convert(text, value) == pytest.approx(wanted)


def test_latencies_carry_their_intervals(filled):
    lines = {line.label: line for line in filled["venkata2003", "page-fault-latency"].lines}
    cell = lines["Cache-RAM, latency"].cells[0]
    low, high = (float(one) for one in cell.interval.split(" to "))
    assert low < 4.096 * 0.6 < high
    assert lines["Cache-RAM, latency"].judgements[0].verdict is None


def test_code_size_is_cache_less_data(filled):
    lines = {line.label: line.cells[0].text for line in filled["venkata2003", "code-size"].lines}
    low, high = lines["the published loop, L1d: size of the data where it slows down"].split(" to ")
    assert float(low) <= 40 <= float(high)
    size = lines["the published loop, L1d: cache less that size"].replace("−", "-").split(" to ")
    least = max(0.0, 48 - float(high))
    assert [float(one) for one in size] == pytest.approx([least, 48 - float(low)])


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        ((1000, 1500), (548, 1048)),
        # The sizes of the sweep leave open whether it is beyond the cache.
        ((1024, 4096), (0, 1024)),
        ((2048, 4096), None),
        ((3072, 4096), None),
    ],
)
def test_no_size_of_code_is_negative(found, wanted):
    claimed = 2048
    check = CacheCheck(
        level="L2", claimed_bytes=claimed, found_low_bytes=found[0], found_high_bytes=found[1],
        outcome="agrees", words="",
    )  # fmt: skip
    size = figures.size([check], "L2", "size")
    if wanted is None:
        assert (size.low, size.high) == (None, None)
        assert "beyond the cache" in size.why
    else:
        assert (size.low, size.high) == wanted


def test_only_measured_tables_appear():
    names = {(one.study, one.id) for one in fill(evaluate(small()))}
    assert ("martinovic2012", "table-04") in names
    assert {study for study, _ in names} == {"martinovic2012"}
    machines = {"table-02", "table-17"}  # No inventory here lists drivers, for Table 18.
    assert {name for _, name in names} == {"table-04"} | machines


def test_a_missing_row_says_so():
    (table,) = [one for one in fill(evaluate(small())) if one.id == "table-04"]
    lines = {line.label: line for line in table.lines}
    assert [cell.text for cell in lines["t_L3"].cells] == ["not measured in this study"] * 2
    assert not lines["t_L3"].measured


def test_what_a_system_cannot_do_is_named_with_its_reason():
    result = small()
    table = result.tables["samples"]
    gone = (pl.col("system") == "uml-7.2") & pl.col("case").str.contains("level=L1")
    result.tables["samples"] = table.filter(~gone)
    failure = {
        "block": 0, "system": "uml-7.2", "boot": "0.uml-7.2.0", "attempt": 0, "stage": "step",
        "workload": "memory.levels", "workload_order": 0, "process": 0,
        "case": "level=L1,threads=one", "kind": "unsupported",
        "reason": "the system tells no L1", "resolved": False, "utc": "2026-01-05T10:00:00Z",
    }  # fmt: skip
    result.tables["failures"] = pl.DataFrame([failure], schema=schema.FAILURES)
    (found,) = [one for one in fill(evaluate(result)) if one.id == "table-04"]
    lines = {line.label: line for line in found.lines}
    assert lines["t_L1"].cells[0].text != "unsupported"
    assert lines["t_L1"].cells[1].text == "unsupported"
    assert lines["t_L1"].cells[1].detail == "the system tells no L1"
    assert lines["t_ML"].cells[1].text != "unsupported"
    assert any("the system tells no L1" in note for note in found.notes)


def test_the_flag_is_the_papers_one_percent():
    noisy = next(one for one in fill(evaluate(small(noise=8.0))) if one.id == "table-04")
    quiet = next(one for one in fill(evaluate(small(noise=0.0))) if one.id == "table-04")
    assert noisy.lines[0].cells[0].flagged
    assert not quiet.lines[0].cells[0].flagged


def test_further_cases_are_lines_of_their_own():
    chosen = [
        Item(
            "process.create_delete", "time", {"mode": mode, "opt_level": "3"}, "ns", "lower", 5000.0
        )
        for mode in ("default", "synchronous")
    ]
    table, _ = fill(evaluate(Maker(factors=SYSTEMS, chosen=chosen).make()))
    labels = [line.label for line in table.lines if line.measured]
    label = "File / Create-Delete, with optimisation"
    assert labels == [f"{label}, mode default", f"{label}, synchronous"]


def test_every_format_holds_every_value(filled, evaluation, result):
    page = html.render(evaluation, result)
    markdown, latex = files.to_markdown(evaluation), files.to_latex(evaluation)
    for table in filled.values():
        assert to_csv(data_grid(table)).count("\n") == len(table.lines) + 1
        assert f'id="{table.anchor}"' in page
        for line in table.lines[:3]:
            assert line.cells[0].text in markdown
            assert line.cells[0].text.replace("−", "$-$") in latex
    assert len(json.loads(to_json(tuple(filled.values())))) == len(filled)


def test_links_of_the_section_lead_somewhere(evaluation, result):
    page = html.render(evaluation, result)
    ids = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= ids
    (study,) = [one for one in sections(evaluation, []) if one.short == "venkata2003"]
    assert sum(bool(figure.anchor) for figure in study.figures) >= 9


def test_the_section_is_left_out_where_nothing_fits():
    chosen = [Item("test.spin", "time", {}, "ns", "lower", 850.0)]
    made = Maker(factors=SYSTEMS, chosen=chosen).make()
    assert 'id="papers"' not in html.render(evaluate(made), made)


def test_every_metric_and_factor_is_in_the_agents_catalog():
    try:
        catalog = parse_catalog(agent.catalog())
    except agent.AgentError as error:
        pytest.skip(str(error))
    # The program that draws is installed apart; without it its entries are not there to compare.
    absent = () if catalog.workload("graphics.game") else ("graphics.",)
    for paper in papers():
        for declared in paper.tables:
            entries = [entry for entry in declared.entries if entry.row.metric]
            for row, direction in ((entry.row, entry.direction) for entry in entries):
                workload, _, name = row.metric.rpartition(".")
                if workload.startswith(absent):
                    continue
                known = catalog.workload(workload)
                assert known is not None, f"{declared.table.id}: {workload}"
                units = {one.id: one.unit for one in known.metrics}
                assert units.get(name) == row.unit, f"{declared.table.id}: {row.metric}"
                assert set(row.case) <= {factor.name for factor in known.factors}, row.metric
                rising = convert(row.convert, 2.0) > convert(row.convert, 1.0)
                theirs = next(one for one in known.metrics if one.id == name).direction
                other = {"higher": "lower", "lower": "higher"}
                wanted = theirs if rising else other[theirs]
                assert direction == wanted, f"{declared.id}: {row.metric}"
        for figure in paper.figures:
            known = catalog.workload(figure.workload)
            assert known is not None or figure.workload.startswith(absent), figure.workload


def drawn(workload):
    """Metrics of the workload's pictures; None: all of them."""
    if workload == overlays.PICTURED:
        return set(overlays.PANELS)
    sweep = sweeps.find(workload)
    return set(sweep.shown) or None if sweep else None


def test_every_metric_that_a_figures_note_names_is_drawn():
    try:
        catalog = parse_catalog(agent.catalog())
    except agent.AgentError as error:
        pytest.skip(str(error))
    compared = set()
    for paper in papers():
        for figure in paper.figures:
            known = catalog.workload(figure.workload)
            shown = drawn(figure.workload)
            if known is None or shown is None:
                continue
            metrics = {one.id for one in known.metrics}
            assert shown <= metrics
            # Names of files and of other workloads hold a dot or a slash.
            words = set(re.findall(r"(?<![\w./])[a-z]\w+(?![\w/]|\.\w)", figure.note))
            # A word with an underscore is nothing but a name.
            named = {word for word in words if "_" in word} | (words & metrics)
            assert named <= shown, f"{figure.printed_as}: {figure.note}"
            compared |= named
    assert {"ditg_jitter", "round_trip", "cpu_idle", "throughput", "lost"} <= compared
