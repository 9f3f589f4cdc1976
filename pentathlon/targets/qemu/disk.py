"""A virtual machine of QEMU that boots a disk image of the user's own, reached with ssh(1).

The image is opened as a snapshot: what a boot writes lies in a file that is removed with it, so
each boot finds the image as it is. The machine's one network card leads to this machine's loopback
device and nowhere else. The agent is placed and ended as on any machine over ssh.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

from pentathlon.machine import cpus, launch, processes
from pentathlon.machine.cache import sha256
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.on_error import on_error
from pentathlon.machine.system import SystemSpec
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.protocol.events import Message
from pentathlon.protocol.requests.session import Release, Request
from pentathlon.safeio.clipping import clip
from pentathlon.targets import options
from pentathlon.targets.contract import Description, Session, Target
from pentathlon.targets.qemu.descriptor import KIND, Disk
from pentathlon.targets.qemu.target import NOTES_TCG, need_kvm, version
from pentathlon.targets.ssh.client import Address
from pentathlon.targets.ssh.target import SshTarget

DEFAULT_MEMORY = "1G"
PACKAGES = {"x86_64": "qemu-system-x86", "aarch64": "qemu-system-arm"}
MACHINES = {"x86_64": "q35", "aarch64": "virt"}

FIRMWARE = {
    "x86_64": ("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd", "ovmf"),
    "aarch64": (
        "/usr/share/AAVMF/AAVMF_CODE.fd",
        "/usr/share/AAVMF/AAVMF_VARS.fd",
        "qemu-efi-aarch64",
    ),
}
"""UEFI's program, its variables as they are at first, and Debian's package of both."""

FORMATS = (
    (b"QFI\xfb", "qcow2"),
    (b"KDMV", "vmdk"),
    (b"vhdxfile", "vhdx"),
    (b"<<< ", "vdi"),
)
"""How files of a format begin; all others are raw. QEMU would guess too, and an image could then
name any file of this machine as what it is based on."""

HOST = "virtual-machine"
CONFIGURATION = """\
Host {host}
    HostName 127.0.0.1
    Port {port}
    User {user}
    # The server is a machine of this boot; its key is the image's and is not known.
    StrictHostKeyChecking no
    UserKnownHostsFile /dev/null
    GlobalKnownHostsFile /dev/null
    LogLevel ERROR
