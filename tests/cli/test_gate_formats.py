"""What a gate writes for continuous integration, and the scripts that run it there."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from pentathlon.cli.exits import InputError
from pentathlon.cli.gate_formats import MARK, github, junit, markdown
from pentathlon.cli.quarantine import apply
from pentathlon.evaluate.results.gate import Gate, GateRow, Outcome
from tests.cli.conftest import ROOT, STUDY, Shop
from tests.cli.test_judging import measured, slower

HOSTILE = 'a|b*<&>"\x1b[31m\n::error::x%'


def made(outcome: Outcome = Outcome.REGRESSION) -> Gate:
    def row(one: Outcome, key: str) -> GateRow:
        return GateRow(key=key, system="s", percent=-3.0, low_percent=-4.0, high_percent=-2.0,
                       outcome=one, words=f"words of {HOSTILE}")  # fmt: skip

    rows = (*(row(one, f"w.{one.value}") for one in Outcome), row(Outcome.PASS, HOSTILE))
    return Gate(outcome=outcome, baseline=HOSTILE, delta_percent=1.0, rows=rows)


def test_junit_counts_what_it_has() -> None:
    [suite] = ElementTree.fromstring(junit(made()))
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "6", "failures": "1", "errors": "1", "skipped": "2",
    }  # fmt: skip
    kinds = {case.get("name"): [one.tag for one in case] for case in suite}
    assert kinds["w.regression"] == ["failure"] and kinds["w.failure"] == ["error"]
    assert kinds["w.inconclusive"] == ["skipped"] and kinds["w.pass"] == ["system-out"]


def test_annotations_are_one_line_each() -> None:
    lines = github(made()).splitlines()
    levels = [line.split(" ")[0] for line in lines]
    assert levels == ["::error", "::error", "::warning", "::notice", "::error"]
    assert not [line for line in lines if line.startswith("::error::x")]
    assert "%25" in lines[0] and "\x1b" not in "".join(lines)
    assert github(made(Outcome.PASS)).splitlines()[-1].startswith("::notice")


def test_a_comment_begins_with_its_mark_and_its_table_holds() -> None:
    text = markdown(made())
    assert text.startswith(f"{MARK}\n### Regression\n")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 4
    assert {line.replace("\\|", "").count("|") for line in table} == {7}
    assert "<&" not in text.replace(MARK, "")


def gated(shop: Shop) -> str:
    """An archive of five nights, and the names of two results after them."""
    first = measured(shop, "r0")
    assert shop.call("archive", "add", first).code == 0
    for k in range(1, 5):
        name = slower(shop, first, 1.0 + 0.002 * k, f"r{k}")
        assert shop.call("archive", "add", name).code == 0
    return first


def test_a_result_is_judged_against_the_last_good_ones(shop: Shop) -> None:
    first = gated(shop)
    # All begin at the same time by their journals; a later one is measured now.
    after = measured(shop, "after")
    own = shop.call("gate", after, "--against", "archive", "--delta", "50", "--json")
    found = json.loads(own.out)
    assert own.code in (0, 5) and found["baseline"] == "the last 5 good results in archive"
    slow = slower(shop, after, 3.0)
    done = shop.call("gate", slow, "--against", "archive", "--last", "4", "--format", "junit",
                     "--out", "gated")  # fmt: skip
    assert done.code == 4
    [suite] = ElementTree.fromstring(done.out.encode())
    assert (shop.directory / "gated" / "gate.xml").read_text() == done.out
    assert (shop.directory / "gated" / "gate.md").read_text().startswith(MARK)
    assert int(suite.get("failures", "0")) > 0
    few = shop.call("gate", slow, "--against", "archive", "--where", 'name = "r0"', "--json")
    assert few.code == 5 and "1 earlier result has this row" in few.out
    assert shop.call("archive", "add", slow).code == 0
    inside = shop.call("gate", "archive", "--json")
    assert inside.code == 4
    assert json.loads(inside.out)["rows"][0]["key"] == found["rows"][0]["key"]
    for words, sentence in (
        (("gate", first, "--against", "archive", "--last", "2"), "needs 3 at least"),
        (("gate", first, "--against", "archive", "--only", "none"), "that --only chooses"),
        (("gate", first, "--format", "html"), '--format is "html"'),
        (("gate", "archive", "--against", first), "judged against those before it"),
        (("gate", first, "--where", 'name = "x"'), "--where chooses from an archive"),
    ):
        bad = shop.call(*words)
        assert bad.code == 2 and sentence in bad.err and bad.err.count("\n") == 1


def test_rows_in_quarantine_close_no_gate(tmp_path: Path) -> None:
    file = tmp_path / "quarantine.toml"
    file.write_text(
        '[[row]]\nmetric = "w.regression"\nreason = "the clock of bench3"\nsince = 2026-11-01\n'
        '[[row]]\nmetric = "w.failure"\nsystem = "other"\nreason = "r"\nsince = 2026-11-01\n'
        '[[row]]\nmetric = "w.pass"\nreason = "r"\nsince = 2026-11-01\n'
    )
    rows = {row.key: row for row in apply(made(), file).rows}
    assert rows["w.regression"].outcome is Outcome.QUARANTINED
    assert "was regression, in quarantine: the clock of bench3" in rows["w.regression"].words
    assert rows["w.failure"].outcome is Outcome.FAILURE
    assert rows["w.pass"].outcome is Outcome.PASS
    alone = made().model_copy(update={"rows": made().of(Outcome.REGRESSION)})
    assert apply(alone, file).outcome is Outcome.QUARANTINED
    for text, sentence in (
        ("[[row]]", "row 1 lacks metric"),
        ("rows = 1", 'has no key "rows"'),
        ('[[row]]\nmetric = "x"\nreason = ""\nsince = 2026-11-01', "row 1 lacks reason"),
        ('[[row]]\nmetric = "x"\nreason = "r"\nsince = "soon"', "since is a date"),
        ('[[row]]\nmetric = "x"\nreason = "r"\nsince = 2026-11-01\nother = 1', "other"),
        ("[[row", "cannot be read"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=sentence):
            apply(made(), file)


CI = ROOT / "ci"


@pytest.mark.slow
def test_the_action_measures_judges_and_annotates(shop: Shop) -> None:
    shop.write(STUDY.replace("fake.*", "fake.alpha"))
    action = yaml.safe_load((CI / "action.yml").read_text())
    [step] = action["runs"]["steps"]
    given = {"study": "study.toml", "pentathlon": f"{shlex.quote(sys.executable)} -m pentathlon"}
    values = {name: given.get(name, one.get("default", "")) for name, one in
              action["inputs"].items()}  # fmt: skip
    env = {name: str(text).replace("${{ inputs.", "").replace(" }}", "")
           for name, text in step["env"].items()}  # fmt: skip
    env = {name: values.get(text, text) for name, text in env.items()}
    files = {name: str(shop.directory / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    done = subprocess.run(
        ["bash", "-c", step["run"]], cwd=shop.directory, capture_output=True, text=True,
        env={**os.environ, **shop.variables(), **env, **files, "GITHUB_ACTION_PATH": str(CI),
             "PYTHONPATH": str(ROOT)},
        check=False,
    )  # fmt: skip
    status = Path(files["GITHUB_OUTPUT"]).read_text().strip().removeprefix("status=")
    assert status in ("0", "4", "5"), done.stderr
    assert done.returncode == (0 if status == "5" else int(status)), done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("::")]
    out = shop.directory / values["out"]
    ElementTree.parse(out / "gate.xml")
    assert Path(files["GITHUB_STEP_SUMMARY"]).read_text() == (out / "gate.md").read_text()
    assert json.loads((out / "gate.json").read_text())["rows"]


def test_the_template_of_gitlab_runs_the_same_script() -> None:
    job = yaml.safe_load((CI / "gitlab.yml").read_text())[".pentathlon-gate"]
    script = (CI / "gate.sh").read_text()
    assert job["script"] == ['bash "$PENTATHLON_CI"']
    assert job["variables"].pop("PENTATHLON_CI") == "ci/gate.sh"
    for name in job["variables"]:
        assert f"${name}" in script or f"${{{name}:" in script, name
    assert job["artifacts"]["reports"]["junit"] == "$OUT/gate.xml"
