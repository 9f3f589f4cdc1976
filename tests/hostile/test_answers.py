"""Answers that no endpoint should give: a trial or a boot fails with one sentence.

The answers are those of real endpoints, with seeded damage.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from pentathlon.experiments.file_services.remote_workdir import RemotePlace
from pentathlon.experiments.forwarding import background_load, counters, sweep
from pentathlon.experiments.two_hosts import PairSession
from pentathlon.machine.errors import TargetError
from pentathlon.packets.records import RecordsError
from pentathlon.protocol.events import read
from pentathlon.protocol.requests.commands import Command, Finish
from pentathlon.protocol.requests.session import Request, WorkloadRequest
from pentathlon.targets.lines import MOST_RECORDS, EventLines
from pentathlon.testbed.availability import units_per_second
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.link import netem_engine, remote_end
from pentathlon.testbed.link.engine import AgentEngine
from pentathlon.testbed.link.probes import TooFew, delays, once, rate_kbit
from pentathlon.testbed.link.use import difference
from pentathlon.testbed.remote_host import RemoteEndpoint
from pentathlon.testbed.trial import Task
from tests.experiments.traffic.conftest import PARAMETERS
from tests.fakes.catalogs import catalog, metrics
from tests.hostile.endpoints import CALLS, WORK, endpoint, forged, spoiling
from tests.hostile.mutate import damaged

SEEDS = range(60)
LONG = 2000
"""Most characters of a sentence; it may quote a line of the endpoint's."""


def sentence(error: Exception) -> str:
    text = str(error)
    assert text and "\n" not in text and len(text) < LONG, text
    return text


def plain(value: Any) -> None:
    """That a journal can hold it: no NaN, no infinity, nothing that is no JSON."""
    if isinstance(value, dict):
        value = {name: one for name, one in value.items() if not isinstance(one, bytes)}
    json.dumps(value, allow_nan=False).encode()


# What uses an answer, after it was taken.


def _progress(stopped: Any) -> None:
    assert math.isfinite(units_per_second(stopped))


def _watched(stopped: Any) -> None:
    reported = stopped["yields"][0]
    inside = counters.within(reported["readings"], 0, 1e30)
    counters.idle_percent(counters.together([one["host"] for one in inside]), None)
    counters.rate(inside, ("host", "softirqs"), counters.RECEIVE, [0])
    assert counters.receiver_losses(reported["whole"], [0, 1]) >= 0


def _competed(stopped: Any) -> None:
    samples = [one for copy in stopped["yields"] for one in copy["samples"]]
    found = background_load.Competition(0.0, (0.01, 0.02), samples).speed_percent()
    assert found is None or math.isfinite(found)


def _probed(stopped: Any) -> None:
    came = once(stopped["yields"][0]["came"])
    for judge in (lambda: delays(came, 1.0), lambda: rate_kbit(came, 64)):
        try:
            judge()
        except TooFew:
            continue


USERS: dict[str, Callable[[Any], None]] = {
    "stop soak": _progress,
    "stop watch": _watched,
    "stop compete": _competed,
    "stop probe": _probed,
}


@pytest.mark.parametrize("key", CALLS)
def test_what_was_recorded_is_taken(key: str) -> None:
    CALLS[key](endpoint())


@pytest.mark.parametrize("key", CALLS)
def test_a_spoilt_answer_is_one_sentence(key: str) -> None:
    refused = 0
    for seed in SEEDS:
        end = endpoint(spoil={key: spoiling(Random(f"{key} {seed}"))})
        try:
            found = CALLS[key](end)
            if found is not None and not key.startswith(("fetch", "captured")):
                plain(found)
                USERS.get(key, plain)(found)
        except (TargetError, RecordsError) as error:
            refused += 1
            sentence(error)
        plain([vars(end.timer) if end.timer else None, end.kernel, end.refused])
        assert math.isinf(end.zero_s) or abs(end.zero_s) < 1e12
    assert refused > len(SEEDS) / 3, "the damage is refused, not overlooked"


