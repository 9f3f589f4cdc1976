"""Which kernel a boot ran, as its inventory gives it, and whether that is the one it was to run.

A system is one kernel in one configuration. Boots that ran different ones are no repetitions of
each other, so the first boot that measured something states what the later ones have to run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pentathlon.protocol.events import Inventory

PATHS = {
    "release": "kernel.release",
    "version": "kernel.version",
    "command line": "kernel.command_line",
}
"""What must be the same in every boot of a system, and where the inventory has it."""

BOOT_ID = "kernel.boot_id"
"""random(4): another one in every boot of a kernel."""

OWN_DIRECTORY = re.compile(r"[^\s=]*/pentathlon-[0-9a-f]{8,}")
OWN_FILES = re.compile(r"\bfd:\d+")
BOOT_DEVICE = re.compile(r"(?<=BOOT_IMAGE=)\([^)]*\)")


@dataclass(frozen=True)
class Identity:
    """What one boot ran; None where its inventory does not say.

    Attributes:
        command_line: the kernel's, without what changes from boot to boot (`stable`).
    """

    release: str | None = None
    version: str | None = None
    command_line: str | None = None
    boot_id: str | None = None

    @property
    def known(self) -> bool:
        """Whether the inventory states anything at all."""
        return any((self.release, self.version, self.command_line, self.boot_id))

    def fields(self) -> dict[str, str | None]:
        """What must be the same in every boot, by the names of `PATHS`."""
        return dict(zip(PATHS, (self.release, self.version, self.command_line), strict=True))

    def kernel(self) -> str:
        """The kernel in words: release and version."""
        return ", ".join(part for part in (self.release, self.version) if part) or "(not given)"


def stable(command_line: str) -> str:
    """A command line without the names that a guest's start makes anew, and GRUB's disk number.

    >>> stable("BOOT_IMAGE=(hd0,gpt2)/vmlinuz-6.1 uml_dir=/tmp/pentathlon-0123456789abcdef/uml ro")
    'BOOT_IMAGE=/vmlinuz-6.1 uml_dir=(own)/uml ro'
    """
    text = OWN_DIRECTORY.sub("(own)", command_line)
    return BOOT_DEVICE.sub("", OWN_FILES.sub("fd:(own)", text))


def of_values(values: Mapping[str, Any]) -> Identity:
    """The identity from an inventory's leaves by path."""
    release, version, line = (_text(values.get(path)) for path in PATHS.values())
    return Identity(
        release, version, None if line is None else stable(line), _text(values.get(BOOT_ID))
    )


def of_event(event: Inventory) -> Identity:
    """The identity from an `inventory` event of the agent; unknown where it holds no system."""
    kernel = None if event.system is None else event.system.get("kernel")
    if not isinstance(kernel, Mapping):
        return Identity()
    return of_values({f"kernel.{name}": value for name, value in kernel.items()})


def difference(expected: Identity, found: Identity) -> str | None:
    """How a boot differs from what it was to be, as the end of a sentence, or None.

    A field that one of them does not give is no difference.
    """
    wanted, got = expected.fields(), found.fields()
    names = [
        name
        for name in PATHS
        if wanted[name] is not None and got[name] is not None and wanted[name] != got[name]
    ]
    if not names:
        return None
    sides = (", ".join(f'{name} "{side[name]}"' for name in names) for side in (wanted, got))
    return "expected the {}; found the {}".format(*sides)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
