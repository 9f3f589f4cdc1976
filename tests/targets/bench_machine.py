"""A machine that restarts, as far as its loader and its kernel can be played.

It is a real sshd(8) in namespaces with a /boot, a command line and a boot id of their own, and a
thread that is its firmware.

GRUB's environment block is a real one, written by the real grub-editenv(1). uname(1) is a script.
"""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pentathlon.targets.ssh.boots import grub_menu
from pentathlon.targets.ssh.client import Address
from tests.targets.conftest import connections_ended, descendants
from tests.targets.sshd import Sshd

MENU = r"""
set timeout=0
if [ -s $prefix/grubenv ]; then
  load_env
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
   set boot_once=true
else
   set default="${saved_entry}"
fi
function load_video {
  if [ x$feature_all_video_module = xy ]; then
    insmod all_video
  fi
}
menuentry 'Debian GNU/Linux' --class debian --class os $menuentry_id_option 'gnulinux-simple-6d0c' {
	load_video
	insmod gzio
	if [ x$grub_platform = xxen ]; then insmod xzio; fi
	search --no-floppy --fs-uuid --set=root 6d0c
	linux	/boot/vmlinuz-6.1.0-9-amd64 root=UUID=6d0c ro quiet
	initrd	/boot/initrd.img-6.1.0-9-amd64
}
submenu 'Advanced options for Debian GNU/Linux' $menuentry_id_option 'gnulinux-advanced-6d0c' {
	menuentry 'Debian GNU/Linux, with Linux 6.1.0-9-amd64' --class os $menuentry_id_option 'gnulinux-6.1.0-9-amd64-advanced-6d0c' {
		linux	/boot/vmlinuz-6.1.0-9-amd64 root=UUID=6d0c ro quiet
		initrd	/boot/initrd.img-6.1.0-9-amd64
	}
	menuentry "Debian GNU/Linux, with Linux 5.10.0-3-amd64" --class os $menuentry_id_option "gnulinux-5.10.0-3-amd64-advanced-6d0c" {
		linux	/boot/vmlinuz-5.10.0-3-amd64 root=UUID=6d0c ro quiet
		initrd	/boot/initrd.img-5.10.0-3-amd64
	}
	menuentry 'broken' --id panics {
		linux	/boot/vmlinuz-6.1.0-9-amd64 root=LABEL=NOWHERE ro panic=10
	}
	menuentry 'hanging' --id hangs {
		linux	/boot/vmlinuz-6.1.0-9-amd64 root=LABEL=NOWHERE ro panic=0
	}
}
if [ -f ${config_directory}/custom.cfg ]; then
  source ${config_directory}/custom.cfg
fi
"""  # noqa: E501  as grub-mkconfig writes it

DEFAULT = "gnulinux-simple-6d0c"
OLD = "gnulinux-advanced-6d0c>gnulinux-5.10.0-3-amd64-advanced-6d0c"
NEW = "gnulinux-advanced-6d0c>gnulinux-6.1.0-9-amd64-advanced-6d0c"

ENTER = """
mount --bind "$0/boot" /boot
mount --bind "$0/cmdline" /proc/cmdline
mount --bind "$0/boot_id" /proc/sys/kernel/random/boot_id
exec "$@"
"""

UNAME = """#!/bin/sh
[ ! -e {0}/asked ] || : >{0}/again
case $1 in -r) cat {0}/release ;; -v) echo "#1 SMP Debian" ;; *) exec /bin/uname "$@" ;; esac
"""


