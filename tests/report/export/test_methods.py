"""The methods paragraph says what was done, and cites what was used and nothing else."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.report.export import methods
from pentathlon.study.plan import CommandRecord
from tests.fakes.synthetic import Item, Maker, same

ROOT = Path(__file__).parents[3]
COST = Item("process.getpid", "time", {}, "ns", "lower", 60.0, 0.004)


def made(**study):
    result = Maker(
        factors={"a_1": same, "b_c": lambda _: 1.2}, chosen=[COST], blocks=7, noise=0.3
    ).make()
    changed = result.plan.study.model_copy(update=study)
    return dataclasses.replace(result, plan=result.plan.model_copy(update={"study": changed}))


def texts(result):
    evaluation = evaluate(result)
    makers = (methods.to_markdown, methods.to_latex, methods.to_bibtex)
    return [make(evaluation, result) for make in makers]


def test_the_paragraph_is_that_of_the_plan() -> None:
    result = made()
    plain, latex, _ = texts(result)
    procedure = result.plan.study.procedure
    assert "7 blocks; each block held one boot of every system in random order" in plain
    assert f"(seed {result.plan.study.seed})" in plain
    assert f"{procedure.iterations} counted iteration" in plain
    assert result.plan.hash()[: methods.HASH_DIGITS] in plain
    assert "a\\_1" in latex and r"b\_c" in latex and r"\cite{holm1979}" in latex
    assert "⟦" not in plain + latex
    assert not re.search(r"\]\w|\}\w", plain), "a space after each citation"


@pytest.mark.parametrize("others", [False, True])
def test_a_command_is_not_timed_in_batches(others: bool) -> None:
    chosen = [COST, dataclasses.replace(COST, workload="memory.x")] if others else [COST]
    made_ = Maker(factors={"a": same, "b": same}, chosen=chosen, blocks=3).make()
    record = CommandRecord(definition="0" * 64, files={})
    plan = made_.plan.model_copy(update={"commands": {COST.workload: record}})
    plain, _, _ = texts(dataclasses.replace(made_, plan=plan))
    assert ("timed in batches" in plain) == others
    assert "an iteration was one run" in plain


def test_every_citation_has_its_entry_and_none_is_left_over() -> None:
    plain, latex, entries = texts(made())
    cited = set(re.findall(r"@(\w+)", plain))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", entries, re.M))
    assert cited == {
        key for found in re.findall(r"\\cite\{(.*?)\}", latex) for key in found.split(",")
    }
    assert {"student1908", "holm1979", "schuirmann1987", "fleming1986"} <= cited
    assert not {"welch1947", "benjamini1995", "lan1983"} & cited, "not used in this study"


def test_every_entry_can_be_cited() -> None:
    source = Path(methods.__file__).read_text(encoding="utf-8")
    known = {key for found in re.findall("⟦([a-z0-9,]+)⟧", source) for key in found.split(",")}
    assert known == set(methods.bibliography())


def test_what_is_not_compared_is_not_said_to_be_tested() -> None:
    result = Maker(factors={"a": same}, chosen=[COST], blocks=2).make()
    plain, _, entries = texts(result)
    assert "Measured was a" in plain and "Holm" not in plain and "holm" not in entries


def test_the_citation_file_has_the_version_and_licence_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = dict(re.findall(r"^([\w-]+): (\S.*)$", text, re.M))
    assert found["version"] == project["version"] and found["license"] == project["license"]
    assert found["cff-version"] == "1.2.0" and {"message", "title"} <= set(found)
    assert "\nauthors:\n  - name: " in text


@pytest.mark.parametrize("delta", [1.0, 2.5])
def test_the_rule_is_that_of_the_study(delta: float) -> None:
    judged = made().plan.study.evaluation.model_copy(update={"delta_percent": delta})
    plain = texts(made(evaluation=judged))[0].replace("\N{NO-BREAK SPACE}", " ")
    assert f"±{delta:g} %" in plain
