"""A virtual machine of QEMU with the agent as its first and only process."""

from __future__ import annotations

import functools
import os
import platform
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from pentathlon.machine import cpus, launch
from pentathlon.machine.errors import TargetError, TargetUnavailable, if_available
from pentathlon.machine.on_error import on_error
from pentathlon.machine.system import SystemSpec
from pentathlon.machine.tools import run
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.targets import guest, options, userland
from pentathlon.targets.capabilities import Card, CardTarget
from pentathlon.targets.contract import Description, Session, Target
from pentathlon.targets.qemu import initramfs, kernels, modules, shares
from pentathlon.targets.qemu.descriptor import KIND
from pentathlon.targets.session import Launch, ProcessSession

PROGRAM = "qemu-system-x86_64"
PACKAGE = "qemu-system-x86"
DEFAULT_MEMORY = "640M"
KVM = Path("/dev/kvm")

ARCHIVE = "initramfs"
PORT = "pentathlon"
"""Name of the virtio port for requests and events (agent/crates/session/src/guest.rs)."""

NOTES = [
    "a new virtual machine in each boot; its root lies in memory and holds only the agent",
    "requests and events go through a virtio port, the kernel's own text through a serial line",
]
NOTES_TCG = [
    "QEMU translates every instruction (TCG), so arithmetic and memory take several times as long "
    "as on the processor, and not all by the same factor: compare kernels of this layer only",
]


def card_words(card: Card, place: int) -> list[str]:
    """QEMU's words for a network card whose other end is a TAP device."""
    mtu = f",host_mtu={card.mtu}" if card.mtu else ""
    return [
        *["-netdev", f"tap,id=net{place},fd={card.file}"],
        *["-device", f"virtio-net-pci,netdev=net{place},mac={card.mac}{mtu}"],
    ]


class QemuTarget(CardTarget):
    """A kernel of Debian, or of the user's own, in a virtual machine whose CPU is translated."""

    kind = KIND.name
    layer = KIND.layers[0]
    persistent = False
    devices: ClassVar[tuple[str, str]] = ("eth0", "eth1")
    slow: ClassVar[int] = 4

    def __init__(self, system: SystemSpec, agent_path: Path, state_dir: Path) -> None:
        super().__init__(system, agent_path, state_dir)
        self.userland = userland.of(system)
        userland.plain(self.userland, "a virtual machine")
        self.scratch = guest.scratch(system)
        self.wanted = options.kernel(system)
        options.refuse_settings(system)
        # One virtual CPU for each CPU of the host that is named; the last one if none is.
        self.cpus = self.cpus or cpus.resolve([-1])
        self.memory = system.memory or DEFAULT_MEMORY

    def describe(self) -> Description:
        kernel = if_available(kernels.resolve, self.wanted)
        found: dict[str, Any] = {
            "memory": self.memory,
            **userland.described(self.userland),
            "host_cpus": list(self.cpus or ()),
            "virtual_cpus": len(self.cpus or ()),
            "kernel_file": kernel.record if kernel else None,
            "qemu": version(),
            "host_kernel": platform.release(),
        }
        named = kernel.release if kernel else f"{self.wanted} (not on this machine)"
        return self.description(named, found, self.notes())

    def notes(self) -> list[str]:
        """What a reader of the results has to know about this kind of target."""
        return [*NOTES, *NOTES_TCG]

    def bytes_written(self) -> int | None:
        return self.agent_path.stat().st_size

    def prepare(self) -> None:
        self._prepared()

    def _prepared(self) -> kernels.Kernel:
        launch.need(PROGRAM, PACKAGE)
        launch.need("taskset", "util-linux")
        if platform.machine() != "x86_64":
            raise TargetUnavailable(
                f"the agent is for {platform.machine()}, and this target's machine is x86-64"
            )
        guest.check_agent(self.agent_path)
        userland.check(self.userland)
        if self.userland is not None:
            shares.check()
        cpus.check(self.cpus)
        return kernels.resolve(self.wanted)

    def accelerator(self) -> list[str]:
        """Words for the accelerator and the CPU."""
        return ["-accel", "tcg,thread=multi", "-cpu", "max"]

    def command(
        self,
        kernel: Path,
        archive: Path,
        cards: Sequence[Card] = (),
        shared: Sequence[shares.Share] = (),
        writable: Sequence[Path] = (),
        *,
        land: Path | None = None,
        supplied: Path | None = None,
    ) -> list[str]:
        """The command line of the virtual machine (qemu(1)).

        Args:
            cards: its network cards. If it has one, the guest is one host of several, and its
                agent serves an endpoint's commands.
            shared: directories of this machine as they are served.
            writable: those of them that the guest may write to. If there is one, the agent starts
                in this machine's root directory.
            land: the root directory of its user land.
            supplied: files of commands on this machine, for a guest with a user land.
        """
        # On a busy machine emulated interrupts of the timer come late, which the kernel takes for a
        # broken timer and stops; it need not test this one. Nor need it test its ciphers: without
        # that, it boots in six sevenths of the CPU time.
        words = "console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check cryptomgr.notests "
        words += f"rdinit=/{guest.AGENT} -- init" + (" endpoint" if cards else "")
        words += "".join(f" {directory}" for directory in writable)
        if land is not None and not cards:
            words += f" userland {land}" + (f" {supplied}" if supplied else "")
        # The servers of directories read and write the guest's memory.
        memory = f"memory-backend-memfd,id=memory,size={self.memory},share=on"
        return [
            *[str(launch.need(PROGRAM, PACKAGE)), "-nodefaults", "-no-user-config", "-no-reboot"],
            *["-display", "none", "-machine", "q35" + (",memory-backend=memory" if shared else "")],
            *(["-object", memory] if shared else []),
            *self.accelerator(),
            *["-smp", str(len(self.cpus or (0,))), "-m", self.memory],
            *["-kernel", str(kernel), "-initrd", str(archive), "-append", words],
            *["-chardev", "stdio,id=agent,signal=off", "-device", "virtio-serial-pci"],
            *["-device", f"virtserialport,chardev=agent,name={PORT}"],
            *["-chardev", "file,id=log,path=/dev/fd/2", "-serial", "chardev:log"],
            *(word for place, card in enumerate(cards) for word in card_words(card, place)),
            *(word for share in shared for word in share.words()),
        ]

    def make_files(self, own: Path) -> None:
        archive = initramfs.build(self._prepared(), self.agent_path, modules.CHANNEL)
        (own / ARCHIVE).write_bytes(archive)

    def boot(self, timeout_s: float) -> Session:
        return self.start_host(timeout_s, self.cpus)

    def start_host(
        self,
        timeout_s: float,
        where: Sequence[int] | None,
        cards: Sequence[Card] = (),
        writable: Sequence[Path] = (),
    ) -> ProcessSession:
        """Boot a virtual machine on the CPUs `where`; `cards` and `writable` as for `command`.

        Raises:
            TargetError: as for `boot`.
        """
        kernel = self._prepared()
        land = None if cards else userland.check(self.userland)
        if writable or land:
            shares.check()
            if kernels.lacks(kernel, modules.FILES):
                raise TargetUnavailable(
                    f"the kernel {self.wanted} was fetched without the modules by which it sees "
                    "this machine's files",
                    kernels.remedy(self.wanted),
                )
        journal = UndoJournal(self.state_dir)
        shared: list[shares.Share] = []
        try:
            with on_error(journal.undo):
                own = launch.scratch_directory(None, journal)
                staged, supplied = guest.supply(self.supplies, land, own, None)
                if writable:
                    shared = shares.serve(own, journal, writable, where)
                elif land is not None:
                    shared = shares.serve_userland(own, journal, land, staged, where)
                # Hosts that are joined need more modules; their boots keep nothing between them.
                special = bool(cards or self.supplies or land)
                archive = own / ARCHIVE if special else self.files(own) / ARCHIVE
                if special:
                    joined = (*modules.NETWORK, *modules.GENERATOR) if cards else ()
                    wanted = (*modules.CHANNEL, *joined, *(modules.FILES if shared else ()))
                    held = staged if land is None else None
                    archive.write_bytes(initramfs.build(kernel, self.agent_path, wanted, held))
                command = self.command(
                    kernel.path,
                    archive,
                    cards,
                    shared,
                    writable,
                    land=land,
                    supplied=staged if land else None,
                )
                session = ProcessSession(
                    self.name,
                    Launch(
                        guest=True,
                        command=launch.wrap(command, cpus=where, powerless=True),
                        scratch=userland.SCRATCH if land else self.scratch,
                        supplied=supplied,
                        files=[
                            *(card.file for card in cards),
                            *(share.connection.fileno() for share in shared),
                        ],
                        helpers=[share.server for share in shared],
                    ),
                    journal,
                )
            with on_error(session.stop):
                session.wait_ready(timeout_s)
            return session
        except TargetError as error:
            sentences = [words for share in shared if (words := share.last_words())]
            if sentences:
                raise TargetError(f"{error}; a server of its files: {sentences[0]}") from error
            raise
        finally:
            for share in shared:
                share.close()


