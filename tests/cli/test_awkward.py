"""Results that are awkward: outliers, one block, cut off, damaged, full of failures."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pentathlon.safeio.checksum import sealed, unsealed
from tests.cli.conftest import STUDY, Shop, copied

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def once(shop_of_module: Shop) -> Shop:
    done = shop_of_module.call("run", shop_of_module.write(), "--no-pilot", "--no-report")
    assert done.code == 0, done.err
    return shop_of_module


@pytest.fixture
def measured(shop: Shop, once: Shop) -> Path:
    return copied(shop, once).result()


def rewrite(result: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change records of a journal, with checksums as if they had been written so."""
    journal = result / "journal.jsonl"
    records = [unsealed(line)[0] for line in journal.read_bytes().splitlines()]
    for record in records:
        change(record)
    journal.write_bytes(b"".join(map(sealed, records)))


def thirtyfold(record: dict[str, Any]) -> None:
    event = record.get("event", {})
    if event.get("event") == "sample" and (record["block"], record["system"]) == (1, "b"):
        event["value"] *= 30


def test_an_outlier_in_one_of_two_blocks(shop: Shop, measured: Path) -> None:
    """Its interval reaches from -100 % to more than 1e20 %: what is not known is called so."""
    rewrite(measured, thirtyfold)
    done = shop.call("compare", measured, "--full")
    assert done.code == 0, done.err
    flat = " ".join(done.out.split())
    assert "how b compares is not known, as 2 blocks with such a spread" in flat
    assert "look for what makes the blocks differ" in flat
    assert len(re.findall(r"not known +inconclusive", done.out)) == 9
    assert not re.search(r"\d,\d{3},\d{3}", done.out), "no number of so many digits"
    formats = "html,csv,markdown,latex,json"
    written = shop.call("report", measured, "--format", formats)
    assert written.code == 0, written.err
    page = (measured / "evaluation.md").read_text()
    assert "not known" in page and not re.search(r"\d,\d{3},\d{3}", page)
    assert shop.call("gate", measured).code == 5
    assert shop.call("compare", measured, measured).code == 0


def test_one_block_in_words(shop: Shop) -> None:
    done = shop.call("run", shop.write(), "--no-pilot", "--blocks", "1")
    assert done.code == 0, done.err
    assert "1 blocks" not in done.out + done.err and "1 block," in done.out
    shop.call("report", "--format", "html,markdown,csv")
    for name in ("report.html", "evaluation.md"):
        text = (shop.result() / name).read_text()
        assert not re.search(r"\b1 (blocks|boots|rows|samples|threads)\b", text), name
        assert "within 0 %" not in text


@pytest.mark.parametrize(
    "words",
    ["compare", "results show", "report", "gate", "tables", "run --resume", "plan --allocate"],
)
def test_a_plan_whose_system_was_renamed(shop: Shop, measured: Path, words: str) -> None:
    plan = measured / "plan.json"
    plan.write_text(plan.read_text().replace('"name":"b"', '"name":"c"'))
    done = shop.call(*words.split(), measured)
    assert done.code == 2 and done.out == ""
    assert "plan.json is not the plan that journal.jsonl was begun with" in done.err
    assert "compare --delta" in done.err


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda plan: plan["blocks"][1].pop(), "block 2 boots"),
        (lambda plan: plan["blocks"][0][0]["steps"].pop(), "does not run each step"),
        (lambda plan: plan["targets"].pop("b"), "its targets are those of a, its study has a, b"),
        (lambda plan: plan.update(blocks=3), "blocks: "),
    ],
)
def test_a_plan_that_contradicts_itself(
    shop: Shop, measured: Path, change: Callable[[dict[str, Any]], None], sentence: str
) -> None:
    document = json.loads((measured / "plan.json").read_text())
    change(document)
    text = json.dumps(document)
    (measured / "plan.json").write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    rewrite(measured, lambda one: one.update(plan_hash=digest) if "plan_hash" in one else None)
    done = shop.call("compare", measured)
    assert done.code == 2 and sentence in done.err, done.err


def test_a_journal_of_another_plan(shop: Shop, measured: Path) -> None:
    def renamed(record: dict[str, Any]) -> None:
        if record.get("system") == "b":
            record["system"] = "x"

    rewrite(measured, renamed)
    (measured / "tables.json").unlink()
    done = shop.call("compare", measured)
    assert done.code == 2 and re.search(r"journal.jsonl:\d+: this record \(boot-start\)", done.err)
    listed = shop.call("results", "list")
    assert listed.code == 0 and "left out: " in listed.err and "journal.jsonl" in listed.err


def test_a_damaged_table_is_made_again(shop: Shop, measured: Path) -> None:
    before = shop.call("compare", measured).out
    (measured / "samples.parquet").write_bytes(b"PAR1 cut")
    done = shop.call("compare", measured)
    assert (done.code, done.out) == (0, before), done.err


