"""`calibrate`, `plan --allocate` and stopping rules through the whole command."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import STUDY, Shop

pytestmark = pytest.mark.slow

TWO = STUDY.replace("blocks = 2\n", "blocks = 6\n")
LOOKS = (
    TWO.replace("blocks = 6\n", 'stopping = { rule = "looks", looks = [4, 6, 9] }\n')
    .replace("cpus = [0]\n", 'parameters = { "fake.alpha" = { slowdown_percent = 30 } }\n')
    .replace("fake.*", "fake.alpha")
)


def verdicts(shop: Shop) -> tuple[list[str], list[str]]:
    """Reasons and words of every row of the result `found`."""
    assert shop.call("report", "found", "--format", "json").code == 0
    document = json.loads((shop.directory / "found" / "evaluation.json").read_text())
    rows = [row["comparisons"][0] for row in document["rows"]]
    return [one["reason"] for one in rows], [one["words"] for one in rows]


def test_a_calibration_is_made_kept_and_held_against_later_runs(shop: Shop) -> None:
    study = shop.write(TWO)
    done = shop.call("calibrate", study, "--blocks", "5", "--out", "cal")
    assert done.code == 0, done.err
    assert "Noise floor of this machine (host)" in done.out
    assert "False alarms of single metrics in groups of 5 blocks" in done.out
    [file] = (shop.directory / "state" / "pentathlon" / "calibration").iterdir()
    made = json.loads(file.read_text())
    assert made == json.loads((shop.directory / "cal" / "calibration-made.json").read_text())
    assert made["blocks"] == 5
    assert not (shop.directory / "cal" / "calibration.json").exists()

    # A wide floor, as a noisy machine has it, refuses what a run finds.
    wide = {**made, "floors": [{**one, "floor_percent": 1e6} for one in made["floors"]]}
    file.write_text(json.dumps(wide))
    slow = LOOKS.replace('stopping = { rule = "looks", looks = [4, 6, 9] }', "blocks = 6")
    assert shop.call("run", shop.write(slow), "--no-pilot", "--out", "found").code == 0
    assert json.loads((shop.directory / "found" / "calibration.json").read_text()) == [wide]
    [reasons, words] = verdicts(shop)
    assert all("noise floor of this machine" in reason for reason in reasons)
    assert all(word.startswith("inconclusive") for word in words)
    (shop.directory / "found" / "calibration.json").unlink()
    assert all(word.startswith("slower by at least") for word in verdicts(shop)[1])

    again = shop.call("calibrate", "--result", "cal")
    assert again.code == 0
    assert json.loads(file.read_text())["floors"] == made["floors"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["calibrate", "study.toml", "--system", "bb"], 'did you mean "b"?'),
        (["calibrate", "--system", "b"], "name the study file too"),
        (["calibrate", "study.toml", "--result", "x"], "leave out STUDY"),
        (["calibrate", "--result", "nowhere"], "nowhere is no result directory"),
        (["plan"], "name a study file"),
        (["plan", "study.toml", "--allocate", "x"], "leave out STUDY"),
    ],
)
def test_wrong_words_are_answered(shop: Shop, words: list[str], sentence: str) -> None:
    shop.write(TWO)
    done = shop.call(*words)
    assert done.code == 2
    assert sentence in done.err


def test_counts_are_recommended_from_a_result(shop: Shop) -> None:
    assert shop.call("run", shop.write(TWO), "--no-pilot", "--out", "pilot").code == 0
    done = shop.call("plan", "--allocate", "pilot", "--half-width", "0.05")
    assert done.code == 0, done.err
    assert "b against a, for ±0.05 %" in done.out
    assert "fake.alpha" in done.out
    assert "of machine time" in done.out


def test_too_small_a_pilot_is_refused(shop: Shop) -> None:
    assert shop.call("run", shop.write(STUDY), "--no-pilot", "--out", "pilot").code == 0
    done = shop.call("plan", "--allocate", "pilot")
    assert done.code == 2
    assert "cannot serve as a pilot" in done.err


def test_a_clear_difference_stops_at_the_first_look(shop: Shop) -> None:
    done = shop.call("run", shop.write(LOOKS), "--no-pilot", "--out", "r")
    assert done.code == 0, done.err
    assert "enough: after 4 blocks every metric is decided; 5 blocks not needed" in done.err
    assert "% slower, sure" in done.out.replace("\N{NO-BREAK SPACE}", " ")
    shown = shop.call("results", "show", "r").out
    assert "not needed" in shown
    assert "looks after 4, 6, 9 blocks" in shown
    listed = json.loads(shop.call("results", "list", ".", "--json").out)
    assert listed[0]["state"] == "finished"
    assert listed[0]["not_needed"] > 0
    refused = shop.call("run", "--resume", "r")
    assert refused.code == 2
    assert "is finished" in refused.err


def test_what_is_decided_at_a_look_is_measured_no_longer(shop: Shop) -> None:
    """One workload differs by far, the other by nothing, with a δ that no look can show."""
    study = LOOKS.replace('"fake.alpha"]', '"fake.alpha", "fake.beta"]')
    study = study.replace("[procedure]\n", '[procedure]\npairing = "none"\n')
    study += "\n[evaluation]\ndelta_percent = 0.0001\n"
    done = shop.call("run", shop.write(study), "--no-pilot", "--out", "r")
    assert done.code == 0, done.err
    assert "decided after 4 blocks, no longer measured: fake.alpha" in done.err
    shown = shop.call("results", "show", "r").out
    assert "what is decided is left out from then on" in shown
    assert shop.call("report", "r", "--format", "json").code == 0
    document = json.loads((shop.directory / "r" / "evaluation.json").read_text())
    assert document["study"]["decided"] == {"fake.alpha": 4}
    blocks = {
        row["workload"]: row["comparisons"][0]["effect"]["blocks"] for row in document["rows"]
    }
    assert blocks == {"fake.alpha": 4, "fake.beta": 9}
    assert {mean["blocks"] for mean in document["aggregates"][0]["means"]} == {4}
    listed = json.loads(shop.call("results", "list", ".", "--json").out)
    assert listed[0]["state"] == "finished" and listed[0]["not_needed"] == 2 * 5
