"""A guest at an end of a link: its frames enter and leave the link at a namespace's interface.

The namespace keeps the interface and loses its addresses, so its own system has no part in what
passes. The cable of the guest's network card is what its kind takes (`descriptor.Link`): a packet
socket (packet(7)) on the interface, or a TAP device, which a bridge joins to the interface. Packets
are captured at the interface, by this machine's kernel.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pentathlon.machine.errors import TargetError
from pentathlon.machine.on_error import on_error
from pentathlon.targets.capabilities import Card, CardTarget
from pentathlon.testbed import hosts
from pentathlon.testbed.cables import ip, packet_sockets, taps, within
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.ends import end_of
from pentathlon.testbed.namespaces import QUIET

TAP, BRIDGE = "ptap", "pbridge"

TAP_PACKETS = 10_000
"""Room before a virtual machine that is slow to take its packets: a burst of a large window."""

OWN_MAC = "02:00:5e:00:53:fe"
"""Of the namespace's interface, once a guest is behind it: nobody speaks to it."""


def put_behind(
    end: Endpoint,
    interface: str,
    target: CardTarget,
    mac: str,
    *,
    cpus: Sequence[int],
    timeout_s: float,
    mtu: int = 1500,
    writable: Sequence[Path] = (),
) -> Endpoint:
    """Boot a guest behind the interface of a namespace; it has the namespace's addresses then.

    Args:
        end: the namespace; its agent goes on, and can capture the interface.
        mac: hardware address of the guest.
        writable: directories of this machine that the guest's programs may write to. If there is
            one, it can start the programs that are installed on this machine.

    Raises:
        TargetError: it cannot be done.
    """
    pid = end.session.pid
    within(pid, ["/bin/sh", "-c", QUIET, interface])
    within(pid, [ip(), "addr", "flush", "dev", interface])
    within(pid, [ip(), "link", "set", interface, "address", OWN_MAC])
    device = target.devices[0]
    if end_of(target).link == "packets":
        (file,) = packet_sockets(pid, [interface])
    else:
        file = _tap(pid, interface, mtu)
    try:
        session = target.start_host(timeout_s, cpus, [Card(file, mac, mtu)], writable)
    finally:
        os.close(file)
    guest = Endpoint(session, end.addresses, apart=True, device=device, slow=target.slow)
    with on_error(session.stop):
        guest.open(timeout_s)
        guest.address(device, [f"{a}/{hosts.PREFIXES[v]}" for v, a in guest.addresses.items()])
        if 4 in guest.refused:
            raise TargetError(f"the guest takes no address: {guest.refused[4]}")
    return guest


def bridge(pid: int, *ports: str) -> None:
    """Join interfaces of a namespace, in which its own system has no part."""
    # One that looks into group messages would keep some for itself.
    within(pid, [ip(), "link", "add", BRIDGE, "type", "bridge", "mcast_snooping", "0"])
    for name in (BRIDGE, *ports):
        within(pid, ["/bin/sh", "-c", QUIET, name])
        master = ["master", BRIDGE] if name != BRIDGE else []
        within(pid, [ip(), "link", "set", name, *master, "up"])


def _tap(pid: int, interface: str, mtu: int) -> int:
    """A TAP device on a bridge with the interface of a namespace."""
    (file,) = taps(pid, [TAP])
    with on_error(os.close, file):
        room = ["mtu", str(mtu), "txqueuelen", str(TAP_PACKETS)]
        within(pid, [ip(), "link", "set", TAP, *room])
        bridge(pid, interface, TAP)
    return file


def knows(guest: Endpoint, interface: str, far: Sequence[str], mac: str) -> None:
    """Tell a host that runs programs the hardware address at the other end, so that its first
    packet waits for nobody's answer.

    Raises:
        TargetError: the program ip(8) failed in it.
    """
    for address in far:
        version = 6 if ":" in address else 4
        if version in guest.refused:
            continue
        words = ["neigh", "replace", address, "lladdr", mac, "dev", interface, "nud", "permanent"]
        done = guest.perform([guest.need("ip", "iproute2"), *words], 10.0 * guest.slow)
        if done["status"] != 0:
            raise TargetError(f"the neighbour cannot be named: {done['error'].strip()}")
