"""`gate`, `history` and `compare` of two results, on results that the command itself made."""

from __future__ import annotations

import json
import shutil

import pytest

from pentathlon.safeio.checksum import sealed, unsealed
from tests.cli.conftest import STUDY, Shop, copied

ONE = STUDY.replace('[[system]]\nname = "b"\ntarget = "local"\ncpus = [0]\n', "").replace(
    "blocks = 2", "blocks = 4"
)


def measured(shop: Shop, name: str, text: str = ONE) -> str:
    done = shop.call("run", shop.write(text), "--out", name, "--yes", "--no-pilot", "--no-report")
    assert done.code == 0, done.err
    return name


@pytest.fixture(scope="module")
def once(shop_of_module: Shop) -> Shop:
    for name in ("before", "after"):
        measured(shop_of_module, name)
    return shop_of_module


@pytest.fixture
def pair(shop: Shop, once: Shop) -> tuple[str, str]:
    copied(shop, once)
    return "before", "after"


def slower(shop: Shop, name: str, factor: float, target: str = "slow") -> str:
    """A copy of a result with every value multiplied in its journal."""
    shutil.copytree(shop.directory / name, shop.directory / target)
    for derived in (shop.directory / target).glob("*.parquet"):
        derived.unlink()
    (shop.directory / target / "tables.json").unlink(missing_ok=True)
    journal = shop.directory / target / "journal.jsonl"
    lines = []
    for line in journal.read_bytes().splitlines():
        record = unsealed(line)[0]
        event = record.get("event")
        if isinstance(event, dict) and event.get("event") == "sample":
            worse = factor if event["direction"] == "lower" else 1 / factor
            event["value"] *= worse
        lines.append(sealed(record))
    journal.write_bytes(b"".join(lines))
    return target


def test_two_results_are_compared_without_blocks(shop, pair):
    done = shop.call("compare", *pair)
    assert done.code == 0, done.err
    assert "not in common blocks" in done.out
    assert "Welch" in done.out


def test_a_planted_slowdown_closes_the_gate(shop, pair):
    slow = slower(shop, pair[0], 2.0)
    done = shop.call("gate", slow, "--against", pair[0])
    assert done.code == 4, done.out
    assert done.out.startswith("regression")
    assert "[size_bytes=" in done.out
    text = shop.call("gate", slow, "--against", pair[0], "--json")
    assert json.loads(text.out)["outcome"] == "regression"
    better = shop.call("gate", pair[0], "--against", slow)
    assert better.code == 0
    compared = shop.call("compare", pair[0], slow)
    assert "slower by at least" in compared.out


def test_the_same_result_passes_its_own_gate_with_room(shop, pair):
    done = shop.call("gate", pair[0], "--against", pair[0], "--delta", "90")
    assert (done.code, done.out.split()[0]) == (0, "pass")


def test_what_the_baseline_has_and_the_result_lacks_fails(shop):
    whole = measured(shop, "whole")
    workloads = json.loads((shop.directory / whole / "catalog.json").read_text())["workloads"]
    assert len(workloads) > 1
    rest = ONE.replace('["fake.*"]', json.dumps([workloads[0]["id"]]))
    part = measured(shop, "part", rest)
    done = shop.call("gate", part, "--against", whole, "--delta", "90")
    assert done.code == 1
    assert "only the baseline has it" in done.out
    chosen = ["--only", workloads[0]["id"]]
    assert shop.call("gate", part, "--against", whole, "--delta", "90", *chosen).code in {0, 5}


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--delta", "0"], "between 0 and 100"),
        (["--against", "nobody"], '"nobody" is no system'),
        (["--system", "nobody", "--against", "before"], '"nobody" is no system'),
        ([], "has one system"),
        (["--against", "before", "--only", "nothing.*"], "has no metric"),
    ],
)
def test_a_wrong_gate_is_one_sentence(shop, pair, words, text):
    done = shop.call("gate", pair[1], *words)
    assert done.code == 2, done.out
    assert text in done.err


def test_history_needs_results_and_then_finds_a_change(shop):
    first = measured(shop, "r0")
    done = shop.call("history", first)
    assert done.code == 0
    assert "not assessed: 1 comparable result;" in done.out
    for k in range(1, 10):
        target = slower(shop, first, (1.0 + k % 3 * 0.001) * (2.0 if k >= 6 else 1.0), f"r{k}")
        journal = shop.directory / target / "journal.jsonl"
        lines = [unsealed(line)[0] for line in journal.read_bytes().splitlines()]
        lines[0]["utc"] = f"2030-01-{k + 1:02d}T00:00:00Z"
        journal.write_bytes(b"".join(map(sealed, lines)))
    done = shop.call("history", *[f"r{k}" for k in range(10)], "--json")
    assert done.code == 4, done.err
    found = json.loads(done.out)
    places = {c["at"] for one in found["metrics"] for c in one["changes"]}
    assert places == {"r6"}
    shown = shop.call("history", *[f"r{k}" for k in range(10)], "--html", "h.html")
    page = (shop.directory / "h.html").read_text()
    assert page.count("<svg") == len(found["metrics"]) and "since 2030-01-07, r6" in page
    assert "2030-01-07" in shown.out and shown.code == 4
    assert shop.call("archive", "add", *[f"r{k}" for k in range(10)]).code == 0
    held = shop.call("history", "archive", "--json")
    assert held.code == 4
    own, other = json.loads(held.out), found
    for one, two in zip(own["metrics"], other["metrics"], strict=True):
        assert one["speed_log"] == pytest.approx(two["speed_log"], rel=1e-12)
        assert [c["percent"] for c in one["changes"]] == pytest.approx(
            [c["percent"] for c in two["changes"]]
        )
    early = shop.call("history", "archive", "--where", 'started < "2030-01-07" and study = "two"')
    assert early.code == 0 and "no change of level" in early.out
    key = found["metrics"][0]["key"]
    few = json.loads(shop.call("history", "archive", "--only", key, "--json").out)
    assert [one["key"] for one in few["metrics"]] == [key]
    # One result of an archive is judged as its directory is; of two the later against the earlier.
    last = 'started >= "2030-01-09"'
    pair = shop.call("compare", "archive", "--where", last)
    assert pair.out == shop.call("compare", "r8", "r9").out
    many = shop.call("compare", "archive")
    assert many.code == 2 and "archive has 10 results" in many.err
    written = shop.call("report", "archive", "--where", 'name = "r3"', "--format", "csv")
    assert written.code == 2 and "--out" in written.err
    written = shop.call("report", "archive", "--where", 'name = "r3"', "-f", "csv", "--out", "o")
    assert written.code == 0 and list((shop.directory / "o").iterdir())
    wrong = shop.call("history", "r0", "--where", 'study = "two"')
    assert wrong.code == 2 and "--where chooses from an archive" in wrong.err
