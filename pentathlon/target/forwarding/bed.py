"""The bed of salah2010, Fig. 1: generator → system under test → back to the generator.

The generator is one host with two interfaces, so that one clock times a packet both ways. It has
routing rules (ip-rule(8)) by which packets to its own second address leave through the first.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pentathlon.target import launch
from pentathlon.target.contract import TargetError
from pentathlon.target.cpus import AVAILABLE, resolve
from pentathlon.target.forwarding import inside
from pentathlon.target.local import LocalTarget
from pentathlon.target.netns import namespace
from pentathlon.target.pair import hosts
from pentathlon.target.pair.endpoint import Endpoint
from pentathlon.target.session import Launch, ProcessSession
from pentathlon.target.uml.target import UmlTarget
from pentathlon.target.undo import UndoJournal

OUT, BACK = "198.18.0.2", "198.19.0.2"
"""The generator's addresses: packets leave from the first, through the forwarder, to the second."""

NEAR, FAR = "198.18.0.1", "198.19.0.1"
"""The forwarder's addresses, at the receiving and at the sending side."""

GENERATOR = ("pgen0", "pgen1")
FORWARDER = ("pfwd0", "pfwd1")
"""Interfaces. The names of a kernel's threads have room for so many letters."""

TABLE = "100"
GRO, SEND_CHECKSUM = 0x2C, 0x17
"""Codes of linux/ethtool.h: ETHTOOL_SGRO, ETHTOOL_STXCSUM."""

WRITABLE = 'mount -o remount,rw /sys && exec "$@"'


class Unsupported(TargetError):
    """This bed cannot do what a case asks for."""


@dataclass
class Bed:
    """Both hosts, joined by two cables.

    Attributes:
        generator: sends and receives.
        forwarder: the system under test.
        incoming, outgoing: the forwarder's interfaces, as it names them.
        forwarder_cpus: the forwarder's CPUs, as its own counters number them; None: all.
        generator_cpus: the generator's CPUs, numbers of this machine.
        steerable: the forwarder is a namespace of this machine, whose steering and routes can be
            set from here.
    """

    generator: Endpoint
    forwarder: Endpoint
    incoming: str
    outgoing: str
    forwarder_cpus: tuple[int, ...] | None
    generator_cpus: tuple[int, ...]
    steerable: bool
    steering: str = ""
    routes: int = 0
    threads: list[int] = field(default_factory=list)

    def steer(self, how: str) -> None:
        """Let the forwarder's received packets be handled as `how` says (catalog, `steering`).

        Raises:
            Unsupported: it cannot be set here.
        """
        if how == self.steering:
            return
        if not self.steerable:
            if how != "own":
                raise Unsupported(f'the steering "{how}" is for forwarders in a namespace')
            return
        pid = self.forwarder.session.pid
        name = FORWARDER[0]
        queue = f"/sys/class/net/{name}/queues/rx-0/rps_cpus"
        threaded = f"/sys/class/net/{name}/threaded"
        own = mask(self.forwarder_cpus or ())
        try:
            if self.steering == "threaded":
                _write(pid, threaded, "0")
            # A veth polls for itself, in a thread or not, only while it gathers packets (GRO).
            _script(pid, "offload", name, hex(GRO), "1" if how == "threaded" else "0")
            if how == "threaded":
                before = _napi_threads()
                _write(pid, threaded, "1")
                self.threads = sorted(_napi_threads() - before)
                for thread in self.threads:
                    os.sched_setaffinity(thread, self.forwarder_cpus or AVAILABLE)
            _write(pid, queue, own if how == "own" else "0")
        except (TargetError, OSError) as error:
            raise Unsupported(f'the steering "{how}" cannot be set here: {error}') from error
        self.steering = how

    def set_routes(self, count: int) -> None:
        """Give the forwarder so many routes of /28 beside those that are used, and no others.

        Raises:
            Unsupported: they cannot be set here.
        """
        if count == self.routes:
            return
        if not self.steerable:
            raise Unsupported("routes are added to forwarders in a namespace only")
        verb, low, high = (
            ("add", self.routes, count) if count > self.routes else ("del", count, self.routes)
        )
        lines = "".join(
            f"route {verb} {10}.{n >> 12 & 255}.{n >> 4 & 255}.{(n & 15) << 4}/28 via {BACK}\n"
            for n in range(low, high)
        )
        _inside(self.forwarder.session.pid, [str(_ip()), "-batch", "-"], lines, timeout_s=120.0)
        self.routes = count


