"""A user-mode Linux kernel with the agent as its first process."""

from __future__ import annotations

import os
import platform
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from pentathlon.machine import cpus, launch
from pentathlon.machine.errors import TargetError, TargetUnavailable, if_available
from pentathlon.machine.on_error import on_error
from pentathlon.machine.system import SystemSpec
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.targets import guest, options, userland
from pentathlon.targets.capabilities import Card, CardTarget
from pentathlon.targets.contract import Description, Session
from pentathlon.targets.session import Launch, ProcessSession
from pentathlon.targets.uml import fetch, kernels, shim
from pentathlon.targets.uml.descriptor import KIND

DEFAULT_MEMORY = "640M"
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

OWN_WORDS = ("mem", "rootfstype", "rootflags", "root", "init", "con", "umid", "uml_dir", "rw", "ro")
"""Words of the kernel's command line that are not for the study to set."""

ROOT = "root"
REQUEST = "request.json"
"""The file in a guest that holds its request."""
SHARED_MEMORY = Path("/dev/shm")

NOT_INITIALIZED = ("raid6_select_algo", "raid6_init")
"""Functions of the kernel (the first to 7.0, the second since) that compare implementations of
RAID 6 for 0.85 s of CPU time. Nothing here has such an array."""

NOTES = [
    "one virtual CPU, pinned to one CPU of the host: not pinned, system calls and page faults "
    "take 5 to 9 times as long",
    "the kernel runs as an ordinary process: system calls are caught with ptrace or seccomp, so "
    "times compare kernels of this layer, never with a kernel on the hardware",
    "the kernel boots without its benchmark of RAID 6 (initcall_blacklist), which takes longer "
    "than the rest of the boot",
    "a new root directory and a new guest in each boot; the guest's root may write through hostfs "
    "with this user's rights, so it is no security boundary",
]


