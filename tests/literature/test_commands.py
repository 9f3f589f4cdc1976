"""The commands, as a user calls them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pentathlon.cli.commands.published import app
from pentathlon.literature.load import STUDIES


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_list_names_every_study_and_table() -> None:
    done = call("list")
    assert done.exit_code == 0
    assert all(study in done.stdout for study in STUDIES)
    data = json.loads(call("list", "--json").stdout)
    assert [one["id"] for one in data] == list(STUDIES)
    assert sum(len(one["tables"]) for one in data) == 55


def test_show_by_printed_name_and_in_every_format() -> None:
    for how in ("terminal", "csv", "markdown", "latex", "json", "html"):
        done = call("show", "martinovic2012", "Table 13", "--format", how)
        assert done.exit_code == 0, done.output
        assert "30.9" in done.stdout
    data = json.loads(call("show", "venkata2003", "figure-20", "--format", "json").stdout)
    assert data["x_scale"] == "log2"
    assert {"series": "mmap", "x": 1.0, "printed": "26.487", "y": 26.487} in data["points"]


def test_audit_lists_by_severity() -> None:
    done = call("audit", "venkata2003", "--severity", "error")
    assert done.exit_code == 0
    assert "324.57e-6" in done.stdout
    table = list(csv.DictReader(io.StringIO(call("audit", "-f", "csv").stdout, newline="")))
    assert {row["Severity"] for row in table} == {"error", "warning", "note"}
    errors = json.loads(call("audit", "--severity", "error", "-f", "json").stdout)
    kept = [one["severity"] for study in errors for one in study["findings"]]
    assert set(kept) == {"error"}
    assert len(kept) == sum(row["Severity"] == "error" for row in table)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("show", "martinovic", "3"), 'did you mean "martinovic2012"?'),
        (("show", "martinovic2012", "99"), 'there is no table in martinovic2012 "99"'),
        (("audit", "nobody1999"), 'there is no published study "nobody1999"'),
        (("list", "nobody1999"), "known: martinovic2012"),
        (("compare", "venkata2003", "fig-26", "/nowhere"), "is no result directory"),
    ],
)
def test_wrong_input_gives_one_sentence_and_exit_code_2(
    words: tuple[str, ...], expected: str
) -> None:
    done = call(*words)
    assert done.exit_code == 2
    assert expected in done.output.replace("\n", " ")
    assert "Traceback" not in done.output
