"""Every command that reads a result says first that its run has not ended, in every format."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import typer

from pentathlon.cli import packets
from pentathlon.cli.exits import Exit
from pentathlon.cli.main import app
from pentathlon.protocol.events import Packets, read
from pentathlon.store.journal import JOURNAL
from pentathlon.store.packets import KeptTrial
from pentathlon.store.query import load_result
from tests.cli.conftest import STUDY, Shop
from tests.cli.test_packets import FLOW

BLOCKS = 6
SAYS = "unfinished, 24 of 36 steps: the run was cut off"

FORMATS = ("terminal", "csv", "markdown", "latex", "json")
READS = {
    "compare": ["compare r", "compare r a b", "compare r whole", "compare whole r"],
    "report": ["report r --format html,csv,markdown,latex,json"],
    "packets": ["packets r"],
    "publish": ["publish r"],
    "tables": [f"tables r --table hardware --format {one}" for one in FORMATS],
    "calibrate": ["calibrate --result r"],
    "history": ["history r", "history r whole", "history whole r --json"],
    "gate": ["gate r", "gate r --json", "gate whole --against r"],
    "plan": ["plan --allocate r"],
    "results list": ["results list .", "results list . --json"],
    "results show": ["results show r"],
    "published compare": [
        f"published compare venkata2003 hardware r --format {one}" for one in (*FORMATS, "html")
    ],
}
"""Command -> the ways in which it reads a result."""

GOES_ON = {"run", "import"}
"""Commands that take a result to end its run, or to add to one that has no run."""

ENDED = {"archive add", "archive sync", "archive take"}
"""Commands that take no result whose run has not ended."""

OF_MACHINES = {"campaign compare"}
"""Commands that take results of several machines, and name those whose run has not ended."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A whole result, and one of the same study that was cut off after two thirds."""
    shop = Shop(tmp_path_factory.mktemp("unfinished"))
    study = shop.write(STUDY.replace("blocks = 2", f"blocks = {BLOCKS}"))
    for name in ("whole", "r"):
        done = shop.call("run", study, "--yes", "--no-pilot", "--no-report", "--out", name)
        assert done.code == 0, done.err
    journal = shop.directory / "r" / JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True)
    ends = [n for n, line in enumerate(lines) if json.loads(line)["record"] == "boot-end"]
    journal.write_bytes(b"".join(lines[: ends[BLOCKS * 2 * 2 // 3 - 1] + 1]))
    assert load_result(shop.directory / "r").unfinished == SAYS
    return shop


@pytest.mark.parametrize("words", [one for ways in READS.values() for one in ways])
def test_it_is_said_first(shop: Shop, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    event = {
        "event": "packets", "index": 0, "workload": "network.traffic", "case": {},
        "phase": "measure", "iteration": 0, "flows": [FLOW], "hosts": [{}, {}], "t_ns": 1,
    }  # fmt: skip
    trial = KeptTrial(1, Path("none"), "a", 0, 0, cast(Packets, read(event).event))
    monkeypatch.setattr(packets, "kept_trials", lambda _: [trial])
    done = shop.call(*words.split())
    assert done.code in (Exit.OK, Exit.UNFINISHED), done.err
    if words.startswith("report"):
        files = [shop.directory / name for name in done.out.split()]
        assert len(files) == 5 and SAYS in done.err
        for file in files:
            # What stands before it: the head of a page or document, the columns of a table.
            assert SAYS[1:] in file.read_text(), file
        return
    if words.startswith("publish "):
        crate = shop.directory / "r-crate"
        assert SAYS in done.err and SAYS in (crate / "ro-crate-metadata.json").read_text()
        assert SAYS[1:] in (crate / "report.html").read_text()
        return
    if words.startswith("results list"):
        assert "unfinished" in done.out
        return
    text = done.out.replace("\\_", "_")
    if "csv" in words:
        lines = [line for line in csv.reader(text.splitlines()) if line]
        assert lines[0][0] == "Unfinished" and {line[0] for line in lines} == {"Unfinished", SAYS}
        return
    if "json" in words:
        document = json.loads(text)
        first = document[0] if isinstance(document, list) else document
        assert next(iter(first)) == "unfinished" and SAYS in json.dumps(first["unfinished"])
        return
    opening = text.strip().split("\n\n")[0]
    at = opening.find(SAYS[1:])
    assert 0 <= at < 80, text[:400]
    assert opening.count("\n", 0, at) <= 1


@pytest.mark.parametrize("words", ["history whole", "tables whole --format csv", "gate whole"])
def test_a_run_that_has_ended_is_not_marked(shop: Shop, words: str) -> None:
    done = shop.call(*words.split())
    assert "nfinished" not in done.out + done.err


def test_every_command_that_reads_a_result_is_looked_at() -> None:
    assert set(taking_results()) == READS.keys() | GOES_ON | ENDED | OF_MACHINES


@pytest.mark.parametrize("words", ["archive add r", "archive add whole r"])
def test_an_archive_takes_none(shop: Shop, words: str) -> None:
    done = shop.call(*words.split(), "--archive", f"kept-{len(words)}")
    assert done.code == Exit.BAD_INPUT and SAYS in done.err


def test_an_archive_leaves_it_out_of_a_directory(shop: Shop) -> None:
    # Neither is what another test has published.
    done = shop.call("archive", "sync", ".", "--archive", "synced")
    assert done.code == Exit.OK and SAYS in done.err
    assert re.search("^1 result added to synced, [12] left out$", done.out, re.M)


def taking_results() -> Iterator[str]:
    """The commands that have an argument or option for a result."""
    pending: list[tuple[str, Any]] = [("", typer.main.get_command(app))]
    while pending:
        name, command = pending.pop()
        if hasattr(command, "list_commands"):
            for each in command.list_commands(None):
                pending.append((f"{name} {each}".strip(), command.get_command(None, each)))
        elif any(map(_takes_result, command.params)):
            yield name


def _takes_result(parameter: Any) -> bool:
    text = f"{parameter.name} {parameter.metavar} {getattr(parameter, 'help', '')}".lower()
    return "result" in text and parameter.name not in ("out_directory", "directory")
