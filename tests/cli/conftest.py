"""The real command in a subprocess, with the fake agent and a state directory of its own."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pentathlon.cli import screen
from pentathlon.cli.main import app

ROOT = Path(__file__).parent.parent.parent
FAKE = ROOT / "tests" / "fakes" / "agent.py"
WIDTH = 120
"""Columns of the screens."""

STUDY = """\
name = "two"
title = "Two systems"
reference = "a"

[procedure]
blocks = 2
iterations = 3
boot_timeout_s = 20.0
retries = 1

[[system]]
name = "a"
target = "local"

[[system]]
name = "b"
target = "local"
cpus = [0]

[[suite]]
name = "s"
workloads = ["fake.*"]
"""


@dataclass
class Done:
    code: int
    out: str
    err: str


@dataclass
class Shop:
    """A directory to run the command in.

    Attributes:
        options: $FAKE_AGENT.
        environment: more variables.
    """

    directory: Path
    options: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def variables(self) -> dict[str, str]:
        own = {
            "PYTHONPATH": str(ROOT),
            "PENTATHLON_AGENT": str(FAKE),
            "PENTATHLON_TRACEBACK": "",
            "XDG_STATE_HOME": str(self.directory / "state"),
            "FAKE_AGENT": json.dumps({"state": str(self.directory), **self.options}),
            "COLUMNS": "200",
        }
        return {**os.environ, **own, **self.environment}

    def start(self, *words: str | Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "pentathlon", *map(str, words)],
            cwd=self.directory,
            env=self.variables(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def real(self, *words: str | Path) -> Done:
        """Call the command in a process of its own."""
        process = self.start(*words)
        out, err = process.communicate(timeout=300)
        assert "Traceback" not in err, err
        return Done(process.returncode, out, err)

    def call(self, *words: str | Path) -> Done:
        """Call the command in this process, which saves its start."""
        # Wider than without a terminal, so that tests find their sentences in one line.
        screen.out.width = screen.err.width = WIDTH
        with contextlib.chdir(self.directory):
            done = CliRunner().invoke(
                app, [str(word) for word in words], env=self.variables(), prog_name="pentathlon"
            )
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Done(done.exit_code, done.stdout, done.stderr)

    def write(self, text: str = STUDY, name: str = "study.toml") -> Path:
        file = self.directory / name
        file.write_text(text)
        return file

    def results(self) -> list[Path]:
        return sorted((self.directory / "results").glob("*"))

    def result(self) -> Path:
        [found] = self.results()
        return found


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.fixture(scope="module")
def shop_of_module(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """Where a module measures once what each of its tests gets a copy of."""
    return Shop(tmp_path_factory.mktemp("shop"))


def copied(to: Shop, of: Shop) -> Shop:
    """All that one directory holds, in the one of a test."""
    shutil.copytree(of.directory, to.directory, dirs_exist_ok=True, symlinks=True)
    return to