class KvmTarget(QemuTarget):
    """The same machine on the processor itself, where the kernel lets this user have it."""

    layer = KIND.layers[1]
    slow: ClassVar[int] = 1

    def notes(self) -> list[str]:
        return [*NOTES, "the processor runs the guest itself (KVM); traps cost microseconds"]

    def _prepared(self) -> kernels.Kernel:
        need_kvm()
        return super()._prepared()

    def accelerator(self) -> list[str]:
        return ["-accel", "kvm", "-cpu", "host"]


def need_kvm() -> None:
    """That this user may run virtual machines on the processor.

    Raises:
        TargetUnavailable: not here.
    """
    if not KVM.exists():
        raise TargetUnavailable(f"this machine has no {KVM}, so virtual machines run translated")
    if not os.access(KVM, os.R_OK | os.W_OK):
        raise TargetUnavailable(
            f"this user may not use {KVM}", f"sudo usermod -aG kvm {os.environ.get('USER', '')}"
        )


def make(system: SystemSpec, agent_path: Path, state_dir: Path) -> Target:
    """The target for the accelerator that a system names, "tcg" if it names none, and for a disk
    image if it names one."""
    kvm = getattr(system, "accelerator", None) == "kvm"
    if getattr(system, "disk", None) is not None:
        from pentathlon.targets.qemu import disk  # noqa: PLC0415  loads what reaches machines

        return (disk.KvmDiskTarget if kvm else disk.DiskTarget)(system, agent_path, state_dir)
    return (KvmTarget if kvm else QemuTarget)(system, agent_path, state_dir)


@functools.cache
def version() -> str | None:
    """The version of QEMU on this machine, such as "7.2.22", or None."""
    try:
        done = run([launch.need(PROGRAM, PACKAGE), "--version"], 30)
    except (TargetUnavailable, OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"version (\S+)", done.stdout.decode(errors="replace"))
    return found[1] if found else None
