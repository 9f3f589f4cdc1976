"""The kinds of change that the undo journal knows, and the way back of each.

Each way back may be taken twice, and does nothing where the change was written down but not made.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import socket
import time
from pathlib import Path
from typing import Any

from pentathlon.machine import interfaces, processes
from pentathlon.machine.inside_namespace import offload
from pentathlon.machine.tools import on_path, run

PREFIX = "pentathlon-"
"""Names of directories that a session makes start so; nothing else is ever removed."""

GRO = 0x2C
"""ETHTOOL_SGRO of linux/ethtool.h."""
CARD_S = 5.0
"""How long the kernel may take to give a card back whose namespace is gone, in seconds."""

KERNEL_FILES = (Path("/proc/sys"), Path("/sys"), Path("/proc/irq"))
"""Where the settings lie that are put back; a journal that names another file is not ours."""

Entry = dict[str, Any]


class NotOurs(OSError):
    """An entry that this program cannot have written; `strerror` is a clause."""

    def __init__(self, clause: str) -> None:
        super().__init__(errno.EPERM, clause)


def setting(path: Path, old: str, new: str) -> Entry:
    """A value in a kernel's file, such as one in sysfs(5)."""
    return {"change": "setting", "path": str(path), "from": old, "to": new}


def is_setting(entry: Entry) -> bool:
    """Whether an entry is of a value in a kernel's file."""
    return bool(entry["change"] == "setting")


def cgroup(path: Path) -> Entry:
    """A control group that the session makes."""
    return {"change": "cgroup", "path": str(path)}


def directory(path: Path) -> Entry:
    """A directory that the session makes and fills."""
    return {"change": "directory", "path": str(path)}


def process(leader: int, start: int) -> Entry:
    """The processes of a session, by its leader and the leader's start."""
    return {"change": "processes", "leader": leader, "start": start}


def card(name: str, pid: int, state: dict[str, int]) -> Entry:
    """A network interface that is lent to the network namespace of a process.

    Args:
        state: what it was: `mtu`, `up`, `gro` (generic receive offload).
    """
    return {"change": "card", "path": name, "pid": pid, "state": state}


def booted(machine: dict[str, Any], home: str) -> Entry:
    """Another machine that may be asked to boot something else than its default entry.

    Args:
        machine: how it is reached and restarted; nothing that is secret.
        home: id of the boot in which it was before (random(4)).
    """
    return {"change": "booted", **machine, "home": home}


def is_elsewhere(entry: Entry) -> bool:
    """Whether an entry is of another machine, whose kind of target alone knows the way back."""
    return bool(entry["change"] == "booted")


def text(entry: Entry) -> str:
    """The change in words."""
    match entry.get("change"):
        case "booted":
            return f"the entry that {entry['address'].get('host')} boots"
        case "setting":
            return f"{entry['path']} from {entry['from']} to {entry['to']}"
        case "processes":
            return f"processes of session {entry['leader']}"
        case kind:
            return f"{kind} {entry.get('path')}"


def current(path: Path) -> str:
    """The value in a kernel's file: of `always [madvise] never` the bracketed word; of several
    numbers, which the kernel separates by tabs, the words."""
    value = " ".join(path.read_text().split())
    if "[" in value and "]" in value:
        return value[value.index("[") + 1 : value.index("]")]
    return value


def check(entry: Entry) -> None:
    """That an entry that was read from a file is one of this program.

    Raises:
        NotOurs: it is none.
    """
    kinds: dict[object, dict[str, type]] = {
        "setting": {"path": str, "from": str, "to": str},
        "processes": {"leader": int, "start": int},
        "cgroup": {"path": str},
        "card": {"path": str, "pid": int, "state": dict},
        "interface": {},
        "directory": {"path": str},
        "booted": {"address": dict, "reboot": str, "back": str, "power": dict, "home": str},
    }
    keys = kinds.get(entry.get("change"))
    if keys is None:
        raise NotOurs("it names no kind of change that this version knows")
    for key, kind in keys.items():
        if not isinstance(entry.get(key), kind):
            raise NotOurs(f'its "{key}" is missing or of the wrong kind')
    if entry["change"] == "setting":
        path = Path(entry["path"])
        # What the path really is: a link or ".." may lead elsewhere.
        real = Path(os.path.realpath(path))
        if not path.is_absolute() or not any(real.is_relative_to(root) for root in KERNEL_FILES):
            raise NotOurs(f"{path} is no setting of the kernel")
    elif entry["change"] in {"cgroup", "directory"}:
        _own(entry["path"])


