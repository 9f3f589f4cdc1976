"""Makes the two hosts of a pair."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetError
from pentathlon.machine.network_namespace import namespace
from pentathlon.machine.on_error import on_error
from pentathlon.machine.tools import run
from pentathlon.targets.capabilities import Card, CardTarget, LoopbackTarget, PlacedTarget
from pentathlon.testbed import placed
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.ends import Ends, end_of

ADDRESSES = (
    {4: "198.18.0.1", 6: "2001:db8::1"},
    {4: "198.18.0.2", 6: "2001:db8::2"},
)
"""Addresses for benchmarks (RFC 2544, RFC 5180) and for documentation (RFC 3849)."""

PREFIXES = {4: 24, 6: 64}

SILENCE = """cd "/proc/sys/net/ipv6/conf/$0" 2>/dev/null || exit 0
echo 0 >router_solicitations
echo 0 >accept_dad
echo 1 >mldv2_unsolicited_report_interval
"""
"""For sh(1): an interface, its argument, of which `silence` reports."""

CABLE_BYTES = 1 << 20
"""Buffer of the cable between two guests, in bytes."""


class Maker(Protocol):
    """Boots both hosts of a system and joins them."""

    def __call__(self, timeout_s: float) -> tuple[Endpoint, Endpoint]: ...


def pair_of(ends: Ends) -> Maker | None:
    """What makes two hosts of one kind and joins them without an emulated link; None: nothing."""
    target = ends.targets[0]
    way = None if ends.mixed else end_of(target).pair
    if way == "sockets":
        guests = [guest for number in (0, 1) if (guest := ends.guest(number)) is not None]
        return guest_hosts(guests, (ends.guest_cpus(0), ends.guest_cpus(1)))
    cpus = (target.cpus, ends.cpus[1])
    if way == "veth" and isinstance(target, PlacedTarget):
        return netns_hosts(target, cpus)
    if way == "loopback" and isinstance(target, PlacedTarget | LoopbackTarget):
        return local_hosts(target, cpus)
    return None


def local_hosts(
    target: PlacedTarget | LoopbackTarget, cpus: tuple[tuple[int, ...] | None, ...]
) -> Maker:
    """Both hosts are programs of this machine; packets go through its loopback device."""

    def make(timeout_s: float) -> tuple[Endpoint, Endpoint]:
        loopback = {4: "127.0.0.1", 6: "::1"}
        if isinstance(target, PlacedTarget):
            command = [str(target.agent_path), "endpoint"]
            return _both(target, [command, command], [loopback, loopback], cpus, timeout_s)
        hosts: list[Endpoint] = []
        with on_error(stop, hosts):
            for where in cpus:
                hosts.append(Endpoint(target.start_endpoint(where), dict(loopback)))
            for host in hosts:
                host.open(timeout_s)
        return hosts[0], hosts[1]

    return make


def netns_hosts(target: PlacedTarget, cpus: tuple[tuple[int, ...] | None, ...]) -> Maker:
    """Each host is a network namespace of this machine; a veth(4) pair joins them."""

    def make(timeout_s: float) -> tuple[Endpoint, Endpoint]:
        command = [*namespace(target.settings), str(target.agent_path), "endpoint"]
        pair = _both(target, [command, command], list(ADDRESSES), cpus, timeout_s)
        with on_error(stop, pair):
            join_by_veth(pair[0].session.pid, pair[1].session.pid)
        return pair

    return make


def guest_hosts(targets: Sequence[CardTarget], cpus: tuple[tuple[int, ...] | None, ...]) -> Maker:
    """Each host is a guest of its own; a pair of sockets between the two kernels is the cable.

    Each frame of a guest's network card is one packet of the socket, so nothing of the machine's
    own network takes part, and no privilege is needed.
    """

    def make(timeout_s: float) -> tuple[Endpoint, Endpoint]:
        hosts: list[Endpoint] = []
        ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ends[0], ends[1], on_error(stop, hosts):
            for target, end, own, where in zip(targets, ends, ADDRESSES, cpus, strict=True):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, CABLE_BYTES)
                card = Card(end.fileno(), f"02:00:00:00:00:{len(hosts):02x}")
                hosts.append(Endpoint(target.start_host(timeout_s, where, [card]), own))
            for host, target in zip(hosts, targets, strict=True):
                host.open(timeout_s)
                host.address(
                    target.devices[0], [f"{a}/{PREFIXES[v]}" for v, a in host.addresses.items()]
                )
        return hosts[0], hosts[1]

    return make


def _both(
    target: PlacedTarget,
    commands: list[list[str]],
    addresses: list[dict[int, str]],
    cpus: tuple[tuple[int, ...] | None, ...],
    timeout_s: float,
) -> tuple[Endpoint, Endpoint]:
    hosts: list[Endpoint] = []
    with on_error(stop, hosts):
        for command, own, where in zip(commands, addresses, cpus, strict=True):
            hosts.append(placed.start(target, command, own, where))
        for host in hosts:
            host.open(timeout_s)
            placed.read_back(host)
    return hosts[0], hosts[1]


def stop(hosts: list[Endpoint] | tuple[Endpoint, ...]) -> None:
    """Stop both, also if the first one cannot be stopped.

    Raises:
        TargetError: what could not be put back, for all of them.
    """
    complaints = []
    for host in hosts:
        try:
            host.session.stop()
        except TargetError as error:
            complaints.append(str(error))
    if complaints:
        raise TargetError("; ".join(complaints))


def join_by_veth(first: int, second: int) -> None:
    """Join the network namespaces of two processes by a veth pair, with addresses, up.

    Raises:
        TargetError: a step failed; its own words are in the error.
    """
    ip = str(launch.need("ip", "iproute2"))

    def within(pid: int, *command: str) -> None:
        _run([*enter(pid, "--net"), *command])

    names = ("pent0", "pent1")
    peer = ["peer", "name", names[1], "netns", str(second)]
    within(first, ip, "link", "add", names[0], "type", "veth", *peer)
    for pid, name, addresses in zip((first, second), names, ADDRESSES, strict=True):
        within(pid, *silence(name))
        for version, address in addresses.items():
            within(pid, ip, "addr", "add", f"{address}/{PREFIXES[version]}", "dev", name)
        within(pid, ip, "link", "set", name, "up")


def silence(interface: str) -> list[str]:
    """The command by which a new interface, before it is up, sends next to nothing unasked.

    IPv6 solicits routers (RFC 4861 6.3.7), tests its addresses for duplicates (RFC 4862 5.4), so
    that a new one cannot be used for a second, and reports its groups (RFC 3810) for up to a
    quarter of a minute, in the middle of a trial. A kernel without IPv6 needs nothing.
    """
    return ["/bin/sh", "-c", SILENCE, interface]


def enter(pid: int, *namespaces: str) -> list[str]:
    """The words in front of a command that run it in namespaces of a process, such as "--net".

    Its user namespace is entered too, where that is not ours.
    """
    own = Path("/proc/self/ns/user").readlink()
    other = Path(f"/proc/{pid}/ns/user").readlink()
    user = [] if own == other else ["--user", "--preserve-credentials"]
    nsenter = str(launch.need("nsenter", "util-linux"))
    return [nsenter, "--target", str(pid), *user, *namespaces, "--"]


def _run(command: list[str]) -> None:
    done = run(command, 10)
    if done.returncode:
        output = done.stderr.decode(errors="replace").strip() or "no reason given"
        raise TargetError(f"the two hosts cannot be joined: {' '.join(command[-6:])}: {output}")