class BedMaker(Protocol):
    """Makes the bed of one system."""

    def __call__(self, timeout_s: float) -> Bed: ...


def places(
    own: Sequence[int] | None, peer: Sequence[int] | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """CPUs of forwarder and generator: apart, where there are several and the study says nothing.

    The forwarder gets the last CPU, the generator all others.
    """
    forwarder = resolve(own) or (max(AVAILABLE),)
    rest = tuple(sorted(AVAILABLE - set(forwarder)))
    return tuple(forwarder), tuple(resolve(peer) or rest or sorted(AVAILABLE))


def remarks(forwarder: Sequence[int], generator: Sequence[int]) -> list[str]:
    """What a reader of the results has to know about the CPUs."""
    shared = sorted(set(forwarder) & set(generator))
    found = []
    if shared:
        found.append(
            f"generator and forwarder share the CPUs {shared}: the generator's work limits the "
            "forwarder"
        )
    if len(set(generator)) < 2:
        found.append(
            "sender and receiver of the generator share one CPU, which limits the load that can "
            "be offered"
        )
    return found


def netns_bed(target: LocalTarget, peer: Sequence[int] | None) -> BedMaker:
    """Both hosts are network namespaces; two veth(4) pairs join them."""

    def make(timeout_s: float) -> Bed:
        forwarder_cpus, generator_cpus = places(target.system.cpus, peer)
        made: list[Endpoint] = []
        try:
            group_journal = UndoJournal(target.state_dir)
            try:
                group = target.settings.apply(group_journal)
                words = launch.wrap(
                    _endpoint(target.agent_path), group=group, nice=target.settings.nice,
                    cpus=forwarder_cpus,
                )  # fmt: skip
                session = ProcessSession(target.name, Launch(command=words), group_journal)
            except BaseException:
                group_journal.undo()
                raise
            forwarder = Endpoint(session, {4: NEAR})
            made.append(forwarder)
            forwarder.open(timeout_s)
            generator = _generator(target, generator_cpus, made, timeout_s)
            pid = forwarder.session.pid
            for ours, theirs in zip(GENERATOR, FORWARDER, strict=True):
                _cable(generator.session.pid, ours, theirs, pid)
            for name, address in zip(FORWARDER, (NEAR, FAR), strict=True):
                _inside(pid, [str(_ip()), "addr", "add", f"{address}/24", "dev", name])
                _inside(pid, [str(_ip()), "link", "set", name, "up"])
            _prepare_generator(generator.session.pid, generator_cpus)
            forwarder.tell({"do": "forward", "on": True}, "forwarding")
            bed = Bed(
                generator, forwarder, *FORWARDER, forwarder_cpus, generator_cpus, steerable=True
            )
        except BaseException:
            hosts.stop(made)
            raise
        return bed

    return make


def uml_bed(target: UmlTarget, peer: Sequence[int] | None) -> BedMaker:
    """The forwarder is a guest; packet sockets join its devices to the generator's veth pairs."""

    def make(timeout_s: float) -> Bed:
        forwarder_cpus, generator_cpus = places(target.cpus, peer)
        made: list[Endpoint] = []
        ends: list[int] = []
        try:
            generator = _generator(target, generator_cpus, made, timeout_s)
            pid = generator.session.pid
            for ours, theirs in zip(GENERATOR, FORWARDER, strict=True):
                _cable(pid, ours, theirs, pid)
                # Frames that leave this kernel must have their checksum.
                _script(pid, "offload", ours, hex(SEND_CHECKSUM), "0")
                _inside(pid, [str(_ip()), "link", "set", theirs, "up"])
            _prepare_generator(pid, generator_cpus)
            ends = _packet_sockets(pid, FORWARDER)
            devices = " ".join(
                f"vec{n}:transport=fd,fd={end},mac=02:00:00:00:00:{n:02x}"
                for n, end in enumerate(ends)
            )
            session = target.start(timeout_s, forwarder_cpus, devices, ends)
            forwarder = Endpoint(session, {4: NEAR})
            made.append(forwarder)
            forwarder.open(timeout_s)
            for name, address in (("vec0", NEAR), ("vec1", FAR)):
                forwarder.addresses[4] = address
                forwarder.address(name, [f"{address}/24"])
            if forwarder.refused:
                raise TargetError(f"the guest takes no address: {forwarder.refused[4]}")
            forwarder.tell({"do": "forward", "on": True}, "forwarding")
        except BaseException:
            hosts.stop(made)
            raise
        finally:
            for end in ends:
                os.close(end)
        return Bed(generator, forwarder, "vec0", "vec1", None, generator_cpus, steerable=False)

    return make


def _endpoint(agent: Path) -> list[str]:
    """The agent as an endpoint in a namespace of its own, whose /sys can be written."""
    return [*namespace(), "/bin/sh", "-c", WRITABLE, "sh", str(agent), "endpoint"]


def _generator(
    target: LocalTarget | UmlTarget,
    cpus: tuple[int, ...],
    made: list[Endpoint],
    timeout_s: float,
) -> Endpoint:
    journal = UndoJournal(target.state_dir)
    try:
        # The generator is no system under test: it goes before all else on its CPUs.
        first = -20 if os.geteuid() == 0 else None
        words = launch.wrap(_endpoint(target.agent_path), cpus=cpus, nice=first)
        session = ProcessSession(f"{target.name}, generator", Launch(command=words), journal)
    except BaseException:
        journal.undo()
        raise
    generator = Endpoint(session, {4: OUT})
    made.append(generator)
    generator.open(timeout_s)
    _go_first(session.pid)
    return generator


def _go_first(pid: int) -> None:
    """Let the group of a session's leader go before others, as its nice value says.

    Where the kernel groups processes by session (sched(7), autogroup), a nice value counts inside
    the session only, and between sessions that of the group.
    """
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text("-20")


def _cable(pid: int, name: str, other: str, where: int) -> None:
    peer = ["peer", "name", other, "netns", str(where)]
    _inside(pid, [str(_ip()), "link", "add", name, "type", "veth", *peer])


def _prepare_generator(pid: int, cpus: Sequence[int]) -> None:
    """Addresses, and rules by which packets to the second address leave through the first."""
    ip = str(_ip())
    for name, address in zip(GENERATOR, (OUT, BACK), strict=True):
        _inside(pid, [ip, "addr", "add", f"{address}/24", "dev", name])
        _inside(pid, [ip, "link", "set", name, "up"])
    for name in (*GENERATOR, "all"):
        _write(pid, f"/proc/sys/net/ipv4/conf/{name}/rp_filter", "0")
        # Packets come in with an address of this very host as their source.
        _write(pid, f"/proc/sys/net/ipv4/conf/{name}/accept_local", "1")
    for words in (
        ["route", "add", "default", "via", NEAR, "dev", GENERATOR[0], "table", TABLE],
        ["rule", "add", "pref", "10", "iif", "lo", "to", BACK, "lookup", TABLE],
        ["rule", "add", "pref", "20", "lookup", "local"],
        ["rule", "del", "pref", "0"],
    ):
        _inside(pid, [ip, *words])
    # What comes back is received on the generator's CPUs, not where the forwarder sent it.
    with contextlib.suppress(TargetError):
        _write(pid, f"/sys/class/net/{GENERATOR[1]}/queues/rx-0/rps_cpus", mask(cpus[-1:]))


def _packet_sockets(pid: int, interfaces: Sequence[str]) -> list[int]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(10)
        number = str(theirs.fileno())
        _script(pid, "sockets", number, *interfaces, files=[theirs.fileno()])
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


def _napi_threads() -> set[int]:
    """The kernel's threads that poll the forwarder's receiving interface."""
    found = set()
    for place in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if place.read_text().startswith(f"napi/{FORWARDER[0]}-"):
                found.add(int(place.parent.name))
    return found


def _ip() -> Path:
    return launch.need("ip", "iproute2")


def _write(pid: int, path: str, text: str) -> None:
    _inside(pid, ["/bin/sh", "-c", 'printf %s "$0" > "$1"', text, path])


def _script(pid: int, *words: str, files: Sequence[int] = ()) -> None:
    script = str(Path(inside.__file__).resolve())
    _inside(pid, [sys.executable, "-I", script, *words], files=files)


def _inside(
    pid: int,
    command: list[str],
    text: str = "",
    files: Sequence[int] = (),
    timeout_s: float = 20.0,
) -> None:
    """Run a command in the namespaces of a process.

    Raises:
        TargetError: it failed; its own words are in the error.
    """
    enter = [
        str(launch.need("nsenter", "util-linux")), "--target", str(pid),
        *hosts.user_words(pid), "--net", "--mount", "--",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            [*enter, *command], input=text.encode(), capture_output=True, timeout=timeout_s,
            check=False, pass_fds=tuple(files),
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise TargetError(f"{' '.join(command[-6:])} took more than {timeout_s:g} s") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
        raise TargetError(f"{' '.join(command[-6:])}: {said[-1]}")
