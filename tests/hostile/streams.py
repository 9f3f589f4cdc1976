"""Event streams of an agent, and what a broken or hostile one could make of them."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, ClassVar, cast

from pentathlon.machine.errors import TargetError
from pentathlon.machine.system import SystemSpec
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.procedure.admission import Admission
from pentathlon.protocol.events import Done, Message, read
from pentathlon.protocol.requests.session import Request
from pentathlon.study.catalog import Catalog, parse_catalog
from pentathlon.study.load import parse_study
from pentathlon.study.model import Study
from pentathlon.study.plan import Plan, make_plan
from pentathlon.targets.contract import Session, Target
from pentathlon.targets.lines import EventLines
from pentathlon.targets.session import Launch, ProcessSession
from tests.hostile.mutate import damaged

STUDY = """\
name = "hostile"
reference = "a"
[procedure]
blocks = {blocks}
iterations = 3
retries = 1
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

RAW = "@raw:"
"""Stands in a text for what no JSON library writes."""
DEEP = "[" * 3000 + "]" * 3000
VALUES: tuple[Any, ...] = (
    float("nan"), float("inf"), -float("inf"), f"{RAW}1e400", f"{RAW}-1e999", -1, 0, True, None,
    1 << 31, 1 << 63, 1 << 64, f"{RAW}{'9' * 400}", f"{RAW}{'9' * 5000}", 1.5, "", "x",
    "x" * 70_000, f'{RAW}"\\ud800"', f'{RAW}"\\u0000"', f"{RAW}{DEEP}",
    f"{RAW}{'[' * 40}{']' * 40}", [], {}, [[1, 2]], {"unsupported": 1}, {"x": {"y": [None]}},
    "NaN", "higher", "lower", "warmup",
)  # fmt: skip
ALIENS: tuple[Any, ...] = (
    {"event": "records", "flow": 0, "kind": "sent", "bytes": 10**15},
    {"event": "records", "flow": 0, "kind": "sent", "bytes": -1},
    {"event": "records", "bytes": "many"},
    {"event": "records"},
    {"event": "unheard-of"},
    {"event": "packets", "index": 0, "workload": "w.one", "table": "text"},
    {"event": "files", "index": 0, "workload": "w.one", "capture": "text"},
    {"event": "link", "profile": 1, "calibration": {}},
    {"event": "inventory", "session": "0" * 16, "agent": {}, "system": None},
    {"event": "progress", "workload": "w.one", "index": 0, "process": 0, "state": "end"},
    {"event": "progress", "workload": "w.two", "index": 1, "process": 0, "state": "start"},
    {"event": "progress", "workload": "w.one", "index": 99, "state": "start"},
    {"event": "step", "index": 0, "do": "settle", "state": "end", "detail": 3},
    {"event": "error", "kind": "invalid"},
    {"event": "error", "kind": ["failed"], "reason": "x", "index": 0, "workload": "w.one"},
    {"event": "counter", "name": "disk.served", "value": 3},
    {"event": "log", "level": 1, "message": None},
    {"event": "done", "samples": "all", "errors": None},
)

Mutation = Callable[[list[dict[str, Any]], Random], None]


def catalog() -> Catalog:
    time = {"id": "time", "title": "Time", "unit": "ns", "direction": "lower"}
    p50 = {"id": "p50", "title": "Median", "unit": "us", "direction": "lower"}
    latency = {"id": "latency", "title": "Latency", "unit": "us", "direction": "lower"}
    size = {"name": "size_bytes", "type": "list[integer]", "default": [1, 2], "minimum": 1}
    common = {"area": "w", "title": "W", "parameters": [size]}
    factors = {"factors": [{"name": "size_bytes", "scale": "log2"}]}
    return parse_catalog(
        {
            "protocol": 2,
            "catalog_version": 1,
            "agent": {"version": "0", "build": "b"},
            "workloads": [
                {"id": "w.one", "metrics": [time], **common, **factors},
                {
                    "id": "w.two",
                    "metrics": [p50],
                    "histograms": [latency | {"quantiles": {"p50": 0.5}}],
                    **common,
                    **factors,
                },
            ],
        }
    )


