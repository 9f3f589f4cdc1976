"""Beds whose forwarder is a guest of this machine, or another machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from pentathlon.experiments.forwarding.testbed import Testbed, TestbedMaker, places, start_generator
from pentathlon.machine.errors import TargetError
from pentathlon.machine.on_error import on_error
from pentathlon.protocol.requests.commands import Forward
from pentathlon.targets.capabilities import Card, CardTarget, RemoteTarget
from pentathlon.targets.contract import Target
from pentathlon.targets.session import ProcessSession
from pentathlon.testbed import hosts
from pentathlon.testbed.cables import (  # fmt: skip
    FAR,
    FORWARDER,
    GENERATOR,
    NEAR,
    SEND_CHECKSUM,
    cable,
    ip,
    packet_sockets,
    prepare_generator,
    script,
    taps,
    with_prefix,
    within,
)
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.ends import end_of


def guest_testbed(target: CardTarget, peer: Sequence[int] | None) -> TestbedMaker:
    """The forwarder is a guest, whose network cards lead to the generator.

    What joins them is what its kind takes: packet sockets at the far ends of veth pairs of the
    generator, or TAP devices that are the generator's interfaces.
    """

    def make(timeout_s: float) -> Testbed:
        cpus = places(target.cpus, peer)
        sockets = end_of(target).link == "packets"
        with _making() as made:
            pid, generator = made.generator(target, cpus[1], timeout_s)
            if sockets:
                for ours, theirs in zip(GENERATOR, FORWARDER, strict=True):
                    cable(pid, ours, theirs, pid)
                    # Frames that leave this kernel must have their checksum.
                    script(pid, "offload", ours, hex(SEND_CHECKSUM), "0")
                    within(pid, [ip(), "link", "set", theirs, "up"])
            else:
                made.files = taps(pid, GENERATOR)
            refused = prepare_generator(pid, GENERATOR, cpus[1])
            if sockets:
                made.files = packet_sockets(pid, FORWARDER)
            cards = [Card(f, f"02:00:00:00:00:{n:02x}") for n, f in enumerate(made.files)]
            session = target.start_host(timeout_s, cpus[0], cards)
            forwarder = made.forwarder(session, target.devices, timeout_s)
        return Testbed(
            generator, forwarder, *target.devices, None, cpus[1],
            taking=(pid, FORWARDER[0]) if sockets else None,
            refused=refused | forwarder.refused,
        )  # fmt: skip

    return make


def machine_testbed(
    target: RemoteTarget,
    peer: Sequence[int] | None,
    own: tuple[str, str],
    theirs: tuple[str, str],
) -> TestbedMaker:
    """The forwarder is another machine, joined to two interfaces of this one.

    Args:
        own: interfaces of this machine, which the generator has for the time of the bed.
        theirs: interfaces of the other machine that they are joined to, in the same order.
    """

    def make(timeout_s: float) -> Testbed:
        cpus = places(None, peer or list(range(os.cpu_count() or 1)))[1]
        with _making() as made:
            pid, generator = made.generator(target, cpus, timeout_s)
            for name in own:
                # The kernel gives a card back to this machine when the namespace is gone.
                within(os.getpid(), [ip(), "link", "set", name, "netns", str(pid)])
            refused = prepare_generator(pid, own, cpus)
            forwarder = made.forwarder(target.start_endpoint(timeout_s), theirs, timeout_s)
        return Testbed(
            generator, forwarder, *theirs, None, cpus, refused=refused | forwarder.refused
        )

    return make


@dataclass
class _Making:
    """A bed that is being made.

    Attributes:
        hosts: the endpoints until now.
        files: descriptors that only the forwarder needs.
    """

    hosts: list[Endpoint] = field(default_factory=list)
    files: list[int] = field(default_factory=list)

    def generator(
        self, target: Target, cpus: tuple[int, ...], timeout_s: float
    ) -> tuple[int, Endpoint]:
        """The generator, and the process whose namespaces are its own."""
        generator = start_generator(target, cpus, self.hosts, timeout_s)
        return generator.session.pid, generator

    def forwarder(
        self, session: ProcessSession, names: tuple[str, str], timeout_s: float
    ) -> Endpoint:
        """A forwarder whose agent gives its interfaces their addresses."""
        forwarder = Endpoint(session, {})
        self.hosts.append(forwarder)
        forwarder.open(timeout_s)
        for name, addresses in zip(names, (NEAR, FAR), strict=True):
            forwarder.addresses = dict(addresses)
            forwarder.address(name, [with_prefix(addresses, version) for version in addresses])
        if 4 in forwarder.refused:
            raise TargetError(f"the forwarder takes no address: {forwarder.refused[4]}")
        forwarder.execute(Forward(on=True))
        return forwarder


@contextmanager
def _making() -> Iterator[_Making]:
    """What was begun is undone if it cannot be finished."""
    made = _Making()
    try:
        with on_error(hosts.stop, made.hosts):
            yield made
    finally:
        for file in made.files:
            os.close(file)