"""

POLL_S = 1.0
KEPT_LINES = 2000
ATTEMPTS = 3
"""Another program can take the port between its choice and the start."""


class VirtualMachine:
    """One that runs, with its directory and its journal."""

    def __init__(self, command: list[str], own: Path, journal: UndoJournal) -> None:
        self._own = own
        self._journal = journal
        with (own / "qemu").open("wb") as log:
            self._process, self._start = launch.start(
                command,
                journal,
                {"TMPDIR": str(own)},  # Its snapshot lies there.
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def ended(self) -> bool:
        """Whether QEMU has ended."""
        return self._process.poll() is not None

    def console(self) -> list[str]:
        """The last lines on its serial line, and what QEMU printed."""
        lines: list[str] = []
        for name in ("console", "qemu"):
            with contextlib.suppress(OSError):
                text = (self._own / name).read_bytes()[-(1 << 16) :].decode(errors="replace")
                lines += [line for one in text.splitlines() if (line := one.strip("\r\0 "))]
        return lines[-KEPT_LINES:]

    def stop(self) -> None:
        """End it, and remove what its boot wrote; may be called again."""
        processes.end_session(self._journal.token, self._process.pid, self._start)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5.0)
        self._journal.undo()


class DiskSession(Session):
    """The session over ssh of a virtual machine that ends with it."""

    def __init__(self, inner: Session, machine: VirtualMachine, boot_seconds: float) -> None:
        self._inner = inner
        self._machine = machine
        self.boot_seconds = boot_seconds
        self._console: list[str] = []

    @property
    def boot_log(self) -> Sequence[str]:  # type: ignore[override]
        """Its console, and what the agent printed."""
        return [*(self._console or self._machine.console()), *self._inner.boot_log]

    def run(
        self, request: Request, idle_timeout_s: float, total_timeout_s: float
    ) -> Iterator[Message]:
        try:
            yield from self._inner.run(request, idle_timeout_s, total_timeout_s)
        except TargetError:
            self.stop()
            raise

    def release(self, release: Release) -> None:
        self._inner.release(release)

    def stop(self) -> None:
        self._console = self._console or self._machine.console()
        try:
            self._inner.stop()
        finally:
            self._machine.stop()


class DiskTarget(Target):
    """A disk image in a virtual machine whose CPU is translated."""

    kind = KIND.name
    layer = KIND.layers[0]
    persistent = False
    slow: ClassVar[int] = 4

    def __init__(self, system: SystemSpec, agent_path: Path, state_dir: Path) -> None:
        super().__init__(system, agent_path, state_dir)
        options.refuse(system, "qemu with a disk", "kernel")
        options.refuse_settings(system)
        for key, why in (
            ("userland", "commands find what the image holds"),
            ("peer", "a machine with a disk of its own is no host of two"),
        ):
            if getattr(system, key, None) is not None:
                raise TargetError(f'system "{system.name}" has "{key}" beside "disk": {why}')
        self.disk: Disk = cast("Disk", getattr(system, "disk", None))
        self.image = Path(self.disk["image"]).expanduser()
        if not self.image.is_absolute():
            raise TargetError(
                f'system "{system.name}" names the disk image "{self.image}"; it must be an '
                'absolute path, such as "/srv/images/debian.qcow2"'
            )
        self.machine = self.disk.get("machine", "x86_64")
        self.firmware = self.disk.get("firmware", "bios" if self.machine == "x86_64" else "uefi")
        if self.machine != "x86_64" and self.firmware != "uefi":
            raise TargetError(f'system "{system.name}": a machine of {self.machine} has "uefi"')
        # One virtual CPU for each CPU of the host that is named; the last one if none is.
        self.cpus = self.cpus or cpus.resolve([-1])
        self.memory = system.memory or DEFAULT_MEMORY

    def describe(self) -> Description:
        there = self.image.is_file()
        found: dict[str, Any] = {
            "image": self.image.name,
            "image_sha256": sha256(self.image) if there else None,
            "machine": self.machine,
            "firmware": self.firmware,
            "devices": self.disk.get("devices", "virtio"),
            "memory": self.memory,
            "host_cpus": list(self.cpus or ()),
            "virtual_cpus": len(self.cpus or ()),
            "qemu": version(),
            "host_kernel": platform.release(),
        }
        return self.description("(that of the disk image)", found, self.notes())

    def notes(self) -> list[str]:
        """What a reader of the results has to know about this kind of target."""
        return [
            "a virtual machine that boots a disk image, reached with ssh; what a boot writes is "
            "not in the next one",
            *NOTES_TCG,
        ]

    @property
    def held_bytes(self) -> int:
        number, unit = self.memory[:-1], self.memory[-1].upper()
        return int(number) << {"K": 10, "M": 20, "G": 30}[unit] if number.isdigit() else 0

    def bytes_written(self) -> int | None:
        return None

    @property
    def restarts(self) -> bool:
        return True

    def prepare(self) -> None:
        launch.need(self.program, PACKAGES[self.machine])
        launch.need("taskset", "util-linux")
        launch.need("ssh", "openssh-client")
        if not self.image.is_file() or not os.access(self.image, os.R_OK):
            raise TargetUnavailable(f"the disk image {self.image} is no file that this user reads")
        if (key := self.disk.get("key")) and not Path(key).expanduser().is_file():
            raise TargetUnavailable(f"the private key {key} is not there")
        if self.firmware == "uefi":
            *files, package = FIRMWARE[self.machine]
            if missing := [name for name in files if not Path(name).is_file()]:
                raise TargetUnavailable(
                    f"the firmware {missing[0]} is not installed", f"sudo apt-get install {package}"
                )
        cpus.check(self.cpus)

    @property
    def program(self) -> str:
        """QEMU's program for the machine."""
        return f"qemu-system-{self.machine}"

    def accelerator(self) -> list[str]:
        """Words for the accelerator and the CPU."""
        return ["-accel", "tcg,thread=multi", "-cpu", "max"]

    def command(self, own: Path, port: int) -> list[str]:
        """The command line of the virtual machine (qemu(1)).

        Args:
            own: the boot's directory.
            port: the port of this machine's loopback device that leads to its ssh server.
        """
        emulated = self.disk.get("devices") == "emulated"
        # A comma separates options, two are one of a name.
        image = str(self.image).replace(",", ",,")
        inner = self.disk.get("port", 22)
        return [
            *[str(launch.need(self.program, PACKAGES[self.machine]))],
            *["-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none"],
            *["-machine", MACHINES[self.machine], *self.accelerator()],
            *["-smp", str(len(self.cpus or (0,))), "-m", self.memory],
            *self._firmware_words(own),
            *["-drive", f"if=none,id=disk,format={image_format(self.image)},snapshot=on,"
              f"file={image}"],
            *["-device", "ide-hd,drive=disk" if emulated else "virtio-blk-pci,drive=disk"],
            *["-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:{inner}"],
            *["-device", f"{'e1000' if emulated else 'virtio-net-pci'},netdev=net"],
            *["-device", "virtio-rng-pci", "-serial", f"file:{own / 'console'}"],
        ]  # fmt: skip

    def _firmware_words(self, own: Path) -> list[str]:
        if self.firmware != "uefi":
            return []
        code, variables, _ = FIRMWARE[self.machine]
        kept = own / "variables.fd"
        kept.write_bytes(Path(variables).read_bytes())
        flash = "if=pflash,format=raw"
        return ["-drive", f"{flash},readonly=on,file={code}", "-drive", f"{flash},file={kept}"]

    def boot(self, timeout_s: float) -> Session:
        self.prepare()
        began = time.monotonic()
        for attempt in range(ATTEMPTS):
            journal = UndoJournal(self.state_dir)
            with on_error(journal.undo):
                own = launch.scratch_directory(None, journal)
                port = _free_port()
                command = launch.wrap(self.command(own, port), cpus=self.cpus, powerless=True)
                machine = VirtualMachine(command, own, journal)
            try:
                target = self._reached(own, port)
                if not self._answers(machine, target.address, began + timeout_s):
                    last = attempt == ATTEMPTS - 1
                    if last or "hostfwd" not in "".join(machine.console()[-1:]):
                        raise TargetError(f"QEMU has ended{_last_words(machine)}")
                    machine.stop()
                    continue
                target.prepare()
                left = max(began + timeout_s - time.monotonic(), 10.0 * self.slow)
                session = target.boot(left)
            except TargetError as error:
                words = _last_words(machine)
                machine.stop()
                text = str(error)
                raise TargetError(
                    f'system "{self.name}": {text}{"" if words in text else words}'
                ) from error
            except BaseException:
                machine.stop()
                raise
            return DiskSession(session, machine, time.monotonic() - began)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _reached(self, own: Path, port: int) -> SshTarget:
        """The machine as another one that is reached with ssh."""
        configuration = own / "ssh.conf"
        user = self.disk.get("user") or getpass.getuser()
        configuration.write_text(CONFIGURATION.format(host=HOST, port=port, user=user))
        system = SimpleNamespace(
            name=self.name,
            target="ssh",
            kernel=None,
            memory=None,
            cpus=None,
            scratch=self.system.scratch,
            settings=self.system.settings,
            ssh=SimpleNamespace(
                host=HOST,
                user=None,
                port=None,
                key=self.disk.get("key"),
                jump=None,
                config=str(configuration),
                reboot=False,
                reboot_command=None,
            ),
        )
        target = SshTarget(cast("SystemSpec", system), self.agent_path, self.state_dir)
        target.supply(self.supplies)
        return target

    def _answers(self, machine: VirtualMachine, address: Address, deadline: float) -> bool:
        """Wait for its ssh server; False if QEMU ends first.

        Raises:
            TargetError: it refuses the login, or does not answer in time.
        """
        why = "nothing listens there"
        while not machine.ended:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TargetError(f"no login with ssh within the time limit for a boot: {why}")
            try:
                # Any shell answers this, that of Windows too.
                address.ask_line("exit 0", max(left, 1.0))
            except TargetError as error:
                why = str(error)
                if "Permission denied" in why:
                    raise TargetError(
                        f'{why}; name a login in disk, such as user = "root", and its key'
                    ) from error
            else:
                return True
            time.sleep(POLL_S)
        return False


class KvmDiskTarget(DiskTarget):
    """The same machine on the processor itself."""

    layer = KIND.layers[1]
    slow: ClassVar[int] = 1

    def notes(self) -> list[str]:
        return [
            super().notes()[0],
            "the processor runs the guest itself (KVM); traps cost microseconds",
        ]

    def prepare(self) -> None:
        if self.machine != platform.machine():
            raise TargetUnavailable(
                f"with kvm the processor runs the guest: this one is {platform.machine()}, and the "
                f"image's machine is {self.machine}"
            )
        need_kvm()
        super().prepare()

    def accelerator(self) -> list[str]:
        return ["-accel", "kvm", "-cpu", "host"]


def image_format(image: Path) -> str:
    """The format of an image, as QEMU calls it."""
    with image.open("rb") as file:
        head = file.read(8)
    return next((name for magic, name in FORMATS if head.startswith(magic)), "raw")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _last_words(machine: VirtualMachine) -> str:
    lines = machine.console()[-3:]
    return f"; its last lines: {' | '.join(clip(line) for line in lines)}" if lines else ""
