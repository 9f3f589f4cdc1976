"""kexec: the running kernel starts another one, without firmware and loader in between.

It is much faster than a restart, and not the same: devices are as the kernel before left them. Such
boots are therefore never mixed with those by firmware in one study.
"""

from __future__ import annotations

import re
import shlex

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.targets.ssh.boots.loader import PRELUDE, Entry, Loader
from pentathlon.targets.ssh.boots.running import Running

LOOK = r"""
command -v kexec >/dev/null || { echo none; exit 0; }
for one in /boot/vmlinu[xz]-*; do
    [ -f "$one" ] || continue
    release=${one#/boot/vmlinu?-}
    for initrd in "/boot/initrd.img-$release" "/boot/initramfs-$release.img" \
        "/boot/initrd-$release"
    do
        [ -f "$initrd" ] && break
        initrd=
    done
    echo "kernel $release $one $initrd"
done
"""

START = r"""
if [ -d /run/systemd/system ]; then $S systemctl kexec; else sync; $S kexec -e; fi
"""


class Kexec(Loader):
    """Another kernel by kexec(8)."""

    name = "kexec"
    STATE = 'echo "kexec_loaded is $(cat /sys/kernel/kexec_loaded 2>/dev/null || echo unknown)"'
    DISARM = r"""
if [ "$(cat /sys/kernel/kexec_loaded 2>/dev/null)" = 1 ]; then $S kexec -u; fi
"""

    @property
    def restarts(self) -> bool:
        return True

    def entries(self) -> list[Entry]:
        return [entry for entry, _, _ in self._look()]

    def _look(self) -> list[tuple[Entry, str, str]]:
        """Entries with the files of kernel and initial memory file system."""
        lines = self.ask(PRELUDE + LOOK).splitlines()
        if "none" in lines:
            raise TargetUnavailable(
                f"kexec(8) is not installed on {self.host}",
                f"ssh {self.host} sudo apt-get install kexec-tools",
            )
        running = self.ask("uname -r").strip()
        found = []
        for line in lines:
            mark, _, rest = line.partition(" ")
            words = rest.split(" ")
            if mark == "kernel" and len(words) == 3:
                release, kernel, initrd = words
                entry = Entry(id=release, title=kernel, release=release, runs=release == running)
                found.append((entry, kernel, initrd))
        return found

    def check(self) -> Entry:
        if self.boot.kernel is None:
            return super().check()
        files = [self.boot.kernel, *([self.boot.initrd] if self.boot.initrd else [])]
        self._look()
        script = "".join(
            f"$S test -f {shlex.quote(f)} || echo lacks {shlex.quote(f)}\n" for f in files
        )
        lacks = [w[6:] for w in self.ask(PRELUDE + script).splitlines() if w.startswith("lacks ")]
        if lacks:
            raise TargetUnavailable(f"{self.host} has no file {lacks[0]}, which kexec is to load")
        return Entry(id=self.boot.kernel, title=self.boot.kernel)

    def _files(self) -> tuple[str, str]:
        entry = self.check()
        if self.boot.kernel is not None:
            return self.boot.kernel, self.boot.initrd or ""
        (files,) = ((k, i) for known, k, i in self._look() if known.id == entry.id)
        return files

    def line(self, home: Running) -> str:
        """The whole command line: that of the default entry without its loader's own word."""
        return f"{_plain(home.cmdline)} {self.boot.cmdline or ''}".strip()

    def arm(self, home: Running) -> str:
        kernel, initrd = self._files()
        words = [shlex.quote(f"--command-line={self.line(home)}")]
        if initrd:
            words.append(shlex.quote(f"--initrd={initrd}"))
        load = f"-l {shlex.quote(kernel)} {' '.join(words)}"
        # A kernel that is locked down takes signed files only, by the newer system call.
        return f"{PRELUDE}$S kexec -s {load} 2>/dev/null || $S kexec -c {load} || exit 1\n{START}"

    def booted(self, running: Running, home: Running) -> str | None:
        wanted = self.line(home)
        if running.cmdline.split() == wanted.split():
            return None
        return (
            f'kexec was to give the command line "{wanted}", and it is "{running.cmdline}": the '
            "firmware's loader booted instead"
        )


def _plain(cmdline: str) -> str:
    return " ".join(re.sub(r"\b(BOOT_IMAGE|initrd)=\S+", " ", cmdline).split())
