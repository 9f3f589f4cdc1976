"""A system of two hosts: what runs on one host runs on the first, the rest between both."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Protocol

from pentathlon.experiments.file_services.behaviours import OWN, behaviour
from pentathlon.experiments.file_services.driver import TASKS
from pentathlon.experiments.file_services.service import Office, OfficeInUse
from pentathlon.experiments.file_services.testbed import grounds
from pentathlon.experiments.forwarding.guest_testbed import qemu_bed, ssh_bed, uml_bed
from pentathlon.experiments.forwarding.ndr import run_ndr
from pentathlon.experiments.forwarding.sweep import run_sweep
from pentathlon.experiments.forwarding.testbed import Bed, BedMaker, netns_bed, places, remarks
from pentathlon.experiments.traffic.driver import run_traffic
from pentathlon.machine.cpus import AVAILABLE, cpu_names, resolve
from pentathlon.machine.errors import TargetError
from pentathlon.targets.contract import Session, Target
from pentathlon.targets.local.target import LocalTarget
from pentathlon.targets.qemu.target import QemuTarget
from pentathlon.targets.ssh.target import SshTarget
from pentathlon.targets.uml.target import UmlTarget
from pentathlon.targets.wine.target import WineTarget
from pentathlon.testbed import hosts, placed
from pentathlon.testbed.endpoint import CommandError, Endpoint
from pentathlon.testbed.ends import JOINABLE, MakeTarget, PeerSpec, ends_of
from pentathlon.testbed.link.calibrate import LinkRefused
from pentathlon.testbed.link.testbed import SIDES, EngineName
from pentathlon.testbed.link.use import LinkInUse, LinkMaker, link_maker, refused_event
from pentathlon.testbed.trial import Task

DRIVERS: dict[str, Callable[[Task, Endpoint, Endpoint], Iterator[dict[str, Any]]]] = {
    "network.traffic": run_traffic,
}
"""Workload between two hosts -> what drives it."""

THROUGH: dict[str, Callable[[Task, Bed], Iterator[dict[str, Any]]]] = {
    "forwarding.sweep": run_sweep,
    "forwarding.ndr": run_ndr,
}
"""Workload through a host -> what drives it."""


NO_PAIR = 'traffic between two hosts is measured on the targets "local", "netns", "uml" and "wine"'
NO_CABLE = (
    "traffic between hosts of two kinds or virtual machines is measured over an emulated link: "
    'name one as "link" of [system.peer]'
)
NO_OFFICE = (
    f"file services are measured on the targets {', '.join(JOINABLE)}; over ssh the server is "
    'another host, which [system.peer] names as "target"'
)
NO_BED = 'forwarding is measured on the targets "netns", "uml", "qemu" and "ssh"'


class PairedSpec(PeerSpec, Protocol):
    """What a study says of the second host and of what joins it to the first."""

    @property
    def link(self) -> str | None: ...

    @property
    def link_engine(self) -> EngineName: ...

    @property
    def behaves(self) -> str: ...


class PairTarget(Target):
    """A target whose system has a peer."""

    kind = ""  # These are those of the hosts, set for each object.
    layer = ""

    def __init__(
        self, inner: Target, peer: PairedSpec, make: MakeTarget, behaves: str = OWN
    ) -> None:
        super().__init__(inner.system, inner.agent_path, inner.state_dir)
        self.inner = inner
        peer_cpus = peer.cpus
        # Another machine that names no server is a forwarder between two cables.
        forwards = isinstance(inner, SshTarget) and peer.target is None
        ends = (_two(inner, peer.interfaces), _two(inner, peer.joined_to)) if forwards else None
        named = (peer.interfaces, peer.joined_to) != (None, None)
        if (ends is not None and None in ends) or (named and not _far(inner, peer)):
            raise TargetError(
                f'system "{inner.name}": "interfaces" and "joined_to" of [system.peer] name the '
                'cables between this machine and one reached by "ssh"; give both for that target, '
                "and for no other"
            )
        cpus = (inner.cpus, resolve(peer_cpus))
        self._peer_cpus = cpus[1]
        self.ends = ends_of(inner, peer, make)
        self._refuse_settings()
        self.make: hosts.Maker | None = None
        if self.ends.mixed:
            pass
        elif isinstance(inner, UmlTarget):
            both = [target for target in self.ends.targets if isinstance(target, UmlTarget)]
            where = (self.ends.guest_cpus(0), self.ends.guest_cpus(1))
            self.make = hosts.uml_hosts(both, where)
        elif isinstance(inner, WineTarget):
            self.make = hosts.wine_hosts(inner, cpus)
        elif isinstance(inner, LocalTarget):
            maker = hosts.netns_hosts if inner.kind == "netns" else hosts.local_hosts
            self.make = maker(inner, cpus)
        elif not isinstance(inner, QemuTarget | SshTarget):
            raise TargetError(
                f'system "{inner.name}" has a peer, which targets of the kind "{inner.kind}" '
                'cannot have; use "local", "netns", "uml", "qemu" or "wine", or for forwarding '
                '"ssh"'
            )
        self.link_engine = peer.link_engine
        self.link: LinkMaker | None = None
        if peer.link is not None:
            self.link = link_maker(self.ends, peer.link, peer.link_engine)
        self.bed: BedMaker | None = None
        if isinstance(inner, UmlTarget):
            self.bed = uml_bed(inner, peer_cpus)
        elif isinstance(inner, QemuTarget):
            self.bed = qemu_bed(inner, peer_cpus)
        elif isinstance(inner, SshTarget) and ends and ends[0] and ends[1]:
            self.bed = ssh_bed(inner, peer_cpus, ends[0], ends[1])
        elif isinstance(inner, LocalTarget) and inner.kind == "netns":
            self.bed = netns_bed(inner, peer_cpus)
        self.behaviours = (behaviour(behaves), behaviour(peer.behaves))
        self.office: Office | None = None
        if self.ends.joinable:
            self.office = Office(
                grounds(self.ends, peer.link_engine), self.behaviours, inner.state_dir
            )
        own = places(inner.cpus, peer_cpus)
        elsewhere = self.ends.far(0) is not None
        self.forwarding_remarks = remarks(() if elsewhere else own[0], own[1]) if self.bed else []
        self.__dict__.update(
            kind=inner.kind, layer=self.ends.layer, persistent=self.ends.persistent
        )

    def _refuse_settings(self) -> None:
        """Settings hold for both hosts, and only agents of this machine can be given them.

        Raises:
            TargetError: the study gives some, and a host is no agent of this machine.
        """
        for target in dict.fromkeys(self.ends.targets):
            if not isinstance(target, LocalTarget) and self.inner.system.settings.changed():
                raise TargetError(
                    f'system "{self.name}" has settings and a peer; they hold for both hosts, and '
                    f'a host of the target "{target.kind}" cannot be given them; leave them out'
                )

    def describe(self) -> dict[str, Any]:
        own = self.inner.describe()
        remarks = [f"forwarding: {remark}" for remark in self.forwarding_remarks]
        if self.link_engine != "agent":
            remarks.append(f'links are emulated by the engine "{self.link_engine}"')
        ends = {
            end: known.described()
            for end, known in zip(("client", "server"), self.behaviours, strict=True)
            if known.name != OWN
        }
        behaves = {"behaves": ends} if ends else {}
        server = {} if self.ends.alike else {"server": self.ends.targets[1].describe()}
        return own | {
            "layer": self.layer, "peer": True, **behaves, **server,
            "notes": [*own.get("notes", []), *remarks, *self._cables()],
        }  # fmt: skip

    def _cables(self) -> list[str]:
        """What joins this machine to those that are ends of its links."""
        return [
            f"a cable joins {cable.own} of this machine and {cable.theirs} of {target.address.host}"
            for number in (0, 1)
            if (cable := self.ends.cables[number]) and (target := self.ends.far(number))
        ]

    def occupies(self) -> frozenset[str]:
        # What drives the traffic runs on all CPUs where the study names none for the peer.
        own = cpu_names(AVAILABLE if self._peer_cpus is None else self._peer_cpus)
        ends = (target.occupies() for target in dict.fromkeys(self.ends.targets))
        lent = {f"the interface {cable.own}" for cable in self.ends.cables if cable}
        return own.union(lent, self.inner.occupies(), *ends)

    @property
    def restarts(self) -> bool:
        return self.inner.restarts

    def privileges(self) -> list[str]:
        links = ["root here, for workloads that forward (their network links)"] if self.bed else []
        files = ["root here, for file services (links, captures, servers)"] if self.office else []
        there = [
            f"root on {target.address.host}, for file services (its address and settings)"
            for number in (0, 1)
            if self.office and (target := self.ends.far(number))
        ]
        return [*self.inner.privileges(), *links, *files, *there]

    def settings_to_change(self) -> list[dict[str, Any]]:
        lent = [
            {"what": f"interface {cable.own}", "from": "this machine's", "to": "lent to links"}
            for cable in self.ends.cables
            if cable
        ]
        return [*self.inner.settings_to_change(), *lent]

    def bytes_written(self) -> int | None:
        return self.inner.bytes_written()

    def prepare(self) -> None:
        self.inner.prepare()
        if not self.ends.alike:
            self.ends.targets[1].prepare()

    def renew(
        self, command: str | None, timeout_s: float, install: int | None = None
    ) -> tuple[str, str | None]:
        return self.ends.renew(command, timeout_s, install)

    def forgets(self) -> str | None:
        return self.ends.forgets()

    def lost(self, install: int) -> bool:
        return self.ends.lost(install)

    def discard(self) -> None:
        self.ends.discard()

    def boot(self, timeout_s: float) -> Session:
        started = time.monotonic()
        first = self.inner.boot(timeout_s)
        session = PairSession(self.name, first, self.make, self.bed, timeout_s)
        session.lacking = NO_CABLE if self.ends.joinable else NO_PAIR
        session.make_link = self.link
        session.office = self.office.boot(timeout_s) if self.office else None
        session.boot_seconds = time.monotonic() - started
        return session


def _far(inner: Target, peer: PairedSpec) -> bool:
    """Whether one of the hosts is another machine."""
    return isinstance(inner, SshTarget) or peer.target == "ssh"


def _two(inner: Target, names: Sequence[str] | None) -> tuple[str, str] | None:
    if names is None:
        return None
    if len(names) != 2:
        raise TargetError(
            f'system "{inner.name}": [system.peer] names {len(names)} interfaces; it needs '
            "two, the receiving side first"
        )
    return names[0], names[1]


def _between(description: dict[str, Any]) -> bool:
    return any(description["id"] in known for known in (DRIVERS, THROUGH, TASKS))


class PairSession(Session):
    """One boot of both hosts."""

    def __init__(
        self,
        name: str,
        first: Session,
        pair: hosts.Maker | None,
        bed: BedMaker | None,
        timeout_s: float,
    ) -> None:
        self.name = name
        self.boot_seconds = 0.0
        self.boot_log = first.boot_log
        self._first = first
        self._make_pair = pair
        self._pair: tuple[Endpoint, Endpoint] | None = None
        self._make_bed = bed
        self._bed: Bed | None = None
        self._timeout_s = timeout_s
        self.lacking = NO_PAIR
        self.make_link: LinkMaker | None = None
        self.link: LinkInUse | None = None
        self.office: OfficeInUse | None = None

    def run(
        self, request: dict[str, Any], idle_timeout_s: float, total_timeout_s: float
    ) -> Iterator[dict[str, Any]]:
        tasks = request["workloads"]
        alone = [place for place, task in enumerate(tasks) if not _between(task)]
        own = request | {"workloads": [tasks[place] for place in alone]}
        done: dict[str, Any] = {}
        for event in self._first.run(own, idle_timeout_s, total_timeout_s):
            if event["event"] == "done":
                done = event
            elif event["event"] != "step" and type(event.get("index")) is int:
                if not 0 <= event["index"] < len(alone):
                    raise TargetError(
                        f'system "{self.name}": the agent sent an event of step {event["index"]}, '
                        f"and has {len(alone)}"
                    )
                # The count of a histogram is that of its values.
                of_all = {"count": len(tasks)} if event["event"] == "progress" else {}
                yield event | {"index": alone[event["index"]]} | of_all
            else:
                yield event
        spent_s = 0.0
        samples = errors = 0
        for place, description in enumerate(tasks):
            if not _between(description):
                continue
            if spent_s > total_timeout_s:
                raise TargetError(f'system "{self.name}": the time limit is over')
            began = time.monotonic()
            task = Task(place, len(tasks), request["session"], request["seed"], description)
            for event in self._drive(task):
                samples += event["event"] == "sample"
                errors += event["event"] == "error"
                yield event
            # File tasks have a limit for each trial, which follows from its link.
            if task.id not in TASKS:
                spent_s += time.monotonic() - began
        own_samples, own_errors = (done.get(name) for name in ("samples", "errors"))
        if type(own_samples) is not int or type(own_errors) is not int:
            raise TargetError(
                f'system "{self.name}": the agent did not say how many samples it sent'
            )
        yield done | {"samples": own_samples + samples, "errors": own_errors + errors}

    def _drive(self, task: Task) -> Iterator[dict[str, Any]]:
        yield task.progress("start")
        try:
            # Hosts are made when they are first needed: most studies need one kind of them.
            if drive := DRIVERS.get(task.id):
                yield from self._open_pair()
                assert self._pair is not None
                for event in drive(task, *self._pair):
                    if self.link is not None and self.link.hides(event):
                        continue
                    yield event
                    if self.link is not None and event["event"] == "packets":
                        yield self.link.event(task, event)
            elif task.id in TASKS:
                if self.office is None:
                    raise CommandError(NO_OFFICE, "unsupported")
                yield from self.office.run(task)
            else:
                yield from self._open_bed()
                assert self._bed is not None
                yield from THROUGH[task.id](task, self._bed)
        except LinkRefused as refused:
            yield refused_event(refused)
            yield task.error("invalid", str(refused))
        except CommandError as error:
            yield task.error(error.kind, str(error))
        yield task.progress("end")

    def _open_pair(self) -> Iterator[dict[str, Any]]:
        """Make both hosts if they are not there; the events of a link between them, and of what
        was read of them."""
        if self._pair is not None:
            return
        if self.make_link is not None:
            self.link = self.make_link(self._timeout_s)
            self._pair = self.link.bed.system("client"), self.link.bed.system("server")
            yield self.link.opening()
        elif self._make_pair is None:
            raise CommandError(self.lacking, "unsupported")
        else:
            self._pair = self._make_pair(self._timeout_s)
        yield from placed.inventory(dict(zip(SIDES, self._pair, strict=True)))

    def _open_bed(self) -> Iterator[dict[str, Any]]:
        """Make forwarder and generator if they are not there; the event of what was read of the
        forwarder."""
        if self._bed is None:
            if self._make_bed is None:
                raise CommandError(NO_BED, "unsupported")
            self._bed = self._make_bed(self._timeout_s)
            yield from placed.inventory({"forwarder": self._bed.forwarder})

    def stop(self) -> None:
        bed = [self._bed.forwarder, self._bed.generator] if self._bed else []
        with ExitStack() as last:
            last.callback(self._first.stop)
            last.callback(hosts.stop, bed)
            if self.link is not None:
                last.callback(self.link.bed.stop)
            elif self._pair is not None:
                last.callback(hosts.stop, self._pair)
            if self.office is not None:
                last.callback(self.office.stop)
