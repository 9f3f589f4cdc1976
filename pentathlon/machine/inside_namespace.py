"""What has to be done inside another network namespace: run there as a program of its own.

It uses the standard library alone, so that it needs no more than an interpreter:

    inside.py offload INTERFACE CODE VALUE    an ethtool switch (linux/ethtool.h)
    inside.py sockets FD INTERFACE...         a packet socket (packet(7)) for each interface, sent
                                              over the socket FD
    inside.py taps FD INTERFACE...            likewise a TAP device of each name
    inside.py settings INTERFACE              print what `SETTINGS` names of it, as JSON
    inside.py set INTERFACE JSON              set some of it; print what it refused, as JSON
    inside.py holder ID                       print the file of the network namespace that has this
                                              id here (ip-netns(8)); nothing if there is none
"""

from __future__ import annotations

import array
import fcntl
import json
import os
import socket
import struct
import sys
from itertools import chain
from pathlib import Path

SIOCETHTOOL = 0x8946
EVERY_PROTOCOL = 0x0003
SOL_PACKET = 263
PACKET_IGNORE_OUTGOING = 23
SO_RCVBUFFORCE, SO_SNDBUFFORCE = 33, 32
BUFFER_BYTES = 4 << 20
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
SIOCGIFMTU, SIOCSIFMTU = 0x8921, 0x8922
ETHTOOL_SFLAGS = 0x26
ETH_FLAG_LRO = 1 << 15
RTM_NEWNSID, RTM_GETNSID = 88, 90
NLM_F_REQUEST = 1
NETNSA_NSID, NETNSA_FD = 1, 3

SWITCHES = {"gro": 0x2C, "tx_checksum": 0x17, "tso": 0x1F, "gso": 0x24}
"""Switches that have a code of their own: ETHTOOL_SGRO, STXCSUM, STSO, SGSO."""

FILES = {
    "disable_ipv6": "/proc/sys/net/ipv6/conf/{}/disable_ipv6",
    "arp_ignore": "/proc/sys/net/ipv4/conf/{}/arp_ignore",
    "rp_filter": "/proc/sys/net/ipv4/conf/{}/rp_filter",
}

SETTINGS = ("mtu", *SWITCHES, "lro", *FILES)
"""In the order in which they are set: checksums before what cannot be on without them."""


def command(*words: str) -> list[str]:
    """The command that runs this file, with its arguments."""
    return [sys.executable, "-I", str(Path(__file__).resolve()), *words]


def offload(interface: str, code: int, value: int) -> None:
    """Set one of the switches that have a code of their own, such as ETHTOOL_SGRO."""
    _ethtool(interface, code, value)


def offloaded(interface: str, code: int) -> int:
    """What such a switch is; each is read by the code before the one that sets it."""
    return _ethtool(interface, code - 1, 0)


def _ethtool(interface: str, code: int, value: int) -> int:
    """Give a command to an interface; the value that it leaves."""
    body = array.array("I", [code, value])
    address, _ = body.buffer_info()
    request = struct.pack("16sP16x", interface.encode(), address)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, SIOCETHTOOL, request)
    return body[1]


def settings(interface: str) -> dict[str, int]:
    """Its index, and those of `SETTINGS` that it has."""
    found = {"index": socket.if_nametoindex(interface)}
    for name in SETTINGS:
        # A device without a switch, or a kernel without IPv6, has nothing to be set.
        try:
            found[name] = _setting(interface, name)
        except OSError:
            continue
    return found


def _setting(interface: str, name: str) -> int:
    if name in SWITCHES:
        return offloaded(interface, SWITCHES[name])
    if name == "lro":
        return int(bool(offloaded(interface, ETHTOOL_SFLAGS) & ETH_FLAG_LRO))
    if name == "mtu":
        return int(struct.unpack("16si", _ioctl(SIOCGIFMTU, interface, 0))[1])
    return int(Path(FILES[name].format(interface)).read_text())


def change(interface: str, wanted: dict[str, int]) -> dict[str, str]:
    """Set some of `SETTINGS`; which it refused, with the reasons."""
    refused = {}
    for name in sorted(wanted, key=SETTINGS.index):
        value = wanted[name]
        try:
            if name in SWITCHES:
                offload(interface, SWITCHES[name], value)
            elif name == "lro":
                flags = offloaded(interface, ETHTOOL_SFLAGS) & ~ETH_FLAG_LRO
                offload(interface, ETHTOOL_SFLAGS, flags | (ETH_FLAG_LRO if value else 0))
            elif name == "mtu":
                _ioctl(SIOCSIFMTU, interface, value)
            else:
                Path(FILES[name].format(interface)).write_text(str(value))
        except OSError as error:
            refused[name] = error.strerror or str(error)
    return refused


def _ioctl(code: int, interface: str, value: int) -> bytes:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16si20x", interface.encode(), value)
        return fcntl.ioctl(handle, code, request)[:20]


def holder(wanted: int) -> Path | None:
    """The file of the network namespace that has the id `wanted` in this one (rtnetlink(7))."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        held = Path("/proc").glob("[0-9]*/ns/net")
        for path in chain(Path("/run/netns").glob("*"), held):
            try:
                file = os.open(path, os.O_RDONLY)
            except OSError:
                continue
            try:
                if _id(netlink, file) == wanted:
                    return path
            finally:
                os.close(file)
    return None


def _id(netlink: socket.socket, namespace: int) -> int | None:
    body = struct.pack("=BxxxHHI", 0, 8, NETNSA_FD, namespace)
    netlink.send(struct.pack("=IHHII", 16 + len(body), RTM_GETNSID, NLM_F_REQUEST, 0, 0) + body)
    answer = netlink.recv(4096)
    kind = struct.unpack_from("=IH", answer)[1]
    if kind != RTM_NEWNSID:
        return None
    # After both headers comes the id, the answer's only attribute.
    _, attribute, found = struct.unpack_from("=HHi", answer, 20)
    return int(found) if attribute == NETNSA_NSID else None


def sockets(channel: int, interfaces: list[str]) -> None:
    """Open the sockets and hand them over."""
    opened = []
    for interface in interfaces:
        one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        one.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
        one.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES)
        one.bind((interface, EVERY_PROTOCOL))
        opened.append(one)
    with socket.socket(fileno=channel) as out:
        socket.send_fds(out, [b"."], [one.fileno() for one in opened])


def taps(channel: int, interfaces: list[str]) -> None:
    """Make TAP devices, whose frames have no header of the driver's, and hand them over."""
    opened = []
    for interface in interfaces:
        one = os.open("/dev/net/tun", os.O_RDWR)
        request = struct.pack("16sH22x", interface.encode(), IFF_TAP | IFF_NO_PI)
        fcntl.ioctl(one, TUNSETIFF, request)
        opened.append(one)
    with socket.socket(fileno=channel) as out:
        socket.send_fds(out, [b"."], opened)


def main() -> None:
    """Do what the arguments say; an error is reported in one line."""
    what, *rest = sys.argv[1:]
    try:
        if what == "offload":
            offload(rest[0], int(rest[1], 0), int(rest[2]))
        elif what == "settings":
            print(json.dumps(settings(rest[0])))
        elif what == "set":
            print(json.dumps(change(rest[0], json.loads(rest[1]))))
        elif what == "holder":
            print(holder(int(rest[0])) or "")
        else:
            {"sockets": sockets, "taps": taps}[what](int(rest[0]), rest[1:])
    except OSError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