CHANGES: list[tuple[str, tuple[Any, ...], Any, str]] = [
    ("open", ("timer", "tick_ns"), math.nan, "NaN is no number"),
    ("open", ("timer", "tick_ns"), 0, '"the start" is refused: timer.tick_ns is 0, expected 1e-06'),
    ("open", ("timer",), [1], "timer is a list, expected an object"),
    ("open", ("kernel",), 7, "kernel is 7, expected a text"),
    ("open", ("t_ns",), "x", "t_ns is 'x', expected a whole number"),
    ("listen", ("flows",), [], '"listen" is refused: flows lacks the flow 0'),
    ("listen", ("flows", 0, "flow"), 1, "flows[0].flow is 1, which was not requested"),
    ("listen", ("flows", 0, "port"), 65536, "flows[0].port is 65536, expected 0 to 65535"),
    ("listen", ("exchange_port",), None, "exchange_port is missing"),
    ("listen", ("trial",), "other", "trial is 'other', and the command has 't'"),
    ("send", ("flows", 0, "planned"), -1, '"send" is refused: flows[0].planned is -1'),
    ("send", ("flows", 0, "broken"), "x" * 5000, "flows[0].broken has 5000 characters"),
    ("send", ("flows", 0, "lost_records"), 1.5, "flows[0].lost_records is 1.5"),
    ("send", ("announced",), "yes", "announced is 'yes', expected true or false"),
    ("send", ("start_ns",), 1 << 62, "start_ns is 4611686018427387904"),
    ("send", ("host", "cpus", "cpu"), [1, 2], "host.cpus has rows of [2, 10] numbers"),
    ("send", ("host", "window", "to_ns"), 0, "host.window.to_ns is 0, which is before from_ns"),
    ("send", ("host", "tick_ns"), 0, "host.tick_ns is 0, expected 1 to"),
    ("send", ("host", "tcp"), {"segments": 1}, "host.tcp.retransmitted is missing"),
    ("finish", ("flows", 0, "age_ns"), True, "flows[0].age_ns is True, expected a whole number"),
    ("finish", ("flows", 0, "merges"), {}, "flows[0].merges is an object, expected a text"),
    ("fetch 0", ("flow",), -1, '"fetch" is refused: flow is -1'),
    ("fetch 0", ("kind",), "other", "kind is 'other', expected sent or received"),
    ("fetch 0", ("bytes",), 10**15, "announced records of 1000000000000000 bytes"),
    ("perform", ("status",), "0", '"perform" is refused: status is \'0\''),
    ("perform", ("output",), "x" * 70_000, "output has 70000 characters, at most 65536"),
    ("set", ("before",), {}, "before does not hold the settings"),
    ("set", ("refused", 0, "setting"), "x", "refused[0].setting is 'x', expected"),
    ("order", ("ways",), [], "ways has 0 entries, expected 2 to 2"),
    ("order", ("ways", 1, "drops", "cut"), None, "ways[1].drops.cut is missing"),
    ("order", ("cpu_ns",), -1, "cpu_ns is -1"),
    ("stop soak", ("yields", 0, "progress"), [], "yields[0].progress has 0 entries"),
    ("stop soak", ("yields", 0, "progress", 1, 0), 0, "yields[0].progress[1] is less than"),
    ("stop soak", ("yields",), [], '"stop" is refused: yields has 0 entries'),
    ("stop watch", ("yields", 0, "whole", "host", "cpus", "cpu0"), [1], "cpus has rows of"),
    ("stop watch", ("yields", 0, "readings", 0, "to_ns"), 0, "readings[0].to_ns is 0"),
    ("stop ping", ("yields", 0, "sent"), 4, "yields[0].sent is 4, expected 5 to 5"),
    ("stop ping", ("yields", 0, "round_trip_ns", 2), -1, "yields[0].round_trip_ns[2] is -1"),
    ("stop compete", ("yields", 0, "samples", 0, "batch"), 0, "samples[0].batch is 0"),
    ("stop compete", ("yields", 0, "samples", 0, "elapsed_ns"), 0, "elapsed_ns is 0"),
    ("stop probe", ("yields", 0, "came"), [[1, 2]], "yields[0].came[0] is a list, expected 3"),
    ("stop probe", ("yields", 0, "came"), [[1, 2, 1 << 63]], "yields[0].came[0] holds"),
    ("stop program", ("yields", 0, "ended_before"), 1, "yields[0].ended_before is 1"),
    ("start", ("job",), "k", "job is 'k', and the command has 'j'"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "path", "value", "message"), CHANGES)
