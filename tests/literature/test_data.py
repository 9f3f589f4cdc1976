"""The data files: all of them load, and hold what was counted in the papers."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from pentathlon.literature.audit.audit import audit
from pentathlon.literature.load import STUDIES, data_root, find_study, load_all
from pentathlon.literature.printed import is_number
from pentathlon.literature.tables import Table

ROWS = {
    "martinovic2012": {
        "table-01": 50,
        "table-02": 12,
        "table-03": 31,
        "table-04": 4,
        "table-05": 14,
        "table-06": 5,
        "table-07": 19,
        "table-08": 11,
        "table-09": 12,
        "table-10": 28,
        "table-11": 3,
        "table-12": 12,
        "table-13": 5,
        "table-14": 8,
        "table-15": 11,
        "table-16": 12,
        "table-17": 27,
        "table-18": 14,
        "table-19": 25,
        "table-20": 14,
        "table-21": 25,
        "text-memory-load": 3,
        "text-network": 9,
        "text-process": 10,
        "text-setup": 16,
    },
    "vdovjak2021": {"table-01": 9, "text-best": 8, "text-results": 11, "text-setup": 17},
    "tolly2007": {
        "appendix-a": 17,
        "b1-copy-wan": 20,
        "b2-open-wan": 20,
        "b3-roaming-wan": 20,
        "b4-sharepoint-wan": 20,
        "b5-copy-lan": 8,
        "b6-open-lan": 8,
        "text-copy-lan": 8,
        "text-copy-wan": 8,
        "text-open-lan": 8,
        "text-open-wan": 8,
        "text-roaming-wan": 8,
        "text-settings": 1,
        "text-setup": 6,
        "text-sharepoint-wan": 8,
    },
    "venkata2003": {
        "code-size": 2,
        "fig-22": 17,
        "fig-26": 6,
        "fig-32": 8,
        "hardware": 9,
        "memory-bandwidth": 2,
        "page-fault-latency": 2,
        "text": 25,
    },
    "salah2010": {"testbed": 11, "text-results": 17, "text-setup": 11},
}
"""Rows by table, counted in the papers."""

MISSING = {"tolly2007/b1-copy-wan": 5, "tolly2007/b2-open-wan": 8, "venkata2003/fig-32": 8}
"""Cells that the scans have lost, and those of a picture without numbers."""

DIFFERENCES = 302
"""Printed differences of martinovic2012: 151 rows of Tables 3 to 8 and 10 to 15, twice."""


def tables() -> list[Table]:
    return [table for study in load_all() for table in study.tables]


def test_tables_and_rows_are_those_of_the_papers() -> None:
    found = {s.id: {table.id: len(table.row) for table in s.tables} for s in load_all()}
    assert found == ROWS


@pytest.mark.parametrize("study", STUDIES)
def test_every_data_file_belongs_to_a_study_that_loads(study: str) -> None:
    names = {one.name for one in (data_root() / study).iterdir() if one.name.endswith(".toml")}
    loaded = {f"{table.id}.toml" for table in find_study(study).tables}
    assert names == loaded | {"study.toml", "claims.toml"}


def test_missing_cells_are_those_that_the_scans_lack() -> None:
    found = {}
    for table in tables():
        gone = [cell for row in table.row for cell in row.values.values() if cell.missing]
        if gone:
            found[f"{table.study}/{table.id}"] = len(gone)
    assert found == MISSING


def test_every_printed_difference_is_audited() -> None:
    done = audit(find_study("martinovic2012"))
    left = [one for one in done.unchecked if "-diff-" in one.check]
    assert done.checks["difference"] + len(left) == DIFFERENCES
    # The four that are no numbers: Windows 7 failed.
    assert [one.reason for one in left] == ['the cell holds "Failed"'] * 4


def test_results_have_a_unit_and_a_direction() -> None:
    for table in tables():
        for row in table.row:
            for column in table.column:
                if table.kind == "results" and column.kind == "number":
                    assert row.unit or column.unit, (table.study, table.id, row.id)
            if table.kind == "results" and table.systems:
                assert row.direction is not None, (table.study, table.id, row.id)


def test_known_cells() -> None:
    """Values read in the papers, one of each kind of table and of damage."""
    for study, place, printed in (
        ("martinovic2012", "table-03/p-f/vista", "1039"),
        ("martinovic2012", "table-10/p-r/diff_vista", "5100.97%"),
        ("martinovic2012", "table-13/t-cpus16/xp", "30.9"),
        ("martinovic2012", "table-14/v-gts-3d-vertex-shader/win7", "Failed"),
        ("martinovic2012", "table-20/windows-7-chipset/version", "6.1.7600.16385"),
        ("tolly2007", "b1-copy-wan/10mbps-2008-vista/time", "9.47"),
        ("tolly2007", "b2-open-wan/512kbps-2008-vista/throughput", "0.48"),
        ("tolly2007", "b4-sharepoint-wan/1mbps-2003-vista/time", "86.15"),
        ("venkata2003", "fig-22/65536kb/mmap_read", "0.000"),
        ("venkata2003", "fig-26/getpid/windows_first", "125"),
        ("venkata2003", "page-fault-latency/windows/ram_swap", "295.11e-6"),
        ("vdovjak2021", "text-results/ditg-tcp-delay/value", "269"),
        ("salah2010", "text-results/capacity-linux/value", "350"),
    ):
        table, row, column = place.split("/")
        assert find_study(study).table(table).find_row(row).cell(column).printed == printed


def test_reconstructed_cells_say_how() -> None:
    rows = [row for table in tables() for row in table.row if row.reconstructed is not None]
    assert len(rows) == 9 + 2 + 20 + 16 + 20
    assert all(len(row.reconstructed or "") > 20 for row in rows)


def test_text_columns_of_numbers_stay_text() -> None:
    """Driver versions are no numbers; a reader must not round them."""
    row = find_study("martinovic2012").table("18").find_row("windows-xp-cpu")
    assert not is_number(row.cell("version").text)


def test_a_table_lies_where_its_names_say() -> None:
    for study in STUDIES:
        for one in (data_root() / study).iterdir():
            data = tomllib.loads(one.read_text(encoding="utf-8"))
            if "row" in data:
                assert (data["study"], f"{data['id']}.toml") == (study, one.name)


def test_the_documentation_counts_what_the_data_hold() -> None:
    """Tables, rows, rows from the text, and comparisons of the audit, in docs/published.md."""
    text = (Path(__file__).parents[2] / "docs" / "published.md").read_text(encoding="utf-8")
    for study in load_all():
        rows = sum(len(table.row) for table in study.tables)
        reported = sum(len(table.row) for table in study.tables if table.id.startswith("text"))
        (line,) = re.findall(rf"^\| `{study.id}` \|.*$", text, re.MULTILINE)
        assert line.endswith(f"| {len(study.tables)} | {rows} | {reported} |")
        assert f"**{study.id}** ({sum(audit(study).checks.values())} comparisons" in text
