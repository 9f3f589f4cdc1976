"""A link between two interfaces that somebody else made: cards, ends of veth(4) pairs, TAP devices.

The agent takes the frames where the interfaces are; none is moved to another namespace, because the
kernel removes virtual devices together with the namespace in which they are. So the system that has
an interface is kept from taking part: it speaks no IPv6 there, answers no ARP request and takes no
packet that comes in.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from pentathlon.machine import interfaces, launch
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.undo_journal import UndoJournal, default_state_dir
from pentathlon.protocol.events import JsonObject
from pentathlon.study.link_profile import HEADER_BYTES, Profile, Way
from pentathlon.targets.session import Launch, ProcessSession
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.link import interface_ends
from pentathlon.testbed.link.engine import AgentEngine
from pentathlon.testbed.link.interface_ends import End, EndError
from pentathlon.testbed.link.testbed import FIRST, has_own_cpu, places, spin_us

CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN = 12, 13, 21
"""Numbers of capabilities(7)."""

APART = {
    # Packets of the network that come in are single ones, as they were on their cable.
    "gro": 0, "lro": 0,
    # No router is solicited, no group reported; ARP is not answered (ip-sysctl of the kernel's
    # documentation); on an interface without address no packet has a source that is there.
    "disable_ipv6": 1, "arp_ignore": 8, "rp_filter": 1,
}  # fmt: skip
"""What keeps an interface's own system out."""

WHOLE = {"tx_checksum": 0, "tso": 0, "gso": 0}
"""What makes the host at the other end of a veth pair hand over packets that would cross a wire."""


@dataclass
class Between:
    """A link in use.

    Attributes:
        profile: the link.
        ends: up is from the first to the second.
        remarks: what the user should know, sentences.
    """

    profile: Profile
    ends: tuple[End, End]
    remarks: list[str]
    _engine: AgentEngine
    _guard: ExitStack

    def statistics(self) -> JsonObject:
        """What happened since it was opened (docs/link.md).

        Raises:
            TargetError: the emulator has stopped.
        """
        return {**self._engine.statistics()}

    def stop(self) -> None:
        """End the link and put back what was changed for it.

        Raises:
            TargetError: something could not be put back.
        """
        self._guard.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def open_between(
    agent: Path,
    profile: Profile,
    names: Sequence[str],
    *,
    seed: int = 1,
    state_dir: Path | None = None,
    timeout_s: float = 30.0,
) -> Between:
    """Put a link between two interfaces into use.

    Args:
        agent: the agent's file.
        profile: the link.
        names: INTERFACE or NAMESPACE/INTERFACE, two.
        seed: decides which packets are lost, delayed and so on.
        state_dir: where changes are noted until they are put back; the usual place if None.
        timeout_s: longest time for the agent to start.

    Raises:
        EndError: the interfaces are not right.
        TargetUnavailable: this process has not the right.
        TargetError: the link cannot be made; the reason is one sentence.
    """
    first, second = (interface_ends.find(name) for name in names)
    ends = (first, second)
    interface_ends.check(ends)
    _check_rights(any(end.namespace != interfaces.OWN for end in ends))
    with ExitStack() as guard:
        for end in ends:
            guard.enter_context(_claim(end))
        journal = UndoJournal(state_dir or default_state_dir())
        # The session puts its journal back, once its last process has ended.
        undo = guard.enter_context(ExitStack())
        undo.callback(journal.undo)
        remarks = [remark for end in ends for remark in _prepare(end, profile.mtu_bytes, journal)]
        words = launch.wrap(
            [str(agent), "endpoint"], cpus=places(has_own_cpu(profile))[0], nice=FIRST
        )
        emulator = Endpoint(ProcessSession("link", Launch(command=words), journal), {})
        undo.pop_all()
        guard.callback(emulator.session.stop)
        emulator.open(timeout_s)
        spaces = [None if end.namespace == interfaces.OWN else end.namespace for end in ends]
        engine = AgentEngine(emulator, [end.name for end in ends], spin_us(profile), spaces)
        engine.open(_counted(profile) if first.bare else profile, seed, 0)
        return Between(profile, ends, remarks, engine, guard.pop_all())
    raise AssertionError


def _counted(profile: Profile) -> Profile:
    """Packets without an Ethernet header take as long on the line as others do with theirs."""

    def longer(way: Way) -> Way:
        return replace(way, overhead_bytes=way.overhead_bytes + HEADER_BYTES)

    return replace(profile, up=longer(profile.up), down=longer(profile.down))


def _check_rights(elsewhere: bool) -> None:
    status = Path("/proc/self/status").read_text()
    (held,) = (int(line.split()[1], 16) for line in status.splitlines() if "CapEff" in line)
    wanted = [CAP_NET_ADMIN, CAP_NET_RAW, *([CAP_SYS_ADMIN] if elsewhere else [])]
    if not all(held >> number & 1 for number in wanted):
        raise TargetUnavailable(
            "taking frames from interfaces and setting them needs root", "start it with sudo"
        )


def _claim(end: End) -> socket.socket:
    """Keep another link off an interface for as long as the socket is open.

    An abstract address (unix(7)) is free again however its process ends.
    """
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0pentathlon-link-{end.namespace.stat().st_ino}-{end.index}")
    except OSError as error:
        claim.close()
        raise EndError(f"the interface {end.text} is the end of another link in use") from error
    return claim


def _prepare(end: End, mtu: int, journal: UndoJournal) -> list[str]:
    """Set an interface, and the other end of its cable if that is a veth pair's; remarks."""
    refused = _change(journal, end.namespace, end.name, {"mtu": mtu, **APART})
    if "mtu" in refused:
        raise TargetError(
            f"the interface {end.text} does not take the profile's MTU of {mtu} bytes: "
            f"{refused['mtu']}"
        )
    remarks = [
        f"{end.text} does not take {key} = {APART[key]}: {why}" for key, why in refused.items()
    ]
    if not end.carrier:
        remarks.append(f"{end.text} has no carrier: no frame passes until its other end is there")
    if end.kind == "veth":
        remarks += _make_whole(end, journal)
    return remarks


def _make_whole(end: End, journal: UndoJournal) -> list[str]:
    other = end.other_end()
    name = interface_ends.name_of(*other) if other else None
    if other is None or name is None:
        off = " ".join(f"{key} off" for key in ("tx", "tso", "gso"))
        return [
            f"the other end of {end.text} lies in a network namespace that cannot be found; "
            f"segmentation and checksums have to be switched off there: ethtool -K NAME {off}"
        ]
    refused = _change(journal, other[0], name, WHOLE)
    return [f"{name}, the other end of {end.text}: {key}: {why}" for key, why in refused.items()]


def _change(
    journal: UndoJournal, namespace: Path, name: str, wanted: dict[str, int]
) -> dict[str, str]:
    """Note and change what of an interface is otherwise; what it refused."""
    now = interfaces.settings(namespace, name)
    new = {key: value for key, value in wanted.items() if now.get(key, value) != value}
    if not new:
        return {}
    before = {key: now[key] for key in new}
    journal.note(interfaces.entry(namespace, name, now["index"], before, new))
    return interfaces.change(namespace, name, new)
