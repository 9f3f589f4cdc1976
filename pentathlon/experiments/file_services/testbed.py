"""Client and server with a link between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Final, Protocol

from pentathlon.machine.on_error import on_error
from pentathlon.protocol.events import Message
from pentathlon.study.link_profile import DIRECTIONS
from pentathlon.testbed import hosts, namespaces, placed
from pentathlon.testbed.cables import script
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.ends import Ends
from pentathlon.testbed.link.guest_end import put_behind
from pentathlon.testbed.link.remote_end import check_cable, put_beyond, reached
from pentathlon.testbed.link.testbed import (
    GATHER,
    INTERFACE,
    MAC,
    SEGMENT,
    SEGMENT_ANY,
    SEND_CHECKSUM,
    SIDES,
    EngineName,
)
from pentathlon.testbed.link.use import LinkInUse, link_maker
from pentathlon.testbed.namespaces import Namespace
from pentathlon.testbed.trial import Task

CABLE: Final = "none"
"""The link that is no emulated one: a plain pair of interfaces."""

CONGESTION: Final = "net/ipv4/tcp_congestion_control"

ALWAYS: Final = {"net/ipv4/tcp_no_metrics_save": "1"}
"""What holds for both ends whatever their behaviour: no connection learns from the one before
(tcp(7)), or the order of the trials would count."""


@dataclass
class Testbed:
    """Both ends of one link.

    Attributes:
        client, server: the two hosts.
        link: the emulated link, None for a plain cable.
        cable: the namespaces at its ends, where they are not the hosts: guests lie behind them.
    """

    client: Endpoint
    server: Endpoint
    link: LinkInUse | None = None
    cable: tuple[Endpoint, Endpoint] | None = None
    _before: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def tap(self) -> tuple[Endpoint, str]:
        """Where packets are captured: the client's end of the link, and its interface there."""
        return self.cable[0] if self.cable else self.client, INTERFACE["client"]

    @property
    def addresses(self) -> tuple[str, str]:
        """Of client and server, IPv4."""
        return self.client.addresses[4], self.server.addresses[4]

    @property
    def rate_bit_s(self) -> float | None:
        """Of the link towards the client; None where it has none of its own."""
        kbit = None if self.link is None else self.link.bed.profile.way("down").rate_kbit
        return None if kbit is None else kbit * 1e3

    @property
    def round_trip_s(self) -> float | None:
        """Of the empty link; None for a plain cable."""
        return None if self.link is None else self.link.bed.profile.round_trip_ms / 1e3

    def opening(self, task: Task) -> Iterator[Message]:
        """The events of a new ground: its link's calibration, and what was read of its hosts."""
        if self.link is not None:
            yield task.of(self.link.opening())
        yield from placed.inventory({"client": self.client, "server": self.server})

    def behave(self, end: str, values: dict[str, str]) -> list[str]:
        """Let "client" or "server" have these settings of the kernel, and its own in all others.

        Returns:
            What it refuses, one sentence each.
        """
        host = self.client if end == "client" else self.server
        before = self._before.setdefault(end, {})
        answer = host.settings({**before, **ALWAYS, **values})
        for name, value in answer["before"].items():
            before.setdefault(name, value)
        refused = {one["setting"]: one["reason"] for one in answer["refused"]}
        by_route = values.get(CONGESTION) if CONGESTION in refused else None
        own = INTERFACE["client" if end == "client" else "server"]
        if self._route(host, host.device or own, by_route):
            refused.pop(CONGESTION, None)
        return [f"{end}: {name}: {reason}" for name, reason in refused.items()]

    @staticmethod
    def _route(host: Endpoint, interface: str, congestion: str | None) -> bool:
        """Name the congestion control at the route of the link (ip-route(8)), None for no other.

        A namespace may only have those as its default that the whole machine allows to everybody;
        routes may have any.
        """
        network = str(ip_network(f"{host.addresses[4]}/{hosts.PREFIXES[4]}", strict=False))
        words = [host.need("ip", "iproute2"), "route", "change", network, "dev", interface]
        words += ["proto", "kernel", "scope", "link", "src", host.addresses[4]]
        words += ["congctl", congestion] if congestion else []
        return bool(host.perform(words, 10.0 * host.slow)["status"] == 0)

    def was_cut(self) -> bool:
        """Whether the link has lost packets because it was cut."""
        if self.link is None:
            return False
        now = self.link.bed.statistics()
        return any(now[direction]["drops"]["cut"] for direction in DIRECTIONS)

    def stop(self) -> None:
        """End both hosts and what is between them."""
        if self.link is not None:
            self.link.bed.stop()
        else:
            every = [self.client, self.server, *(self.cable or ())]
            hosts.stop(list({id(host): host for host in every}.values()))


