"""Pages of an archive: what is on them is what the line is, whatever names hold."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pentathlon.archive.adding import add_all
from pentathlon.archive.engines import engine
from pentathlon.archive.line import points
from pentathlon.archive.log import open_archive
from pentathlon.cli.main import app
from pentathlon.evaluate.results.timeline import timeline
from tests.archive.conftest import Make

HOSTILE = 'bench<script>alert("1")</script>'


class Reader(HTMLParser):
    """Counts elements and classes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts.update([tag, *(text for name, text in attrs if name == "class" and text)])


def call(*words: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(word) for word in words], prog_name="pentathlon")
    return done.exit_code, done.output


@pytest.fixture
def held(night: Make, tmp_path: Path) -> Path:
    nights = [night(1.5 if k >= 6 else 1.0) for k in range(10)]
    add_all(str(tmp_path / "a"), nights, HOSTILE, strict=True)
    return tmp_path / "a"


def test_every_row_has_its_line_and_its_changes(held: Path, tmp_path: Path) -> None:
    code, text = call("archive", "site", "--archive", held, "--out", tmp_path / "site")
    assert code == 4 and "new" in text
    index = (tmp_path / "site" / "index.html").read_text()
    pages = re.findall(r'href="([^"]+)"', index)
    assert len(pages) == 2
    wanted = timeline(points(engine(open_archive(str(held))), None, "a"), 0.95, {})
    found = Reader((tmp_path / "site" / pages[0]).read_text()).counts
    assert found["figure"] == found["svg"] == len(wanted.courses) > 3
    assert found["circle"] == len(wanted.courses) * 10
    assert found["slower"] == sum(len(one.changes) for one in wanted.courses) > 0
    assert "faster" not in found and found["bar"] > 0
    for name in ("index.html", *pages):
        assert "<script" not in (tmp_path / "site" / name).read_text()
    alerts = json.loads((tmp_path / "site" / "alerts.json").read_text())
    assert {one["system"] for one in alerts} == {"a", "b"}
    assert all(one["low_percent"] < one["percent"] < one["high_percent"] < 0 for one in alerts)
    lines = (tmp_path / "site" / "metrics.prom").read_text().splitlines()
    series = re.compile(r'(\w+)\{study="[^"]*",machine="(?:[^"\\]|\\.)*",system="\w",row="[^"]+"\} '
                        r"-?\d[\d.e+-]*")  # fmt: skip
    values = [line for line in lines if not line.startswith("#")]
    assert len(values) == 3 * 2 * len(wanted.courses)
    assert all(series.fullmatch(line) for line in values), values[0]


def test_only_new_changes_alarm(held: Path, tmp_path: Path) -> None:
    took = tmp_path / "took.json"
    script = f"import sys, pathlib; pathlib.Path({str(took)!r}).write_text(sys.stdin.read())"
    (tmp_path / "hook.py").write_text(script)
    words = ("archive", "site", "--archive", held, "--out", tmp_path / "site", "--alert",
             f"'{sys.executable}' '{tmp_path / 'hook.py'}'")  # fmt: skip
    assert call(*words)[0] == 4
    assert json.loads(took.read_text()) == json.loads(
        (tmp_path / "site" / "alerts.json").read_text()
    )
    took.unlink()
    code, text = call(*words)
    assert code == 0 and "0 new" in text and not took.exists()
    alerts = tmp_path / "site" / "alerts.json"
    alerts.write_text(json.dumps(json.loads(alerts.read_text())[1:]))
    assert call(*words)[0] == 4
    assert len(json.loads(took.read_text())) == 1
    code, text = call(*words[:-1], "/nowhere/at-all")
    assert code == 0
    alerts.unlink()
    code, text = call(*words[:-1], "/nowhere/at-all")
    assert code == 2 and "cannot be run" in text


def test_tables_are_those_of_one_result_of_an_archive(held: Path) -> None:
    code, text = call("tables", held, "--where", 'name = "night-003"', "--format", "json")
    assert code == 0 and json.loads(text) == []
    for words, sentence in (
        ((held,), "--where chooses 10 results"),
        ((held, "--where", 'name = "none"'), "has no result that --where"),
        ((held.parent / "results" / "night-003", "--where", 'name = "x"'), "chooses from an"),
    ):
        code, text = call("tables", *words)
        assert code == 2 and sentence in text.replace("\n", " "), text
