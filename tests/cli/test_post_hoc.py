"""`compare` and `report` judge otherwise than planned on request; all output is marked post hoc."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from pentathlon.cli.exits import Exit
from pentathlon.evaluate.model import Evaluation
from tests.cli.conftest import STUDY, Shop

THREE = STUDY.replace("[[suite]]", '[[system]]\nname = "c"\ntarget = "local"\n\n[[suite]]')
CHANGES = {
    "--delta": ("7", "δ is 7"),
    "--confidence": ("0.9", "the confidence is 90"),
    "--declared": ("fake.beta", "the declared metrics are fake.beta (planned: everything)"),
    "--weights": ("fake.beta=3", "the weights are fake.beta 3 (planned: the same for every area)"),
    "--only": ("fake.beta", "metrics are judged (planned: all)"),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    shop = Shop(tmp_path_factory.mktemp("three"))
    done = shop.call("run", shop.write(THREE), "--yes", "--no-pilot", "--no-report", "--out", "r")
    assert done.code == 0, done.err
    return shop


def plain(text: str) -> str:
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


@pytest.mark.parametrize("option", CHANGES)
def test_the_terminal_marks_each_choice(shop: Shop, option: str) -> None:
    value, words = CHANGES[option]
    done = shop.call("compare", "r", option, value)
    assert done.code == 0, done.err
    text = plain(done.out)
    assert text.startswith("Two systems Post hoc: ") and words in text
    assert text.endswith(", post hoc"), "the last line says it too"
    assert "chosen after the measurement" in text


def test_what_the_study_planned_is_not_marked(shop: Shop) -> None:
    as_planned = shop.call("compare", "r")
    assert "ost hoc" not in as_planned.out
    same = shop.call(
        "compare",
        "r",
        "--delta",
        "1",
        "--confidence",
        "0.95",
        "--only",
        "fake.*",
        "--declared",
        "*",
    )
    assert same.out == as_planned.out


def test_every_file_marks_the_choice_and_replaces_none_that_was_planned(shop: Shop) -> None:
    formats = "html,csv,markdown,latex,json"
    planned = shop.call("report", "r", "--format", formats)
    assert planned.code == 0, planned.err
    before = {Path(name): (shop.directory / name).read_bytes() for name in planned.out.split()}
    assert not any(b"ost hoc" in content for content in before.values())
    options = [word for option, (value, _) in CHANGES.items() for word in (option, value)]
    done = shop.call("report", "r", "--format", formats, *options)
    assert done.code == 0, done.err
    files = {Path(name).suffix: shop.directory / name for name in done.out.split()}
    assert all(file.stem.endswith("-post-hoc") for file in files.values())
    assert before == {name: (shop.directory / name).read_bytes() for name in before}
    for suffix in (".html", ".md", ".tex", ".json"):
        text = plain(files[suffix].read_text().replace("\\", ""))
        for _, words in CHANGES.values():
            # LaTeX sets δ by a command.
            shown = words.replace("δ is", "is")
            assert shown in text.replace("~", " "), (suffix, words)
    captions = [x for x in files[".tex"].read_text().splitlines() if x.startswith(r"\caption")]
    assert captions and all("post hoc" in caption for caption in captions)
    page = files[".html"].read_text()
    assert 'id="post-hoc"' in page and ", post hoc – Pentathlon</title>" in page
    with files[".csv"].open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    assert lines and all("δ is 7" in line["post_hoc"] for line in lines)
    assert {line["workload"] for line in lines} == {"fake.beta"}
    evaluation = Evaluation.model_validate_json(files[".json"].read_text())
    assert [one.what for one in evaluation.study.post_hoc] == [
        "delta_percent", "confidence", "declared", "weights", "only",
    ]  # fmt: skip
    assert evaluation.study.delta_percent == 7 and evaluation.study.confidence == 0.9


def test_weights_chosen_post_hoc_are_not_called_stated(shop: Shop) -> None:
    done = shop.call("compare", "r", "--tables", "--weights", "fake.beta=3,fake.alpha=1")
    text = plain(done.out)
    assert "y weights chosen post hoc (fake.beta 3 and fake.alpha 1)" in text
    assert "stated weights" not in text


def test_two_results_are_judged_by_chosen_rules_too(shop: Shop) -> None:
    done = shop.call("compare", "r", "r", "a", "b", "--delta", "7", "--only", "fake.beta")
    assert done.code == 0, done.err
    text = plain(done.out)
    assert "Post hoc: δ is 7 % (planned: 1 %)" in text and text.endswith("Post hoc.")
    for option in ("--weights", "--declared"):
        done = shop.call("compare", "r", "r", "a", "b", option, CHANGES[option][0])
        assert done.code == Exit.BAD_INPUT and f"leave out {option}" in plain(done.err)


@pytest.mark.parametrize("option", ["--delta", "--only"])
def test_a_gate_marks_each_choice(shop: Shop, option: str) -> None:
    value, words = CHANGES[option]
    for against in ("a", "r"):
        done = shop.call("gate", "r", "--against", against, "--system", "b", option, value)
        assert done.code != Exit.BAD_INPUT, done.err
        text = plain(done.out)
        assert ", post hoc Post hoc: " in text and words in text, text
        assert "chosen after the measurement" in text
    done = shop.call("gate", "r", option, value, "--json")
    [one] = json.loads(done.out)["post_hoc"]
    assert one["what"] == {"--delta": "delta_percent", "--only": "only"}[option]
    assert words in plain(one["words"])


def test_a_gate_by_the_study_marks_nothing(shop: Shop) -> None:
    as_planned = shop.call("gate", "r")
    assert "ost hoc" not in as_planned.out
    same = shop.call("gate", "r", "--delta", "1", "--only", "fake.*")
    assert (same.code, same.out) == (as_planned.code, as_planned.out)
    assert json.loads(shop.call("gate", "r", "--json").out)["post_hoc"] == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--delta", "0"], "give a percentage between 0 and 100"),
        (["--delta", "nan"], "give a percentage between 0 and 100"),
        (["--confidence", "95"], "give a fraction between 0.5 and 1"),
        (["--declared", "fake.bete"], '"fake.bete" declares nothing that this study measures'),
        (["--weights", "fake.beta"], "give NAME=NUMBER"),
        (["--weights", "fake.beta=x"], "give NAME=NUMBER"),
        (["--weights", "fake.beta=-1"], "give NAME=NUMBER"),
        (["--weights", "fake.beta=nan"], "give NAME=NUMBER"),
        (["--weights", "fake.beta=1,fake.beta=2"], 'names "fake.beta" twice'),
        (["--weights", "nothing=1"], '"nothing" is neither an area nor a workload'),
        (["--only", "fake.bete"], "chooses no metric of r"),
    ],
)
@pytest.mark.parametrize("command", ["compare", "report"])
def test_a_choice_that_means_nothing_is_refused(
    shop: Shop, command: str, words: list[str], says: str
) -> None:
    done = shop.call(command, "r", *words)
    assert done.code == Exit.BAD_INPUT
    assert says in plain(done.err)


def test_a_pair_of_three_is_judged_without_derived_tables(shop: Shop) -> None:
    whole = shop.call("compare", "r", "a", "b", "--full")
    for name in ("*.parquet", "tables.json"):
        for derived in (shop.directory / "r").glob(name):
            derived.unlink()
    again = shop.call("compare", "r", "a", "b", "--full")
    assert (again.code, again.out) == (0, whole.out), again.err
    assert json.loads((shop.directory / "r" / "plan.json").read_text())["study"]["name"] == "two"
