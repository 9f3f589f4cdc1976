"""Another machine at an end of a link: its cable ends at a card of this machine.

The card goes into the namespace at that end of the link, where a bridge without addresses joins it
to the link's interface; the namespace's own system has no part in what passes. Packets are captured
at that interface by this machine's kernel, as for guests. The kernel gives a card back to this
machine when the namespace is gone.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from typing import Any

from pentathlon.machine import inside_namespace, restore
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.on_error import on_error
from pentathlon.machine.tools import run
from pentathlon.protocol.requests.works import Ping
from pentathlon.safeio.clipping import clip
from pentathlon.testbed import hosts
from pentathlon.testbed.cables import ip, script, within
from pentathlon.testbed.endpoint import CommandError, Endpoint
from pentathlon.testbed.ends import Cable, Ends
from pentathlon.testbed.link.guest_end import OWN_MAC, bridge
from pentathlon.testbed.link.testbed import GATHER, SIDES, Side
from pentathlon.testbed.remote_host import RemoteEndpoint, reach

CARRIER_S = 15
"""Time for two cards to agree on a rate, in seconds; some take five."""

CARRIER = f"""
n=0
until [ "$(cat "/sys/class/net/$0/carrier" 2>/dev/null)" = 1 ]; do
    n=$((n + 1)); [ $n -le {10 * CARRIER_S} ] || exit 1
    sleep 0.1
done
"""

IF_THERE = ("sh", "-c", '"$@" || :', "sh")
"""Words before a command that removes what was perhaps never made."""

IF_CARD = ("sh", "-c", '[ ! -e "/sys/class/net/$0" ] || "$@"')
"""Words before the name of a card and a command: a card that is gone has nothing to be put back."""

MOST_MTU = 1 << 31

PING_S, PING_MS = 5.0, 100
"""How long a first packet may take, beside the link's round trip, and how often it is tried."""


def reached(ends: Ends, timeout_s: float) -> dict[Side, RemoteEndpoint]:
    """Reach those ends that are other machines, and look whether their cables are free.

    Raises:
        TargetUnavailable: a machine lacks something, or uses an interface.
        TargetError: one cannot be reached.
    """
    found: dict[Side, RemoteEndpoint] = {}
    with on_error(lambda: hosts.stop(list(found.values()))):
        for number, side in enumerate(SIDES):
            target, cable = ends.far(number), ends.cables[number]
            if target and cable:
                _state(cable.own)
                found[side] = reach(target, cable.theirs, hosts.ADDRESSES[number], timeout_s)
    return found


def _state(name: str) -> dict[str, int]:
    """What of an interface is put back: its MTU, whether it is up, and whether GRO is on."""
    done = run([ip(), "-json", "addr", "show", "dev", name], 10)
    if done.returncode:
        raise TargetUnavailable(
            f"this machine has no interface {name}, which the study names as its end of a cable"
        )
    (found,) = (one for one in json.loads(done.stdout) if one)
    used = [one["local"] for one in found.get("addr_info", []) if one["scope"] != "link"]
    if used or "master" in found:
        what = f"has the address {used[0]}" if used else f"is a part of {found['master']}"
        raise TargetUnavailable(
            f"this machine's interface {name} {what}, so it is in use; a measured cable must be "
            "for nothing else"
        )
    gro = inside_namespace.offloaded(name, GATHER)
    return {"mtu": found["mtu"], "up": int("UP" in found["flags"]), "gro": gro}


