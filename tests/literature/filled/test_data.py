"""Tables in every format: numbers, directions and groups, one table for one measurement."""

from __future__ import annotations

import csv
import io
import json

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.hardware import NAMES, hardware
from pentathlon.evaluate.model import Evaluation
from pentathlon.literature.filled.fill import fill
from pentathlon.literature.filled.groups import group
from pentathlon.literature.filled.load import papers
from pentathlon.literature.filled.table import Filled
from pentathlon.literature.filled.write import data_grid, grid, to_json
from pentathlon.report.html import page
from pentathlon.tables.comma_separated import to_csv
from pentathlon.tables.latex import to_latex
from pentathlon.tables.markdown import to_markdown
from tests.fakes import synthetic_papers as planted
from tests.fakes.synthetic import Item, Maker, Synthetic, items, same

VIEWSET = Item(
    "graphics.viewset", "composite", {"viewset": "automotive"}, "frames/s", "higher", 24.0
)
AUDIO = Item("cpu.four_at_once", "rate", {"task": "audio_decompress"}, "MB/s", "higher", 3.5)


def slow(_: Item) -> float:
    """A difference with four digits before its point, and its sign."""
    return 1 / 20.0


@pytest.fixture(scope="module")
def result() -> Synthetic:
    chosen = [
        *items(sizes=(1024, 1 << 20)),
        *planted.everything(),
        VIEWSET,
        AUDIO,
        *planted.forwarding(),
    ]
    return Maker(factors={"uml-6.1": same, "uml-7.2": slow}, chosen=chosen, iterations=2).make()


@pytest.fixture(scope="module")
def evaluation(result: Synthetic) -> Evaluation:
    return evaluate(result)


@pytest.fixture(scope="module")
def filled(evaluation: Evaluation) -> dict[tuple[str, str], Filled]:
    return {(one.study, one.id): one for one in fill(evaluation)}


def read(table: Filled) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(data_grid(table)))))


def test_csv_holds_numbers_that_any_program_reads(filled: dict[tuple[str, str], Filled]) -> None:
    numbers = 0
    for table in filled.values():
        for line, row in zip(table.lines, read(table), strict=True):
            for name, cell in zip(table.systems, line.cells, strict=True):
                if cell.value is not None:
                    assert float(row[name]) == cell.value
                    numbers += 1
                elif not cell.missing and cell.low is not None:
                    assert row[name] == ""
                    assert (float(row[f"{name} low"]), float(row[f"{name} high"])) == (
                        cell.low,
                        cell.high,
                    )
            for one in line.judgements:
                known = row.get(f"{one.system}: Diff %", "")
                if one.difference_percent is not None:
                    assert float(known) == one.difference_percent
                else:
                    assert known == ""
    assert numbers > 300


def test_a_difference_above_a_thousand_percent_is_a_number(
    filled: dict[tuple[str, str], Filled],
) -> None:
    (getpid, *_) = filled["venkata2003", "fig-26"].lines
    table = Maker(
        factors={"a": same, "b": lambda _: 20.0},
        chosen=[Item("cpu.compress", "rate", {"file_format": "zlib"}, "MB/s", "higher", 80.0)],
    ).make()
    found = next(one for one in fill(evaluate(table)) if one.id == "table-05")
    row = next(one for one in read(found) if one["a"])
    assert "," in found.lines[0].judgements[0].difference
    assert float(row["b: Diff %"]) == pytest.approx(1900, rel=0.1)
    assert getpid.judgements[0].difference.startswith("−")
    assert float(read(filled["venkata2003", "fig-26"])[0]["uml-7.2: Diff %"]) < 0


def test_json_holds_numbers_and_no_typographic_minus(
    filled: dict[tuple[str, str], Filled],
) -> None:
    for table in json.loads(to_json(tuple(filled.values()))):
        for row in table["rows"]:
            for value in row["values"].values():
                if value["missing"] is None and row["unit"]:
                    known = (value["value"], value["low"])
                    assert any(isinstance(one, float) for one in known), row
                assert value["flagged"] in (True, False)
            for one in row["against_reference"].values():
                assert one["difference_percent"] is None or isinstance(
                    one["difference_percent"], float
                )
    (fig26,) = (
        one for one in json.loads(to_json(tuple(filled.values()))) if one["ids"] == ["fig-26"]
    )
    numbers = [row["values"]["uml-6.1"]["value"] for row in fig26["rows"]]
    assert all(isinstance(number, float) for number in numbers)
    assert "−" not in json.dumps([row["values"] for row in fig26["rows"]], ensure_ascii=False)


