"""The report on one system, as a file that can be sent: what it is, and what works there.

Each part is tried by itself: what fails is in the report with its reason, and the next is tried.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.system import SystemSpec
from pentathlon.protocol import agent
from pentathlon.protocol.requests.session import Idle, Record, Request, WorkloadRequest
from pentathlon.targets.contract import Target

BOOT_S = 900.0
"""Longest time of a boot, in seconds: the machine may restart for it."""
IDLE_S = 120.0
WORKLOAD_S = 60.0
AREA = "process"
"""The workloads that are run: the shortest, and those that differ most between systems."""
FAILED = "failed"


class Report:
    """Lines of a report, and whether something in it failed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.failures = 0

    def part(self, title: str) -> None:
        self.lines += ["", f"== {title}"]

    def line(self, name: str, text: str, *, failed: bool = False) -> None:
        self.failures += failed
        self.lines.append(f"{name}: {text}")

    def document(self, document: Any) -> None:
        self.lines += json.dumps(document, indent=2, ensure_ascii=False).splitlines()

    def text(self) -> str:
        return "\n".join(self.lines).lstrip() + "\n"


def report(system: SystemSpec, named: str, state_dir: Path) -> Report:
    """Boot a system for each of four requests and report what it is and what works there.

    Args:
        system: the system.
        named: how it was named, for the first line.
        state_dir: directory of the undo journal.
    """
    made = Report()
    own = agent.locate()
    made.line("report on", named)
    made.line("agent here", agent.version(own))
    made.line("made at", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    target = make_target(system, own, state_dir)
    made.part("reach it")
    try:
        target.prepare()
    except TargetUnavailable as error:
        hint = f"; {error.remedy}" if error.remedy else ""
        made.line("prepare", f"unavailable: {error.reason}{hint}", failed=True)
        return made
    except TargetError as error:
        made.line("prepare", f"{FAILED}: {error}", failed=True)
        return made
    made.document(target.describe())
    requests = {
        "inventory, clock and counters": Request(session="d0c1", seed=1, workloads=[]),
        "step record": Request(session="d0c2", seed=1, workloads=[], prepare=[Record()]),
        "step idle": Request(
            session="d0c3",
            seed=1,
            workloads=[],
            prepare=[Idle(tasks=["process_idle_tasks"])],
        ),
        f"workloads of the area {AREA}": Request(session="d0c4", seed=1, workloads=_workloads(own)),
    }
    for title, request in requests.items():
        made.part(title)
        _one(made, target, request)
    return made


def _workloads(own: Path) -> list[WorkloadRequest]:
    return [
        WorkloadRequest(id=one["id"], iterations=1, warmup=0, sample_ms=0.5, timeout_s=WORKLOAD_S)
        for one in agent.catalog(own)["workloads"]
        if one["area"] == AREA
    ]


def _one(made: Report, target: Target, request: Request) -> None:
    """One boot, and what its agent answers."""
    samples: dict[str, int] = {}
    request = request.model_copy(update={"inventory": not (request.workloads or request.prepare)})
    try:
        with target.boot(BOOT_S) as session:
            made.line("agent ready after", f"{session.boot_seconds:.1f} s")
            total_s = IDLE_S + WORKLOAD_S * len(request.workloads)
            for message in session.run(request, IDLE_S, total_s):
                _event(made, message.document, samples)
    except TargetUnavailable as error:
        made.line("boot", f"unavailable: {error.reason}", failed=True)
        return
    except TargetError as error:
        made.line("boot", f"{FAILED}: {error}", failed=True)
        return
    for line in session.boot_log:
        made.line("afterwards", line)
    for name, count in samples.items():
        made.line(name, f"{count} samples")


def _event(made: Report, event: dict[str, Any], samples: dict[str, int]) -> None:
    kind = event["event"]
    if kind == "sample":
        samples[event["workload"]] = samples.get(event["workload"], 0) + 1
    elif kind == "error":
        why = event.get("reason") or event.get("message")
        what = event.get("kind", "error")
        made.line(str(event.get("workload")), f"{what}: {why}", failed=what != "unsupported")
    elif kind not in ("progress", "done", "end", "start"):
        made.document(event)
