"""What somebody writes on a command line, as the tables of a study: systems, commands, files."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pentathlon.images.reference import absolute, parse
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.study.reach import Ssh
from pentathlon.targets import registry
from pentathlon.targets.descriptor import Kind
from pentathlon.targets.userland import HOST

WORKLOAD: Final = "try.command"
"""Id of the one workload."""

SHELL: Final = re.compile(r"[|&;<>()$`*?\[\]#~{}\n]|\\")
"""Characters by which a shell means something else than themselves."""

SYSTEM_DIRECTORIES: Final = (
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/nix", "/opt", "/proc", "/sbin",
    "/sys", "/usr", "/var",
)  # fmt: skip
"""What lies there belongs to each system: it is not copied."""

OF_SYSTEM: Final = ("kernel", "memory", "accelerator", "scratch", "userland", "agent")
TEXTS: Final = {"kernel", "memory", "ssh.host"}
"""Keys whose values are texts, whatever they look like."""


class WordError(ValueError):
    """Words that mean nothing; one sentence."""


def system(text: str) -> dict[str, Any]:
    """The table of a system: `local`, `local:transparent_hugepage=never`, `uml:6.1`, `ssh:bench1`.

    Behind the colon stand parts with commas: the kernel or the host alone, and KEY=VALUE for keys
    of `[[system]]`, of its `ssh` and of its `settings`. For `command` it is a command line.

    Raises:
        WordError: it names no kind of system, or a part is no KEY=VALUE.
    """
    name, _, rest = text.partition(":")
    kind = registry.find(name)
    if kind is None:
        known = registry.names()
        raise WordError(f'"{name}" is no kind of system{did_you_mean(name, known)}')
    table: dict[str, Any] = {"name": "", "target": name}
    if kind.alone is not None and kind.own_keys.get(kind.alone) == list[str]:
        if rest:
            _put(table, kind, kind.alone, _words(rest))
        return table
    parts = rest.split(",") if rest else []
    for place, part in enumerate(parts):
        key, equals, value = part.partition("=")
        if equals and ":" in key:
            before, _, after = part.rpartition(":")
            raise WordError(f'"{name}:{part}": a comma separates parts: {name}:{before},{after}')
        if not equals:
            if place or kind.alone is None:
                text = f'"{part}" is no setting of a system; write it as {name}:KEY=VALUE'
                raise WordError(text)
            key, value = kind.alone, part
        _put(table, kind, key, _value(key, value))
    # A system with a disk of its own has its own user land.
    if kind.takes("userland") and table.keys().isdisjoint(kind.instead.values()):
        named = table.setdefault("userland", HOST)
        if isinstance(named, str) and named != HOST:
            table["userland"] = absolute(named, Path.cwd())
    return table


def _words(line: str) -> list[str]:
    """The words of a command line, as a shell takes it apart."""
    try:
        return shlex.split(line)
    except ValueError as error:
        raise WordError(f'"{line}" is no command line: {error}') from error


def check_userland(table: dict[str, Any]) -> None:
    """That the user land of a system is there.

    Raises:
        WordError: it is not.
    """
    named = table.get("userland", HOST)
    if not isinstance(named, str) or named == HOST:
        return
    image = parse(named)
    path = Path(named) if image is None else image.path
    if not path.exists():
        raise WordError(
            f'the userland "{path}" is not there; name a directory, an archive, oci:LAYOUT or '
            '"host"'
        )


def _put(table: dict[str, Any], kind: Kind, key: str, value: Any) -> None:
    far = (kind.alone or "").rpartition(".")[0]
    group, dot, inner = key.rpartition(".")
    if far and key in Ssh.model_fields:
        table.setdefault(far, {})[key] = value
    elif dot:
        table.setdefault(group, {})[inner] = value
    elif key in OF_SYSTEM or key in kind.own_keys:
        table[key] = value
    elif key == "cpus":
        table[key] = value if isinstance(value, list) else [value]
    else:
        table.setdefault("settings", {})[key] = value


def _value(key: str, text: str) -> Any:
    """A value as TOML would have it."""
    if key in TEXTS:
        return text
    if key == "cpus":
        parts = text.split("+")
        return [int(one) if re.fullmatch(r"-?\d+", one) else one for one in parts]
    if text in {"true", "false"}:
        return text == "true"
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d+\.\d+", text) else text


@dataclass(frozen=True)
class Command:
    """A command as it is run, and the files that it needs beside it.

    Attributes:
        name: its program, for names of systems.
    """

    name: str
    words: list[str]
    files: list[str]


def commands(words: Sequence[str]) -> list[list[str]]:
    """The commands, with "--" between them.

    Raises:
        WordError: one of them is empty.
    """
    found: list[list[str]] = [[]]
    for word in words:
        if word == "--":
            found.append([])
        else:
            found[-1].append(word)
    if not all(found):
        raise WordError(
            'a command is missing; write it behind "--", such as: -- ./mybench --size 4'
        )
    return found


def command(words: Sequence[str], directory: Path) -> Command:
    """A command with its own files: what it names of this directory is copied and called by its
    last name.

    A single word with blanks is a command line: it is taken apart as a shell would, and a shell
    runs it if more than words are meant.

    Raises:
        WordError: the quotes of a command line are not closed.
    """
    if len(words) == 1 and " " in words[0].strip() and not (directory / words[0]).exists():
        line = words[0]
        if SHELL.search(line):
            return Command(_name(line.split()[0]), ["sh", "-c", line], [])
        words = _words(line)
    own, files = [], []
    for place, word in enumerate(words):
        found = _file(word, directory, program=not place)
        if found is None:
            own.append(word)
            continue
        files.append(str(found))
        own.append(f"./{found.name}" if not place or word.startswith("./") else found.name)
    return Command(_name(words[0]), own, files)


def _file(word: str, directory: Path, *, program: bool) -> Path | None:
    """The file that a word names and that a system does not have by itself, or None."""
    if not word or word.startswith("-") or "\0" in word or (program and "/" not in word):
        return None
    if Path(word).is_absolute() and (not program or word.startswith(SYSTEM_DIRECTORIES)):
        return None
    path = Path(os.path.normpath(directory / word))
    if path in {directory, *directory.parents} or not os.path.lexists(path):
        return None
    return path


def _name(word: str) -> str:
    """A part of a system's name."""
    plain = re.sub(r"[^A-Za-z0-9._+-]", "-", Path(word).name).lstrip("._+-")
    return plain[:24] or "command"
