"""Endpoints that answer as real ones did (`endpoint.json`), and what a broken or hostile one could
make of these answers."""

from __future__ import annotations

import copy
import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from pentathlon.machine.errors import TargetError
from pentathlon.packets.records import HEADER, RECORD, RecordsError
from pentathlon.protocol.requests.commands import (
    Command,
    Exchange,
    Forward,
    Listen,
    Order,
    ReceiveFlow,
    Send,
    SendFlow,
    Tune,
)
from pentathlon.protocol.requests.emulation import Emulate, Probe, Queue, Way
from pentathlon.protocol.requests.works import Compete, Ping, RunProgram, Soak, Watch, Work
from pentathlon.targets.lines import EventLines
from pentathlon.testbed.endpoint import Endpoint
from tests.hostile import streams

Spoil = Callable[[list[dict[str, Any]]], None]

CAPTURE = "c"
"""The name of the trial that is captured."""

WAY = Way(queue=Queue(), mtu_bytes=1500)
WORK: dict[str, Work] = {
    one.work: one
    for one in (
        Soak(), Watch(period_ms=1), Ping(peer="::1", period_ms=1), RunProgram(command=["true"]),
        Compete(workload="cpu.x"), Emulate(interfaces=["a", "b"], ways=[WAY, WAY], spin_us=60),
        Probe(local="127.0.0.1:1", peer="127.0.0.1:2", mark=1),
    )
}  # fmt: skip


def _recorded() -> dict[str, list[dict[str, Any]]]:
    found = defaultdict(list)
    for one in json.loads(Path(__file__).with_name("endpoint.json").read_text()):
        command = one["command"]
        found[_key(command, one["host"], command.get("work", ""))].append(one["event"])
    return dict(found)


def _key(command: dict[str, Any], role: int, work: str) -> str:
    """Which recorded answer a command gets: by verb, and by host or work where these differ."""
    verb = str(command.get("do", "open"))
    if verb == "fetch":
        return "fetch capture" if command["trial"] == CAPTURE else f"fetch {role}"
    return f"stop {work}" if verb == "stop" else verb


RECORDED = _recorded()


class Played:
    """The session of such an endpoint.

    Args:
        role: 0 sends in the recorded trial, 1 receives.
        spoil: key of an answer -> what is done to its events.
        damage: kind of a file of records -> what is made of its bytes.
    """

    def __init__(
        self,
        role: int,
        spoil: dict[str, Spoil] | None = None,
        damage: dict[str, Callable[[bytes], bytes]] | None = None,
    ) -> None:
        self.name, self.pid = "pair", 0
        self.spoil, self.damage = spoil or {}, damage or {}
        self.stopped = False
        self._role = role
        self._works: dict[str, str] = {}

    def ask(
        self, requested: Command | None, answers: Collection[str], timeout_s: float
    ) -> Iterator[dict[str, Any]]:
        assert timeout_s > 0
        command = requested.model_dump() if requested else {}
        job = command.get("job", "")
        if "what" in command:
            self._works[job] = command["what"]["work"]
        key = _key(command, self._role, self._works.get(job, ""))
        events = copy.deepcopy(RECORDED[key])
        names = {name: command[name] for name in ("trial", "job", "interface") if name in command}
        files = [bytes.fromhex(event.pop("data")) for event in events if "data" in event]
        for event in events:
            event |= {name: value for name, value in names.items() if name in event}
        kinds = [event.get("kind") for event in events]
        if key in self.spoil:
            self.spoil[key](events)
        lines = EventLines([], started=True, records=command.get("do") == "fetch")
        try:
            for event in events:
                text = streams.text_of([event])
                if event.get("event") == "records" and files:
                    change = self.damage.get(kinds[len(kinds) - len(files) - 1], bytes)
                    data = change(files.pop(0))
                    if event.get("bytes") != len(data) and self.damage:
                        text = streams.text_of([{**event, "bytes": len(data)}])
                    text += data
                for one in lines.feed(text):
                    yield one
                    if one["event"] in answers or one["event"] == "error":
                        return
            raise TargetError("the time limit is over")
        except TargetError as error:
            raise TargetError(f'system "{self.name}": {error}') from error

    def stop(self) -> None:
        self.stopped = True