def put_beyond(
    end: Endpoint, interface: str, far: RemoteEndpoint, cable: Cable, mtu: int = 1500
) -> None:
    """Join another machine to the interface of a namespace; it has the namespace's addresses then.

    Args:
        end: the namespace; its agent goes on, and can capture the interface.
        far: the machine, reached already.
        mtu: longest IP packet.

    Raises:
        TargetError: it cannot be done.
    """
    pid = end.session.pid
    far.far.note(restore.card(cable.own, pid, _state(cable.own)))
    done = run([ip(), "link", "set", cable.own, "netns", str(pid)], 10)
    if done.returncode:
        output = done.stderr.decode(errors="replace").strip() or "no reason given"
        raise TargetError(f"the interface {cable.own} cannot be lent: {output}")
    within(pid, [ip(), "addr", "flush", "dev", interface])
    within(pid, [ip(), "link", "set", interface, "address", OWN_MAC])
    within(pid, [ip(), "link", "set", cable.own, "mtu", str(mtu)])
    script(pid, "offload", cable.own, hex(GATHER), "0")
    bridge(pid, interface, cable.own)
    _prepare(far, mtu)
    try:
        within(pid, ["/bin/sh", "-c", CARRIER, cable.own])
    except TargetError:
        raise TargetError(
            f"no signal comes to this machine's {cable.own}; is the cable to {far.name} "
            f"({cable.theirs}) plugged in?"
        ) from None


def _prepare(far: RemoteEndpoint, mtu: int) -> None:
    """Addresses of the other machine's interface, and its longest packet."""
    program, device = far.need("ip", "iproute2"), far.device
    found = _shown(far, far.shell('"$1" -json link show dev "$2"', program, device))
    networks = [f"{a}/{hosts.PREFIXES[v]}" for v, a in far.addresses.items()]
    back = [[*IF_THERE, program, "addr", "del", network, "dev", device] for network in networks]
    if found["mtu"] != mtu:
        back.append([*IF_CARD, device, program, "link", "set", device, "mtu", str(found["mtu"])])
    if "UP" not in found["flags"]:
        back.append([*IF_CARD, device, program, "link", "set", device, "down"])
    far.undo_by(*back)
    if found["mtu"] != mtu:
        far.shell('"$1" link set "$2" mtu "$3"', program, device, str(mtu))
    far.address(device, networks)
    if 4 in far.refused:
        raise TargetError(f"{far.name}: {device} takes no address: {far.refused[4]}")


def _shown(far: RemoteEndpoint, output: str) -> dict[str, Any]:
    """MTU and flags of the machine's interface, as its ip(8) states.

    Raises:
        TargetError: it states something else.
    """
    try:
        (found,) = json.loads(output)
        mtu, flags = found["mtu"], found["flags"]
    except (ValueError, TypeError, KeyError, RecursionError):
        mtu = flags = None
    if type(mtu) is not int or not 0 < mtu <= MOST_MTU or not isinstance(flags, list):
        raise TargetError(
            f"{far.name}: ip does not report the MTU and flags of {far.device}: "
            f"{clip(output, 80)!r}"
        )
    return {"mtu": mtu, "flags": flags}


def hardware_address(far: RemoteEndpoint) -> str:
    """Of the machine's interface.

    Raises:
        TargetError: what it states is none.
    """
    output = far.shell('cat "/sys/class/net/$1/address"', far.device).strip()
    if not re.fullmatch(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", output):
        raise TargetError(
            f"{far.name}: {clip(output, 60)!r} is no hardware address of {far.device}"
        )
    return output


def forget_neighbours(far: RemoteEndpoint, addresses: Sequence[str]) -> None:
    """Have the machine forget at the end what it is told of the other end's hardware address."""
    program = far.need("ip", "iproute2")
    far.undo_by(
        *([*IF_THERE, program, "neigh", "del", one, "dev", far.device] for one in addresses)
    )


def check_cable(far: RemoteEndpoint, address: str, round_trip_s: float) -> None:
    """Look whether packets pass between the machine and the link's other end.

    Raises:
        TargetError: none does.
    """
    patience = PING_S + 2 * round_trip_s
    deadline = time.monotonic() + patience
    passed = False
    while not passed and time.monotonic() < deadline:
        far.start("reach", Ping(peer=address, period_ms=PING_MS))
        time.sleep(0.5 + 2 * round_trip_s)
        try:
            (reported,) = far.finish_job("reach")["yields"]
        except CommandError as error:
            raise TargetError(f"{far.name} cannot send to {address}: {error}") from error
        passed = any(one is not None for one in reported["round_trip_ns"])
    if not passed:
        raise TargetError(
            f'nothing passes between {far.name} ({far.device}) and this machine; do "interfaces" '
            'and "joined_to" name the two ends of one cable, and does a firewall let them speak?'
        )
