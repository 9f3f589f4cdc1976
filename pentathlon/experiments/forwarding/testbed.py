"""The bed of salah2010, Fig. 1: generator → system under test → back to the generator.

The generator is one host with two interfaces, so that one clock times a packet both ways. It has
routing rules (ip-rule(8)) by which packets to its own second address leave through the first.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pentathlon.machine import launch
from pentathlon.machine.cpus import AVAILABLE, resolve
from pentathlon.machine.errors import TargetError
from pentathlon.machine.network_namespace import namespace
from pentathlon.machine.on_error import on_error
from pentathlon.machine.settings import MachineSettings
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.protocol.requests.commands import Firewall, Forward, Polling, RouteTable, Tune
from pentathlon.targets.capabilities import PlacedTarget
from pentathlon.targets.contract import Target
from pentathlon.targets.session import Launch, ProcessSession
from pentathlon.testbed import hosts, placed
from pentathlon.testbed.cables import (  # fmt: skip
    BACK,
    FAR,
    FORWARDER,
    GENERATOR,
    GRO,
    LONGEST_S,
    NEAR,
    OUT,
    cable,
    mask,
    prepare_generator,
    script,
    set_addresses,
    write,
)
from pentathlon.testbed.endpoint import CommandError, Endpoint

WRITABLE = 'mount -o remount,rw /sys && exec "$@"'


@dataclass(frozen=True)
class Tuning:
    """What the forwarder's kernel is set to; `ip_version` is that of routes and rules."""

    budget: int = 0
    routes: int = 0
    firewall_rules: int = 0
    ip_version: int = 4


class Unsupported(TargetError):
    """This bed cannot do what a case requests."""

    kind = "unsupported"


@dataclass
class Testbed:
    """Both hosts, joined by two cables.

    Attributes:
        generator: sends and receives.
        forwarder: the system under test.
        incoming, outgoing: the forwarder's interfaces, as it names them.
        forwarder_cpus: the forwarder's CPUs, as its own counters number them; None: all.
        generator_cpus: the generator's CPUs, numbers of this machine.
        steerable: the forwarder is a namespace of this machine, whose steering can be set from
            here.
        taking: interface of this machine that takes the generator's frames, with the process in
            whose namespace it is; None: it is no veth(4) of this machine.
        refused: IP version -> why the bed has none of it.
    """

    generator: Endpoint
    forwarder: Endpoint
    incoming: str
    outgoing: str
    forwarder_cpus: tuple[int, ...] | None
    generator_cpus: tuple[int, ...]
    steerable: bool = False
    taking: tuple[int, str] | None = None
    refused: dict[int, str] = field(default_factory=dict)
    steering: str = ""
    gathering: bool | None = None
    tuned: Tuning | None = Tuning()
    threads: list[int] = field(default_factory=list)

    def need(self, version: int) -> None:
        """See that the bed has this version of the Internet Protocol.

        Raises:
            Unsupported: it does not.
        """
        if version not in OUT:
            raise Unsupported(f"there is no IP version {version}; use 4 or 6")
        if version in self.refused:
            raise Unsupported(f"IP version {version}: {self.refused[version]}")

    def steer(self, how: str, *, live: bool = False) -> None:
        """Let the forwarder's received packets be handled as `how` states (catalog, `steering`).

        Args:
            live: the generator's frames are made in the kernel, and need an interface that polls.

        Raises:
            Unsupported: it cannot be set here.
        """
        threaded = f"/sys/class/net/{FORWARDER[0]}/threaded"
        if self.steerable and self.steering == "threaded" != how:
            # An interface that no longer polls cannot be assigned to who should.
            self._set(threaded, "0")
        self._gather(live or (self.steerable and how == "threaded"))
        if how == self.steering:
            return
        if not self.steerable:
            if how == "inline":
                raise Unsupported('the steering "inline" is for forwarders in a namespace')
            polling = Polling(interface=self.incoming, threaded=how == "threaded")
            self._order(Tune(polling=polling))
            self.steering = how
            return
        pid = self.forwarder.session.pid
        name = FORWARDER[0]
        queue = f"/sys/class/net/{name}/queues/rx-0/rps_cpus"
        own = mask(self.forwarder_cpus or ())
        try:
            if how == "threaded":
                before = _napi_threads()
                write(pid, threaded, "1")
                self.threads = sorted(_napi_threads() - before)
                for thread in self.threads:
                    os.sched_setaffinity(thread, self.forwarder_cpus or AVAILABLE)
            write(pid, queue, own if how == "own" else "0")
        except (TargetError, OSError) as error:
            raise Unsupported(f'the steering "{how}" cannot be set here: {error}') from error
        self.steering = how

    def _set(self, path: str, text: str) -> None:
        try:
            write(self.forwarder.session.pid, path, text)
        except TargetError as error:
            raise Unsupported(f"the steering cannot be set here: {error}") from error

    def _gather(self, wanted: bool) -> None:
        """A veth polls for itself, in a thread or not, only while it gathers packets (GRO)."""
        if self.taking is None or wanted == self.gathering:
            return
        pid, name = self.taking
        try:
            script(pid, "offload", name, hex(GRO), "1" if wanted else "0")
        except TargetError as error:
            raise Unsupported(f"{name} cannot be made to poll: {error}") from error
        self.gathering = wanted

    def tune(self, wanted: Tuning) -> None:
        """Set routes, firewall rules and budget of the forwarder.

        Raises:
            Unsupported: the forwarder cannot have them.
        """
        if not (wanted.routes or wanted.firewall_rules):
            wanted = Tuning(wanted.budget)  # Without these two the version makes no difference.
        if wanted == self.tuned:
            return
        version = wanted.ip_version
        self.tuned = None  # What is refused halfway is neither as it was nor as it was to be.
        self._order(
            Tune(
                budget=wanted.budget,
                routes=RouteTable(count=wanted.routes, via=BACK[version]),
                firewall=Firewall(rules=wanted.firewall_rules, ip_version=version),
            )
        )
        self.tuned = wanted

    def _order(self, settings: Tune) -> None:
        try:
            self.forwarder.execute(settings, LONGEST_S)
        except CommandError as error:
            if error.kind != "unsupported":
                raise
            raise Unsupported(f"the forwarder cannot be set so: {error}") from error

    def weigh(self, nice: int) -> None:
        """What the forwarder's programs weigh against the threads of its kernel, as a nice value.

        Where a kernel groups processes by session (sched(7), autogroup), the nice values and the
        policies of programs count inside their session only; ksoftirqd is in none.
        """
        if self.steerable:
            with contextlib.suppress(OSError):
                place = Path(f"/proc/{self.forwarder.session.pid}/autogroup")
                place.write_text(str(nice))


