"""What the tests of file services share: two hosts with a link, and tasks for them."""

from __future__ import annotations

import dataclasses
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.file_services import trial
from pentathlon.experiments.file_services.behaviours import behaviour
from pentathlon.experiments.file_services.driver import run_link
from pentathlon.experiments.file_services.programs import HERE
from pentathlon.experiments.file_services.protocols import family, smb
from pentathlon.experiments.file_services.protocols.base import Call, Service
from pentathlon.experiments.file_services.protocols.smb import Smb, SmbService
from pentathlon.experiments.file_services.service import FileService
from pentathlon.experiments.file_services.spec import Setup
from pentathlon.experiments.file_services.testbed import Testbed, testbeds
from pentathlon.experiments.systems import make_target
from pentathlon.experiments.traffic.driver import run_traffic
from pentathlon.experiments.two_hosts import PairTarget
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.protocol.requests.session import WorkloadRequest
from pentathlon.study.link_profile import parse_profile
from pentathlon.study.system import System
from pentathlon.targets.contract import Target
from pentathlon.targets.netns.target import probe
from pentathlon.testbed.link import use
from pentathlon.testbed.link.calibrate import Calibration
from pentathlon.testbed.link.testbed import open_link
from pentathlon.testbed.link.use import LinkInUse
from pentathlon.testbed.trial import Task
from tests.experiments.file_services.machines import Machine
from tests.experiments.traffic.conftest import task as packets_task
from tests.fakes.catalogs import metrics
from tests.fakes.messages import documents

WAN = "[both]\nrate_kbit = 10000\ndelay_ms = 25\nqueue_bytes = 65536\n"
"""10 Mbit/s and 50 ms, as the paper's fastest WAN."""
LAN = "[both]\nrate_kbit = 100000\ndelay_ms = 1\nqueue_bytes = 262144\n"

Event = dict[str, Any]


def no_namespaces() -> str | None:
    """Why no two hosts can be made here."""
    if os.geteuid() != 0:
        return "network namespaces with packet rings need root"
    try:
        probe()
    except TargetError as error:
        return str(error)
    return None


def testbed_of(place: Path, link: str, system: System, timeout_s: float = 60.0) -> Testbed:
    """Both ends of a link, guests among them, each ready within so many seconds."""
    target = make_target(system, agent.locate(), place)
    assert isinstance(target, PairTarget)
    return testbeds(target.ends, target.link_engine)(link, timeout_s, place)


def lacking(workload: str, protocols: list[str]) -> str | None:
    """What is not installed of that which tasks by these protocols need."""
    try:
        for protocol in protocols:
            needed = family(protocol)
            needed.check()
            if needed.name == "smb" and workload == "files.open":
                smb.interpreter(HERE)
    except TargetUnavailable as error:
        return str(error)
    return None


@dataclass
class Testbeds:
    """One ground; remembers what was given up."""

    own: Testbed
    given_up: list[str] = field(default_factory=list)
    new: bool = True

    def testbed(self, link: str) -> tuple[Testbed, bool]:
        new, self.new = self.new, False
        return self.own, new

    def give_up(self, link: str) -> None:
        self.given_up.append(link)


@dataclass
class Bench:
    """A ground and what runs on it."""

    testbeds: Testbeds
    scratch: Path

    @property
    def testbed(self) -> Testbed:
        return self.testbeds.own

    def run(
        self, workload: str, ends: tuple[str, str] = ("own", "own"), **parameters: Any
    ) -> list[Event]:
        """The events of a task with one trial for each case; skips what lacks a program."""
        given: dict[str, Any] = {
            "links": ["test"], "protocols": ["smb"], "document_bytes": [100_000],
            "states": ["cold"], "files": 12, "keep_captures": True, **parameters,
        }  # fmt: skip
        if reason := lacking(workload, given["protocols"]):
            pytest.skip(reason)
        entry = WorkloadRequest(id=workload, parameters=given, warmup=0, iterations=1)
        task = Task(0, 1, "0123456789abcdef", 7, entry, metrics(workload))
        both = (behaviour(ends[0]), behaviour(ends[1]))
        return documents(run_link(task, "test", self.testbeds, both, self.scratch))


