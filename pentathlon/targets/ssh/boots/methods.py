"""The ways of choosing a boot, by the names that a study gives them."""

from __future__ import annotations

from pentathlon.targets.ssh.boots.bootctl import Bootctl
from pentathlon.targets.ssh.boots.efi import Efi
from pentathlon.targets.ssh.boots.grub import Grub
from pentathlon.targets.ssh.boots.kexec import Kexec
from pentathlon.targets.ssh.boots.loader import Loader
from pentathlon.targets.ssh.boots.own import Own

LOADERS: tuple[type[Loader], ...] = (Grub, Bootctl, Efi, Kexec, Own)

BY_NAME: dict[str, type[Loader]] = {one.name: one for one in LOADERS}
