"""What a machine runs now, and whether that is what it was to boot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from pentathlon.machine.errors import TargetError
from pentathlon.safeio.clipping import clip

SCRIPT = r"""
printf 'pentathlon release %s\n' "$(uname -r)"
printf 'pentathlon version %s\n' "$(uname -v)"
printf 'pentathlon cmdline %s\n' "$(tr '\n' ' ' </proc/cmdline)"
printf 'pentathlon boot_id %s\n' "$(cat /proc/sys/kernel/random/boot_id)"
"""

MOST_SHOWN = 300
"""Characters of a command line that a sentence quotes."""


class ExpectSpec(Protocol):
    """What each boot of a system must be; None: anything."""

    @property
    def release(self) -> str | None: ...
    @property
    def version(self) -> str | None: ...
    @property
    def cmdline(self) -> str | None: ...


@dataclass(frozen=True)
class Running:
    """The kernel that runs.

    Attributes:
        cmdline: /proc/cmdline, one line.
        boot_id: random(4).
    """

    release: str
    version: str
    cmdline: str
    boot_id: str

    def words(self) -> str:
        """The kernel for a sentence."""
        return f'release {self.release}, command line "{clip(self.cmdline, MOST_SHOWN)}"'


def read(output: str) -> Running:
    """What `SCRIPT` printed; a login shell may print something before it.

    Raises:
        TargetError: it lacks something.
    """
    found: dict[str, str] = {}
    for line in output.splitlines():
        mark, _, rest = line.partition(" ")
        name, _, value = rest.partition(" ")
        if mark == "pentathlon" and name in ("release", "version", "cmdline", "boot_id"):
            found[name] = value.strip()
    if not found.get("release") or not found.get("boot_id"):
        raise TargetError("it does not report its kernel and boot id (uname(1), random(4))")
    return Running(
        found["release"], found.get("version", ""), found.get("cmdline", ""), found["boot_id"]
    )


def difference(running: Running, expect: ExpectSpec, words: Sequence[str] = ()) -> str | None:
    """How a kernel that runs differs from the one that was to boot, as the end of a sentence.

    Args:
        words: what must be on the command line beside what `expect` names.
    """
    present = running.cmdline.split()
    missing = [w for w in (*(expect.cmdline or "").split(), *words) if w not in present]
    wanted: list[str] = []
    got: list[str] = []
    for name, pattern, value in (
        ("release", expect.release, running.release),
        ("version", expect.version, running.version),
    ):
        if pattern is not None and not fnmatchcase(value, pattern):
            wanted.append(f'{name} "{pattern}"')
            got.append(f'{name} "{value}"')
    if missing:
        listed = " ".join(dict.fromkeys(missing))
        wanted.append(f'"{listed}" on the command line')
        got.append(f'command line "{clip(running.cmdline, MOST_SHOWN)}"')
    if not wanted:
        return None
    if not got[0].startswith("release"):
        got.insert(0, f"release {running.release}")
    return f"expected {' with '.join(wanted)}; found {', '.join(got)}"
