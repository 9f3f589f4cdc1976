"""What every way of choosing a boot offers, and the entries that it can choose from."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.targets.ssh.boots.running import ExpectSpec, Running

PRELUDE = r"""
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
if [ "$(id -u)" = 0 ]; then S=; else S="sudo -n"; fi
"""
"""Before every script: administrators' programs, and `$S` as the word that gives root's rights."""

OWN = "pentathlon"
"""What an entry is called that is made for one system and removed afterwards."""

RELEASE = re.compile(r"vmlinu[xz]-([0-9][^\s/]*)")

GLOB = re.compile(r"[*?[]")

MOST_LISTED = 20
"""Entries that a sentence lists."""

Ask = Callable[[str], str]
"""Runs a POSIX shell script on the machine and returns what it prints."""


class BootSpec(Protocol):
    """What a study says of a boot (`pentathlon.study.boot.Boot`)."""

    @property
    def method(self) -> str: ...
    @property
    def entry(self) -> str | None: ...
    @property
    def kernel(self) -> str | None: ...
    @property
    def initrd(self) -> str | None: ...
    @property
    def cmdline(self) -> str | None: ...
    @property
    def command(self) -> str | None: ...
    @property
    def back(self) -> str | None: ...
    @property
    def expect(self) -> ExpectSpec: ...


@dataclass(frozen=True)
class Anything:
    """Expects nothing (`ExpectSpec`)."""

    release: str | None = None
    version: str | None = None
    cmdline: str | None = None


@dataclass(frozen=True)
class Unchosen:
    """A boot of which only the method is known (`BootSpec`)."""

    method: str
    entry: str | None = None
    kernel: str | None = None
    initrd: str | None = None
    cmdline: str | None = None
    command: str | None = None
    back: str | None = None
    expect: Anything = Anything()


@dataclass(frozen=True)
class Entry:
    """Something that a machine can boot.

    Attributes:
        id: as the loader is asked for it, such as "gnulinux-advanced>gnulinux-6.1.0-18".
        names: other names that mean it.
        release: of its kernel, where its file states it.
        cmdline: its kernel's, where it is known.
        default: each start that nobody chooses an entry for boots it.
        runs: it is the kernel that the machine runs now.
    """

    id: str
    title: str
    names: tuple[str, ...] = ()
    release: str | None = None
    cmdline: str | None = None
    default: bool = False
    runs: bool = False


class Loader(ABC):
    """One way of choosing what a machine boots next.

    Args:
        boot: what the study asks for.
        ask: runs a script on the machine.
        host: its name, for sentences.
    """

    name: str
    """The method."""

    def __init__(self, boot: BootSpec, ask: Ask, host: str) -> None:
        self.boot = boot
        self.ask = ask
        self.host = host

    @abstractmethod
    def entries(self) -> list[Entry]:
        """What there is to boot.

        Raises:
            TargetUnavailable: the machine has not this loader.
        """

    def check(self) -> Entry:
        """The entry that the study names; changes nothing.

        Raises:
            TargetUnavailable: there is none, or it cannot be booted as the study asks.
        """
        return find(self.entries(), self.boot.entry or "", self.host, self.name)

    @abstractmethod
    def arm(self, home: Running) -> str:
        """A script that makes the next start the wanted one, and only that one.

        It may also restart the machine (`restarts`).

        Args:
            home: what the machine runs in its default entry.

        Raises:
            TargetUnavailable: the entry is not there any more.
        """

    @property
    def restarts(self) -> bool:
        """Whether the script of `arm` restarts the machine itself."""
        return False

    def words(self) -> tuple[str, ...]:
        """What must be on the command line of each boot."""
        return tuple((self.boot.cmdline or "").split())

    def booted(self, running: Running, home: Running) -> str | None:
        """What shows that another entry was booted than the wanted one, as a clause, or None."""
        return None

    def state(self) -> str:
        """The loader's state as a clause, such as "GRUB's next_entry is unset"."""
        lines = self.ask(PRELUDE + self.STATE).strip().splitlines()
        return lines[-1] if lines else "the loader's state is not known"

    STATE: str = 'echo "the loader\'s state is not known"'
    """Prints the state, one line."""

    DISARM: str = ""
    """Undoes what `arm` did where the machine has not been started since; may be run twice."""


def disarm_all(loaders: Sequence[type[Loader]]) -> str:
    """A script that undoes every method's choice of the next start."""
    return PRELUDE + "\n".join(f"( {one.DISARM.strip()} )" for one in loaders if one.DISARM)


def find(entries: Sequence[Entry], wanted: str, host: str, method: str) -> Entry:
    """The entry that a name means: an id, another name or a title, or a pattern of these with `*`,
    `?` and `[...]` as in a shell.

    Raises:
        TargetUnavailable: none, or several.
    """
    for same in (
        [one for one in entries if one.id == wanted],
        [one for one in entries if wanted in one.names],
        [one for one in entries if one.title == wanted],
    ):
        if len(same) == 1:
            return same[0]
        if same:
            ids = ", ".join(f'"{one.id}"' for one in same)
            raise TargetUnavailable(
                f'{host} has {len(same)} entries "{wanted}" for {method}; name one of {ids}'
            )
    if GLOB.search(wanted):
        return _match(entries, wanted, host, method)
    known = [one.id for one in entries]
    hint = did_you_mean(wanted, known)
    raise TargetUnavailable(
        f'{host} has no entry "{wanted}" for {method}{hint}', f"pentathlon boots {host}"
    )


def _match(entries: Sequence[Entry], pattern: str, host: str, method: str) -> Entry:
    """The one entry whose id, title or other name a pattern means."""
    same = [
        one
        for one in entries
        if any(fnmatchcase(name, pattern) for name in (one.id, one.title, *one.names))
    ]
    if len(same) == 1:
        return same[0]
    found = same or entries
    ids = ", ".join(f'"{one.id}"' for one in found[:MOST_LISTED])
    more = f" and {len(found) - MOST_LISTED} more" if len(found) > MOST_LISTED else ""
    if same:
        raise TargetUnavailable(
            f'the pattern "{pattern}" means {len(same)} entries of {host} for {method}: {ids}'
            f"{more}; make it mean one"
        )
    raise TargetUnavailable(
        f'the pattern "{pattern}" means no entry of {host} for {method}, which has {ids or "none"}'
        f"{more}",
        f"pentathlon boots {host}",
    )


def quoted(text: str) -> str:
    """A text as TOML and JSON write it."""
    return json.dumps(text, ensure_ascii=False)
