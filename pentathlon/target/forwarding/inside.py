"""What has to be done inside another network namespace: run there as a program of its own.

It uses the standard library alone, so that it needs no more than an interpreter:

    inside.py offload INTERFACE CODE VALUE    an ethtool switch (linux/ethtool.h)
    inside.py sockets FD INTERFACE...         a packet socket (packet(7)) for each interface, sent
                                              over the socket FD
    inside.py taps FD INTERFACE...            likewise a TAP device of each name
"""

from __future__ import annotations

import array
import fcntl
import os
import socket
import struct
import sys

SIOCETHTOOL = 0x8946
EVERY_PROTOCOL = 0x0003
SOL_PACKET = 263
PACKET_IGNORE_OUTGOING = 23
SO_RCVBUFFORCE, SO_SNDBUFFORCE = 33, 32
BUFFER_BYTES = 4 << 20
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000


def offload(interface: str, code: int, value: int) -> None:
    """Set one of the switches that have a code of their own, such as ETHTOOL_SGRO."""
    body = array.array("I", [code, value])
    address, _ = body.buffer_info()
    request = struct.pack("16sP16x", interface.encode(), address)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, SIOCETHTOOL, request)


def offloaded(interface: str, code: int) -> int:
    """What such a switch is; each is read by the code before the one that sets it."""
    body = array.array("I", [code - 1, 0])
    address, _ = body.buffer_info()
    request = struct.pack("16sP16x", interface.encode(), address)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, SIOCETHTOOL, request)
    return body[1]


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
    """Do what the arguments say; an error is told in one line."""
    what, *rest = sys.argv[1:]
    try:
        if what == "offload":
            offload(rest[0], int(rest[1], 0), int(rest[2]))
        else:
            {"sockets": sockets, "taps": taps}[what](int(rest[0]), rest[1:])
    except OSError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