def endpoint(
    role: int = 0,
    spoil: dict[str, Spoil] | None = None,
    damage: dict[str, Callable[[bytes], bytes]] | None = None,
) -> Endpoint:
    """An endpoint with a fake session; both hosts of the recorded trial are 127.0.0.1."""
    session: Any = Played(role, spoil, damage)
    return Endpoint(session, {4: "127.0.0.1", 6: "::1"})


RECEIVED = ReceiveFlow(flow=0, protocol="udp", address="127.0.0.1")
LISTEN = Listen(trial="t", session="5f", address="127.0.0.1", flows=[RECEIVED])
SENT = SendFlow(
    flow=0, protocol="udp", peer="127.0.0.1", port=1, size={"model": "imix"},
    gap={"of": {"model": "constant", "value": 1.0}}, duration_s=1.0,
)  # fmt: skip
EXCHANGE = Exchange(address="127.0.0.1", port=1)
SEND = Send(trial="t", session="5f", exchange=EXCHANGE, flows=[SENT])

CALLS: dict[str, Callable[[Endpoint], Any]] = {
    "open": lambda end: end.open(1.0),
    "listen": lambda end: end.listen(LISTEN),
    "send": lambda end: end.send(SEND, 1.0),
    "finish": lambda end: end.finish("t", 0),
    "fetch 0": lambda end: end.fetch("t"),
    "fetch capture": lambda end: end.captured(CAPTURE),
    "capture": lambda end: end.capture(CAPTURE, "lo"),
    "captured": lambda end: end.captured(CAPTURE),
    "perform": lambda end: end.perform(["cat"], 1.0),
    "set": lambda end: end.settings({"net/ipv4/tcp_no_metrics_save": "1", "net/nothing": "1"}),
    "forward": lambda end: end.execute(Forward(on=True)),
    "tune": lambda end: end.execute(Tune(budget=0)),
    "order": lambda end: end.execute(Order(job="l", order="statistics")),
    "address": lambda end: end.address("pent0", ["127.0.0.1/8", "::1/128"]),
    "start": lambda end: end.start("j", Soak()),
    **{f"stop {work}": lambda end, work=work: finished(end, work) for work in WORK},
}
"""Key of an answer -> the call that gets it."""


def finished(end: Endpoint, work: str) -> Any:
    """What a job of this work yields."""
    end.start(work, WORK[work])
    return end.finish_job(work)


MUTATIONS: tuple[streams.Mutation, ...] = (
    *(streams._value,) * 4, *(streams._missing,) * 2, streams._taken, streams._dropped,
    streams._twice, streams._swapped,
)  # fmt: skip


def spoiling(random: Random) -> Spoil:
    """One to three mutations of the events of an answer."""

    def spoil(events: list[dict[str, Any]]) -> None:
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            if events and all(events):
                random.choice(MUTATIONS)(events, random)

    return spoil


def forged(data: bytes, **fields: int) -> bytes:
    """A file of one block with other fields in its header, or in its first record, and with a
    checksum that fits."""
    head = np.frombuffer(data, HEADER, 1).copy()
    body = np.frombuffer(data, RECORD, offset=HEADER.itemsize).copy()
    for name, value in fields.items():
        (head if name in (HEADER.names or ()) else body)[0][name] = value
    rest = body.tobytes()
    head["crc"] = zlib.crc32(rest, zlib.crc32(head.tobytes()[:44]))
    return head.tobytes() + rest


def answers(count: int, seed: int) -> Counter[str]:
    """So many spoilt answers, and how each ended."""
    ends: Counter[str] = Counter()
    random = Random(seed)
    for number in range(count):
        key = random.choice(list(CALLS))
        try:
            CALLS[key](endpoint(spoil={key: spoiling(random)}))
        except (TargetError, RecordsError):
            ends["refused"] += 1
        except Exception as error:
            error.add_note(f"answer {number}, {key}")
            raise
        else:
            ends["read"] += 1
    return ends