class BenchMachine(threading.Thread):
    """The machine; `reboot` over there is a file that this thread waits for.

    Attributes:
        swapped: release -> release of the kernel that has taken its place.
        forgetful: whether its GRUB fails to clear `next_entry`.
        lingers: whether it still answers while it shuts down, until it was asked whether it does,
            and once more for its kernel.
        booted: entry of every boot so far, in order; a kernel that hung or panicked too.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__(daemon=True)
        if shutil.which("grub-editenv") is None:
            pytest.skip("grub-common is not installed")
        self.server = Sshd(directory)
        self.directory = directory
        self.grub = directory / "boot" / "grub"
        self.grub.mkdir(parents=True)
        (directory / "bin").mkdir()
        self.script("uname", UNAME.format(directory))
        self.script("reboot", f"#!/bin/sh\n: >{directory}/restart\n")
        self.script("systemctl", f"#!/bin/sh\ncat {directory}/state\n: >{directory}/asked\n")
        self.server.set_variables(PATH=f"{directory}/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        (self.grub / "grub.cfg").write_text(MENU)
        self.environment("create")
        self.environment("set", f"saved_entry={DEFAULT}")
        self.swapped: dict[str, str] = {}
        self.forgetful = False
        self.lingers = False
        self.booted: list[str] = []
        self.over = threading.Event()
        self.address = Address("bench", config=str(self.server.config))
        self._boot(DEFAULT)

    def script(self, name: str, text: str) -> None:
        """Put a program over there."""
        path = self.directory / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def environment(self, *words: str) -> str:
        """grub-editenv(1) on its environment block."""
        command = ["grub-editenv", str(self.grub / "grubenv"), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    @property
    def next_entry(self) -> str:
        """What GRUB would boot next for once."""
        lines = self.environment("list").splitlines()
        return next((w.partition("=")[2] for w in lines if w.startswith("next_entry=")), "")

    def run(self) -> None:
        while not self.over.wait(0.02):
            restart = self.directory / "restart"
            if restart.exists():
                (self.directory / "state").write_text("stopping\n")
                restart.unlink()
                while self.lingers and not (self.directory / "again").exists():
                    if self.over.wait(0.02):
                        break
                self.power_off()
                self.power_on()

    def power_off(self) -> None:
        """Pull the plug: its connections end with it."""
        self.server.stop()

    def power_on(self) -> None:
        """Start, as firmware and GRUB would: a panic with a time starts again by itself."""
        wanted = self.next_entry
        if wanted and not self.forgetful:
            self.environment("unset", "next_entry")
        self._boot(wanted or DEFAULT)

    def _boot(self, wanted: str) -> None:
        text = (self.grub / "grub.cfg").read_text()
        own = self.grub / "custom.cfg"
        text += own.read_text() if own.exists() else ""
        found = [e for e in grub_menu.entries(text, DEFAULT) if wanted in (e.id, *e.names)]
        entry = found[0] if found else next(iter(grub_menu.entries(text, DEFAULT)))
        self.booted.append(entry.id)
        cmdline = entry.cmdline or ""
        if "NOWHERE" in cmdline:
            if "panic=10" in cmdline:
                self.power_on()
            return
        release = entry.release or ""
        release = self.swapped.get(release, release)
        (self.directory / "state").write_text("running\n")
        (self.directory / "release").write_text(release + "\n")
        line = f"BOOT_IMAGE=/boot/vmlinuz-{release} {cmdline}\n"
        (self.directory / "cmdline").write_text(line)
        number = len(self.booted)
        (self.directory / "boot_id").write_text(f"00000000-0000-4000-8000-{number:012}\n")
        self.server.start_machine(ENTER, self.directory)

    def idle(self) -> None:
        """Wait until it has nothing to do."""
        deadline = time.monotonic() + 10
        while (self.directory / "restart").exists() and time.monotonic() < deadline:
            time.sleep(0.02)

    def end(self) -> None:
        """Switch it off for good."""
        self.over.set()
        if self.is_alive():
            self.join()
        self.server.stop()


@contextmanager
def started(tmp_path: Path) -> Iterator[BenchMachine]:
    """A machine that is on; at the end no connection to it is left."""
    before = descendants()
    made = BenchMachine(tmp_path / "bench")
    made.start()
    yield made
    made.end()
    connections_ended(before)