class UmlTarget(CardTarget):
    """User-mode Linux in one version.

    The guest's root is a new directory on the host, seen through hostfs, with the agent and empty
    mount points. Requests and events go through the console `con0`, which is a pair of pipes.
    """

    kind = KIND.name
    layer = KIND.layers[0]
    persistent = False
    written: ClassVar[bool] = True
    devices: ClassVar[tuple[str, str]] = ("vec0", "vec1")

    def __init__(self, system: SystemSpec, agent_path: Path, state_dir: Path) -> None:
        super().__init__(system, agent_path, state_dir)
        self.userland = userland.of(system)
        userland.plain(self.userland, "the command line of user-mode Linux")
        self.scratch = guest.scratch(system)
        self.wanted = options.kernel(system)
        options.refuse_settings(system)
        if system.cpus is not None and len(system.cpus) != 1:
            raise TargetError(
                f'system "{system.name}" names {len(system.cpus)} CPUs, but user-mode Linux has '
                "one; name one CPU of the host"
            )
        # One CPU always: a guest that moves between CPUs pays several times as much per fault.
        self.cpus = self.cpus or cpus.resolve([-1])
        self.memory = system.memory or DEFAULT_MEMORY
        self.arguments = tuple(getattr(system, "uml_args", ()) or ())
        for word in self.arguments:
            name = word.split("=", maxsplit=1)[0]
            if not re.fullmatch(r"[\x21-\x7e]+", word) or name.rstrip("0123456789") in OWN_WORDS:
                raise TargetError(
                    f'system "{system.name}" has the kernel argument "{word}", which is not for a '
                    'study to set; use arguments such as "seccomp=on"'
                )

    @property
    def memory_bytes(self) -> int:
        """The guest's memory, in bytes."""
        return int(self.memory[:-1]) * UNITS[self.memory[-1]]

    @property
    def held_bytes(self) -> int:
        return self.memory_bytes

    def describe(self) -> Description:
        kernel = if_available(kernels.resolve, self.wanted)
        found: dict[str, Any] = {
            "memory": self.memory,
            **userland.described(self.userland),
            "host_cpu": (self.cpus or (None,))[0],
            "arguments": list(self.arguments),
            "kernel_file": kernel.record() if kernel else None,
            "ptrace_wrapper": bool(kernel and shim.needed(kernel)),
            "host_kernel": platform.release(),
        }
        named = kernel.version if kernel else f"{self.wanted} (not on this machine)"
        return self.description(named, found, NOTES)

    def bytes_written(self) -> int | None:
        agent = self.agent_path.stat().st_size
        try:
            on_disk = self._memory_directory() != SHARED_MEMORY
        except TargetUnavailable:
            return agent
        return agent + (self.memory_bytes if on_disk else 0)

    def prepare(self) -> None:
        self._prepared()

    def _prepared(self) -> kernels.Kernel:
        if platform.machine() != "x86_64":
            raise TargetUnavailable(
                f"user-mode Linux needs an x86-64 host, and this machine is {platform.machine()}"
            )
        kernel = kernels.resolve(self.wanted)
        for program in ("setarch", "taskset"):
            launch.need(program, "util-linux")
        guest.check_agent(self.agent_path)
        userland.check(self.userland)
        cpus.check(self.cpus)
        # The kernel cuts its command line at blanks, and its own options know no quotes.
        launch.check_plain("the command line of user-mode Linux")
        self._memory_directory()
        if shim.needed(kernel):
            shim.build()
        return kernel

    def _memory_directory(self) -> Path:
        """Where the guest's memory file goes; it has no name and is gone with the guest."""
        needed = self.memory_bytes + (16 << 20)
        for directory in (SHARED_MEMORY, Path(tempfile.gettempdir())):
            if _holds_memory(directory, needed):
                return directory
        raise TargetUnavailable(
            f"neither {SHARED_MEMORY} nor {tempfile.gettempdir()} has {needed >> 20} MiB free for "
            f"the guest's memory of {self.memory}",
            f"sudo mount -o remount,exec,size={2 * needed >> 20}M {SHARED_MEMORY}",
        )

    def command(
        self,
        kernel: Path,
        root: Path,
        own: Path,
        device: str | None = None,
        writable: Sequence[Path] = (),
        *,
        land: Path | None = None,
        supplied: Path | None = None,
    ) -> list[str]:
        """The command line of the guest (kernel documentation, virt/uml).

        Args:
            device: network devices, as the kernel's command line names them, with blanks between;
                the guest is then one host of several, and its agent serves an endpoint's commands.
            writable: directories of this machine. If any is named, the agent starts in this
                machine's root directory, where it may read everything and write to these.
            land: the root directory of its user land.
            supplied: files of commands on this machine, for a guest with a user land.
        """
        return [
            *[str(launch.need("setarch", "util-linux")), "x86_64", "-R", str(kernel)],
            f"mem={self.memory}",
            *["rootfstype=hostfs", f"rootflags={root}", "rw", "root=/dev/root"],
            # A regular file would not do: the kernel waits with epoll(7), which refuses it.
            *[f"init=/{guest.AGENT}", "con=null", "con0=fd:{request},fd:{events}", "quiet"],
            f"initcall_blacklist={','.join(NOT_INITIALIZED)}",
            *[f"uml_dir={own}", "umid=guest", *self.arguments],
            *([*device.split(), "--", "init", "endpoint"] if device else ["--", "init"]),
            *(["userland", str(land)] if land and not device else []),
            *([str(supplied)] if land and supplied and not device else []),
            *map(str, writable),
        ]

    def boot(self, timeout_s: float) -> Session:
        return self.start(timeout_s, self.cpus)

    def start_host(
        self,
        timeout_s: float,
        where: Sequence[int] | None,
        cards: Sequence[Card],
        writable: Sequence[Path] = (),
    ) -> ProcessSession:
        # A frame of a vector device is one packet of its socket (kernel documentation, virt/uml).
        vectors = (
            f"{name}:transport=fd,fd={card.file},mac={card.mac}"
            + (f",mtu={card.mtu}" if card.mtu else "")
            for name, card in zip(self.devices, cards, strict=False)
        )
        files = [card.file for card in cards]
        return self.start(timeout_s, where, " ".join(vectors), files, writable)

    def start(
        self,
        timeout_s: float,
        where: Sequence[int] | None,
        device: str | None = None,
        files: Sequence[int] = (),
        writable: Sequence[Path] = (),
        *,
        modules: Sequence[str] = fetch.NETWORK,
    ) -> ProcessSession:
        """Boot a guest on the CPUs `where`; `device`, with its open `files`, and `writable` as for
        `command`; it loads the `modules` that its kernel has if there is a device.

        Raises:
            TargetError: as for `boot`.
        """
        kernel = self._prepared()
        kernels.check(kernel)
        journal = UndoJournal(self.state_dir)
        with on_error(journal.undo):
            own = launch.scratch_directory(None, journal)
            root = self.files(own) / ROOT
            land = userland.check(self.userland)
            where_files, supplied = guest.supply(self.supplies, land, own, root)
            # The guest's console drops its input for good once 4096 bytes wait (N_TTY's buffer),
            # so that releases after a longer request would not arrive.
            request = (root / REQUEST, f"/{REQUEST}")
            if land is not None:
                where_files = where_files or guest.empty_supply(own)
                request = (where_files / REQUEST, f"{userland.FILES}/{REQUEST}")
            if device is not None:
                guest.add_modules(root, fetch.kept_modules(kernel, modules))
            command = self.command(
                kernel.path, root, own / "uml", device, writable, land=land, supplied=where_files
            )
            memory = {"TMPDIR": str(self._memory_directory())}
            session = ProcessSession(
                self.name,
                Launch(
                    command=launch.wrap(command, cpus=where, powerless=True),
                    guest=True,
                    pipes=True,
                    environment=memory | self._preload(kernel),
                    scratch=userland.SCRATCH if self.userland else self.scratch,
                    supplied=supplied,
                    files=files,
                    request_file=None if device else request,
                ),
                journal,
            )
        with on_error(session.stop):
            session.wait_ready(timeout_s)
        return session

    def make_files(self, own: Path) -> None:
        guest.build_root(own / ROOT, self.agent_path)

    def _preload(self, kernel: kernels.Kernel) -> dict[str, str]:
        return {"LD_PRELOAD": str(shim.build())} if shim.needed(kernel) else {}


def _holds_memory(directory: Path, needed: int) -> bool:
    try:
        state = os.statvfs(directory)
    except OSError:
        return False
    # The kernel maps its memory executable.
    return (
        os.access(directory, os.W_OK | os.X_OK)
        and not state.f_flag & os.ST_NOEXEC
        and state.f_bavail * state.f_frsize >= needed
    )
