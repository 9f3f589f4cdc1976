"""Directories of this machine for a virtual machine: virtiofs, with a server process for each.

Debian's kernels for virtual machines know this file system in every flavour; of 9p the flavour
"cloud" has nothing. The server is QEMU's own virtiofsd(1). It gives up its capabilities and sees
nothing but the directory; where that is only for reading, the server itself cannot write to it,
whatever the guest does.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.undo_journal import UndoJournal

PROGRAM: Final = Path("/usr/lib/qemu/virtiofsd")
PACKAGE: Final = "qemu-system-common"

MACHINE: Final = "machine"
FILES: Final = "files"
WRITABLE: Final = "writable"
"""Tags of the devices, the second with a number behind it (agent/crates/session/src/machine.rs)."""

CAPABILITIES: Final = (
    "chown", "dac_override", "fowner", "fsetid", "setgid", "setuid", "mknod", "setfcap",
)  # fmt: skip
"""What virtiofsd would keep (capabilities(7)); a guest's files are those of this machine's user."""

KEPT: Final = "cache=always"
"""Of a directory that nobody changes the guest may keep what it has read."""
SHARED: Final = "cache=auto,timeout=0"
"""Where both sides write, names and attributes are requested anew each time, and a file's bytes
whenever it is opened; what a guest writes is in the machine's file at once."""

READ_ONLY: Final = Path(__file__).with_name("read_only.py")


@dataclass(frozen=True)
class Share:
    """A directory that is served.

    Attributes:
        tag: how the guest names it.
        connection: QEMU's end of the connection to the server.
        server: its process.
        errors: a file without a name, with what it prints as errors.
    """

    tag: str
    connection: socket.socket
    server: subprocess.Popen[bytes]
    errors: IO[bytes]

    def words(self) -> list[str]:
        """QEMU's words for the device."""
        return [
            *["-chardev", f"socket,id={self.tag},fd={self.connection.fileno()}"],
            *["-device", f"vhost-user-fs-pci,chardev={self.tag},tag={self.tag}"],
        ]

    def last_words(self) -> str:
        """The last line of its errors, or nothing."""
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def close(self) -> None:
        """Give up this process's files of it, once QEMU has its own."""
        self.connection.close()
        self.errors.close()


def check() -> None:
    """Whether directories can be shown to a virtual machine.

    Raises:
        TargetUnavailable: they cannot.
    """
    if not os.access(PROGRAM, os.X_OK):
        raise TargetUnavailable(
            f"the program {PROGRAM} is not installed, by which a virtual machine sees this "
            "machine's files",
            f"sudo apt-get install {PACKAGE}",
        )


def serve(
    own: Path, journal: UndoJournal, writable: Sequence[Path], cpus: Sequence[int] | None
) -> list[Share]:
    """Serve the root directory, only for reading, and the directories `writable`.

    A server ends when its guest does, and with the session of the journal.

    Args:
        own: a private directory.
        journal: the guest's.
        cpus: CPUs that the servers may run on.

    Raises:
        TargetError: the name of a directory cannot be passed to the guest.
    """
    for place in writable:
        if re.search(r"[\s,\"]", str(place)):
            raise TargetError(
                f'a virtual machine cannot write to "{place}", because of the blank, the comma or '
                "the quotation mark in its name"
            )
    wanted = {MACHINE: f"source=/,{KEPT}"}
    wanted |= {f"{WRITABLE}{n}": f"source={place},{SHARED}" for n, place in enumerate(writable)}
    return [
        _serve(own, journal, tag, f"{options},{_always()}", cpus) for tag, options in wanted.items()
    ]


def serve_userland(
    own: Path, journal: UndoJournal, root: Path, files: Path | None, cpus: Sequence[int] | None
) -> list[Share]:
    """Serve a root directory and the files of commands, both only for reading.

    Args:
        own: a private directory.
        journal: the guest's.
        cpus: CPUs that the servers may run on.
    """
    wanted = {MACHINE: root} | ({FILES: files} if files is not None else {})
    return [
        _serve(own, journal, tag, f"source={place},{KEPT},{_always()}", cpus)
        for tag, place in wanted.items()
    ]


def _always() -> str:
    """Options of every server. The other sandbox would make the directory the root of new mounts,
    which "/" is already."""
    return "log_level=err,sandbox=chroot,modcaps=" + ":".join(f"-{name}" for name in CAPABILITIES)


def _serve(
    own: Path, journal: UndoJournal, tag: str, options: str, cpus: Sequence[int] | None
) -> Share:
    with socket.socket(socket.AF_UNIX) as listening:
        connection = _connected(listening, own)
        command = [str(PROGRAM), f"--fd={listening.fileno()}", "-o", options]
        if tag in (MACHINE, FILES):
            command = [sys.executable, "-I", str(READ_ONLY), *command]
        errors = tempfile.TemporaryFile()  # noqa: SIM115  (`Share.close`)
        nothing = subprocess.DEVNULL
        server, _ = launch.start(
            launch.wrap(command, cpus=cpus), journal, stdin=nothing, stdout=nothing, stderr=errors,
            pass_fds=[listening.fileno()],
        )  # fmt: skip
    return Share(tag, connection, server, errors)


def _connected(listening: socket.socket, own: Path) -> socket.socket:
    """The other end of the one connection that a socket is going to accept.

    It waits there whether the server runs already or not; nobody finds the socket afterwards.
    """
    directory = os.open(own, os.O_PATH)
    try:
        # The name of a socket has room for 108 bytes (unix(7)), and the directory's may be longer.
        place = Path(f"/proc/self/fd/{directory}/share")
        listening.bind(str(place))
        listening.listen(1)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(place))
        place.unlink()
    finally:
        os.close(directory)
    return connection