def test_direction_and_group_stand_in_every_format(
    evaluation: Evaluation, result: Synthetic, filled: dict[tuple[str, str], Filled]
) -> None:
    table = filled["martinovic2012", "table-03"]
    lines = {line.label: (line.better, line.group) for line in table.lines}
    assert lines["v_Mrd - 16 MB"] == ("more is better", "v")
    assert lines["c_f (lower is better)"] == ("less is better", "")
    first = read(table)[0]
    assert (first["Better"], first["Group"]) == ("more is better", "v")
    made = grid(table)
    assert {"Better", "Group"} <= set(made.headings)
    assert "| GB/s | more | v |" in to_markdown(made)
    assert "GB/s & more & v &" in to_latex(made)
    assert '<td class="unit">more</td><td class="unit">v</td>' in page.render(evaluation, result)
    (found,) = json.loads(to_json([filled["martinovic2012", "table-04"]]))
    assert [(row["direction"], row["group"]) for row in found["rows"]] == [("lower", "t")] * 4


@pytest.mark.parametrize(
    ("symbol", "unit", "wanted"),
    [
        ("v_Mrd", "GB/s", "v"),
        ("t_ML", "ns", "t"),
        ("W_Gca", "Frames/s", "W_G"),
        ("c_f", "CacheFaults/s", ""),
        ("p_CPUnet", "%", ""),
        (None, "s", "t"),
        (None, "Mbps", "v"),
        (None, "KiB", ""),
    ],
)
def test_groups_are_those_of_the_paper(symbol: str | None, unit: str, wanted: str) -> None:
    assert group(symbol, unit) == wanted


def test_every_row_of_a_group_has_its_direction() -> None:
    for paper in papers():
        for declared in paper.tables:
            for entry in declared.entries:
                if entry.group:
                    wanted = "lower" if entry.group == "t" else "higher"
                    assert entry.direction == wanted, f"{declared.id}: {entry.label}"


def test_the_same_measurements_are_one_table(filled: dict[tuple[str, str], Filled]) -> None:
    table = filled["martinovic2012", "table-03"]
    assert table.ids == ("table-03", "table-10")
    assert table.printed_as == "Table 3 and Table 10"
    assert table.title == "Memory management, experiments 1 and 2"
    assert ("martinovic2012", "table-10") not in filled
    labels = [line.label for line in table.lines]
    assert len(labels) == len(set(labels))
    machines = filled["martinovic2012", "table-17"]
    assert machines.ids == ("table-17", "table-19", "table-21")
    assert [line.label for line in machines.lines].count("Graphics hardware") == 1
    assert "Network" in {line.label for line in machines.lines}  # Table 21 alone has it.


def test_a_viewset_is_in_a_row_that_says_which_of_ours_it_is(
    filled: dict[tuple[str, str], Filled],
) -> None:
    table = filled["martinovic2012", "figure-05"]
    assert (table.printed_as, len(table.lines)) == ("Figure 5 and Figure 6", 8)
    catia = next(line for line in table.lines if line.measured)
    assert catia.label == "W_Gca: CATIA, here automotive"
    assert (catia.group, catia.better, catia.unit) == ("W_G", "more is better", "Frames/s")
    assert catia.cells[0].value == pytest.approx(24, rel=0.05)


def test_windows_by_composition_stand_where_no_compositor_runs() -> None:
    chosen = [Item("graphics.composition", "rate", {}, "windows/s", "higher", 5000.0)]
    made = evaluate(Maker(factors={"a": same}, chosen=chosen).make())
    table = next(one for one in fill(made) if one.id == "table-07")
    lines = {line.label: line for line in table.lines}
    assert lines["Transparent Windows, by composition alone"].cells[0].value is not None
    assert lines["Transparent Windows"].cells[0].missing
    assert any("not comparable with real windows" in note for note in table.notes)
    fill_rate = Item("graphics.fill", "rate", {"texturing": "multi"}, "Mtexels/s", "higher", 1e3)
    without = evaluate(Maker(factors={"a": same}, chosen=[fill_rate]).make())
    table = next(one for one in fill(without) if one.id == "table-07")
    assert not any("by composition" in line.label for line in table.lines)


