"""Help, completion and errors load nothing that only the work of a command needs."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from inspect import getclosurevars
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import typer
from typer.main import get_command

from pentathlon.cli.commands import existing, importing, link, results
from pentathlon.cli.main import COMMANDS, app
from pentathlon.cli.ondemand import PACKAGE
from pentathlon.extraction.tools.registry import EXTRACTORS
from pentathlon.store.directory import PLAN, RESULTS, read_plan
from pentathlon.store.problems import StoreError
from pentathlon.study.load import load_study
from pentathlon.study.problems import StudyError
from pentathlon.testbed.link.calibrate import ATTEMPTS
from pentathlon.testbed.link.testbed import EngineName
from tests.cli.conftest import Shop

HEAVY = ("numpy", "polars", "scipy", "scipy.stats", "pydantic", "paramiko", "jinja2",
         "ruptures", "hdrh", "zstandard", "pentathlon.evaluate", "pentathlon.store.query",
         "pentathlon.study.model", "pentathlon.targets", "pentathlon.report")  # fmt: skip
"""Packages of which each takes longer to import than everything that help needs."""

CONVERTS = {"pydantic"}
"""What typer converts the values of options with, as soon as there are words to parse."""

LOADED = """
import json, runpy, sys
sys.argv = ["pentathlon", *{words!r}]
try:
    runpy.run_module("pentathlon", run_name="__main__")
finally:
    with open({file!r}, "w") as file:
        json.dump(sorted(sys.modules), file)
"""


def loaded(tmp_path: Path, *words: str, **variables: str) -> tuple[str, set[str]]:
    """What the program printed, and the heavy packages that it loaded."""
    file = tmp_path / "modules.json"
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(words=words, file=str(file))],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2]), **variables},
        timeout=60,
        check=False,
    )
    modules = json.loads(file.read_text())
    return done.stdout + done.stderr, {one for one in HEAVY if one in modules}


EVERY_HELP = """
import json, sys
from pentathlon.cli.main import app
from typer.main import get_command
def walk(command):
    for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
        walk(command.get_command(None, name))
walk(get_command(app))
print(json.dumps(sorted(sys.modules)))
"""


def test_no_command_needs_them_to_be_described() -> None:
    done = subprocess.run(
        [sys.executable, "-c", EVERY_HELP],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        timeout=60,
        check=True,
    )
    modules = json.loads(done.stdout)
    assert {one for one in HEAVY if one in modules} == set()
    every = {f"{PACKAGE}.{entry.module or name}" for name, entry in COMMANDS.items()}
    assert every <= set(modules), "all were loaded"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["run", "--help"], "pentathlon run --resume"),
        (["run", "--blok"], "No such option"),
        (["runn"], "Did you mean 'run'?"),
        (["run", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["compare", "nowhere"], "nowhere is no result directory"),
    ],
)
def test_nor_does_an_answer_without_work(tmp_path: Path, words: list[str], text: str) -> None:
    output, found = loaded(tmp_path, *words)
    assert text in output
    assert found <= CONVERTS


def test_nor_does_completion(tmp_path: Path) -> None:
    output, found = loaded(
        tmp_path,
        _PENTATHLON_COMPLETE="complete_bash",
        COMP_WORDS="pentathlon compare --de",
        COMP_CWORD="2",
    )
    assert output.split() == ["--delta", "--declared"]
    assert found <= CONVERTS


def test_the_work_loads_them(tmp_path: Path) -> None:
    """The list of what is loaded is one of this program: it can name them."""
    _, found = loaded(tmp_path, "results", "list", str(tmp_path))
    assert {"polars", "pydantic", "pentathlon.store.query"} <= found


def test_a_plan_and_a_comparison_load_what_they_use(shop: Shop, tmp_path: Path) -> None:
    """No numbers for a plan without a fraction, no pages for an answer in the terminal."""
    study = str(shop.write())
    output, found = loaded(tmp_path, "plan", "--no-pilot", study, **shop.variables())
    assert "plan hash" in output
    assert not found & {"numpy", "polars", "scipy", "jinja2", "paramiko", "pentathlon.evaluate"}
    shop.call("run", study, "--yes", "--no-pilot", "--no-report")
    output, found = loaded(tmp_path, "compare", str(shop.result()), **shop.variables())
    assert "δ = " in output
    assert not found & {"jinja2", "paramiko", "ruptures", "scipy.stats", "zstandard"}


def test_missing_files_are_named_as_their_readers_name_them(shop: Shop, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(StudyError) as study:
        load_study(missing)
    assert shop.call("plan", str(missing)).err == f"error: {study.value}\n"
    with pytest.raises(StoreError) as store:
        read_plan(missing)
    assert shop.call("compare", str(missing)).err == f"error: {store.value}\n"


def test_what_the_commands_repeat() -> None:
    """A command names these itself; what they are is stated where they are used."""
    assert f"One of {', '.join(EXTRACTORS)}." == importing.TOOL_HELP
    assert get_args(link.Engine) == get_args(EngineName)
    assert inspect.signature(link.calibrate).parameters["attempts"].default == ATTEMPTS
    assert inspect.signature(results.list_command).parameters["root"].default == RESULTS
    assert existing.PLAN == PLAN


def commands_with_work() -> list[tuple[Callable[..., None], str]]:
    """Every command's function, and the name of the module that does its work."""
    found = []
    pending = [get_command(app)]
    while pending:
        command = pending.pop()
        if hasattr(command, "list_commands"):
            context = typer.Context(command)
            pending += [command.get_command(context, one) for one in command.list_commands(context)]
        else:
            function = command.callback.__wrapped__
            found.append((function.__wrapped__, getclosurevars(function).nonlocals["module"]))
    return found


def test_the_work_takes_what_the_command_does() -> None:
    known = commands_with_work()
    assert len(known) > 40
    for look, module in known:
        work = getattr(importlib.import_module(f"pentathlon.cli.{module}"), look.__name__)
        taken, given = get_type_hints(work), get_type_hints(look)
        assert taken == given, f"{module}.{look.__name__}"
