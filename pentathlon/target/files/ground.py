"""Client and server with a link between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Final

from pentathlon.link.profile import DIRECTIONS
from pentathlon.target.forwarding.links import script
from pentathlon.target.launch import need
from pentathlon.target.link.bed import (
    GATHER,
    INTERFACE,
    SEGMENT,
    SEGMENT_ANY,
    SEND_CHECKSUM,
    SIDES,
)
from pentathlon.target.link.use import LinkInUse, link_maker
from pentathlon.target.local import LocalTarget
from pentathlon.target.pair import hosts
from pentathlon.target.pair.endpoint import Endpoint

CABLE: Final = "none"
"""The link that is no emulated one: a plain pair of interfaces."""

CONGESTION: Final = "net/ipv4/tcp_congestion_control"

ALWAYS: Final = {"net/ipv4/tcp_no_metrics_save": "1"}
"""What holds for both ends whatever their behaviour: no connection learns from the one before
(tcp(7)), or the order of the trials would count."""


@dataclass
class Ground:
    """Both ends of one link.

    Attributes:
        client, server: the two hosts.
        link: the emulated link, None for a plain cable.
    """

    client: Endpoint
    server: Endpoint
    link: LinkInUse | None = None
    _before: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def interface(self) -> str:
        """The client's interface at the link, where packets are captured."""
        return INTERFACE["client"]

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
        if self._route(host, INTERFACE["client" if end == "client" else "server"], by_route):
            refused.pop(CONGESTION, None)
        return [f"{end}: {name}: {reason}" for name, reason in refused.items()]

    @staticmethod
    def _route(host: Endpoint, interface: str, congestion: str | None) -> bool:
        """Name the congestion control at the route of the link (ip-route(8)), None for no other.

        A namespace may only have those as its default that the whole machine allows to everybody;
        routes may have any.
        """
        network = str(ip_network(f"{host.addresses[4]}/{hosts.PREFIXES[4]}", strict=False))
        words = [str(need("ip", "iproute2")), "route", "change", network, "dev", interface]
        words += ["proto", "kernel", "scope", "link", "src", host.addresses[4]]
        words += ["congctl", congestion] if congestion else []
        return bool(host.perform(words, 10.0)["status"] == 0)

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
            hosts.stop((self.client, self.server))


GroundMaker = Callable[[str, float], Ground]
"""Makes the ground of a link, named by its profile, within so many seconds an agent.

Raises:
    TargetError: the link cannot be made, or (`LinkRefused`) does not do what its profile says.
"""


def netns_grounds(
    target: LocalTarget, cpus: tuple[tuple[int, ...] | None, tuple[int, ...] | None]
) -> GroundMaker:
    """Client and server in network namespaces of this machine."""

    def make(link: str, timeout_s: float) -> Ground:
        if link == CABLE:
            return _cable(hosts.netns_hosts(target, cpus), timeout_s)
        made = link_maker(target, link, cpus)(timeout_s)
        return Ground(made.bed.client, made.bed.server, made)

    return make


def _cable(make: hosts.Maker, timeout_s: float) -> Ground:
    """Two namespaces joined by a veth pair, with packets as long as a link would have them."""
    pair = make(timeout_s)
    try:
        for side, host in zip(SIDES, pair, strict=True):
            _whole_packets(host, INTERFACE[side])
        return Ground(*pair)
    except BaseException:
        hosts.stop(pair)
        raise


def _whole_packets(host: Endpoint, interface: str) -> None:
    """Let the interface send and receive single packets, not several glued together.

    What is glued together (segmentation offload) is no packet of a link, and a capture would count
    one where the link carries forty.
    """
    for code in (SEGMENT, SEGMENT_ANY, GATHER, SEND_CHECKSUM):
        script(host.session.pid, "offload", interface, hex(code), "0")
