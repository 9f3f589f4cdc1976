"""The commands of each how-to page, run in their order on small studies of this machine.

The study files are those of the page, with systems of this machine in the place of guests and of
other machines, and with few short samples.
"""

from __future__ import annotations

import itertools
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pentathlon.cli.main import app
from pentathlon.protocol import agent
from pentathlon.study.write import to_toml
from website.markdown import blocks, commands
from website.staging import DOCS

pytestmark = pytest.mark.slow

PAGES = sorted(one.stem for one in (DOCS / "how-to").glob("*.md") if one.stem != "index")

ELSEWHERE = ("kernel", "memory", "ssh", "uml_args", "accelerator", "agent", "cpus")
"""Keys of a system that this machine as a system does not have."""

NETWORK = {("doctor", "--install")}
"""Calls that fetch something; the tests of `doctor` have them."""

FEW = 3
"""Blocks of a study."""
SMALL = 1 << 20
"""The largest value of a parameter: a working set of this many bytes is made in no time."""

STATUS = {"gate": {0, 4, 5}}
"""Exit statuses that a call may have, where that is not 0 alone."""


def small(text: str) -> str:
    """A study file of a page, for this machine and a second."""
    study = tomllib.loads(text)
    procedure: dict[str, Any] = study.setdefault("procedure", {})
    if "stopping" in procedure:
        procedure["stopping"] = {"rule": "looks", "looks": [3, 4]}
    else:
        procedure["blocks"] = min(FEW, procedure.get("blocks", FEW))
    procedure |= {"iterations": 2, "warmup": 0, "sample_ms": 0.1}
    for system in study["system"]:
        system["target"] = "local"
        for key in ELSEWHERE:
            system.pop(key, None)
        if "settings" in system:
            system["settings"] = {"nice": 1}
    for suite in study.get("suite", ()):
        for one in suite["workloads"]:
            if isinstance(one, dict):
                for name, values in one.get("parameters", {}).items():
                    one["parameters"][name] = smaller(values)
        exact = [
            one
            for one in suite["workloads"]
            if "*" not in (one if isinstance(one, str) else one["id"])
        ]
        suite["workloads"] = [*study.get("evaluation", {}).get("declared", ()), *exact]
        suite["workloads"] = [
            one for i, one in enumerate(suite["workloads"]) if one not in suite["workloads"][:i]
        ]
    return to_toml(study)


def smaller(values: Any) -> Any:
    """A parameter's values without those that take long."""
    if not isinstance(values, list):
        return values
    return list(dict.fromkeys(min(v, SMALL) if isinstance(v, int) else v for v in values))


def quick(words: list[str]) -> list[str]:
    """A call with limits that fit a test."""
    limits = {
        "--limit": lambda _: "2s",
        "--blocks": lambda blocks: str(min(FEW, int(blocks))),
        "--remeasure": lambda _: "6 blocks",
    }
    names = itertools.count(1)
    system = {"--on": lambda name: name if ":" not in name else f"local:nice={next(names)}"}
    changes: dict[str, Callable[[str], str]] = {**limits, **system}
    before = ["", *words]
    return [changes.get(one, str)(word) for one, word in zip(before, words, strict=False)]


def status(words: list[str]) -> set[int]:
    return STATUS.get(words[0], {0})


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (DOCS / "how-to" / f"{page}.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "PENTATHLON_LOCK_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
        (tmp_path / name).mkdir()
    monkeypatch.setenv("PENTATHLON_AGENT", str(agent.locate()))
    for block in blocks(text):
        if block.language == "toml" and block.title:
            Path(block.title).write_text(small(block.text), encoding="utf-8")
    for directory in ("base", "change", "good", "now"):
        Path(directory).mkdir()
        Path(directory, "bench").write_text("#!/bin/sh\n:\n")
        Path(directory, "bench").chmod(0o755)
    done = 0
    for line, words in commands(text):
        if tuple(words[:2]) in NETWORK:
            continue
        result = CliRunner().invoke(app, quick(words))
        assert result.exit_code in status(words), (
            f"{page}.md:{line}: pentathlon {shlex.join(words)}: "
            f"status {result.exit_code}\n{result.output[-2000:]}"
        )
        done += 1
    assert done >= 3