def test_the_loads_of_salah2010_are_rows(filled: dict[tuple[str, str], Filled]) -> None:
    labels = [line.label for line in filled["salah2010", "figure-02"].lines]
    assert sum(label.startswith("Throughput, ") for label in labels) == len(planted.FORWARD_LOADS)
    beside = filled["salah2010", "figure-05"]
    assert beside.lines[0].cells[0].value is not None


DESKTOP = {
    "cpu.model_name": "Intel(R) Core(TM) i7-940",
    "cpu.architecture": "x86_64",
    "cpu.cores": 4,
    "cpu.frequency.base_khz": 2_933_000,
    "firmware.processors": [{"external_clock_khz": 133_000, "millivolts": 1200}],
    "caches": [
        {"level": 1, "type": "data", "size_bytes": 32 << 10, "instances": 4},
        {"level": 1, "type": "instruction", "size_bytes": 32 << 10, "instances": 4},
        {"level": 3, "type": "unified", "size_bytes": 8 << 20, "instances": 1},
    ],
    "memory.modules": [{"size_bytes": 2 << 30, "type": "DDR3", "configured_mt_s": 1066}] * 3,
    "memory.total_bytes": 6_200_000_000,
    "filesystems.scratch.block_device": "sda",
    "block_devices.sda.model": "ST3500418AS",
    "block_devices.sda.size_bytes": 500_107_862_016,
    "block_devices.sda.rotational": True,
    "block_devices.sdb.size_bytes": 16 << 30,
    "block_devices.sdb.removable": True,
    "network_devices.eth0.kind": "ethernet",
    "network_devices.eth0.driver": "sky2",
    "network_devices.eth0.speed_mbit": 1000,
    "network_devices.ifb0.kind": "ethernet",
    "network_devices.ifb0.driver": "ifb",
    "network_devices.eth0.offloads.rx-gro": True,
    "drivers.devices.pci 0000:01:00.0.component": "graphics",
    "drivers.devices.pci 0000:01:00.0.driver": "nvidia",
    "drivers.devices.pci 0000:01:00.0.driver_version": "190.62",
}


def test_a_machine_is_described_as_the_paper_describes_its_own() -> None:
    found = hardware(DESKTOP, {"firmware.version": "no such file"})
    assert set(found) == NAMES
    text = {name: one.value for name, one in found.items() if one.value is not None}
    assert text["internal_clock"] == "2933.0 MHz"
    assert (text["external_clock"], text["voltage"]) == ("133.0 MHz", "1.20 V")
    assert text["l1"] == "4 x 32 KiB data, 4 x 32 KiB instruction"
    assert text["l3"] == "8 MiB" and "l2" not in text
    assert text["ram"] == "3 x 2 GiB DDR3 1066 MT/s"
    assert text["disk"] == "ST3500418AS" and text["removable"] == "sdb 16 GiB"
    assert text["network"] == "eth0 sky2, 1000 Mbit/s"
    assert text["driver_graphics_version"] == "nvidia: 190.62"
    assert found["bios"].why == "no such file"
    assert found["driver_usb_version"].why == "no device of this kind has a driver"


def test_every_fact_that_a_table_names_is_a_property() -> None:
    named = {
        entry.row.fact
        for paper in papers()
        for declared in paper.tables
        for entry in declared.entries
        if entry.row.fact is not None
    }
    assert named <= NAMES
    assert len(named) > 30


def test_machines_stand_beside_results_of_their_study_alone() -> None:
    chosen = [Item("process.getpid", "time", {"opt_level": "3"}, "ns", "lower", 60.0)]
    made = evaluate(Maker(factors={"a": same}, chosen=chosen).make())
    assert {(one.study, one.id) for one in fill(made)} == {
        ("venkata2003", "fig-26"),
        ("venkata2003", "hardware"),
    }
    requested = fill(made, named=[("martinovic2012", "table-19")])
    assert ("martinovic2012", "table-17") in {(one.study, one.id) for one in requested}


def test_a_title_states_how_large_the_files_were() -> None:
    def small(item: Item) -> Item:
        return Item(
            item.workload, item.metric, {**item.case, "document_bytes": 256 << 10},
            item.unit, item.direction, item.value,
        )  # fmt: skip

    made = Maker(
        factors={"old": same},
        ends={"old": ("xp", "server-2003")},
        chosen=[small(item) for item in planted.file_tasks()],
        blocks=2,
    ).make()
    table = next(one for one in fill(evaluate(made)) if one.id == "b1-copy-wan")
    assert table.title == "SMB copy across a WAN, 10-MB Word file in the paper, 256 KiB here"
