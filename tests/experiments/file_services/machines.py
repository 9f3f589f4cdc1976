"""Machines for tests: sshd in network and mount namespaces of its own, joined to this one's by a
veth(4) pair. They share this machine's kernel and programs, but neither /tmp nor this package, so
that a path which is taken for common property is not there."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

import pentathlon
from pentathlon.experiments.file_services.programs import SYSTEM_PYTHON
from pentathlon.experiments.file_services.testbed import GATHER, SEGMENT, SEGMENT_ANY, SEND_CHECKSUM
from pentathlon.machine import inside_namespace
from pentathlon.study.reach import Ssh
from tests.targets.sshd import Sshd

PRIVATE = """
mount -t tmpfs tmpfs "$0" && mount -t tmpfs tmpfs /tmp && mount -t sysfs sysfs /sys &&
ip link set lo up && echo ready && exec sleep infinity
"""

# A virtual cable is gone with the namespace at its other end.
OF_INTERFACE = """
[ -e "/sys/class/net/$0" ] || exit 0
ip -o -4 addr show dev "$0" && ip neigh show nud permanent dev "$0" || [ ! -e "/sys/class/net/$0" ]
"""


@dataclass
class Machine:
    """One of them.

    Attributes:
        own, theirs: both ends of its cable, this machine's and its own.
    """

    own: str
    theirs: str
    ssh: Ssh
    holder: subprocess.Popen[str]
    server: Sshd

    @classmethod
    def start(cls, directory: Path, number: int) -> Machine:
        package = str(Path(pentathlon.__file__).parent)
        command = ["unshare", "--net", "--mount", "sh", "-c", PRIVATE, package]
        holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert holder.stdout is not None and holder.stdout.readline() == "ready\n"
        server = Sshd(directory / f"machine{number}")
        # Other tests have machines at the same time.
        tag = secrets.token_hex(3)
        made = cls(
            f"ptcard{tag}", f"ptfar{tag}",
            Ssh(host="bench", config=str(server.config)), holder, server,
        )  # fmt: skip
        made.plug_in()
        shutil.copytree(server.directory, made.path(server.directory))
        enter = f"nsenter --target {holder.pid} --net --mount -- {server.program}"
        with server.config.open("a") as file:
            file.write(f"    ProxyCommand {enter} -i -f {server.directory}/sshd.conf\n")
        return made

    def plug_in(self) -> None:
        """Lay its cable; a card does in hardware what a veth(4) would leave to the other side."""
        link = ["ip", "link", "add", self.own, "type", "veth", "peer", "name", self.theirs]
        subprocess.run([*link, "netns", str(self.holder.pid)], check=True)
        for code in (SEND_CHECKSUM, SEGMENT, SEGMENT_ANY, GATHER):
            words = ["offload", self.theirs, hex(code), "0"]
            enter = ["nsenter", "--target", str(self.holder.pid), "--net", "--"]
            subprocess.run(
                [*enter, sys.executable, "-I", inside_namespace.__file__, *words], check=True
            )

    def path(self, path: Path | str) -> Path:
        """A path of the machine, as this one reaches it."""
        return Path(f"/proc/{self.holder.pid}/root") / str(path).lstrip("/")

    def run(self, *command: str) -> str:
        """What a command prints there."""
        enter = ["nsenter", "--target", str(self.holder.pid), "--net", "--mount", "--"]
        done = subprocess.run([*enter, *command], capture_output=True, text=True, check=True)
        return done.stdout

    @contextlib.contextmanager
    def having(self, package: str) -> Iterator[None]:
        """Let the machine's interpreter have a package of this one, and what that needs."""
        look = "import site, sys; print(*sys.version_info[:2], site.getsitepackages()[0])"
        *version, place = self.run(SYSTEM_PYTHON, "-I", "-c", look).split()
        if tuple(map(int, version)) != sys.version_info[:2] or not self.path(place).is_dir():
            pytest.skip(f"packages of this interpreter are not for {SYSTEM_PYTHON}")
        self.run("mount", "-t", "tmpfs", "tmpfs", place)
        try:
            for name in _with_needs(package):
                one = metadata.distribution(name)
                for file in one.files or ():
                    to = self.path(place) / file
                    if ".." not in file.parts:
                        to.parent.mkdir(parents=True, exist_ok=True)
                        shutil.copyfile(one.locate_file(file), to)
            yield
        finally:
            self.run("umount", place)

    def left(self) -> list[str]:
        """What a session has left there: files, addresses, settings, processes."""
        return [
            *(path.name for path in self.path("/tmp").glob("pentathlon-*")),
            *self.run("sh", "-c", OF_INTERFACE, self.theirs).splitlines(),
            *(name for name in self.processes().values() if name != "sleep"),
        ]

    def processes(self) -> dict[int, str]:
        """Id -> name of all that run there."""
        own = Path(f"/proc/{self.holder.pid}/ns/net").readlink()
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and _link(entry / "ns/net") == own:
                # It can end between one look and the next.
                with contextlib.suppress(OSError):
                    found[int(entry.name)] = (entry / "comm").read_text().strip()
        return found

    def hang_up(self) -> None:
        """Break every connection of ssh to it."""
        for pid, name in self.processes().items():
            if name == "sshd":
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def quiet(self) -> list[str]:
        """What is left after some time for it to go."""
        deadline = time.monotonic() + 60
        while (left := self.left()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return left

    def stop(self) -> None:
        self.holder.kill()
        self.holder.wait()
        assert self.holder.stdout is not None
        self.holder.stdout.close()


def _with_needs(package: str) -> set[str]:
    """Names of installed packages: this one, and all that it needs and that is installed."""
    found, new = set[str](), {package}
    while new:
        name = new.pop()
        # Some are for other versions of the interpreter only.
        with contextlib.suppress(metadata.PackageNotFoundError):
            needs = [one for one in metadata.requires(name) or () if "extra ==" not in one]
            found.add(name)
            new |= {re.split(r"[^\w.-]", one)[0] for one in needs} - found
    return found


def _link(path: Path) -> Path | None:
    try:
        return path.readlink()
    except OSError:
        return None
