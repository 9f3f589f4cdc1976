"""Settings of a network interface that is not ours, in any network namespace, and their way back.

An entry of the undo journal names the namespace by its inode and the interface by its index too, so
that nothing is set on another one that has its name by then.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pentathlon.machine import inside_namespace, tools

OWN = Path("/proc/self/ns/net")
NAMED = Path("/run/netns")
"""Where ip-netns(8) keeps the namespaces that have a name."""

STEP_S = 20.0
"""Longest time for one look or one change, in seconds."""

Entry = dict[str, Any]


def entry(
    namespace: Path, name: str, index: int, before: dict[str, int], after: dict[str, int]
) -> Entry:
    """For the journal: settings of an interface.

    Args:
        namespace: the file of its network namespace.
        index: of the interface.
        before, after: setting -> value; the names are those of `inside.SETTINGS`.
    """
    return {
        "change": "interface", "path": name, "namespace": namespace.stat().st_ino, "index": index,
        "from": before, "to": after,
    }  # fmt: skip


def settings(namespace: Path, name: str) -> dict[str, int]:
    """Index and settings of an interface.

    Raises:
        OSError: there is no such interface.
    """
    found: dict[str, int] = json.loads(ask(namespace, "settings", name))
    return found


def change(namespace: Path, name: str, wanted: dict[str, int]) -> dict[str, str]:
    """Set some; which the interface refused, with the reasons."""
    refused: dict[str, str] = json.loads(ask(namespace, "set", name, json.dumps(wanted)))
    return refused


def holder(namespace: Path, number: int) -> Path | None:
    """The file of the network namespace that has this id in the given one, if anybody holds it."""
    found = ask(namespace, "holder", str(number)).strip()
    return Path(found) if found else None


def ask(namespace: Path, *words: str) -> str:
    """What `inside` prints in a network namespace."""
    return run(namespace, inside_namespace.command(*words))


def run(namespace: Path, command: list[str]) -> str:
    """What a command prints in a network namespace.

    Raises:
        OSError: it failed; its own words are in the error.
    """
    if namespace != OWN:
        enter = tools.on_path("nsenter")
        if enter is None:
            raise OSError(errno.ENOENT, "the program nsenter is not installed")
        command = [str(enter), f"--net={namespace}", "--", *command]
    done = tools.run(command, STEP_S)
    if done.returncode:
        raise OSError(errno.EIO, tools.last_line(done.stderr))
    return done.stdout.decode()


def put_back(entry: Entry) -> str | None:
    """Put an interface's settings back; one that is gone needs nothing.

    Returns:
        A sentence about settings that somebody else has changed since, which stay as they are.

    Raises:
        OSError: it does not take them.
    """
    name, before, after = entry["path"], entry["from"], entry["to"]
    namespace = next((file for file in _namespaces() if _inode(file) == entry["namespace"]), None)
    if namespace is None:
        return None
    try:
        now = settings(namespace, name)
    except OSError:
        return None
    if now["index"] != entry["index"]:
        return None
    ours = {key: before[key] for key in after if now.get(key) == after[key] != before[key]}
    if ours and (refused := change(namespace, name, ours)):
        what = ", ".join(f"{key}: {why}" for key, why in refused.items())
        raise OSError(errno.EIO, f"{name} does not take its settings: {what}")
    others = [key for key in after if now.get(key) not in {after[key], before[key]}]
    if others:
        what = ", ".join(f"{key} is {now.get(key)}" for key in others)
        return f"of the interface {name} {what}, which this program did not set; it was left so"
    return None


def _namespaces() -> Iterator[Path]:
    yield OWN
    yield from NAMED.glob("*")
    yield from Path("/proc").glob("[0-9]*/ns/net")


def _inode(file: Path) -> int | None:
    try:
        return file.stat().st_ino
    except OSError:
        return None
