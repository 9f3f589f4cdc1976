"""The pages say what the program does: every key, column, command and exit code is in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from pentathlon.cli.exits import Exit
from pentathlon.cli.main import app
from pentathlon.procedure.records import FIELDS
from pentathlon.store.schema import TABLES
from pentathlon.study import boot, preparation, reach
from pentathlon.study.commands.model import OwnMetric, OwnWorkload
from pentathlon.study.factorial.model import Factor, Fraction
from pentathlon.study.load import parse_study
from pentathlon.study.model import Study
from pentathlon.study.procedure import Procedure
from pentathlon.study.rules import Evaluation
from pentathlon.study.settings import Settings
from pentathlon.study.stopping import Stopping
from pentathlon.study.suite import Suite, WorkloadChoice
from pentathlon.study.system import System
from pentathlon.study.table import Table

DOCS = Path(__file__).parent.parent.parent / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def code_words(text: str) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", text))


@pytest.mark.parametrize(
    "table",
    [
        Study,
        Procedure,
        Stopping,
        Evaluation,
        System,
        Settings,
        reach.Ssh,
        boot.Boot,
        boot.Expect,
        boot.Power,
        preparation.PreparationStep,
        Factor,
        Fraction,
        Suite,
        WorkloadChoice,
        OwnWorkload,
        OwnMetric,
    ],
)
def test_every_key_of_a_study_file(table: type[Table]) -> None:
    keys = {field.alias or name for name, field in table.model_fields.items()}
    assert keys <= code_words(page("study-file.md"))


NOTHING_STATED = """\
name = "one"
reference = "a"
[[system]]
name = "a"
target = "local"
[[suite]]
name = "s"
workloads = ["process.getpid"]
"""


@pytest.mark.parametrize("table", ["procedure", "evaluation"])
def test_defaults(table: str) -> None:
    defaults = getattr(parse_study(NOTHING_STATED, Path("study.toml")), table)
    section = page("study-file.md").split(f"## `[{table}]`\n")[1].split("\n## ")[0]
    for name in type(defaults).model_fields:
        default = getattr(defaults, name)
        [row] = re.findall(rf"^\| `{name}` \|.*\| ([^|]+) \|$", section, re.M)
        if isinstance(default, bool):
            assert row == str(default).lower(), name
        elif isinstance(default, int | float):
            assert float(row) == float(default), name


def test_the_example_of_a_study_file_is_one() -> None:
    text = page("study-file.md")
    example = text[text.index("```toml\n") + 8 :]
    example = example[: example.index("```")].replace('fallback = "two-settings.toml"\n', "")
    assert len(parse_study(example, Path("example.toml")).systems) == 2


@pytest.mark.parametrize("table", list(TABLES))
def test_every_column(table: str) -> None:
    text = page("results.md")
    section = text[text.index(f"### {table}") :]
    assert set(TABLES[table]) <= code_words(section.split("\n#", 1)[0])


def test_every_record() -> None:
    for record, fields in FIELDS.items():
        [row] = re.findall(rf"^\| `{record.kind}` \|(.*)$", page("results.md"), re.M)
        assert set(fields) - {"utc"} <= code_words(row), record.kind


def test_every_exit_code() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", page("cli.md"), re.M)}
    assert codes == {int(code) for code in Exit}


def test_every_command_and_option() -> None:
    text = page("cli.md")
    group = typer.main.get_group(app)
    for name, command in group.commands.items():
        assert re.search(rf"^\| `{name}[ `]", text, re.M), name
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--") and option != "--help":
                    assert option in text, f"{name} {option}"