def study(blocks: int) -> Study:
    return parse_study(STUDY.format(blocks=blocks), Path("hostile.toml"), catalog())


def plan(blocks: int) -> Plan:
    targets = {name: {"kind": "stream", "layer": "none"} for name in ("a", "b")}
    return make_plan(study(blocks), catalog(), targets)


def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of an agent that does everything well."""
    return [{**event, "t_ns": 1000 * n} for n, event in enumerate(_answer(request))]


def _answer(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    system = {"cpu": {"model": "C", "count": 1}, "kernel": {"release": "6.1", "boot_id": "x"}}
    yield {
        "event": "inventory", "session": request["session"], "agent": {"build": "b"},
        "clock": {"source": "c", "cost_ns": 20.0}, "system": system, "placement": {"cpus": [0]},
        "telemetry": {"supported": [], "unsupported": {"cycles": "none"}},
    }  # fmt: skip
    samples = 0
    for index, task in enumerate(request["workloads"]):
        where = {"workload": task["id"], "index": index, "process": 0}
        yield {"event": "progress", **where, "count": 2, "state": "start", "case": None}
        for size in task["parameters"]["size_bytes"]:
            case = {"size_bytes": size}
            yield {"event": "progress", **where, "count": 2, "state": "case", "case": case}
            if size == 1:
                yield {"event": "log", "level": "info", "message": "chosen"}
                picture = {"width": 1, "height": 1, "jpeg": "AAAA"}
                yield {"event": "picture", **where, "case": case, **picture}
                value = {"workload": task["id"], "case": case}
                reads = [{"metric": "time", "served": "cache"}] if task["id"] == "w.one" else []
                value |= {"reads": reads}
                yield {"event": "counter", "name": "disk.served", "value": value}
            for number in range(task["warmup"] + task["iterations"]):
                warm = number < task["warmup"]
                samples += 1
                yield {
                    **where, "case": case, "direction": "lower",
                    "phase": "warmup" if warm else "measure",
                    "iteration": number if warm else number - task["warmup"],
                    **_measured(task["id"]),
                    "elapsed_ns": 15, "checksum": "0x1",
                    "counters": {"cpu_user_ns": 3, "cycles": None},
                }  # fmt: skip
        yield {"event": "progress", **where, "count": 2, "state": "end", "case": None}
    yield {"event": "done", "samples": samples, "errors": 0}


def _measured(workload: str) -> dict[str, Any]:
    if workload == "w.one":
        return {"event": "sample", "metric": "time", "unit": "ns", "value": 1.5, "batch": 10}
    return {
        "event": "histogram", "metric": "latency", "unit": "us", "count": 3, "lowest": 4,
        "highest": 9, "significant_digits": 3, "buckets": [[4, 1], [9, 2]],
    }  # fmt: skip


def text_of(events: list[dict[str, Any]]) -> bytes:
    lines = []
    for event in events:
        line = json.dumps(event)
        while (at := line.find(f'"{RAW}')) >= 0:
            value, end = json.JSONDecoder().raw_decode(line, at)
            line = line[:at] + value.removeprefix(RAW) + line[end:]
        lines.append(line + "\n")
    return "".join(lines).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in list(inner):
        yield value, key
        if isinstance(one, dict | list):
            yield from _places(one)


def _place(events: list[dict[str, Any]], random: Random) -> tuple[Any, Any]:
    return random.choice(list(_places(random.choice(events))))


def _value(events: list[dict[str, Any]], random: Random) -> None:
    where, key = _place(events, random)
    where[key] = copy.deepcopy(random.choice(VALUES))


def _missing(events: list[dict[str, Any]], random: Random) -> None:
    where, key = _place(events, random)
    del where[key]


def _taken(events: list[dict[str, Any]], random: Random) -> None:
    """A value of another place of the stream."""
    where, key = _place(events, random)
    other, name = _place(events, random)
    where[key] = copy.deepcopy(other[name])


def _dropped(events: list[dict[str, Any]], random: Random) -> None:
    del events[random.randrange(len(events))]


def _twice(events: list[dict[str, Any]], random: Random) -> None:
    one = copy.deepcopy(random.choice(events))
    events.insert(random.randrange(len(events) + 1), one)


def _swapped(events: list[dict[str, Any]], random: Random) -> None:
    first, second = (random.randrange(len(events)) for _ in range(2))
    events[first], events[second] = events[second], events[first]


def _alien(events: list[dict[str, Any]], random: Random) -> None:
    event = copy.deepcopy(random.choice(ALIENS)) | {"t_ns": 1}
    events.insert(random.randrange(len(events)), event)


def _foreign(events: list[dict[str, Any]], random: Random) -> None:
    """What another request would be answered by."""
    changed = random.choice(
        [
            {"direction": "higher"}, {"unit": "s"}, {"workload": "w.three"}, {"metric": "p50"},
            {"case": {"size_bytes": 77}}, {"case": {"other": 1}}, {"case": {}}, {"index": 1},
            {"session": "f" * 16}, {"process": 1}, {"iteration": 3}, {"phase": "meacure"},
        ]
    )  # fmt: skip
    having = [event for event in events if changed.keys() <= event.keys()]
    if having:
        random.choice(having).update(copy.deepcopy(changed))


MUTATIONS: tuple[Mutation, ...] = (
    _value, _value, _value, _missing, _taken, _dropped, _twice, _swapped, _alien, _foreign,
)  # fmt: skip


def spoilt(request: dict[str, Any], random: Random) -> bytes:
    """The stream of an agent, with one to three mutations."""
    events = copy.deepcopy(answer(request))
    if random.random() < 0.15:
        return damaged(text_of(events), random)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        if events:
            random.choice(MUTATIONS)(events, random)
    return text_of(events)


def streams(count: int, seed: int) -> Counter[str]:
    """How spoilt streams end: admitted whole, or refused with one sentence at an event.

    Raises:
        Exception: whatever else the readers raise, with the number of the stream as a note.
    """
    random, steps, known = Random(seed), plan(1).steps["a"], catalog()
    request = {"session": "abc", "workloads": [step.task().model_dump() for step in steps]}
    ends: Counter[str] = Counter()
    for number in range(count):
        data = spoilt(request, random)
        lines, admission = EventLines([]), Admission(steps, known, "abc")
        try:
            for message in admission.admit(map(read, lines.feed(data))):
                if isinstance(message.event, Done):
                    lines.check_done(message.event)
        except TargetError as error:
            assert str(error) and "\n" not in str(error) and len(str(error)) < 1000
            ends["refused"] += 1
        except BaseException as error:
            error.add_note(f"stream {number} of seed {seed}")
            raise
        else:
            ends["read"] += 1
    return ends


class StreamSession(ProcessSession):
    """A process that prints a prepared stream once it has been asked."""

    def __init__(self, name: str, file: Path, state: Path, random: Random | None) -> None:
        self._file, self._random = file, random
        command = ["/bin/sh", "-c", 'read -r _; exec cat "$0"', str(file)]
        super().__init__(name, Launch(command=command), UndoJournal(state))

    def run(
        self, request: Request, idle_timeout_s: float, total_timeout_s: float
    ) -> Iterator[Message]:
        requested = request.model_dump()
        good = text_of(answer(requested))
        self._file.write_bytes(good if self._random is None else spoilt(requested, self._random))
        yield from super().run(request, idle_timeout_s, total_timeout_s)


class StreamTarget(Target):
    """A system whose streams `random` spoils while `spoil` holds."""

    kind: ClassVar[str] = "stream"
    layer: ClassVar[str] = "none"

    def __init__(self, name: str, directory: Path, random: Random | None = None) -> None:
        spec = cast(SystemSpec, SimpleNamespace(name=name, cpus=None))
        super().__init__(spec, Path("agent"), directory / "state")
        self._file = directory / f"stream-{name}"
        self._random = random
        self.spoil = True
        self.spoilt = 0

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, "layer": self.layer}

    def prepare(self) -> None:
        pass

    def boot(self, timeout_s: float) -> Session:
        spoil = self._random is not None and self.spoil
        self.spoilt += spoil
        return StreamSession(self.name, self._file, self.state_dir, self._random if spoil else None)
