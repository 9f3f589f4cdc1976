"""Client – emulator – server: three network namespaces of this machine, two veth(4) pairs.

The emulator's namespace has no addresses: frames pass through it as through a cable, ARP and
neighbour discovery too. A namespace has no name and lives as long as its agent, so nothing is left
after a crash.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

from pentathlon.machine import inside_namespace, launch
from pentathlon.machine.cpus import AVAILABLE
from pentathlon.machine.errors import TargetError
from pentathlon.machine.on_error import on_error
from pentathlon.machine.tools import last_line, run
from pentathlon.machine.undo_journal import default_state_dir
from pentathlon.study.link_profile import DIRECTIONS, Profile
from pentathlon.targets.capabilities import PlacedTarget
from pentathlon.testbed import hosts, namespaces
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.link import netem_engine
from pentathlon.testbed.link.engine import SPIN_US, AgentEngine, Engine
from pentathlon.testbed.link.statistics import Statistics
from pentathlon.testbed.namespaces import QUIET, Namespace

Side = Literal["client", "server"]
SIDES: tuple[Side, Side] = ("client", "server")

INTERFACE: dict[Side, str] = {"client": "pent0", "server": "pent1"}
"""The end of each host's cable."""

INNER = ("plink0", "plink1")
"""The emulator's interfaces, at the client's and at the server's side."""

MAC: dict[Side, str] = {"client": "02:00:5e:00:53:01", "server": "02:00:5e:00:53:02"}

EngineName = Literal["agent", "netem", "netem-uml"]
"""The agent's emulator, netem of this machine's kernel, or that of a kernel of user-mode Linux."""

SEND_CHECKSUM, SEGMENT, SEGMENT_ANY, GATHER = 0x17, 0x1F, 0x24, 0x2C
"""Codes of linux/ethtool.h: ETHTOOL_STXCSUM, STSO, SGSO and SGRO."""

SPIN_ALWAYS_KBIT = 300_000
"""From this rate on it never sleeps while a frame is on its way: it would wake too late."""

FIRST = -20
"""Nice value of the emulator: it goes before all else on its CPUs."""


