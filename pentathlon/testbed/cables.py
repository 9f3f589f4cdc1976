"""The links of a bed: addresses, cables and what has to be done inside a host's namespaces."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Sequence

from pentathlon.machine import inside_namespace, launch
from pentathlon.machine.errors import TargetError
from pentathlon.machine.tools import last_line, run
from pentathlon.testbed import hosts

OUT = {4: "198.18.0.2", 6: "2001:db8:18::2"}
BACK = {4: "198.19.0.2", 6: "2001:db8:19::2"}
"""The generator's addresses: packets leave from the first, through the forwarder, to the second."""

NEAR = {4: "198.18.0.1", 6: "2001:db8:18::1"}
FAR = {4: "198.19.0.1", 6: "2001:db8:19::1"}
"""The forwarder's addresses, at the receiving and at the sending side (RFC 2544, RFC 3849)."""

GENERATOR = ("pgen0", "pgen1")
FORWARDER = ("pfwd0", "pfwd1")
"""Interfaces. The names of a kernel's threads have room for so many letters."""

LONGEST_S = 300.0
"""Longest time for a table of routes or rules, s."""

TABLE = "100"
GRO, SEND_CHECKSUM = 0x2C, 0x17
"""Codes of linux/ethtool.h: ETHTOOL_SGRO, ETHTOOL_STXCSUM."""


def cable(pid: int, name: str, other: str, where: int) -> None:
    """A veth(4) pair: `name` in the namespace of `pid`, `other` in that of `where`."""
    peer = ["peer", "name", other, "netns", str(where)]
    within(pid, [ip(), "link", "add", name, "type", "veth", *peer])


def with_prefix(addresses: dict[int, str], version: int) -> str:
    """The address of a version with its prefix."""
    return f"{addresses[version]}/{hosts.PREFIXES[version]}"


def set_addresses(pid: int, name: str, addresses: dict[int, str]) -> dict[int, str]:
    """Give an interface in the namespace of `pid` its addresses and bring it up.

    Returns:
        IP version -> why it has no address of it: version 6 can be missing from a kernel.
    """
    refused = {}
    within(pid, hosts.silence(name))
    for version in addresses:
        try:
            within(pid, [ip(), "addr", "add", with_prefix(addresses, version), "dev", name])
        except TargetError as error:
            if version == 4:
                raise
            refused[version] = str(error)
    within(pid, [ip(), "link", "set", name, "up"])
    return refused


def prepare_generator(pid: int, names: Sequence[str], cpus: Sequence[int]) -> dict[int, str]:
    """Addresses, and rules by which packets to the second address leave through the first.

    Returns:
        As `set_addresses`.
    """
    refused: dict[int, str] = {}
    for name, addresses in zip(names, (OUT, BACK), strict=True):
        refused |= set_addresses(pid, name, addresses)
    for name in (*names, "all"):
        write(pid, f"/proc/sys/net/ipv4/conf/{name}/rp_filter", "0")
        # Packets come in with an address of this very host as their source.
        write(pid, f"/proc/sys/net/ipv4/conf/{name}/accept_local", "1")
    for version in OUT:
        if version in refused:
            continue
        family = f"-{version}"
        for words in (
            ["route", "add", "default", "via", NEAR[version], "dev", names[0], "table", TABLE],
            ["rule", "add", "pref", "10", "iif", "lo", "to", BACK[version], "lookup", TABLE],
            ["rule", "add", "pref", "20", "lookup", "local"],
            ["rule", "del", "pref", "0"],
        ):
            within(pid, [ip(), family, *words])
    # What comes back is received on the generator's CPUs, not where the forwarder sent it.
    with contextlib.suppress(TargetError):
        write(pid, f"/sys/class/net/{names[1]}/queues/rx-0/rps_cpus", mask(cpus[-1:]))
    return refused


def packet_sockets(pid: int, interfaces: Sequence[str]) -> list[int]:
    """A packet socket on each interface, opened in the namespace of `pid`."""
    return _opened(pid, "sockets", interfaces)


def taps(pid: int, interfaces: Sequence[str]) -> list[int]:
    """A TAP device (kernel documentation, networking/tuntap) for each name, in the namespace."""
    return _opened(pid, "taps", interfaces)


def _opened(pid: int, what: str, interfaces: Sequence[str]) -> list[int]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(10)
        number = str(theirs.fileno())
        script(pid, what, number, *interfaces, files=[theirs.fileno()])
        _, files, _, _ = socket.recv_fds(ours, 1, len(interfaces))
    return list(files)


def mask(cpus: Sequence[int]) -> str:
    """CPUs as the kernel's files take them: hexadecimal words of 32 bits, the highest first.

    >>> mask([0, 33])
    '00000002,00000001'
    """
    bits = sum(1 << cpu for cpu in set(cpus))
    words = []
    while True:
        words.append(f"{bits & 0xFFFFFFFF:08x}")
        bits >>= 32
        if not bits:
            return ",".join(reversed(words))


def ip() -> str:
    """The program ip(8)."""
    return str(launch.need("ip", "iproute2"))


def write(pid: int, path: str, text: str) -> None:
    """Write to a file as the namespaces of a process have it."""
    within(pid, ["/bin/sh", "-c", 'printf %s "$0" > "$1"', text, path])


def script(pid: int, *words: str, files: Sequence[int] = ()) -> None:
    """Run `inside` in the namespaces of a process."""
    within(pid, inside_namespace.command(*words), files=files)


def within(
    pid: int,
    command: list[str],
    files: Sequence[int] = (),
    *,
    timeout_s: float = 30.0,
) -> None:
    """Run a command in the namespaces of a process.

    Raises:
        TargetError: it failed; its own words are in the error.
    """
    enter = hosts.enter(pid, "--net", "--mount")
    try:
        done = run([*enter, *command], timeout_s, pass_fds=tuple(files))
    except subprocess.TimeoutExpired as error:
        raise TargetError(f"{' '.join(command[-6:])} took more than {timeout_s:g} s") from error
    if done.returncode:
        raise TargetError(f"{' '.join(command[-6:])}: {last_line(done.stderr)}")
