"""What reaches the screen: texts as they are, in every encoding, whoever wrote them."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree
from typer.testing import CliRunner

from pentathlon.cli import characters, screen, start
from pentathlon.cli.main import app
from pentathlon.safeio.escaping import breakable
from pentathlon.tables.sheet import Sheet
from tests.cli.conftest import STUDY, Shop, copied

LATIN = "ascii", "latin-1"


def printed(renderable: object, encoding: str = "utf-8", width: int = 80) -> str:
    """What a screen of that encoding writes; strict, so nothing else can come to its help."""
    made = screen.Screen(stderr=False)
    raw = io.BytesIO()
    made.file = io.TextIOWrapper(raw, encoding=encoding, errors="strict", newline="")
    made.width = width
    made.print(renderable)
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize(
    "text", ["journal.jsonl:100: damaged", "[bold]no[/bold]", "a [/] b", r"\[x]", "[a=1,b=2]"]
)
def test_no_text_is_taken_for_markup_or_emoji(text: str) -> None:
    assert printed(text) == f"{text}\n"
    table = Table(text, title=text, box=None, pad_edge=False)
    table.add_row(text)
    assert [line.rstrip() for line in printed(table).splitlines()] == [text] * 3


def test_nothing_makes_a_console_of_its_own() -> None:
    """Every other one would take texts for markup again."""
    package = Path(screen.__file__).parent.parent
    for file in package.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert "Console(" not in text.replace("class Screen(Console)", ""), file
        assert "from_markup" not in text, file


@pytest.mark.parametrize("encoding", LATIN)
def test_columns_stay_in_line(encoding: str) -> None:
    table = Table("name", "±", box=None, pad_edge=False)
    table.columns[1].justify = "right"
    for cell in ("−1", "12±3", Text("…", style="bold"), "∞ µs"):
        table.add_row("a – b", cell)
    shown = printed(Padding(Group(table), (0, 0)), encoding)
    lines = [line.rstrip() for line in shown.splitlines()]
    assert len({len(line) for line in lines}) == 1, shown
    assert lines[1].startswith("a - b ") and lines[1].endswith(" -1")


def test_styles_stay_with_their_words() -> None:
    text = Text.assemble("±1 … ", ("∞", "red"), " and ", ("δ", "bold"))
    changed = characters.showable(text, "ascii")
    assert changed.plain == "+/-1 ... inf and d"
    assert [(changed.plain[s.start : s.end], s.style) for s in changed.spans] == [
        ("inf", "red"),
        ("d", "bold"),
    ]
    assert characters.showable(text, "utf-8") is text


def test_a_line_does_not_end_between_a_number_and_its_unit() -> None:
    text = Text(" ".join(["12\N{NO-BREAK SPACE}% faster"] * 9))
    for encoding, space in (("utf-8", "\N{NO-BREAK SPACE}"), ("ascii", " ")):
        for width in range(12, 30):
            for line in printed(text, encoding, width).splitlines():
                assert not line.startswith("%"), (encoding, width)
                assert f"12{space}%" in line or line.strip() == "faster"


def test_what_is_shown_instead() -> None:
    for character, equivalent in characters.EQUIVALENTS.items():
        assert equivalent.isascii(), character
        assert characters.spelled(character, "utf-8") == character
    assert characters.spelled("Žluťoučký „kůň“ 犬", "ascii") == 'Zlutoucky "kun" ?'
    assert characters.spelled("½ ▁▄█ ±5", "latin-1") == "½ _=# ±5"
    assert "±犬".encode("ascii", characters.ERRORS) == b"+/-?"
    assert "too lo…".encode("latin-1", characters.ERRORS) == b"too lo~", "of the same width"


def test_control_characters_of_others_are_visible() -> None:
    """A log line or a file name must not steer the terminal."""
    tree = Tree("a\x1b[2Jb")
    tree.add("\x9b31m")
    shown = printed(tree)
    assert "a\\x1b[2Jb" in shown and "\\x9b31m" in shown and "\x1b" not in shown


def test_a_file_name_that_is_no_unicode() -> None:
    assert printed("results/\udcff") == "results/\\xff\n"


@pytest.fixture(scope="module")
def once(shop_of_module: Shop) -> Shop:
    shop = shop_of_module
    text = STUDY.replace("cpus = [0]", 'parameters = { "fake.beta" = { slowdown_percent = 50 } }')
    done = shop.call("run", shop.write(text), "--no-pilot", "--no-report", "--blocks", "6")
    assert done.code == 0, done.err
    return shop


@pytest.fixture
def measured(shop: Shop, once: Shop) -> Path:
    return copied(shop, once).result()


@pytest.mark.slow
@pytest.mark.parametrize("encoding", LATIN)
def test_every_screen_in_encodings_without_our_signs(
    shop: Shop, measured: Path, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Called by every command; `start.main` would have prepared the streams.
    monkeypatch.setattr(start, "begin", screen.prepare_streams)
    study = shop.directory / "study.toml"
    for words in (
        ["compare", measured, "--full"],
        ["compare", measured, measured],
        ["gate", measured],
        ["history", measured],
        ["results", "list", measured.parent],
        ["results", "show", measured],
        ["plan", study, "--no-pilot"],
        ["plan", "--allocate", measured],
        ["catalog"],
        ["inventory"],
        ["doctor", "--quick"],
        ["published", "list"],
        ["published", "show", "martinovic2012", "3"],
        ["published", "show", "martinovic2012", "3", "--format", "json"],
        ["link", "profiles"],
    ):
        runner = CliRunner(charset=encoding)
        done = runner.invoke(app, [str(word) for word in words], env=shop.variables())
        assert done.exit_code < 6 and done.stdout, (words, done.stderr)
        assert "�" not in done.stdout, words
        if "json" in words:
            json.loads(done.stdout)


PARTS = re.compile(r"[\s,\[/]+")
"""Between which a line may end."""


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_no_word_is_broken_in_80_columns(
    shop: Shop, measured: Path, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "begin", screen.prepare_streams)

    def words_of(width: int, *words: str | Path) -> set[str]:
        monkeypatch.setattr(screen.out, "width", width)
        done = CliRunner(charset=encoding).invoke(
            app, [str(word) for word in words], env=shop.variables()
        )
        assert done.exit_code < 6 and done.stdout, (words, done.stderr)
        assert all(len(line) <= width for line in done.stdout.splitlines()), words
        return {word for word in PARTS.split(done.stdout) if re.search("[A-Za-z]{2}", word)}

    # One file of a known name, so that no path is longer than the screen.
    short = shop.directory / "r"
    measured.rename(short)
    monkeypatch.chdir(shop.directory)
    for words in (
        ["compare", "r", "--full"],
        ["compare", "r", "--tables"],
        ["gate", "r"],
        ["results", "show", "r"],
        ["plan", "--allocate", "r"],
        ["catalog"],
        ["published", "show", "martinovic2012", "3"],
        ["link", "profiles"],
    ):
        broken = words_of(80, *words) - words_of(5000, *words)
        assert not broken, (words, broken)


def test_a_sheet_keeps_words_whole_or_lists_its_rows() -> None:
    sheet = Sheet(under=("why",))
    for name in ("metric", "number", "why"):
        sheet.add_column(name)
    sheet.add_row(
        breakable("memory.read[block_bytes=4096,variant=scalar]"), "12345678", "a long reason"
    )
    assert printed(sheet, width=120).splitlines()[1].split() == [
        "memory.read[block_bytes=4096,variant=scalar]", "12345678", "a", "long", "reason",
    ]  # fmt: skip
    below = printed(sheet, width=40).splitlines()
    assert [line.split() for line in below] == [
        ["metric", "number"],
        ["memory.read[block_bytes=4096,", "12345678"],
        ["variant=scalar]"],
        ["a", "long", "reason"],
    ]
    listed = printed(sheet, width=24).splitlines()
    assert listed[0].strip() == "memory.read["
    assert "    number  12345678" in [line.rstrip() for line in listed]


@pytest.mark.parametrize("words", ["--help", "published show martinovic2012 3 --format csv"])
def test_what_goes_past_rich_in_ascii(shop: Shop, words: str) -> None:
    shop.environment = {"PYTHONIOENCODING": "ascii"}
    done = shop.real(*words.split())
    assert done.code == 0, done.err
    assert done.out.isascii() and len(done.out) > 500


def test_json_keeps_what_ascii_lacks(shop: Shop) -> None:
    known = json.loads(shop.real("published", "list", "--json").out)
    assert not json.dumps(known, ensure_ascii=False).isascii()
    shop.environment = {"PYTHONIOENCODING": "ascii"}
    done = shop.real("published", "list", "--json")
    assert done.out.isascii() and json.loads(done.out) == known


INTERRUPTING = """\
import importlib.abc, os, signal, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
signal.signal(signal.SIGINT, {disposition})
from pentathlon.cli.start import main
sys.argv = ["pentathlon", "catalog", "--json"]
main()
"""
"""Sends Ctrl-C at the moment in which a module is looked for."""


def interrupted_at(shop: Shop, module: str, disposition: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTING.format(module=module, disposition=disposition)],
        env=shop.variables(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("module", ["pentathlon.cli.main", "pydantic", "pentathlon.cli.machine"])
def test_ctrl_c_while_it_loads(shop: Shop, module: str) -> None:
    found = interrupted_at(shop, module, "signal.default_int_handler")
    assert found == (130, "", "error: interrupted\n")


def test_an_ignored_ctrl_c_stays_ignored(shop: Shop) -> None:
    """A shell starts what runs in its background with SIGINT ignored."""
    code, out, err = interrupted_at(shop, "pydantic", "signal.SIG_IGN")
    assert (code, err) == (0, "") and json.loads(out)["workloads"]