def test_host_verb_and_field_are_named(
    key: str, path: tuple[Any, ...], value: Any, message: str
) -> None:
    def spoil(events: list[dict[str, Any]]) -> None:
        where: Any = events[0]
        for name in path[:-1]:
            where = where[name]
        where[path[-1]] = value

    with pytest.raises(TargetError) as refused:
        CALLS[key](endpoint(spoil={key: spoil}))
    text = sentence(refused.value)
    assert message in text and text.startswith('system "pair"')
    if "refused" in text:
        assert ", host 127.0.0.1: the answer to " in text


def test_the_records_of_one_answer_are_bounded_together() -> None:
    lines = EventLines([], records=True)
    size = MOST_RECORDS // 2 + 1
    line = json.dumps({"event": "records", "flow": 0, "kind": "sent", "bytes": size}).encode()
    lines._check_records(json.loads(line))
    with pytest.raises(TargetError, match=f"records of {2 * size} bytes in one answer"):
        lines._check_records(json.loads(line))


# Trials.


def task(**parameters: Any) -> Task:
    held = PARAMETERS | {"packet_rate": "constant 100", "keep": "always"} | parameters
    described = WorkloadRequest(id="network.traffic", parameters=held, warmup=0, iterations=1)
    return Task(0, 1, "0123456789abcdef", 7, described, metrics("network.traffic"))


def session(ends: tuple[Endpoint, Endpoint]) -> PairSession:
    """A boot of both hosts whose first agent has nothing else to do."""
    done = [read({"event": "done", "samples": 0, "errors": 0, "t_ns": 1})]
    first: Any = SimpleNamespace(boot_log=[], run=lambda *_: iter(done), stop=lambda: None)
    return PairSession("pair", first, lambda _: ends, None, 1.0, catalog=catalog)


def trial(ends: tuple[Endpoint, Endpoint], **parameters: Any) -> list[dict[str, Any]]:
    """The events of a trial, each as a journal could hold it."""
    work = task(**parameters)
    request = Request(workloads=[work.description], session=work.session, seed=work.seed)
    events = []
    for _, event in session(ends).run(request, 1.0, 60.0):
        plain(event)
        if event["event"] == "sample":
            assert math.isfinite(event["value"]), event
        if event["event"] == "error":
            sentence(ValueError(event["reason"][:LONG]))
        events.append(event)
    return events


def test_a_trial_as_recorded() -> None:
    found = trial((endpoint(0), endpoint(1)), kernel_times=True, cpu_hog="idle")
    values = {one["metric"]: one["value"] for one in found if one["event"] == "sample"}
    assert values["delivered"] == 100 and 0 < values["delay"] < 100
    assert not [one for one in found if one["event"] == "error"]


KEYS = ("listen", "send", "finish", "fetch 0", "fetch 1", "start", "stop soak")


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("key", KEYS)
def test_a_spoilt_trial_costs_itself(key: str) -> None:
    failed = 0
    for seed in range(12):
        spoil = {key: spoiling(Random(f"trial {key} {seed}"))}
        try:
            found = trial((endpoint(0, spoil), endpoint(1, spoil)), cpu_hog="idle")
        except TargetError as error:
            failed += 1
            sentence(error)
        else:
            failed += any(one["event"] == "error" for one in found)
    assert failed > 3


FORGED: list[tuple[str, dict[str, int], str]] = [
    ("sent", {"base_sequence": 1 << 40}, "reach up to the sequence"),
    ("sent", {"base_sequence": 1 << 63}, "has the sequence 9223372036854775808, which cannot be"),
    ("sent", {"base_ns": (1 << 64) - 1}, "has the time 18446744073709551615, which cannot be"),
    ("sent", {"time": 1 << 63}, "a record has a time that is no timer's"),
    ("sent", {"kind": 1}, "have the kind 1, not 0"),
    ("received", {"flow": 3}, "have the flow 3, not 0"),
    ("received", {"lost_before": 1 << 63}, "has the number of losses"),
    ("exchange", {"time": (1 << 63) - 1}, "a record has a time that is no timer's"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "fields", "message"), FORGED)