def test_what_is_cut_off_says_so(shop: Shop, measured: Path) -> None:
    journal = measured / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:80]))
    done = shop.call("compare", measured)
    assert done.code == 0, done.err
    assert re.search(r"\A\s*! Unfinished, \d+ of 12 steps: the run was cut off\.", done.out)
    across = shop.call("compare", measured, measured)
    assert "! Of the first result (a), unfinished, " in " ".join(across.out.split())
    shop.call("report", measured, "--format", "html,markdown,latex,json")
    for name in ("report.html", "evaluation.md", "evaluation.tex", "evaluation.json"):
        assert "nfinished, " in (measured / name).read_text(), name


def test_a_whole_run_does_not(shop: Shop, measured: Path) -> None:
    assert "cut off" not in shop.call("compare", measured).out


def test_a_wall_of_alike_answers_is_one_row(shop: Shop) -> None:
    fault = {"kind": "unsupported", "workload": "fake.beta"}
    shop.options = {"faults": [fault]}
    done = shop.call("run", shop.write(), "--no-pilot", "--no-report")
    assert done.code == 0, done.err

    def spread(record: dict[str, Any]) -> None:
        event = record.get("event", {})
        if event.get("event") == "error":
            event["case"] = {"size_bytes": 1024 << record["block"], "variant": "plain"}

    rewrite(shop.result(), spread)
    (shop.result() / "tables.json").unlink()
    shown = shop.call("results", "show")
    lines = [line for line in shown.out.splitlines() if "planted: unsupported" in line]
    assert len(lines) == 2, shown.out
    assert all("1 more" in line and " – " in line for line in lines)
    [listed] = json.loads(shop.call("results", "list", "--json").out)
    assert (listed["failures"], listed["unsupported"]) == (0, 4)
    header, row = shop.call("results", "list").out.splitlines()
    assert header.split()[-2:] == ["failures", "unsupported"] and row.split()[-2:] == ["–", "4"]


def test_a_narrow_list_shows_whole_paths(shop: Shop, measured: Path) -> None:
    shop.environment = {"COLUMNS": "70"}
    done = shop.real("results", "list")
    path, line = done.out.splitlines()
    assert path == str(measured.relative_to(shop.directory))
    assert line.startswith("  20") and line.endswith(", 12/12 steps") and "finished" in line


def test_weights_of_what_was_not_compared(shop: Shop) -> None:
    """Areas are not called equal above a table in which they are not."""
    shop.options = {"faults": [{"kind": "unsupported", "workload": "fake.beta", "cpus": [0]}]}
    text = STUDY.replace('"fake.*"', '"fake.*", "other.*"')
    done = shop.call("run", shop.write(text), "--no-pilot")
    assert done.code == 0, done.err
    sentence = " ".join(done.out.split())
    assert "of the weight could not be compared" in sentence
    shown = " ".join(shop.call("compare", "--tables").out.split())
    assert "With every area weighed the same, less the rows that were not compared" in shown
    whole = shop.call("compare", shop.result(), "a", "b").out
    assert "40" in whole and "60" in whole


def test_a_user_without_a_home(shop: Shop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in a container that is run with a number for a user."""

    def unknown(_class: type[Path]) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", classmethod(unknown))
    shop.environment = {"XDG_STATE_HOME": ""}
    done = shop.call("plan", shop.write(), "--no-pilot")
    assert done.code in (2, 3) and done.out == ""
    assert "has no home directory; set HOME or XDG_STATE_HOME" in done.err
    shop.environment = {"XDG_STATE_HOME": str(tmp_path / "state")}
    assert shop.call("plan", "study.toml", "--no-pilot").code == 0


@pytest.mark.parametrize("words", ["--version", "--help", "catalog", "published list --json"])
def test_a_full_disk(shop: Shop, words: str) -> None:
    """The output cannot be written: one sentence, and no status of success."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pentathlon", *words.split()],
            env=shop.variables(), cwd=shop.directory, stdout=full, stderr=subprocess.PIPE,
            text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ") and "no space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("words", "code"), [("gate RESULT", 4), ("compare RESULT", 0)])
def test_a_reader_who_has_seen_enough(shop: Shop, words: str, code: int) -> None:
    """The status is that of the command, the one who reads its output."""
    slow = 'parameters = { "fake.beta" = { slowdown_percent = 50 } }'
    text = STUDY.replace("cpus = [0]", slow)
    run = shop.call("run", shop.write(text), "--no-pilot", "--no-report", "--blocks", "5")
    assert run.code == 0, run.err
    process = shop.start(*words.replace("RESULT", str(shop.result())).split())
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=60) == code
    assert process.stderr.read() == ""


def test_progress_that_nobody_reads(shop: Shop) -> None:
    """A run whose standard error is closed goes on to its end."""
    process = shop.start("run", shop.write(), "--no-pilot", "--no-report")
    assert process.stderr is not None
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    [listed] = json.loads(shop.call("results", "list", "--json").out)
    assert (listed["state"], listed["finished"]) == ("finished", 12)


def test_a_study_in_a_directory_whose_name_is_no_unicode(shop: Shop) -> None:
    directory = shop.directory / "st\udcff"
    directory.mkdir()
    (directory / "study.toml").write_text(STUDY)
    done = shop.real("run", directory / "study.toml", "--no-pilot", "--out", directory / "r")
    assert done.code == 0, done.err
    assert "st\\xff/r" in done.err
    assert shop.real("results", "show", directory / "r").code == 0
