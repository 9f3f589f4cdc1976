"""What `scripts/setup` and `scripts/test` build, and for what, in trees of stand-ins."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "scripts"
FOR_TESTS = "pentathlon-agent 0.1.0 (build 0123, x86_64-unknown-linux-gnu, for tests only)"
TO_MEASURE_WITH = "pentathlon-agent 0.1.0 (build 4567, x86_64-unknown-linux-gnu)"
BESIDE = ("pentathlon-agent.exe", "pentathlon-graphics")


def program(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """One whose steps are noted in `steps` instead of run, with all programs of a .venv."""
    (tmp_path / "scripts").mkdir()
    for name in ("setup", "test"):
        shutil.copy(SCRIPTS / name, tmp_path / "scripts" / name)
    program(tmp_path / "scripts" / "prerequisites", "")
    program(
        tmp_path / "scripts" / "step",
        'echo "$*" >>steps; case $* in *"$FAILING"*) exit $STATUS;; esac',
    )
    program(tmp_path / "scripts" / "linted", 'echo "unmeasured: $PENTATHLON_UNMEASURED"; exit 9')
    for name in ("python", "pentathlon", *BESIDE):
        program(tmp_path / ".venv" / "bin" / name, "")
    return tmp_path


def agent(tree: Path, version: str) -> None:
    program(tree / ".venv" / "bin" / "pentathlon-agent", f"echo '{version}'")


def call(
    tree: Path, script: str, unmeasured: str = "", failing: str = "no step", status: int = 7
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", tree / "scripts" / script],
        env={
            **os.environ, "PATH": f"{tree / 'programs'}:{os.environ['PATH']}",
            "PENTATHLON_UNMEASURED": unmeasured, "FAILING": failing, "STATUS": str(status),
        },
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("version", "unmeasured", "kept"),
    [(FOR_TESTS, "", False), (FOR_TESTS, "yes", True), (TO_MEASURE_WITH, "", True)],
)
def test_a_set_up_to_measure_with_removes_programs_built_for_tests(
    tree: Path, version: str, unmeasured: str, kept: bool
) -> None:
    agent(tree, version)
    done = call(tree, "setup", unmeasured)
    assert done.returncode == 0, done.stderr
    assert {(tree / ".venv" / "bin" / name).exists() for name in BESIDE} == {kept}


@pytest.mark.parametrize(("unmeasured", "profile"), [("", "release"), ("yes", "dev")])
def test_the_agent_is_built_in_the_profile_that_its_use_needs(
    tree: Path, unmeasured: str, profile: str
) -> None:
    done = call(tree, "setup", unmeasured)
    assert done.returncode == 0, done.stderr
    assert f"cargo build --profile {profile} --locked" in (tree / "steps").read_text()


@pytest.mark.parametrize("failing", ["Build pentathlon-agent", "Install the Python packages"])
def test_a_failed_step_of_the_set_up_is_its_status_and_nothing_is_installed(
    tree: Path, failing: str
) -> None:
    assert call(tree, "setup", failing=failing).returncode == 7
    assert "Install pentathlon into .venv" not in (tree / "steps").read_text()


@pytest.mark.parametrize(
    ("version", "unmeasured"), [(None, "yes"), (FOR_TESTS, "yes"), (TO_MEASURE_WITH, "")]
)
def test_the_tests_build_for_tests_only_unless_the_tree_has_an_agent_to_measure_with(
    tree: Path, version: str | None, unmeasured: str
) -> None:
    if version is not None:
        agent(tree, version)
    done = call(tree, "test")
    assert done.returncode == 9, done.stderr
    assert f"unmeasured: {unmeasured}\n" in done.stdout


@pytest.mark.parametrize(("status", "tested"), [(7, False), (3, True), (0, True)])
def test_a_failed_build_for_windows_is_the_status_and_a_missing_compiler_is_none(
    tree: Path, status: int, tested: bool
) -> None:
    program(tree / "scripts" / "linted", "")
    program(tree / "scripts" / "check-beside", "echo the other checks")
    program(tree / ".venv" / "bin" / "pytest", "echo the tests")
    program(tree / "programs" / "cargo", "")
    done = call(tree, "test", failing="Build the agent for Windows", status=status)
    assert done.returncode == (0 if tested else status), done.stderr
    assert ("the tests" in done.stdout) == tested
    assert "the other checks" in done.stdout


def features(*arguments: str) -> dict[str, set[str]]:
    """Features that a package is compiled with, by the package; build scripts' are left out."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not in the search path")
    words = ["cargo", "tree", "--locked", "--prefix", "none", "--format", "{p}|{f}", *arguments]
    done = subprocess.run(words, cwd=SCRIPTS.parent, capture_output=True, text=True, check=True)
    found: dict[str, set[str]] = {}
    for line in done.stdout.splitlines():
        name, _, own = line.removesuffix(" (*)").partition("|")
        found.setdefault(name.split(" (")[0], set()).add(own)
    return found


def test_the_agent_and_its_tests_share_what_they_depend_on() -> None:
    """Else all that is above a package with other features is compiled twice."""
    agent = features("--package", "pentathlon-agent", "--edges", "no-dev,no-build")
    tests = features("--workspace", "--edges", "no-build")
    assert len(agent) > 50
    assert {name: tests[name] for name in agent} == agent
