"""A target without a machine: it plays what a script says, boot by boot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

from pentathlon.machine.errors import TargetError
from pentathlon.machine.system import SystemSpec
from pentathlon.protocol.events import Message, read
from pentathlon.protocol.requests.session import Request
from pentathlon.study.catalog import Catalog, parse_catalog
from pentathlon.study.load import parse_study
from pentathlon.study.plan import Plan, make_plan
from pentathlon.targets.contract import Session, Target

Play = Callable[[dict[str, Any], int], Iterator[dict[str, Any]]]
"""(request, number of the boot of this system) -> events, or an exception."""

STUDY = """\
name = "scripted"
reference = "a"
[procedure]
blocks = {blocks}
iterations = {iterations}
retries = {retries}
[[system]]
name = "a"
target = "local"
[[system]]
name = "b"
target = "local"
[[suite]]
name = "s"
workloads = ["w.*"]
"""


def workload(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "area": "w",
        "title": name,
        "parameters": [
            {"name": "size_bytes", "type": "list[integer]", "default": [1, 2], "minimum": 1}
        ],
        "factors": [{"name": "size_bytes", "scale": "log2"}],
        "metrics": [{"id": "time", "title": "Time", "unit": "ns", "direction": "lower"}],
    }


def catalog() -> Catalog:
    names = ("w.one", "w.two", "w.three")
    return parse_catalog(
        {
            "protocol": 2,
            "catalog_version": 1,
            "agent": {"version": "0", "build": "b"},
            "workloads": [workload(name) for name in names],
        }
    )


def plan(blocks: int = 2, iterations: int = 2, retries: int = 1) -> Plan:
    text = STUDY.format(blocks=blocks, iterations=iterations, retries=retries)
    study = parse_study(text, Path("scripted.toml"), catalog())
    targets = {name: {"kind": "scripted", "layer": "none"} for name in ("a", "b")}
    return make_plan(study, catalog(), targets)


class ScriptedSession(Session):
    def __init__(self, play: Play, boot: int) -> None:
        self.boot_seconds = 0.5
        self.boot_log = ["the console"]
        self.stopped = False
        self._play = play
        self._boot = boot

    def run(
        self, request: Request, idle_timeout_s: float, total_timeout_s: float
    ) -> Iterator[Message]:
        assert not self.stopped
        requested = request.model_dump(exclude_none=True)
        for number, event in enumerate(self._play(requested, self._boot)):
            yield read({"t_ns": number * 1000, **event})

    def stop(self) -> None:
        self.stopped = True


class ScriptedTarget(Target):
    kind: ClassVar[str] = "scripted"
    layer: ClassVar[str] = "none"

    def __init__(self, name: str, play: Play, fail_boots: dict[int, str] | None = None) -> None:
        super().__init__(
            cast(SystemSpec, SimpleNamespace(name=name, cpus=None)), Path("agent"), Path("state")
        )
        self._play = play
        self._fail = fail_boots or {}
        self.boots = 0
        self.sessions: list[ScriptedSession] = []

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, "layer": self.layer}

    def prepare(self) -> None:
        pass

    def boot(self, timeout_s: float) -> Session:
        number = self.boots
        self.boots += 1
        if number in self._fail:
            raise TargetError(self._fail[number])
        session = ScriptedSession(self._play, number)
        self.sessions.append(session)
        return session


def inventory(request: dict[str, Any]) -> dict[str, Any]:
    own = {"session": request["session"], "agent": {"build": "b"}}
    return {"event": "inventory", **own, "system": {"cpu": {"count": 1}}}


def step(task: dict[str, Any], index: int, *, end: bool = True) -> Iterator[dict[str, Any]]:
    """Events of one step that works."""
    yield from started(task, index)
    for process in range(task["processes"]):
        for size in task["parameters"]["size_bytes"]:
            for number in range(task["warmup"] + task["iterations"]):
                yield sample(task, index, process, size, number)
    if end:
        yield ended(task, index)


def started(task: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    yield {"event": "progress", "workload": task["id"], "index": index, "state": "start"}


def ended(task: dict[str, Any], index: int) -> dict[str, Any]:
    return {"event": "progress", "workload": task["id"], "index": index, "state": "end"}


def error(task: dict[str, Any], index: int, kind: str) -> dict[str, Any]:
    where = {"workload": task["id"], "index": index, "process": 0}
    return {"event": "error", **where, "kind": kind, "reason": f"planted {kind}", "case": None}


def sample(
    task: dict[str, Any], index: int, process: int, size: int, number: int
) -> dict[str, Any]:
    warm = number < task["warmup"]
    return {
        "event": "sample",
        "workload": task["id"],
        "index": index,
        "metric": "time",
        "case": {"size_bytes": size},
        "unit": "ns",
        "direction": "lower",
        "phase": "warmup" if warm else "measure",
        "process": process,
        "iteration": number if warm else number - task["warmup"],
        "value": 1.5,
        "batch": 10,
        "elapsed_ns": 15,
        "checksum": "0x1",
        "counters": {"cpu_user_ns": 3},
    }


def well(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
    """A system where everything works."""
    yield inventory(request)
    for index, task in enumerate(request["workloads"]):
        yield from step(task, index)
    yield {"event": "done", "samples": 0, "errors": 0}


def faulty(name: str, kind: str, times: int = 1 << 30) -> Play:
    """Everything works but one workload, which has a fault for so many times.

    kind: "die" (inside the step), "silent" (ends without a sample), "partial" (an error after some
    samples), "noise" (the same, called invalid), "skip" (never runs it), or the kind of an
    agent's error.
    """
    left = [times]

    def play(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
        yield inventory(request)
        for index, task in enumerate(request["workloads"]):
            if task["id"] != name or not left[0]:
                yield from step(task, index)
                continue
            left[0] -= 1
            if kind == "skip":
                continue
            if kind in ("die", "partial", "noise"):
                yield from list(step(task, index, end=False))[:-1]
            else:
                yield from started(task, index)
            if kind == "die":
                raise TargetError("the agent died")
            if kind != "silent":
                named = {"partial": "failed", "noise": "invalid"}
                yield error(task, index, named.get(kind, kind))
            yield ended(task, index)
        yield {"event": "done", "samples": 0, "errors": 0}

    return play
