"""What loaders of the Boot Loader Interface report in EFI variables, and what GRUB does not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.targets.ssh.boots.bootctl import Bootctl
from pentathlon.targets.ssh.boots.efi_variables import READ, VARIABLES, VENDOR
from pentathlon.targets.ssh.boots.grub import Grub
from pentathlon.targets.ssh.boots.loader import Unchosen
from pentathlon.targets.ssh.boots.running import Running

HOME = Running("6.1.0", "#1", "ro", "x")
ENTRY = '{"id":"linux-6.1.conf","path":"/efi/loader/entries/linux-6.1.conf","version":"6.1.0"}\n'


def test_a_variable_is_read_where_nothing_can_seek(tmp_path: Path) -> None:
    """As in efivarfs of Linux 6.1, whose files tail(1) cannot read: here it refuses every file."""
    tail = tmp_path / "tail"
    tail.write_text(f'#!/bin/sh\n[ $# = 2 ] || exit 1\nexec {shutil.which("tail")} "$@"\n')
    tail.chmod(0o755)
    name = tmp_path / f"LoaderInfo-{VENDOR}"
    name.write_bytes(b"\6\0\0\0" + "systemd-boot 252".encode("utf-16-le") + b"\0\0")
    script = READ.replace(VARIABLES, str(tmp_path)) + "read_variable LoaderInfo; read_variable No"
    done = subprocess.run(
        ["sh", "-c", script], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True,
        check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (b"systemd-boot 252", b"")


@pytest.mark.parametrize("suffix", ["", ".conf"])
def test_another_entry_than_the_wanted_one_was_selected(suffix: str) -> None:
    def ask(script: str) -> str:
        return ENTRY if "bootctl list" in script else f"linux-5.10{suffix}\n"

    loader = Bootctl(Unchosen("bootctl", entry="linux-6.1"), ask, "bench")
    assert loader.booted(HOME, HOME) == (
        f'the loader selected the entry "linux-5.10{suffix}" instead of "linux-6.1.conf", '
        "whose kernel may have panicked and started anew"
    )


def test_grub_is_not_asked_where_another_loader_started_the_machine() -> None:
    menu = "found /boot/grub\nenv saved_entry=x\ncfg menuentry 'Debian' --id x {\ncfg }\n"
    spec = Unchosen("grub", entry="x")
    other = Grub(spec, lambda _: menu + "loader systemd-boot 252.39-1\n", "bench")
    with pytest.raises(
        TargetUnavailable, match=r"started by systemd-boot 252\.39-1 and not by GRUB"
    ):
        other.entries()
    # After kexec GRUB's word is gone, and newer ones of it report themselves.
    for loader in ("loader \n", "loader GRUB 2.12\n"):
        (entry,) = Grub(spec, lambda _, last=loader: menu + last, "bench").entries()
        assert entry.id == "x"