def put_back(entry: Entry, token: str, same_boot: bool) -> str | None:
    """Put one change back.

    Args:
        entry: the change.
        token: the session's token.
        same_boot: whether the machine has not been started anew since; what lives in the kernel's
            memory is gone otherwise.

    Returns:
        A sentence, if somebody else has changed the value since and it was left as it is, or if
        what was changed is gone.

    Raises:
        OSError: it could not be put back, or is not this program's (`NotOurs`).
    """
    match entry["change"]:
        case "setting" if same_boot:
            return _setting(Path(entry["path"]), entry["from"], entry["to"])
        case "processes" if same_boot:
            left = processes.end_session(token, entry["leader"], entry["start"])
            if left:
                raise OSError(errno.EBUSY, f"processes {left} do not end")
        case "cgroup" if same_boot:
            _cgroup(_own(entry["path"]))
        case "card" if same_boot:
            return _card(entry["path"], entry["pid"], entry["state"])
        case "interface" if same_boot:
            return interfaces.put_back(entry)
        case "directory":
            path = _own(entry["path"])
            if path.exists():
                shutil.rmtree(path)
    return None


def _own(path: str) -> Path:
    own = Path(path)
    if not own.is_absolute() or ".." in own.parts or not own.name.startswith(PREFIX):
        raise NotOurs(f"{path} is not a directory of this program")
    return own


def _setting(path: Path, old: str, new: str) -> str | None:
    try:
        now = current(path)
    except FileNotFoundError:
        return f"{path} is gone, so it was not put back"
    if now == new and now != old:
        path.write_text(old)
        now = current(path)
        if now != old:
            raise OSError(errno.EIO, f"{path} reads {now} after {old} was written")
    elif now != old:
        return f"{path} reads {now}, which this program did not write; it was left as it is"
    return None


def _card(name: str, pid: int, state: dict[str, int]) -> str | None:
    """Take a card back from a namespace, or wait until the kernel does (network_namespaces(7))."""
    deadline = time.monotonic() + CARD_S
    while name not in {known for _, known in socket.if_nameindex()}:
        if time.monotonic() > deadline:
            return f"the interface {name} did not come back; its settings were left as they are"
        enter = ["nsenter", "--target", str(pid), "--net", "--"]
        _quietly([*enter, "ip", "link", "set", name, "netns", str(os.getpid())])
        time.sleep(0.02)
    with contextlib.suppress(OSError):
        offload(name, GRO, state["gro"])
    up = ["up"] if state["up"] else ["down"]
    if not _quietly(["ip", "link", "set", name, "mtu", str(state["mtu"]), *up]):
        raise OSError(errno.EIO, f"{name} does not take its settings")
    return None


def _quietly(command: list[str]) -> bool:
    program = on_path(command[0])
    return program is not None and run([program, *command[1:]], 10).returncode == 0


def _cgroup(path: Path) -> None:
    deadline = time.monotonic() + 5.0
    while path.exists():
        try:
            path.rmdir()
        except OSError as error:
            # A process that has just been killed leaves its group a little later.
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
            for pid in (path / "cgroup.procs").read_text().split():
                processes.kill(int(pid))
            time.sleep(0.01)


def make_directory(path: Path) -> None:
    """Make a directory of a session; only its owner may look inside."""
    _own(str(path)).mkdir(0o700)