class TestbedMaker(Protocol):
    """Makes the ground of a link, named by its profile, within so many seconds an agent.

    Guests write the files of their tasks to the directory `scratch` of this machine.

    Raises:
        TargetError: the link cannot be made, or (`LinkRefused`) does not do what its profile
            states.
    """

    def __call__(self, link: str, timeout_s: float, scratch: Path) -> Testbed: ...


def testbeds(ends: Ends, engine: EngineName = "agent") -> TestbedMaker:
    """Client and server are namespaces of this machine, or guests behind them.

    Args:
        engine: what emulates the links.
    """

    def make(link: str, timeout_s: float, scratch: Path) -> Testbed:
        if link == CABLE:
            return _cable(ends, timeout_s, scratch)
        made = link_maker(ends, link, engine)(timeout_s, [scratch])
        bed = made.bed
        return Testbed(
            bed.system("client"), bed.system("server"), made, (bed.client, bed.server)
        )  # fmt: skip

    return make


def _cable(ends: Ends, timeout_s: float, scratch: Path) -> Testbed:
    """Two namespaces joined by a veth pair, with packets as long as a link would have them."""
    system = ends.targets[0]
    wanted = [
        Namespace(
            side, addresses, ends.cpus[number] if ends.local(number) else None,
            settings_of=ends.local(number),
        )
        for number, (side, addresses) in enumerate(zip(SIDES, hosts.ADDRESSES, strict=True))
    ]  # fmt: skip
    far = reached(ends, timeout_s)
    with on_error(hosts.stop, list(far.values())):
        made = namespaces.start(system.agent_path, wanted, system.state_dir, timeout_s)
    own = [far.get(side, host) for side, host in zip(SIDES, made, strict=True)]
    with on_error(lambda: hosts.stop([*(host for host in own if host.apart), *made])):
        hosts.join_by_veth(made[0].session.pid, made[1].session.pid)
        for side, host in zip(SIDES, made, strict=True):
            without_offload(host, INTERFACE[side])
        for number, side in enumerate(SIDES):
            if guest := ends.guest(number):
                own[number] = put_behind(
                    made[number], INTERFACE[side], guest, MAC[side],
                    cpus=ends.guest_cpus(number), timeout_s=timeout_s, writable=[scratch],
                )  # fmt: skip
            elif (machine := far.get(side)) and (cable := ends.cables[number]):
                put_beyond(made[number], INTERFACE[side], machine, cable)
        for machine in far.values():
            other = next(host for host in own if host is not machine)
            check_cable(machine, other.addresses[4], 0.0)
        return Testbed(own[0], own[1], cable=(made[0], made[1]))


def without_offload(host: Endpoint, interface: str) -> None:
    """Let the interface send and receive single packets, not several glued together.

    What is glued together (segmentation offload) is no packet of a link, and a capture would count
    one where the link carries forty.
    """
    for code in (SEGMENT, SEGMENT_ANY, GATHER, SEND_CHECKSUM):
        script(host.session.pid, "offload", interface, hex(code), "0")
