"""A system of two hosts: what runs on one host runs on the first, the rest between both."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any, Protocol

from pentathlon.experiments import registry
from pentathlon.experiments.descriptor import Experiment
from pentathlon.experiments.descriptor import Kind as TestbedKind
from pentathlon.experiments.file_services.behaviours import OWN, behaviour
from pentathlon.experiments.file_services.service import FileService, FileServiceInUse
from pentathlon.experiments.file_services.testbed import testbeds
from pentathlon.experiments.forwarding.guest_testbed import guest_testbed, machine_testbed
from pentathlon.experiments.forwarding.testbed import (
    Testbed,
    TestbedMaker,
    netns_testbed,
    places,
    remarks,
)
from pentathlon.machine.cpus import AVAILABLE, cpu_names, resolve
from pentathlon.machine.errors import TargetError
from pentathlon.machine.settings import Change
from pentathlon.protocol import agent
from pentathlon.protocol.events import (
    Done,
    Error,
    Message,
    Packets,
    Progress,
    Sample,
    read,
)
from pentathlon.protocol.messages.base import MaybeOfStep, OfStep
from pentathlon.protocol.requests.session import Request
from pentathlon.safeio.suggestion import listing
from pentathlon.study.catalog import Catalog, CatalogError, parse_catalog
from pentathlon.targets import registry as kinds
from pentathlon.targets.capabilities import CardTarget, PlacedTarget, RemoteTarget
from pentathlon.targets.contract import Description, Session, Target
from pentathlon.targets.descriptor import End, Kind
from pentathlon.targets.supplies import Supply
from pentathlon.testbed import hosts, placed
from pentathlon.testbed.endpoint import CommandError, Endpoint
from pentathlon.testbed.ends import (
    MakeTarget,
    PeerSpec,
    end_of,
    ends_of,
    joinable,
    reached_by,
)
from pentathlon.testbed.link.calibrate import LinkRefused
from pentathlon.testbed.link.testbed import SIDES, EngineName
from pentathlon.testbed.link.use import LinkInUse, LinkMaker, link_maker, refused_event
from pentathlon.testbed.trial import Task

NO_CABLE = (
    "traffic between hosts of two kinds or virtual machines is measured over an emulated link: "
    'name one as "link" of [system.peer]'
)


def no_pair() -> str:
    """Why there is no traffic between two hosts."""
    return f"traffic between two hosts is measured on the targets {_ends(lambda end: end.pair)}"


def no_testbed() -> str:
    """Why nothing is forwarded."""
    return f"forwarding is measured on the targets {_ends(lambda end: end.forwards)}"


def no_file_services() -> str:
    """Why there are no file services."""
    far = " or ".join(kinds.names(lambda kind: kind.elsewhere))
    return (
        f"file services are measured on the targets {', '.join(joinable())}; over {far} the server "
        'is another host, which [system.peer] names as "target"'
    )


def _ends(can: Callable[[End], object]) -> str:
    """The kinds whose systems can be such ends."""
    return listing(kinds.names(lambda kind: kind.end is not None and can(kind.end)), "and")


class PairedSpec(PeerSpec, Protocol):
    """What a study states of the second host and of what joins it to the first."""

    @property
    def link(self) -> str | None: ...

    @property
    def link_engine(self) -> EngineName: ...

    @property
    def behaves(self) -> str: ...


class PairTarget(Target):
    """A target whose system has a peer."""

    def __init__(
        self, inner: Target, peer: PairedSpec, make: MakeTarget, behaves: str = OWN
    ) -> None:
        super().__init__(inner.system, inner.agent_path, inner.state_dir)
        self.inner = inner
        peer_cpus = peer.cpus
        # Another machine that names no server is a forwarder between two cables.
        forwards = isinstance(inner, RemoteTarget) and peer.target is None
        ends = (_two(inner, peer.interfaces), _two(inner, peer.joined_to)) if forwards else None
        named = (peer.interfaces, peer.joined_to) != (None, None)
        if (ends is not None and None in ends) or (named and not _far(inner, peer)):
            raise TargetError(
                f'system "{inner.name}": "interfaces" and "joined_to" of [system.peer] name the '
                f"cables between this machine and one reached by {reached_by()}; give both for "
                "that target, and for no other"
            )
        self._peer_cpus = resolve(peer_cpus)
        self.ends = ends_of(inner, peer, make)
        self.kind = inner.kind
        self.layer = self.ends.layer
        self.persistent = self.ends.persistent
        self._refuse_settings()
        if end_of(inner) == End():
            raise TargetError(
                f'system "{inner.name}" has a peer, which targets of the kind "{inner.kind}" '
                f"cannot have; use {_able(lambda kind: not kind.elsewhere)}, or for forwarding "
                f"{_able(lambda kind: kind.elsewhere)}"
            )
        self.make = hosts.pair_of(self.ends)
        self.link_engine = peer.link_engine
        self.link: LinkMaker | None = None
        if peer.link is not None:
            self.link = link_maker(self.ends, peer.link, peer.link_engine)
        self.bed: TestbedMaker | None = None
        if not end_of(inner).forwards:
            pass
        elif isinstance(inner, CardTarget):
            self.bed = guest_testbed(inner, peer_cpus)
        elif isinstance(inner, RemoteTarget) and ends and ends[0] and ends[1]:
            self.bed = machine_testbed(inner, peer_cpus, ends[0], ends[1])
        elif isinstance(inner, PlacedTarget):
            self.bed = netns_testbed(inner, peer_cpus)
        self.behaviours = (behaviour(behaves), behaviour(peer.behaves))
        self.file_service: FileService | None = None
        if self.ends.joinable:
            self.file_service = FileService(
                testbeds(self.ends, peer.link_engine), self.behaviours, inner.state_dir
            )
        own = places(inner.cpus, peer_cpus)
        elsewhere = self.ends.far(0) is not None
        self.forwarding_remarks = remarks(() if elsewhere else own[0], own[1]) if self.bed else []

    def alone(self) -> str | None:
        return "its two hosts work with each other, which no other system can wait for"

    def _refuse_settings(self) -> None:
        """Settings hold for both hosts, and only agents of this machine can be given them.

        Raises:
            TargetError: the study gives some, and a host is no agent of this machine.
        """
        for target in dict.fromkeys(self.ends.targets):
            if not isinstance(target, PlacedTarget) and self.inner.system.settings.changed():
                raise TargetError(
                    f'system "{self.name}" has settings and a peer; they hold for both hosts, and '
                    f'a host of the target "{target.kind}" cannot be given them; leave them out'
                )

    def supply(self, supplies: tuple[Supply, ...]) -> None:
        super().supply(supplies)
        self.inner.supply(supplies)

    def describe(self) -> Description:
        own = self.inner.describe()
        remarks = [f"forwarding: {remark}" for remark in self.forwarding_remarks]
        if self.link_engine != "agent":
            remarks.append(f'links are emulated by the engine "{self.link_engine}"')
        ends = {
            end: known.described()
            for end, known in zip(("client", "server"), self.behaviours, strict=True)
            if known.name != OWN
        }
        found: Description = {
            **own, "layer": self.layer, "peer": True,
            "notes": [*own["notes"], *remarks, *self._cables()],
        }  # fmt: skip
        if ends:
            found["behaves"] = ends
        if not self.ends.alike:
            found["server"] = self.ends.targets[1].describe()
        return found

    def _cables(self) -> list[str]:
        """What joins this machine to those that are ends of its links."""
        return [
            f"a cable joins {cable.own} of this machine and {cable.theirs} of {target.host}"
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
        files = (
            ["root here, for file services (links, captures, servers)"] if self.file_service else []
        )
        there = [
            f"root on {target.host}, for file services (its address and settings)"
            for number in (0, 1)
            if self.file_service and (target := self.ends.far(number))
        ]
        return [*self.inner.privileges(), *links, *files, *there]

    def settings_to_change(self) -> list[Change]:
        lent: list[Change] = [
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
        return PairSession(
            self.name, first, self.make, self.bed, timeout_s, catalog=lambda: self._catalog,
            lacking=NO_CABLE if self.ends.joinable else no_pair(),
            make_link=self.link,
            file_service=self.file_service.boot(timeout_s) if self.file_service else None,
            boot_seconds=time.monotonic() - started,
        )  # fmt: skip

    @cached_property
    def _catalog(self) -> Catalog:
        """What the agent's catalog declares.

        Raises:
            TargetError: it cannot be read.
        """
        try:
            return parse_catalog(agent.catalog(self.agent_path))
        except (agent.AgentError, CatalogError) as error:
            raise TargetError(f'system "{self.name}": {error}') from error


def _far(inner: Target, peer: PairedSpec) -> bool:
    """Whether one of the hosts is another machine."""
    named = kinds.find(peer.target) if peer.target is not None else None
    return isinstance(inner, RemoteTarget) or (named is not None and named.elsewhere)


def _able(fits: Callable[[Kind], bool]) -> str:
    """Of the kinds whose systems can have a second host, those that fit."""
    return listing(kinds.names(lambda kind: kind.end is not None and fits(kind)))


def _two(inner: Target, names: Sequence[str] | None) -> tuple[str, str] | None:
    if names is None:
        return None
    if len(names) != 2:
        raise TargetError(
            f'system "{inner.name}": [system.peer] names {len(names)} interfaces; it needs '
            "two, the receiving side first"
        )
    return names[0], names[1]


class PairSession(Session):
    """One boot of both hosts.

    Args:
        catalog: reads the agent's catalog, when a task first needs it.
    """

    def __init__(
        self,
        name: str,
        first: Session,
        pair: hosts.Maker | None,
        bed: TestbedMaker | None,
        timeout_s: float,
        *,
        catalog: Callable[[], Catalog],
        lacking: str = NO_CABLE,
        make_link: LinkMaker | None = None,
        file_service: FileServiceInUse | None = None,
        boot_seconds: float = 0.0,
    ) -> None:
        self.name = name
        self.boot_seconds = boot_seconds
        self.boot_log = first.boot_log
        self._first = first
        self._make_pair = pair
        self._pair: tuple[Endpoint, Endpoint] | None = None
        self._make_testbed = bed
        self._bed: Testbed | None = None
        self._timeout_s = timeout_s
        self._catalog = catalog
        self.lacking = lacking
        self.make_link = make_link
        self.link: LinkInUse | None = None
        self.file_service = file_service

    def run(
        self, request: Request, idle_timeout_s: float, total_timeout_s: float
    ) -> Iterator[Message]:
        tasks = request.workloads
        experiments = [registry.find(task.id) for task in tasks]
        alone = [place for place, experiment in enumerate(experiments) if experiment is None]
        own = request.model_copy(update={"workloads": [tasks[place] for place in alone]})
        done: Message | None = None
        for message in self._first.run(own, idle_timeout_s, total_timeout_s):
            event = message.event
            if isinstance(event, Done):
                done = message
            elif not isinstance(event, OfStep | MaybeOfStep) or event.index is None:
                yield message
            elif event.index >= len(alone):
                raise TargetError(
                    f'system "{self.name}": the agent sent an event of step {event.index}, '
                    f"and has {len(alone)}"
                )
            else:
                changed = {"index": alone[event.index]}
                if isinstance(event, Progress):  # The count of a histogram is that of its values.
                    changed["count"] = len(tasks)
                yield Message(event.model_copy(update=changed), message.document | changed)
        spent_s = 0.0
        samples = errors = 0
        for place, (description, experiment) in enumerate(zip(tasks, experiments, strict=True)):
            if experiment is None:
                continue
            if spent_s > total_timeout_s:
                raise TargetError(f'system "{self.name}": the time limit is over')
            began = time.monotonic()
            entry = self._catalog().workload(description.id)
            task = Task(
                place, len(tasks), request.session, request.seed, description,
                {one.id: one for one in entry.metrics} if entry else {},
            )  # fmt: skip
            for message in self._drive(experiment, task):
                samples += isinstance(message.event, Sample)
                errors += isinstance(message.event, Error)
                yield message
            if not experiment.limits_its_trials:
                spent_s += time.monotonic() - began
        if done is None or not isinstance(done.event, Done):
            raise TargetError(
                f'system "{self.name}": the agent did not report how many samples it sent'
            )
        samples, errors = done.event.samples + samples, done.event.errors + errors
        yield read(done.document | {"samples": samples, "errors": errors})

    def _drive(self, experiment: Experiment[Any], task: Task) -> Iterator[Message]:
        yield task.progress("start")
        try:
            testbed = yield from self._testbed(experiment.needs.kind)
            events = experiment.drivers[task.id](task, testbed)
            over_link = experiment.needs.kind == "pair" and self.link is not None
            yield from self._over_link(task, events) if over_link else events
        except LinkRefused as refused:
            yield refused_event(refused)
            yield task.error("invalid", str(refused))
        except (CommandError, CatalogError) as error:
            yield task.failure(error)
        yield task.progress("end")

    def _testbed(self, kind: TestbedKind) -> Generator[Message, None, Any]:
        """The testbed of that kind, with the events of its making.

        It is made when it is first needed: most studies need one kind.

        Raises:
            CommandError: the system cannot have one.
            LinkRefused: the link between the hosts is not what the study requests.
        """
        if kind == "pair":
            yield from self._open_pair()
            return self._pair
        if kind == "forwarder":
            yield from self._open_testbed()
            return self._bed
        if self.file_service is None:
            raise CommandError(no_file_services(), "unsupported")
        return self.file_service

    def _over_link(self, task: Task, messages: Iterator[Message]) -> Iterator[Message]:
        """The events of a driver, with those of the link that its packets crossed."""
        assert self.link is not None
        for message in messages:
            event = message.event
            if self.link.hides(event):
                continue
            yield message
            if isinstance(event, Packets):
                yield self.link.event(task, event.case, (event.phase, event.iteration))

    def _open_pair(self) -> Iterator[Message]:
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

    def _open_testbed(self) -> Iterator[Message]:
        """Make forwarder and generator if they are not there; the event of what was read of the
        forwarder."""
        if self._bed is None:
            if self._make_testbed is None:
                raise CommandError(no_testbed(), "unsupported")
            self._bed = self._make_testbed(self._timeout_s)
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
            if self.file_service is not None:
                last.callback(self.file_service.stop)