def test_forged_records_cost_their_trial(kind: str, fields: dict[str, int], message: str) -> None:
    damage = {kind: partial(forged, **fields)}
    found = trial((endpoint(0, damage=damage), endpoint(1, damage=damage)))
    [error] = [one for one in found if one["event"] == "error"]
    assert error["kind"] == "failed" and message in error["reason"]
    assert not [one for one in found if one["event"] in ("sample", "packets")]


def test_records_that_lack_or_are_cut_cost_their_trial() -> None:
    def without(events: list[dict[str, Any]]) -> None:
        del events[0]
        events[-1]["files"] -= 1

    found = trial((endpoint(0, {"fetch 0": without}, {"echoes": lambda _: b""}), endpoint(1)))
    assert [one["reason"] for one in found if one["event"] == "error"]
    odd = {"exchange": lambda data: forged(data[:-16], count=len(data) // 16 - 4)}
    found = trial((endpoint(0, damage=odd), endpoint(1)))
    assert "exchange" in next(one["reason"] for one in found if one["event"] == "error")


def _bytes_of(random: Random, data: bytes) -> bytes:
    """Bytes that are damaged, half of the time with a checksum that fits."""
    found = damaged(data, random)
    if len(found) < 64 or random.random() < 0.5:
        return found
    whole = found[: len(found) // 16 * 16]
    return forged(whole, count=len(whole) // 16 - 3)


@pytest.mark.parametrize("kind", ["sent", "received", "echoes", "exchange", "left", "heard"])
def test_damaged_records_cost_their_trial(kind: str) -> None:
    for seed in range(15):
        damage = {kind: partial(_bytes_of, Random(f"{kind} {seed}"))}
        try:
            ends = endpoint(0, damage=damage), endpoint(1, damage=damage)
            trial(ends, kernel_times=True)
        except TargetError as error:
            sentence(error)


def _bed(spoil: dict[str, Any], damage: dict[str, Any]) -> Any:
    def ask(command: Command, *rest: Any) -> Iterator[dict[str, Any]]:
        # The generator is both ends: the files of both come from it.
        yield from pair[isinstance(command, Finish)].session.ask(command, *rest)

    pair = endpoint(0, spoil, damage), endpoint(1, spoil, damage)
    both = endpoint(0, spoil, damage)
    both.session = SimpleNamespace(name="pair", ask=ask)  # type: ignore[assignment]
    own = both.fetch
    both.fetch = lambda trial: [*own(trial), *pair[1].fetch(trial)]  # type: ignore[method-assign]
    return SimpleNamespace(
        generator=both, forwarder=endpoint(0, spoil), weigh=lambda _: None, incoming="lo",
        outgoing="lo", forwarder_cpus=(0,), generator_cpus=(0, 1), need=lambda _: None,
        tune=lambda _: None, steer=lambda *_, **__: None,
    )  # fmt: skip


SWEEP: dict[str, Any] = {
    "frame_bytes": [110], "competitor": ["cpu.simplex"], "loads": "listed", "offered_kpps": [0.1],
    "duration_s": 0.3, "ramp_s": 0.0, "lead_s": 0.0, "lateness_limit_ms": 60000.0,
    "transmit_backend": "send",
    "cpu_hog": "idle",
}  # fmt: skip


def swept(bed: Any) -> list[dict[str, Any]]:
    described = WorkloadRequest(id="forwarding.sweep", parameters=SWEEP, warmup=0, iterations=1)
    events = []
    for _, event in sweep.run_sweep(
        Task(0, 1, "0" * 16, 7, described, metrics("forwarding.sweep")), bed
    ):
        plain(event)
        assert event["event"] != "sample" or math.isfinite(event["value"])
        events.append(event)
    return events


@pytest.mark.usefixtures("_at_once")
def test_a_spoilt_forwarder_costs_its_case() -> None:
    values = [one["metric"] for one in swept(_bed({}, {})) if one["event"] == "sample"]
    assert "throughput" in values
    [error] = [
        one
        for one in swept(_bed({}, {"sent": partial(forged, base_sequence=1 << 40)}))
        if one["event"] == "error"
    ]
    assert error["kind"] == "failed" and "reach up to the sequence" in error["reason"]
    keys = [*KEYS, "stop watch", "stop ping", "stop compete"]
    for seed in range(40):
        random = Random(f"forwarder {seed}")
        try:
            swept(_bed({random.choice(keys): spoiling(random)}, {}))
        except TargetError as error:
            sentence(error)


# Links.


def test_the_statistics_of_a_link_only_grow() -> None:
    end = endpoint()
    engine = AgentEngine(end, ("a", "b"), 60)
    engine._endpoint.start("link", WORK["emulate"])
    first = engine.statistics()
    with pytest.raises(TargetError, match=r'"order" is refused: elapsed_ns is (\d+), and was \1'):
        engine.statistics()
    assert first["up"]["drops"]["loss"] == 0

    played: Any = end.session
    looks = iter(range(1, 100))

    def later(events: list[dict[str, Any]]) -> None:
        look = next(looks)
        events[0]["elapsed_ns"] += 1000 * look
        events[0]["ways"][0]["frames_in"] = 5 - look

    played.spoil = {"order": later}
    engine = AgentEngine(end, ("a", "b"), 60)
    engine.statistics()
    with pytest.raises(TargetError, match=r"ways\[0\].frames_in is 3, and was 4 before"):
        engine.statistics()


def test_spoilt_statistics_of_a_link() -> None:
    refused = 0
    for seed in SEEDS:
        random = Random(f"link {seed}")
        looks = iter(range(1, 10))
        spoils = spoiling(random)

        def spoil(events: list[dict[str, Any]], looks: Any = looks, spoils: Any = spoils) -> None:
            look = next(looks)
            events[0]["elapsed_ns"] += 1000 * look
            if look > 1:
                spoils(events)

        engine = AgentEngine(endpoint(spoil={"order": spoil}), ("a", "b"), 60)
        try:
            for before, after in pairwise([engine.statistics() for _ in range(3)]):
                counted = difference(before, after)
                plain(counted)
                assert counted["elapsed_ns"] > 0 and counted["up"]["frames_in"] >= 0
        except TargetError as error:
            refused += 1
            sentence(error)
    assert refused > len(SEEDS) / 3


COUNTED = '[{"kind": "netem", "packets": -1, "bytes": 0, "drops": 0, "qlen": 0}]'


@pytest.mark.parametrize("message", ["", "[]", "[" * 5000, '[{"kind": "netem"}]', "x", COUNTED])
def test_what_tc_says_is_checked(message: str) -> None:
    with pytest.raises(TargetError, match="tc does not report what netem counted"):
        netem_engine._netem(message)


# Another machine.


def far(output: str, monkeypatch: pytest.MonkeyPatch) -> RemoteEndpoint:
    """A machine whose programs print this."""
    end = RemoteEndpoint(endpoint().session, {4: "198.18.0.1"}, device="eth1", name="over")
    done = {"status": 0, "timed_out": False, "elapsed_ns": 1, "output": output, "error": ""}
    monkeypatch.setattr(end, "perform", lambda *_, **__: done)
    return end


ODD = ("", "x", "\t", "[]", "{}", "null", "[null]", '[{"mtu": "x", "flags": 1}]', "[" * 9000,
       "9" * 30, "-1", "NaN", "٣", "a\nb\nc")  # fmt: skip


@pytest.mark.parametrize("output", ODD)
def test_what_the_programs_of_another_machine_print(
    output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = far(output, monkeypatch)
    place = object.__new__(RemotePlace)
    place._far = place._host = end  # type: ignore[attr-defined]
    place.into = SimpleNamespace()  # type: ignore[assignment]
    for ask in (
        place.came, lambda: remote_end._prepare(end, 1500),
        lambda: remote_end.hardware_address(end),
    ):  # fmt: skip
        with pytest.raises(TargetError) as refused:
            ask()
        assert sentence(refused.value).startswith("over: ")
    end.undo_by = lambda *_: None  # type: ignore[method-assign]
    monkeypatch.setattr(Endpoint, "settings", lambda _, values: values)
    end.settings({"net/ipv4/tcp_rmem": "1"})
