"""`files.*`: a client's tasks with a server over links, case by case."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

from pentathlon.exchange.pcapng import CaptureError
from pentathlon.experiments.file_services import content, trial
from pentathlon.experiments.file_services.behaviours import OWN, Behaviour
from pentathlon.experiments.file_services.content import Content
from pentathlon.experiments.file_services.disk import sentence
from pentathlon.experiments.file_services.protocols.base import Refused
from pentathlon.experiments.file_services.remote_workdir import place_of
from pentathlon.experiments.file_services.spec import Setup, TaskSpec
from pentathlon.experiments.file_services.testbed import Testbed
from pentathlon.experiments.file_services.trial import Done, TaskFailed
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.protocol.events import Case, JsonObject, Message
from pentathlon.testbed.link.calibrate import LinkRefused
from pentathlon.testbed.link.use import refused_event
from pentathlon.testbed.trial import Task, When

TASKS: Final = {
    "files.copy": "copy",
    "files.open": "open",
    "files.roaming": "roaming",
    "files.portal": "portal",
}
"""Workload -> task."""


class Testbeds(Protocol):
    """The links of a boot."""

    def testbed(self, link: str) -> tuple[Testbed, bool]: ...

    def give_up(self, link: str) -> None: ...


def run_link(
    task: Task,
    link: str,
    testbeds: Testbeds,
    ends: tuple[Behaviour, Behaviour],
    scratch: Path,
) -> Iterator[Message]:
    """The cases of a task over one link: `sample` events for what each trial yields, or an `error`.

    Args:
        ends: how client and server behave.
        scratch: a private directory of the session, for the files of its trials.
    """
    for case in ({"link": link, **case} for case in _cases(task.parameters)):
        try:
            testbed, new = testbeds.testbed(link)
            if new:
                yield from testbed.opening(task)
            yield task.progress("case", case)
            yield from _case(task, case, testbed, ends, scratch)
        except LinkRefused as refused:
            yield task.of(refused_event(refused))
            yield task.error("invalid", str(refused), case)
        except (TargetUnavailable, Refused) as error:
            yield task.error("unsupported", str(error), case)
        except (TaskFailed, CaptureError, TargetError) as error:
            # What a broken task has left on the link or with an end is not for the next one.
            testbeds.give_up(link)
            yield task.failure(error, case)
        except OSError as error:
            testbeds.give_up(link)
            yield task.error("failed", sentence(error, scratch), case)


def _cases(parameters: JsonObject) -> Iterator[Case]:
    """Every combination of the factors; those that are left as they are do not name a case."""
    always = (("protocols", "protocol"), ("states", "state"), ("document_bytes", "document_bytes"))
    named = (
        ("window_bytes", "window_bytes", 0), ("outstanding", "outstanding", 0),
        ("congestion", "congestion", OWN), ("buffer_bytes", "buffer_bytes", 0),
    )  # fmt: skip
    lists = [parameters[key] for key, _ in always]
    lists += [parameters.get(key, [rest]) for key, _, rest in named]
    for values in itertools.product(*lists):
        case = {name: value for (_, name), value in zip(always, values, strict=False)}
        for (key, name, rest), value in zip(named, values[len(always) :], strict=True):
            if value != rest or len(parameters.get(key, [])) > 1:
                case[name] = value
        yield case


def _case(
    task: Task,
    case: Case,
    testbed: Testbed,
    ends: tuple[Behaviour, Behaviour],
    scratch: Path,
) -> Iterator[Message]:
    spec = _spec(task, case, ends)
    for refused in trial.set_up(testbed, spec):
        yield task.event("log", level="warning", message=refused)
    for when in task.phases():
        with (
            trial.directories(scratch) as base,
            place_of(testbed.server, base, "server") as server,
            place_of(testbed.client, base, "client") as client,
        ):
            held = _content(task, case, spec, base / "shared")
            server.take(held)
            done = trial.run(Setup(testbed, spec, held, server, client))
        yield _outcome(task, case, when, done)
        if testbed.link is not None:
            yield testbed.link.event(task, case, when)
        yield from _samples(task, case, when, testbed, done)


def _spec(task: Task, case: JsonObject, ends: tuple[Behaviour, Behaviour]) -> TaskSpec:
    window, congestion = case.get("window_bytes", 0), case.get("congestion", OWN)
    client = ends[0].with_factors(window, congestion)
    server = ends[1].with_factors(0, congestion)
    if buffer := case.get("buffer_bytes", 0):
        server = server.with_buffer(buffer)
    both = [one for one in (client.outstanding, server.outstanding) if one is not None]
    outstanding = case.get("outstanding", 0) or (min(both) if both else None)
    return TaskSpec(
        TASKS[task.id], case["protocol"], client, server, outstanding, case["state"] == "warm",
        task.description.timeout_s,
    )  # fmt: skip


def _content(task: Task, case: JsonObject, spec: TaskSpec, place: Path) -> Content:
    size = case["document_bytes"]
    if spec.task == "roaming":
        return content.profile(place, size, task.parameters["files"], task.seed)
    return content.document(place, size, task.seed)


def _outcome(task: Task, case: Case, when: When, done: Done) -> Message:
    """What no metric states: the dialect, and the exchanges by their names."""
    phase, iteration = when
    found = done.summary
    keep = {"capture": done.capture} if task.parameters["keep_captures"] else {}
    return task.event(
        "files", case=case, phase=phase, iteration=iteration, server=done.service,
        dialect=found.dialect, connections=found.connections, handshake_s=found.handshake_s,
        up_bytes=found.up_bytes, down_bytes=found.down_bytes,
        exchanges=dict(Counter(one.name for one in found.exchanges or [])), **keep,
    )  # fmt: skip


def _samples(task: Task, case: Case, when: When, testbed: Testbed, done: Done) -> Iterator[Message]:
    found = done.summary
    values: dict[str, float | None] = {
        "task_time": found.task_s,
        "throughput": done.content.total * 8 / found.task_s / 1e6,
        "round_trips": found.round_trips,
        "exchanges": None if found.exchanges is None else len(found.exchanges),
        "turns": found.turns,
        "metadata": found.metadata,
        "response_time": None if found.response_s is None else found.response_s * 1e3,
        "retransmitted": found.retransmitted,
        "wire_bytes": found.up_bytes + found.down_bytes,
        "packets": found.packets,
        "window": found.window,
        "link_round_trip": None if found.round_trip_s is None else found.round_trip_s * 1e3,
        "program_time": done.program_s,
    }
    if testbed.rate_bit_s is not None and testbed.round_trip_s is not None:
        values["least_time"] = found.least_s(
            testbed.rate_bit_s, testbed.round_trip_s, done.content.total
        )
    checksum = f"0x{done.content.digest[:16]}"
    for name, value in values.items():
        if value is not None:
            yield task.sample(
                name, case, when, float(value), seconds=found.task_s, checksum=checksum
            )
