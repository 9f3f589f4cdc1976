"""Interfaces of this machine that somebody else made, as the ends of a link: which they are, and
whether frames can be carried between them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pentathlon.machine import interfaces
from pentathlon.machine.errors import TargetError
from pentathlon.testbed.cables import ip


class EndError(TargetError):
    """An interface cannot be the end of a link; the text is one sentence."""


@dataclass(frozen=True)
class End:
    """An interface that is there.

    Attributes:
        text: what the user calls it.
        namespace: the file of its network namespace; `interfaces.OWN` is this process' own.
        name: of the interface.
        found: what ip(8) states of it.
    """

    text: str
    namespace: Path
    name: str
    found: dict[str, Any]

    @property
    def index(self) -> int:
        """Its number in its namespace."""
        return int(self.found["ifindex"])

    @property
    def bare(self) -> bool:
        """Whether it carries IP packets without an Ethernet header: a TUN device."""
        return self.found["link_type"] == "none" and self.kind == "tun"

    @property
    def kind(self) -> str:
        """What kind of virtual device it is; "" for a card."""
        return str(self.found.get("linkinfo", {}).get("info_kind", ""))

    @property
    def carrier(self) -> bool:
        """Whether something is at the other end of its cable, or holds its device."""
        return "NO-CARRIER" not in self.found["flags"]

    def other_end(self) -> tuple[Path, int] | None:
        """Of a veth(4) pair: namespace and index of the other one; None: no process and no name
        holds that namespace, or it is no such pair."""
        if self.kind != "veth":
            return None
        if "link" in self.found:
            return self.namespace, int(_look(self.namespace, self.found["link"])["ifindex"])
        where = interfaces.holder(self.namespace, self.found.get("link_netnsid", -1))
        return None if where is None else (where, int(self.found["link_index"]))


def find(text: str) -> End:
    """The interface that `INTERFACE` or `NAMESPACE/INTERFACE` names.

    Raises:
        EndError: there is none.
    """
    name, _, interface = text.rpartition("/")
    namespace, where = interfaces.OWN, ""
    if name or "/" in text:
        namespace, where = interfaces.NAMED / name, f" in the network namespace {name}"
        if not name or "/" in name or not namespace.exists():
            raise EndError(
                f'there is no network namespace "{name}", which {text} names; '
                "those with a name are listed by: ip netns"
            )
    try:
        found = _look(namespace, interface)
    except OSError as error:
        raise EndError(f'there is no interface "{interface}"{where} ({error.strerror})') from error
    return End(text, namespace, interface, found)


def _look(namespace: Path, interface: str) -> dict[str, Any]:
    output = interfaces.run(
        namespace, [ip(), "-details", "-json", "addr", "show", "dev", interface]
    )
    (found,) = (one for one in json.loads(output) if one)
    return dict(found)


def name_of(namespace: Path, index: int) -> str | None:
    """The name of the interface with this number."""
    links = json.loads(interfaces.run(namespace, [ip(), "-json", "link", "show"]))
    return next((str(one["ifname"]) for one in links if one["ifindex"] == index), None)


def check(ends: Sequence[End]) -> None:
    """Look whether a link can lie between two interfaces.

    Raises:
        EndError: it cannot.
    """
    first, second = ends
    if _place(first) == _place(second):
        raise EndError(f"both ends are the interface {first.text}; a link joins two")
    for end in ends:
        _check(end)
    if first.bare != second.bare:
        tun, other = (first, second) if first.bare else (second, first)
        raise EndError(
            f"{tun.text} is a TUN device, whose IP packets have no Ethernet header, and "
            f"{other.text} carries Ethernet frames; make {tun.name} a TAP device"
        )
    beyond = first.other_end()
    if beyond is not None and (beyond[0].stat().st_ino, beyond[1]) == _place(second):
        raise EndError(
            f"{first.text} and {second.text} are the two ends of one cable, so every frame would "
            "come back; a link takes one end each of two cables"
        )


def _place(end: End) -> tuple[int, int]:
    return end.namespace.stat().st_ino, end.index


def _check(end: End) -> None:
    found, text = end.found, end.text
    if found["link_type"] != "ether" and not end.bare:
        raise EndError(
            f"the interface {text} carries no Ethernet frames (ip calls its link "
            f'"{found["link_type"]}"), and a link carries nothing else'
        )
    if "UP" not in found["flags"]:
        raise EndError(f"the interface {text} is down; first: ip link set {end.name} up")
    if "master" in found:
        raise EndError(
            f"the interface {text} is a part of {found['master']}, which takes its frames too; "
            f"first: ip link set {end.name} nomaster"
        )
    used = [one["local"] for one in found.get("addr_info", []) if one["scope"] != "link"]
    if used:
        raise EndError(
            f"the interface {text} has the address {used[0]}, so its own system is a host there; "
            "a link takes interfaces without one, and the hosts are behind them"
        )