@dataclass
class LinkTestbed:
    """A link in use, and the two hosts that it joins.

    Attributes:
        profile: the link.
        client, server: the namespaces at its ends; any process can be started beside their agents
            (`inside`).
        emulator: the namespace between them.
        engine: carries the frames there.
        guests: guests that have taken the place of a namespace as host (`behind.put_behind`).
        lead_ns: by how much frames are handed over before they are due, so that they come when
            they are due.
    """

    profile: Profile
    client: Endpoint
    server: Endpoint
    emulator: Endpoint
    engine: Engine
    seed: int
    lead_ns: int = 0
    guests: dict[Side, Endpoint] = field(default_factory=dict)

    def host(self, side: Side) -> Endpoint:
        """The namespace at an end."""
        return self.client if side == "client" else self.server

    def system(self, side: Side) -> Endpoint:
        """The host at an end: the namespace, or the guest behind it."""
        return self.guests.get(side, self.host(side))

    @property
    def addresses(self) -> dict[str, dict[int, str]]:
        """Host -> IP version -> address."""
        return {side: self.host(side).addresses for side in SIDES}

    def inside(self, side: Side, command: Sequence[str]) -> list[str]:
        """A command with the words in front that run it on a host."""
        return [*hosts.enter(self.host(side).session.pid, "--net", "--mount"), *command]

    def open(self) -> None:
        """Put the link into use; frames pass from now on.

        Raises:
            TargetError: the emulator cannot.
        """
        self.engine.open(self.profile, self.seed, self.lead_ns)

    def reopen(self, lead_ns: int) -> None:
        """Put the link into use anew, with another lead."""
        self.engine.close()
        self.lead_ns = lead_ns
        self.open()

    def statistics(self) -> Statistics:
        """What happened on the link since it was opened (docs/link.md)."""
        return self.engine.statistics()

    def cut(self) -> None:
        """Cut the link: what is on it and what comes is lost until it is mended."""
        self.engine.cut()

    def mend(self) -> None:
        """Join it again."""
        self.engine.mend()

    def stop(self) -> None:
        """End the link and both hosts."""
        with ExitStack() as last:
            last.callback(hosts.stop, [self.emulator, self.client, self.server])
            last.callback(self.engine.stop)
            last.callback(hosts.stop, list(self.guests.values()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def open_link(
    agent: Path,
    profile: Profile,
    *,
    seed: int = 1,
    state_dir: Path | None = None,
    timeout_s: float = 30.0,
    targets: tuple[PlacedTarget | None, PlacedTarget | None] = (None, None),
    cpus: tuple[tuple[int, ...] | None, tuple[int, ...] | None] | None = None,
    engine: EngineName = "agent",
) -> LinkTestbed:
    """Make both hosts and the link between them, and put it into use.

    Args:
        agent: the agent's file.
        profile: the link.
        seed: decides which packets are lost, delayed and so on.
        state_dir: where changes are noted until they are put back; the usual place if None.
        timeout_s: longest time for each agent to start.
        targets: those whose settings hold for client and server; None: none are made.
        cpus: CPUs of client and server, None for any.
        engine: what carries the frames.

    Raises:
        TargetError: it cannot be made; the reason is one sentence.
    """
    state = state_dir or default_state_dir()
    spins = has_own_cpu(profile)
    own, others = places(spins)
    where = cpus or (others, others)
    wanted = [Namespace("link", {}, own, FIRST)]
    for side, addresses, allowed, target in zip(
        SIDES, hosts.ADDRESSES, where, targets, strict=True
    ):
        name = target.name if target else side
        wanted.append(Namespace(name, addresses, allowed or others, settings_of=target))
    made = namespaces.start(agent, wanted, state, timeout_s)
    with on_error(hosts.stop, made):
        emulator, client, server = made
        _join(emulator.session.pid, (client.session.pid, server.session.pid), profile.mtu_bytes)
        carrier = _engine(engine, emulator, profile, agent, state_dir=state, timeout_s=timeout_s)
        with on_error(carrier.stop):
            bed = LinkTestbed(profile, client, server, emulator, carrier, seed)
            bed.open()
    return bed


def _engine(
    name: EngineName,
    emulator: Endpoint,
    profile: Profile,
    agent: Path,
    *,
    state_dir: Path,
    timeout_s: float,
) -> Engine:
    if name == "netem":
        return netem_engine.in_namespace(emulator, INNER, state_dir)
    if name == "netem-uml":
        target = netem_engine.guest_target(agent, state_dir)
        cpus = places(has_own_cpu(profile))[0] or (max(AVAILABLE),)
        return netem_engine.in_guest(
            emulator, INNER, target, mtu=profile.mtu_bytes, cpus=cpus, timeout_s=timeout_s
        )
    return AgentEngine(emulator, INNER, spin_us(profile))


def spin_us(profile: Profile) -> int:
    """How long before a frame is due the agent's emulator stops sleeping, µs."""
    return 1_000_000 if has_own_cpu(profile) and len(AVAILABLE) > 1 else SPIN_US


def has_own_cpu(profile: Profile) -> bool:
    """Whether the emulator of a link never sleeps, and so gets a CPU of its own."""
    return any(
        (profile.way(direction).rate_kbit or 0) >= SPIN_ALWAYS_KBIT for direction in DIRECTIONS
    )


def places(spins: bool) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """CPUs of the emulator and of both hosts: one of its own for an emulator that spins.

    >>> places(False)
    (None, None)
    """
    if not spins or len(AVAILABLE) < 2:
        return None, None
    own = max(AVAILABLE)
    return (own,), tuple(sorted(AVAILABLE - {own}))


def _join(emulator: int, pids: tuple[int, int], mtu: int) -> None:
    ip = str(launch.need("ip", "iproute2"))
    for side, pid, inner, own in zip(SIDES, pids, INNER, hosts.ADDRESSES, strict=True):
        name = INTERFACE[side]
        other = ["address", MAC[side], "mtu", str(mtu)]
        _run(
            emulator, [ip, "link", "add", inner, "mtu", str(mtu), "type", "veth", "peer", "name",
                       name, *other, "netns", str(pid)],
        )  # fmt: skip
        # The emulator's own system must not speak on the line.
        _run(emulator, ["/bin/sh", "-c", QUIET, inner])
        for code in (SEND_CHECKSUM, SEGMENT, SEGMENT_ANY, GATHER):
            _run(pid, inside_namespace.command("offload", name, hex(code), "0"))
        _run(pid, hosts.silence(name))
        for version, address in own.items():
            _run(pid, [ip, "addr", "add", f"{address}/{hosts.PREFIXES[version]}", "dev", name])
        _run(pid, [ip, "link", "set", name, "up"])
        _run(emulator, [ip, "link", "set", inner, "up"])
    # No neighbour discovery comes first: the first packet is no slower than the others.
    for side, other_side, pid, far in zip(
        SIDES, reversed(SIDES), pids, reversed(hosts.ADDRESSES), strict=True
    ):
        for address in far.values():
            neighbour = [address, "lladdr", MAC[other_side], "dev", INTERFACE[side]]
            _run(pid, [ip, "neigh", "replace", *neighbour, "nud", "permanent"])


def _run(pid: int, command: Sequence[str]) -> None:
    try:
        done = run([*hosts.enter(pid, "--net", "--mount"), *command], 20)
    except subprocess.TimeoutExpired as error:
        raise TargetError(f"{' '.join(command[:6])} took more than 20 s") from error
    if done.returncode:
        why = last_line(done.stderr)
        raise TargetError(f"the link cannot be made: {' '.join(command[:6])}: {why}")
