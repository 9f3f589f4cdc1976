"""netem (tc-netem(8)) as the engine of a link: a bridge between its two interfaces, and netem where
packets leave each of them.

The kernel is this machine's, or that of a guest of user-mode Linux behind both interfaces, for
machines whose own kernel has no sch_netem.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.on_error import on_error
from pentathlon.machine.tools import last_line, run
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.safeio.clipping import clip
from pentathlon.study.link_profile import DIRECTIONS, Direction, Loss, Profile, Way
from pentathlon.targets.plain import PlainSystem
from pentathlon.targets.uml import fetch, kernels
from pentathlon.targets.uml.target import UmlTarget
from pentathlon.testbed.cables import ip, packet_sockets, within
from pentathlon.testbed.endpoint import CommandError, Endpoint
from pentathlon.testbed.link import netem
from pentathlon.testbed.link.netem import NotNetem
from pentathlon.testbed.link.statistics import Statistics, WayStatistics
from pentathlon.testbed.namespaces import QUIET

BRIDGE = "plink"
STEP_S = 20.0
"""Longest time of one command, s."""
LACKING = "the kernel {kernel} has no sch_netem"
EVERYTHING = Loss(share=1.0)


class NetemEngine:
    """netem of the kernel that an endpoint runs on.

    Args:
        endpoint: on whose kernel; it sees this machine's programs.
        interfaces: at the client's and at the server's side.
        kernel: what results call the kernel.
        journal: of what it leaves on this machine until it is stopped.
        scratch: a directory that the endpoint can read, for tables of jitter.
    """

    line_first = False

    def __init__(
        self,
        endpoint: Endpoint,
        interfaces: Sequence[str],
        kernel: str,
        journal: UndoJournal,
        scratch: Path,
    ) -> None:
        self.name = f"netem of Linux {kernel}"
        self._journal = journal
        self._kernel = kernel
        self._endpoint = endpoint
        self._leaves: dict[Direction, str] = {"up": interfaces[1], "down": interfaces[0]}
        self._scratch = scratch
        self._tc = str(launch.need("tc", "iproute2"))
        self._profile: Profile | None = None
        self._lead_ns = 0
        self._is_cut = False
        # The counters of a queueing discipline go with it.
        self._before: dict[Direction, dict[str, int]] = {}
        self._opened_ns = 0
        self._bridge(interfaces)

    def _bridge(self, interfaces: Sequence[str]) -> None:
        self._run([ip(), "link", "add", BRIDGE, "type", "bridge", "stp_state", "0",
                   "forward_delay", "0", "mcast_snooping", "0"])  # fmt: skip
        for name in (*interfaces, BRIDGE):
            # The kernel between the hosts must not speak on the line.
            self._run(["/bin/sh", "-c", QUIET, name])
            master = [] if name == BRIDGE else ["master", BRIDGE]
            self._run([ip(), "link", "set", name, *master, "up"])

    def open(self, profile: Profile, seed: int, lead_ns: int) -> None:
        self._profile, self._lead_ns = profile, lead_ns
        self._before = {way: {"frames": 0, "bytes": 0, "drops": 0, "cut": 0} for way in DIRECTIONS}
        self._opened_ns = time.monotonic_ns()
        self._is_cut = False
        self._add()

    def close(self) -> Statistics:
        found = self.statistics()
        self._remove()
        return found

    def statistics(self) -> Statistics:
        """netem counts what it lost on purpose and what found no room together, and neither its
        CPU time nor its lateness."""
        up, down = (
            WayStatistics(
                frames_out=of["frames"], bytes_out=of["bytes"],
                drops={"loss_or_queue": of["drops"], "cut": of["cut"]},
                queue={"frames": of["waiting"]},
            )
            for of in (self._counted(way) for way in DIRECTIONS)
        )  # fmt: skip
        return Statistics(
            elapsed_ns=time.monotonic_ns() - self._opened_ns, cpu_ns=None, clock_set=0,
            up=up, down=down,
        )  # fmt: skip

    def cut(self) -> None:
        self._anew(cut=True)

    def mend(self) -> None:
        self._anew(cut=False)

    def stop(self) -> None:
        try:
            if self._endpoint.apart:
                self._endpoint.session.stop()
        finally:
            self._journal.undo()

    def _anew(self, *, cut: bool) -> None:
        """Lose what is on the link, and begin anew as a link that is cut or is not."""
        for way in DIRECTIONS:
            self._before[way] = self._counted(way)
        self._remove()
        self._is_cut = cut
        self._add()

    def _add(self) -> None:
        assert self._profile is not None
        for direction in DIRECTIONS:
            way = self._profile.way(direction)
            # Handing a packet over takes time, so that it has to leave so much earlier.
            way = replace(way, delay_ms=max(way.delay_ms - self._lead_ns / 1e6, 0.0))
            if self._is_cut:
                way = replace(way, loss=EVERYTHING)
            try:
                tables = self._tables(direction, way)
                wanted = netem.commands(self._profile, way, self._leaves[direction])
            except NotNetem as error:
                raise CommandError(str(error), "unsupported") from error
            for words in wanted:
                self._run([self._tc, *words], tables)

    def _remove(self) -> None:
        for interface in self._leaves.values():
            self._run([self._tc, *netem.undo(interface)])

    def _tables(self, direction: Direction, way: Way) -> Path | None:
        """The directory with the table of the jitter; None if there is no jitter.

        Raises:
            NotNetem: netem cannot have this jitter.
        """
        table = netem.table(way)
        if table is None:
            return None
        place = self._scratch / direction
        place.mkdir(exist_ok=True)
        (place / f"{netem.TABLE_NAME}.dist").write_text(table)
        return place

    def _counted(self, direction: Direction) -> dict[str, int]:
        output = self._run([self._tc, "-s", "-j", "qdisc", "show", "dev", self._leaves[direction]])
        now = _netem(output)
        before = self._before[direction]
        which = "cut" if self._is_cut else "drops"
        return {
            "frames": before["frames"] + now["packets"],
            "bytes": before["bytes"] + now["bytes"],
            "drops": before["drops"],
            "cut": before["cut"],
            "waiting": now["qlen"],
        } | {which: before[which] + now["drops"]}

    def _run(self, command: list[str], tables: Path | None = None) -> str:
        # tc(8) looks for tables in TC_LIB_DIR, whose path it cuts at 128 bytes.
        where = {"directory": str(tables)} if tables else {}
        environment = {"TC_LIB_DIR": "."} if tables else {}
        done = self._endpoint.perform(command, STEP_S, environment=environment, **where)
        if done["status"] == 0:
            return str(done["output"])
        lines = str(done["error"]).strip().splitlines() or ["no reason given"]
        if "qdisc" in command and any("kind is unknown" in line for line in lines):
            raise CommandError(LACKING.format(kernel=self._kernel), "unsupported")
        raise CommandError(f"netem cannot be set: {' '.join(command[1:8])}: {lines[0]}")


def _netem(output: str) -> dict[str, int]:
    """The counters of netem, as tc(8) prints them.

    Raises:
        CommandError: it states something else.
    """
    try:
        found = next(one for one in json.loads(output) if one["kind"] == "netem")
        counts = {name: found[name] for name in ("packets", "bytes", "drops", "qlen")}
    except (ValueError, TypeError, KeyError, StopIteration, RecursionError):
        counts = {}
    if not counts or any(type(one) is not int or not 0 <= one < 1 << 64 for one in counts.values()):
        raise CommandError(f"tc does not report what netem counted: {clip(output, 80)!r}")
    return counts


def lacking() -> str | None:
    """Why this machine's kernel cannot emulate a link; None if it can. Needs root."""
    tc = str(launch.need("tc", "iproute2"))
    words = ["unshare", "--net", tc, "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    done = run(words, STEP_S)
    if done.returncode == 0:
        return None
    why = last_line(done.stderr, "tc gave no reason")
    return f"{LACKING.format(kernel=os.uname().release)} ({why})"


def in_namespace(endpoint: Endpoint, interfaces: Sequence[str], state_dir: Path) -> NetemEngine:
    """netem of this machine's kernel, in the emulator's namespace.

    Raises:
        CommandError: this machine cannot.
    """
    with _journal(state_dir) as (journal, scratch):
        return NetemEngine(endpoint, interfaces, os.uname().release, journal, scratch)


def in_guest(
    emulator: Endpoint,
    interfaces: Sequence[str],
    target: UmlTarget,
    *,
    mtu: int,
    cpus: Sequence[int],
    timeout_s: float,
) -> NetemEngine:
    """netem of a guest of user-mode Linux, whose devices are the namespace's interfaces.

    Raises:
        TargetError: the guest does not start.
    """
    pid = emulator.session.pid
    for name in interfaces:
        within(pid, [ip(), "link", "set", name, "up"])
    with _journal(target.state_dir) as (journal, scratch):
        files = packet_sockets(pid, interfaces)
        try:
            devices = " ".join(
                f"vec{n}:transport=fd,fd={file},mac=02:00:5e:00:53:f{n},mtu={mtu}"
                for n, file in enumerate(files)
            )
            session = target.start(
                timeout_s, cpus, devices, files, [scratch], modules=fetch.EMULATION
            )
        finally:
            for file in files:
                os.close(file)
        guest = Endpoint(session, {}, apart=True)
        with on_error(session.stop):
            guest.open(timeout_s)
            kernel = target.describe()["kernel"]
            name = f"{kernel} (user-mode Linux)"
            return NetemEngine(guest, ["vec0", "vec1"], name, journal, scratch)


def guest_target(agent: Path, state_dir: Path) -> UmlTarget:
    """The newest kernel of user-mode Linux here that has netem.

    Raises:
        TargetUnavailable: none has.
    """
    for kernel in reversed(kernels.available()):
        if "sch_netem" in fetch.kept_modules(kernel, fetch.EMULATION):
            system = PlainSystem("link", UmlTarget.kind, kernel=str(kernel.path))
            return UmlTarget(system, agent, state_dir)
    raise TargetUnavailable(
        "no kernel of user-mode Linux here has its module sch_netem", kernels.INSTALL
    )


@contextmanager
def _journal(state_dir: Path) -> Iterator[tuple[UndoJournal, Path]]:
    """A journal with a directory in it, which is gone if the engine cannot be made."""
    journal = UndoJournal(state_dir)
    with on_error(journal.undo):
        yield journal, launch.scratch_directory(None, journal)