class TestbedMaker(Protocol):
    """Makes the bed of one system."""

    def __call__(self, timeout_s: float) -> Testbed: ...


def places(
    own: Sequence[int] | None, peer: Sequence[int] | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """CPUs of forwarder and generator: apart, where there are several and the study states nothing.

    The forwarder gets the last CPU, the generator all others.
    """
    forwarder = resolve(own) or (max(AVAILABLE),)
    rest = tuple(sorted(AVAILABLE - set(forwarder)))
    return tuple(forwarder), tuple(resolve(peer) or rest or sorted(AVAILABLE))


def remarks(forwarder: Sequence[int], generator: Sequence[int]) -> list[str]:
    """What a reader of the results has to know about the CPUs."""
    shared = sorted(set(forwarder) & set(generator))
    found = []
    if shared:
        found.append(
            f"generator and forwarder share the CPUs {shared}: the generator's work limits the "
            "forwarder"
        )
    if len(set(generator)) < 2:
        found.append(
            "sender and receiver of the generator share one CPU, which limits the load that can "
            "be offered"
        )
    return found


def netns_testbed(target: PlacedTarget, peer: Sequence[int] | None) -> TestbedMaker:
    """Both hosts are network namespaces; two veth(4) pairs join them."""

    def make(timeout_s: float) -> Testbed:
        forwarder_cpus, generator_cpus = places(target.system.cpus, peer)
        made: list[Endpoint] = []
        with on_error(hosts.stop, made):
            words = endpoint_words(target.agent_path, target.settings)
            forwarder = placed.start(target, words, NEAR, forwarder_cpus)
            made.append(forwarder)
            forwarder.open(timeout_s)
            placed.read_back(forwarder)
            generator = start_generator(target, generator_cpus, made, timeout_s)
            pid = forwarder.session.pid
            for ours, theirs in zip(GENERATOR, FORWARDER, strict=True):
                cable(generator.session.pid, ours, theirs, pid)
            refused: dict[int, str] = {}
            for name, addresses in zip(FORWARDER, (NEAR, FAR), strict=True):
                refused |= set_addresses(pid, name, addresses)
            refused |= prepare_generator(generator.session.pid, GENERATOR, generator_cpus)
            forwarder.execute(Forward(on=True))
        return Testbed(
            generator, forwarder, *FORWARDER, forwarder_cpus, generator_cpus, steerable=True,
            taking=(pid, FORWARDER[0]), refused=refused,
        )  # fmt: skip

    return make


def endpoint_words(agent: Path, settings: MachineSettings | None = None) -> list[str]:
    """The agent as an endpoint in a namespace of its own, whose /sys can be written."""
    return [*namespace(settings), "/bin/sh", "-c", WRITABLE, "sh", str(agent), "endpoint"]


def start_generator(
    target: Target, cpus: tuple[int, ...], made: list[Endpoint], timeout_s: float
) -> Endpoint:
    """The generator in a namespace of its own; it is added to `made`."""
    journal = UndoJournal(target.state_dir)
    with on_error(journal.undo):
        # The generator is no system under test: it goes before all else on its CPUs.
        first = -20 if os.geteuid() == 0 else None
        words = launch.wrap(endpoint_words(target.agent_path), cpus=cpus, nice=first)
        session = ProcessSession(f"{target.name}, generator", Launch(command=words), journal)
    generator = Endpoint(session, OUT)
    made.append(generator)
    generator.open(timeout_s)
    # Between sessions it is the group's nice value that counts (`Testbed.weigh`).
    with contextlib.suppress(OSError):
        Path(f"/proc/{session.pid}/autogroup").write_text("-20")
    return generator


def _napi_threads() -> set[int]:
    """The kernel's threads that poll the forwarder's receiving interface."""
    found = set()
    for place in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if place.read_text().startswith(f"napi/{FORWARDER[0]}-"):
                found.add(int(place.parent.name))
    return found
