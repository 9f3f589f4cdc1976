"""Finding the agent's file and asking it."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from pentathlon.protocol import agent


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(agent.VARIABLE, raising=False)


def test_the_variable_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = program(tmp_path / "bin" / agent.AGENT, "true")
    monkeypatch.setattr(sys, "executable", str(beside.parent / "python"))
    assert agent.locate() == beside
    chosen = program(tmp_path / "chosen", "true")
    monkeypatch.setenv(agent.VARIABLE, str(chosen))
    assert agent.locate() == chosen


def test_the_variable_must_name_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text"
    path.write_text("no program")
    monkeypatch.setenv(agent.VARIABLE, str(path))
    with pytest.raises(agent.AgentError, match="which is not an executable file"):
        agent.locate()


def test_nowhere_names_every_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "_candidates", lambda: iter([tmp_path / "a", tmp_path / "b"]))
    with pytest.raises(agent.AgentError, match=rf"{tmp_path}/a, {tmp_path}/b.*pip install"):
        agent.locate()


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("echo hello", "printed no JSON document"),
        ("echo '[1]'", "JSON that is not an object"),
        ("echo broken >&2; exit 4", "ended with exit status 4: broken"),
        ("echo '{\"cut\":'", "printed no JSON document"),
    ],
)
def test_a_wrong_answer_is_one_sentence(text: str, match: str, tmp_path: Path) -> None:
    with pytest.raises(agent.AgentError, match=match):
        agent.catalog(program(tmp_path / "agent", text))


def test_an_agent_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "TIMEOUT_S", 0.2)
    with pytest.raises(agent.AgentError, match="did not end within"):
        agent.inventory(program(tmp_path / "agent", "exec sleep 60"))


def test_the_verb_is_passed_on(tmp_path: Path) -> None:
    path = program(tmp_path / "agent", 'echo "{\\"verb\\":\\"$1\\"}"')
    assert agent.catalog(path) == {"verb": "catalog"}
    assert agent.inventory(path) == {"verb": "inventory"}
    assert agent.version(path) == '{"verb":"--version"}'


def test_static_and_dynamic_programs(tmp_path: Path) -> None:
    assert not agent.is_static(Path(shutil.which("ls") or "/bin/ls"))
    assert not agent.is_static(program(tmp_path / "script", "true"))
    empty = tmp_path / "empty"
    empty.touch()
    assert not agent.is_static(empty)


def test_the_real_agent_is_static_and_answers(real_agent: Path) -> None:
    assert agent.is_static(real_agent)
    ids = [workload["id"] for workload in agent.catalog(real_agent)["workloads"]]
    assert "test.spin" in ids
    assert len(ids) == len(set(ids))
    assert agent.version(real_agent).startswith(agent.AGENT)
    assert os.access(real_agent, os.X_OK)
