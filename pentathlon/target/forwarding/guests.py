"""Beds whose forwarder is a guest of this machine, or another machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from pentathlon.target.contract import TargetError
from pentathlon.target.forwarding.bed import Bed, BedMaker, places, start_generator
from pentathlon.target.forwarding.links import (
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
)  # fmt: skip
from pentathlon.target.pair import hosts
from pentathlon.target.pair.endpoint import Endpoint
from pentathlon.target.qemu.target import QemuTarget
from pentathlon.target.session import ProcessSession
from pentathlon.target.ssh.target import SshTarget
from pentathlon.target.uml.target import UmlTarget

QEMU_DEVICES = ("eth0", "eth1")
"""What a guest's kernel calls its first two Ethernet devices; nobody renames them."""


def uml_bed(target: UmlTarget, peer: Sequence[int] | None) -> BedMaker:
    """The forwarder is a guest; packet sockets join its devices to the generator's veth pairs."""

    def make(timeout_s: float) -> Bed:
        forwarder_cpus, generator_cpus = places(target.cpus, peer)
        made: list[Endpoint] = []
        ends: list[int] = []
        try:
            generator = start_generator(target, generator_cpus, made, timeout_s)
            pid = generator.session.pid
            for ours, theirs in zip(GENERATOR, FORWARDER, strict=True):
                cable(pid, ours, theirs, pid)
                # Frames that leave this kernel must have their checksum.
                script(pid, "offload", ours, hex(SEND_CHECKSUM), "0")
                within(pid, [ip(), "link", "set", theirs, "up"])
            refused = prepare_generator(pid, GENERATOR, generator_cpus)
            ends = packet_sockets(pid, FORWARDER)
            devices = " ".join(
                f"vec{n}:transport=fd,fd={end},mac=02:00:00:00:00:{n:02x}"
                for n, end in enumerate(ends)
            )
            names = ("vec0", "vec1")
            forwarder = _guest(
                lambda: target.start(timeout_s, forwarder_cpus, devices, ends), made, names,
                timeout_s,
            )  # fmt: skip
        except BaseException:
            hosts.stop(made)
            raise
        finally:
            for end in ends:
                os.close(end)
        return Bed(
            generator, forwarder, *names, None, generator_cpus, taking=(pid, FORWARDER[0]),
            refused=refused | forwarder.refused,
        )  # fmt: skip

    return make


def qemu_bed(target: QemuTarget, peer: Sequence[int] | None) -> BedMaker:
    """The forwarder is a virtual machine; its network cards are TAP devices of the generator."""

    def make(timeout_s: float) -> Bed:
        forwarder_cpus, generator_cpus = places(target.cpus, peer)
        made: list[Endpoint] = []
        ends: list[int] = []
        try:
            generator = start_generator(target, generator_cpus, made, timeout_s)
            pid = generator.session.pid
            ends = taps(pid, GENERATOR)
            refused = prepare_generator(pid, GENERATOR, generator_cpus)
            forwarder = _guest(
                lambda: target.start(timeout_s, forwarder_cpus, ends), made, QEMU_DEVICES,
                timeout_s,
            )  # fmt: skip
        except BaseException:
            hosts.stop(made)
            raise
        finally:
            for end in ends:
                os.close(end)
        return Bed(
            generator, forwarder, *QEMU_DEVICES, None, generator_cpus,
            refused=refused | forwarder.refused,
        )  # fmt: skip

    return make


def ssh_bed(
    target: SshTarget,
    peer: Sequence[int] | None,
    own: tuple[str, str],
    theirs: tuple[str, str],
) -> BedMaker:
    """The forwarder is another machine, joined to two interfaces of this one.

    Args:
        own: interfaces of this machine, which the generator has for the time of the bed.
        theirs: interfaces of the other machine that they are joined to, in the same order.
    """

    def make(timeout_s: float) -> Bed:
        generator_cpus = places(None, peer or list(range(os.cpu_count() or 1)))[1]
        made: list[Endpoint] = []
        try:
            generator = start_generator(target, generator_cpus, made, timeout_s)
            pid = generator.session.pid
            for name in own:
                # The kernel gives a card back to this machine when the namespace is gone.
                within(os.getpid(), [ip(), "link", "set", name, "netns", str(pid)])
            refused = prepare_generator(pid, own, generator_cpus)
            forwarder = _guest(lambda: target.start_endpoint(timeout_s), made, theirs, timeout_s)
        except BaseException:
            hosts.stop(made)
            raise
        return Bed(
            generator, forwarder, *theirs, None, generator_cpus,
            refused=refused | forwarder.refused,
        )  # fmt: skip

    return make


def _guest(
    start: Callable[[], ProcessSession],
    made: list[Endpoint],
    names: tuple[str, str],
    timeout_s: float,
) -> Endpoint:
    """A forwarder whose agent gives its interfaces their addresses; it is added to `made`."""
    forwarder = Endpoint(start(), {})
    made.append(forwarder)
    forwarder.open(timeout_s)
    for name, addresses in zip(names, (NEAR, FAR), strict=True):
        forwarder.addresses = dict(addresses)
        forwarder.address(name, [with_prefix(addresses, version) for version in addresses])
    if 4 in forwarder.refused:
        raise TargetError(f"the forwarder takes no address: {forwarder.refused[4]}")
    forwarder.tell({"do": "forward", "on": True}, "forwarding")
    return forwarder