TASKS = {
    "files.copy": ["smb", "http1.1", "http2", "sftp", "nfs"],
    "files.open": ["smb", "nfs"],
    "files.roaming": ["smb", "sftp", "nfs"],
    "files.portal": ["http1.1", "http2"],
}
"""Task -> its protocols; HTTP/3 is apart, because other machines may lack what it needs."""


def every_task_runs(bench: Bench) -> None:
    """Each task by each of its protocols over the link of `WAN`, with small files."""
    for task, protocols in TASKS.items():
        for protocol in protocols:
            task_runs(bench, task, protocol)


def two_tasks_run(bench: Bench) -> None:
    """A task that writes and reads files, and one that reads pages; small files.

    All run between namespaces and other machines (test_remote.py) and between guests
    (test_guests.py), so that ends of two kinds need not repeat each.
    """
    task_runs(bench, "files.roaming", "smb")
    task_runs(bench, "files.portal", "http1.1")


def task_runs(bench: Bench, task: str, protocol: str) -> None:
    if lacking(task, [protocol]) is None:
        found = samples(bench.run(task, protocols=[protocol], document_bytes=[20_000], files=3))
        assert found["wire_bytes"] > 20_000, (task, protocol)
        assert found["link_round_trip"] >= 50, (task, protocol)


def http_3_runs(bench: Bench, workload: str = "files.portal") -> None:
    """A task by HTTP/3 over the link of `WAN`; one round trip is its handshake."""
    found = samples(bench.run(workload, protocols=["http3"], document_bytes=[20_000]))
    assert found["wire_bytes"] > 20_000 and found["task_time"] >= 0.1


def crossed_by_traffic(testbed: Testbed) -> None:
    """Packets of other traffic cross the link of `WAN`, all of them, and its delay shows."""
    requested = {"packet_rate": "constant 20", "duration_s": 3.0, "lateness_limit_ms": 10_000.0}
    packets = packets_task(**requested, protocols=["udp", "tcp"])
    for _ in range(3):  # A guest that did not run for all of this time has sent nothing.
        events = documents(run_traffic(packets, testbed.client, testbed.server))
        errors = [event["reason"] for event in events if event["event"] == "error"]
        if not any("sent no packet" in one for one in errors):
            break
    assert not errors
    flows = [flow for event in events if event["event"] == "packets" for flow in event["flows"]]
    assert len(flows) == 2 and all(flow["received"] == flow["sent"] > 0 for flow in flows)
    trips = [event["value"] for event in events if event.get("metric") == "round_trip_p50"]
    assert len(trips) == 2 and all(trip >= 50 for trip in trips)
    # The answers of the clock exchange are heard over a link that is longer than its period.
    assert len([event for event in events if event.get("metric") == "delay_p50"]) == 2


def samples(events: list[Event]) -> dict[str, float]:
    """Metric -> value of the only trial."""
    found: dict[str, float] = {}
    for event in events:
        if event["event"] == "sample":
            assert event["metric"] not in found
            found[event["metric"]] = event["value"]
    assert found, [event["reason"] for event in events if event["event"] == "error"]
    return found


def failure(events: list[Event]) -> str:
    """The reason of the only error, a sentence; nothing else came of the task."""
    assert not [event for event in events if event["event"] == "sample"]
    (error,) = (event for event in events if event["event"] == "error")
    assert error["kind"] == "failed" and error["case"]["link"] == "test"
    assert "\n" not in error["reason"]
    return str(error["reason"])


