"""What the tests of targets share: a scripted agent, systems, and a look for what is left."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pentathlon.machine import processes, restore
from pentathlon.machine.undo_journal import leftovers
from pentathlon.protocol import agent
from pentathlon.targets.local.target import LocalTarget

RUN = "PENTATHLON_TEST_RUN"
"""Variable that marks the processes of a test run."""
END_S = 5.0

SCRIPT = Path(__file__).parent.parent / "fakes" / "scripted_agent.py"


@dataclass(frozen=True)
class FakeSettings:
    values: dict[str, Any] = field(default_factory=dict)

    def changed(self) -> dict[str, Any]:
        return self.values


@dataclass(frozen=True)
class FakeSystem:
    """A system as the study's model has it."""

    name: str = "sut"
    target: str = "local"
    kernel: str | None = None
    memory: str | None = None
    cpus: tuple[int, ...] | None = None
    scratch: str | None = None
    settings: FakeSettings = FakeSettings()
    uml_args: tuple[str, ...] = ()
    ssh: Any = None
    accelerator: str | None = None


def request(workload: str, **fields: Any) -> dict[str, Any]:
    """A request with one workload."""
    entry = {
        "id": workload,
        "parameters": {},
        "iterations": 2,
        "warmup": 0,
        "sample_ms": 1.0,
        "processes": 1,
        "timeout_s": 60,
    }
    base = {"protocol": 2, "session": "abc", "seed": 1, "inventory": False, "workloads": [entry]}
    return base | fields


def spin(**parameters: Any) -> dict[str, Any]:
    """A request for the real agent's test workload."""
    wanted = request("test.spin")
    wanted["workloads"][0] |= parameters
    return wanted


def burst() -> dict[str, Any]:
    """A request whose samples come in one burst, long enough to do something in its middle."""
    return spin(iterations=2000, sample_ms=0.5)


def large(count: int) -> dict[str, Any]:
    """A request of `count` times 10 kB, each of whose workloads is refused."""
    wanted = spin()
    first = wanted["workloads"][0]
    filler = {"filler": "x" * 10_000}
    wanted["workloads"] = [
        first | {"id": f"no.such.workload.{n}", "parameters": filler} for n in range(count)
    ]
    return wanted


@pytest.fixture
def scripted(tmp_path: Path) -> Path:
    """The scripted agent as an executable file."""
    path = tmp_path / "agent"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{SCRIPT}" "$@"\n')
    path.chmod(0o755)
    return path


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """An empty state directory."""
    return tmp_path / "state"


@pytest.fixture
def real_agent() -> Path:
    """The real agent's file."""
    try:
        path = agent.locate()
    except agent.AgentError as error:
        pytest.skip(str(error))
    if not agent.is_static(path):
        pytest.skip("the agent was not built as a static program")
    return path


@pytest.fixture
def local(scripted: Path, state: Path) -> Callable[..., LocalTarget]:
    """Makes a local target with the scripted agent."""

    def make(**options: Any) -> LocalTarget:
        return LocalTarget(FakeSystem(**options), scripted, state)

    return make


def descendants() -> set[int]:
    """Living processes that this test run has started, and no other one beside it."""
    mark = f"{RUN}={os.getpid()}".encode()
    found = set()
    for member in processes.everyone():
        if member.state in "ZX" or member.pid == os.getpid():
            continue
        try:
            environment = Path(f"/proc/{member.pid}/environ").read_bytes()
        except OSError:
            continue
        if mark in environment.split(b"\0"):
            found.add(member.pid)
    return found


def connections_ended(before: set[int]) -> None:
    """Wait for the processes of a server's connections, which end by themselves once those have."""
    deadline = time.monotonic() + END_S
    while descendants() - before and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def nothing_left(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """After every test: no process, no directory, no zombie and no entry in the journal is left."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setenv(RUN, str(os.getpid()))
    before = descendants()
    yield
    assert leftovers(state) == []
    assert [path.name for path in scratch.iterdir()] == []
    assert descendants() <= before
    assert not any(
        member.state == "Z" and _parent(member.pid) == os.getpid()
        for member in processes.everyone()
    )


def _parent(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return 0
    return int(text[text.rindex(")") + 2 :].split()[1])


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture(autouse=True)
def kernel_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a test stand for the kernel's: what crashed tests left is put back in them too."""
    monkeypatch.setattr(restore, "KERNEL_FILES", (*restore.KERNEL_FILES, tmp_path.resolve()))
