"""Pages of an archive: what is on them is what the line is, whatever names hold."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from typer.testing import CliRunner

from pentathlon.archive.adding import add_all
from pentathlon.archive.engines import engine
from pentathlon.archive.line import points
from pentathlon.archive.log import open_archive
from pentathlon.archive.site_results import differences
from pentathlon.cli.main import app
from pentathlon.evaluate.facts import Inventory
from pentathlon.evaluate.results.timeline import timeline
from pentathlon.safeio.checksum import sealed, unsealed
from pentathlon.store.journal import JOURNAL
from tests.archive.conftest import Make
from tests.fakes.browser import after_scripts, needs_browser

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
    page = (tmp_path / "site" / pages[0]).read_text()
    anchors = set(re.findall(r'id="(r-[0-9a-f]{12})"', page))
    assert len(anchors) == 10 and set(re.findall(r'href="#([^"]+)"', page)) == anchors
    links = re.findall(r'href="([^"#]+\.tar\.zst)"', page)
    assert len(links) == 10
    assert all((tmp_path / "site" / unquote(one)).is_file() for one in links)
    assert "No difference of the environment is reported." in page
    for name in ("index.html", *pages):
        assert "<script" not in (tmp_path / "site" / name).read_text()
    alerts = json.loads((tmp_path / "site" / "alerts.json").read_text())
    assert {one["system"] for one in alerts} == {"a", "b"}
    assert all(one["low_percent"] < one["percent"] < one["high_percent"] < 0 for one in alerts)
    lines = (tmp_path / "site" / "metrics.prom").read_text().splitlines()
    series = re.compile(r'(\w+)\{study="[^"]*",machine="(?:[^"\\]|\\.)*",system="\w",row="[^"]+"'
                        r'(?:,unit="[^"]+")?\} '
                        r"-?\d[\d.e+-]*")  # fmt: skip
    values = [line for line in lines if not line.startswith("#")]
    assert len(values) == 2 * (4 * len(wanted.courses) - 1), "the mean of all has no unit"
    assert all(('unit="' in one) == one.startswith("pentathlon_value{") for one in values)
    assert all(series.fullmatch(line) for line in values), values[0]


@pytest.mark.slow
@needs_browser
def test_a_browser_draws_every_line_from_a_file(held: Path, tmp_path: Path) -> None:
    call("archive", "site", "--archive", held, "--out", tmp_path / "site")
    index, complaints = after_scripts(tmp_path / "site" / "index.html", tmp_path / "profile")
    assert complaints == []
    pages = re.findall(r'href="([^"]+)"', index)
    assert len(pages) == 2
    look = (
        "for (const one of document.querySelectorAll('svg'))"
        " one.dataset.drawn = one.getBoundingClientRect().width > 100"
    )
    for name in pages:
        page = tmp_path / "site" / unquote(name)
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("</body>", f"<script>{look}</script></body>"), "utf-8")
        document, complaints = after_scripts(page, tmp_path / "profile")
        assert complaints == []
        assert document.count('data-drawn="true"') == text.count("<svg") > 0


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


def test_a_change_stays_new_until_its_alert_was_handed_on(held: Path, tmp_path: Path) -> None:
    words = ("archive", "site", "--archive", held, "--out", tmp_path / "site")
    failing = f"'{sys.executable}' -c 'raise SystemExit(3)'"
    for _ in range(2):
        code, text = call(*words, "--alert", failing)
        assert code == 2 and "ended with status 3; the changes stay new" in text
        assert (tmp_path / "site" / "index.html").is_file()
    assert call(*words)[0] == 4
    assert call(*words, "--alert", failing)[0] == 0


def test_a_page_keeps_its_name_beside_another_study(
    held: Path, night: Make, tmp_path: Path
) -> None:
    assert call("site", held, "--out", tmp_path / "site")[0] == 4
    before = {one.name for one in (tmp_path / "site").glob("*.html")}
    add_all(str(held), [night(1.0, "other")], "a machine before the others", strict=True)
    call("site", held, "--out", tmp_path / "site")
    pages = {one.name for one in (tmp_path / "site").glob("*.html")}
    assert before < pages and len(pages) == 5
    index = (tmp_path / "site" / "index.html").read_text()
    assert set(re.findall(r'href="([^"]+)"', index)) == pages - {"index.html"}


def test_history_draws_the_intervals_of_an_archive_and_of_directories(
    held: Path, tmp_path: Path
) -> None:
    nights = sorted((tmp_path / "results").iterdir())
    bars = []
    for number, words in enumerate(((held,), nights)):
        page = tmp_path / f"{number}.html"
        code, text = call("history", *words, "--html", page)
        assert code == 4 and "in the weighted mean of all" in text, text
        found = Reader(page.read_text()).counts
        bars.append(found["bar"])
        drawn = page.read_text()
        assert "2026-01-02</span>" in drawn and "interval of its mean by its own boots" in drawn
        assert (".tar.zst" in drawn) == (number == 0)
        code, text = call("history", *words, "--only", "nothing.like.it")
        assert code == 2 and "is one that --only chooses" in text, text
    assert bars[0] == bars[1] > 0


def test_tables_are_those_of_one_result_of_an_archive(held: Path) -> None:
    code, text = call("tables", held, "--where", 'name = "night-003"', "--format", "json")
    assert code == 0 and json.loads(text) == []
    for words, sentence in (
        ((held,), "a has 10 results"),
        ((held, "--where", 'study = "scripted"'), "--where chooses 10 results"),
        ((held, "--where", 'name = "none"'), "has no result that --where"),
        ((held.parent / "results" / "night-003", "--where", 'name = "x"'), "chooses from an"),
    ):
        code, text = call("tables", *words)
        assert code == 2 and sentence in text.replace("\n", " "), text


def test_pages_name_what_changed_in_the_environment(night: Make, tmp_path: Path) -> None:
    nights = [night(1.5 if k >= 6 else 1.0) for k in range(10)]
    for number, path in enumerate(nights):
        lines = []
        for line in (path / JOURNAL).read_bytes().splitlines():
            record = unsealed(line)[0]
            event = record.get("event")
            if isinstance(event, dict) and event.get("event") == "inventory":
                event.setdefault("system", {})["kernel"] = {
                    "release": "6.1", "hz": 250 if number < 6 else 1000, "boot": record["block"],
                }  # fmt: skip
            lines.append(sealed(record))
        (path / JOURNAL).write_bytes(b"".join(lines))
    add_all(str(tmp_path / "a"), nights, HOSTILE, strict=True)
    assert call("archive", "site", "--archive", tmp_path / "a", "--out", tmp_path / "s")[0] == 4
    [page, _] = sorted((tmp_path / "s").glob("scripted-*.html"))
    text = page.read_text()
    assert "1 difference of the environment" in text
    assert "<td>kernel.hz</td><td>250</td><td>1000</td>" in text
    # A result that cannot be taken out costs its differences, and no page.
    for one in (tmp_path / "a" / "originals").rglob("*.zst"):
        one.write_bytes(b"")
    assert call("archive", "site", "--archive", tmp_path / "a", "--out", tmp_path / "s")[0] == 0
    assert "Differences of the environment are not known: " in page.read_text()


def test_differences_leave_out_what_varies_by_itself() -> None:
    before = Inventory({"z.a": 1, "cpu.b": 2, "x": 3, "kernel.c": 4})
    after = Inventory({"z.a": 2, "cpu.b": 3, "x": 4, "new": 5, "kernel.c": 4},
                      varying=frozenset({"x"}))  # fmt: skip
    assert differences(before, after) == [
        ("cpu.b", "2", "3"), ("new", "not reported", "5"), ("z.a", "1", "2"),
    ]  # fmt: skip


def test_results_of_several_machines_are_pointed_out(night: Make, tmp_path: Path) -> None:
    nights = [night() for _ in range(8)]
    for number, path in enumerate(nights):
        add_all(str(tmp_path / "a"), [path], f"bench{number % 2}", strict=True)
    code, text = call("history", tmp_path / "a")
    assert code == 0 and "! the results are of 2 machines (bench0, bench1)" in text
    one = call("history", tmp_path / "a", "--where", 'machine = "bench1"')
    assert "machines" not in one[1]
    # The newest result is of bench1, and so is what it is judged against.
    code, text = call("gate", tmp_path / "a", "--delta", "50")
    assert "the last 3 good results" in text and "machines" not in text
    code, text = call("gate", night(), "--against", tmp_path / "a", "--delta", "50")
    assert "the last 5 good results" in text
    assert "! the baseline is of 2 machines (bench0, bench1)" in text