@contextmanager
def after(bench: Bench, count: int, what: Callable[[], object]) -> Iterator[None]:
    """Do something once so many bytes have come to the client."""
    assert bench.testbed.link is not None
    bed = bench.testbed.link.bed
    begun = bed.statistics()["down"]["bytes_out"]

    def wait() -> None:
        while not over.wait(0.05):
            if bed.statistics()["down"]["bytes_out"] >= begun + count:
                what()
                return

    over = threading.Event()
    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def cut_in_mid_task(bench: Bench, monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    """A copy whose link is cut fails with that reason, and the next one is done."""
    assert bench.testbed.link is not None
    bed = bench.testbed.link.bed
    with monkeypatch.context() as patch, after(bench, 30_000, bed.cut):
        patch.setattr(trial, "limit_s", lambda testbed, held: 4.0 * testbed.client.slow)
        try:
            message = failure(
                bench.run("files.copy", protocols=[protocol], document_bytes=[2_000_000])
            )
        finally:
            bed.mend()
    came = re.fullmatch(
        "the link was cut in mid-task; ([0-9,]+) of 2,000,000 bytes had come", message
    )
    assert came and int(came[1].replace(",", "")) < 2_000_000, message
    assert samples(bench.run("files.copy", protocols=[protocol]))["task_time"] > 0


def goes_on_after(
    target: Target, place: Path, monkeypatch: pytest.MonkeyPatch, what: Callable[[Testbed], object]
) -> str:
    """Two cases, in the first of which something happens in mid-task: why that failed.

    The second one has a new ground, and is done.
    """
    if reason := lacking("files.copy", ["http1.1"]):
        pytest.skip(reason)
    profile = place / "test.toml"
    profile.write_text(WAN)
    assert isinstance(target, PairTarget)
    make, made = testbeds(target.ends), list[Testbed]()

    def noted(link: str, timeout_s: float, scratch: Path) -> Testbed:
        made.append(make(link, timeout_s, scratch))
        return made[-1]

    monkeypatch.setattr(use, "calibrate", lambda bed: Calibration("test", "none"))
    monkeypatch.setattr(trial, "limit_s", lambda testbed, held: 4.0 * testbed.client.slow)
    file_service = FileService(noted, (behaviour("own"), behaviour("own")), place).boot(240.0)
    parameters = {
        "links": [str(profile)], "protocols": ["http1.1"], "document_bytes": [2_000_000, 100_000],
        "states": ["cold"], "keep_captures": False,
    }  # fmt: skip
    entry = WorkloadRequest(id="files.copy", parameters=parameters, warmup=0, iterations=1)
    try:
        file_service.testbed(str(profile))
        with after(Bench(Testbeds(made[0]), place), 100_000, lambda: what(made[0])):
            task = Task(0, 1, "0123456789abcdef", 7, entry, metrics("files.copy"))
            events = documents(file_service.run(task))
    finally:
        file_service.stop()
    (error,) = (event for event in events if event["event"] == "error")
    assert error["case"]["document_bytes"] == 2_000_000 and len(made) == 2
    assert error["kind"] == "failed" and "\n" not in error["reason"]
    done = [event for event in events if event["event"] == "sample"]
    assert done and all(event["case"]["document_bytes"] == 100_000 for event in done)
    return str(error["reason"])


def wrong_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every client of SMB log on with another password than its user's."""
    right = Smb.call

    def wrong(self: Smb, setup: Setup, service: Service) -> Call:
        assert isinstance(service, SmbService)
        login = dataclasses.replace(service.login, password="not this one")
        return right(self, setup, dataclasses.replace(service, login=login))

    monkeypatch.setattr(Smb, "call", wrong)


def small_disk(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the client's files of every trial lie on a disk of 64 KiB of its own."""
    made, client = trial.directories, bench.testbed.client

    @contextmanager
    def small(parent: Path) -> Iterator[Path]:
        with made(parent) as place:
            into = str(place / "into")
            mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", into]
            assert client.perform(mount, 60.0)["status"] == 0
            try:
                yield place
            finally:
                assert client.perform(["umount", into], 60.0)["status"] == 0

    monkeypatch.setattr(trial, "directories", small)


def capture(events: list[Event]) -> bytes:
    """The packets of the only trial."""
    (one,) = (event["capture"] for event in events if event["event"] == "files")
    assert isinstance(one, bytes)
    return one


Benches = Callable[[str], Bench]


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    """Makes a bench with the link of a profile's text; one for each text."""
    if reason := no_namespaces():
        pytest.skip(reason)
    made: dict[str, Bench] = {}

    def bench(text: str) -> Bench:
        if text not in made:
            place = tmp_path_factory.mktemp("files")
            bed = open_link(agent.locate(), parse_profile(text, "test"), state_dir=place)
            link = LinkInUse(bed, Calibration("test", "none"), bed.statistics())
            made[text] = Bench(Testbeds(Testbed(bed.client, bed.server, link)), place)
        return made[text]

    try:
        yield bench
    finally:
        for one in made.values():
            one.testbed.stop()


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Machine]]:
    if reason := no_namespaces():
        pytest.skip(reason)
    place = tmp_path_factory.mktemp("machines")
    made: list[Machine] = []
    try:
        made += [Machine.start(place, number) for number in range(3)]
        yield made
    finally:
        for one in made:
            one.stop()
