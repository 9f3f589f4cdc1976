"""The words in front of a command that give it its place: parent, group, CPUs."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pentathlon.machine import processes, restore
from pentathlon.machine.cpus import AVAILABLE
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.tools import on_path, require
from pentathlon.machine.undo_journal import UndoJournal

AUTOGROUP = Path("/proc/self/autogroup")


def wrap(
    command: Sequence[str],
    *,
    group: Path | None = None,
    cpus: Sequence[int] | None = None,
    nice: int | None = None,
    powerless: bool = False,
) -> list[str]:
    """The command, started so that it dies with this process, in a cgroup, on some CPUs.

    Each word replaces itself by the next with exec(2), so the process id stays the same. None runs
    code of this process between fork and exec, which is not safe beside threads.

    Args:
        command: program and arguments.
        group: a `cgroup.procs` file to enter.
        cpus: CPUs that the command may run on (sched_setaffinity(2)).
        nice: nice value of the command's autogroup. Where the kernel groups processes by session
            (sched(7)), the value of a process counts only against others of its session.
        powerless: without any capability (capabilities(7)), even for root. A guest's kernel needs
            none, and a guest that breaks out could otherwise do more than this user's files allow.
    """
    words: list[str] = []
    # PR_SET_PDEATHSIG (prctl(2)): the kernel ends the child when this process dies in any way.
    if setpriv := on_path("setpriv"):
        drop = ["--no-new-privs"] if powerless else []
        if powerless and _is_root():
            drop += ["--bounding-set=-all", "--inh-caps=-all"]
        words += [str(setpriv), "--pdeathsig", "KILL", *drop, "--"]
    if group is not None:
        words += ["/bin/sh", "-c", 'echo 0 > "$0" && exec "$@"', str(group)]
    if nice is not None and AUTOGROUP.exists():
        words += ["/bin/sh", "-c", 'echo "$0" > /proc/self/autogroup; exec "$@"', str(nice)]
    if cpus is None and os.sched_getaffinity(0) != AVAILABLE:
        # This program has moved off the CPUs that measure; what it starts may use them all.
        cpus = sorted(AVAILABLE)
    if cpus is not None:
        words += [str(need("taskset", "util-linux")), "-c", ",".join(map(str, cpus))]
    return [*words, *command]


def start(
    command: Sequence[str],
    journal: UndoJournal,
    environment: Mapping[str, str] | None = None,
    **files: Any,
) -> tuple[subprocess.Popen[bytes], int]:
    """Start a program with a session of its own (setsid(2)), which the journal ends.

    Args:
        environment: variables to add.
        files: further options of `subprocess.Popen`.

    Returns:
        The process, and its start (`processes.Member`); 0 if it has ended already.
    """
    process = subprocess.Popen(
        command,
        env=os.environ | {processes.TOKEN: journal.token} | dict(environment or {}),
        start_new_session=True,
        **files,
    )
    started = processes.stat(process.pid)
    start = started.start if started else 0
    journal.note(restore.process(process.pid, start))
    return process, start


def _is_root() -> bool:
    return os.geteuid() == 0


def need(program: str, package: str) -> Path:
    """A program of the system.

    Raises:
        TargetUnavailable: it is not installed; the remedy names the Debian package.
    """
    install = f"sudo apt-get install {package}"
    return require(program, f"the program {program} is not installed", install)


def check_scratch(base: str | None) -> None:
    """That the agent can be given a scratch directory below `base` (as for `scratch_directory`).

    Raises:
        TargetUnavailable: its path is no UTF-8, as every request is (RFC 8259, section 8.1).
    """
    root = base or tempfile.gettempdir()
    try:
        root.encode()
    except UnicodeEncodeError as error:
        raise TargetUnavailable(
            f"the path of the directory for temporary files, {root}, is no UTF-8; set TMPDIR to "
            "another one"
        ) from error


def check_plain(reader: str) -> None:
    """That the path of the directory for temporary files has no blanks and no double quotes.

    Args:
        reader: what could not take them.

    Raises:
        TargetUnavailable: it has some.
    """
    root = tempfile.gettempdir()
    if any(mark.isspace() or mark == '"' for mark in root):
        raise TargetUnavailable(
            f"the path of the directory for temporary files, {root!r}, has blanks or quotes, which "
            f"{reader} cannot have; set TMPDIR to another one"
        )


def scratch_directory(base: str | None, journal: UndoJournal) -> Path:
    """A new private directory for a session's files; the journal removes it again.

    Args:
        base: the directory in which it lies; the system's temporary directory if None.
        journal: the session's journal.

    Raises:
        TargetUnavailable: it cannot be made.
    """
    root = Path(base or tempfile.gettempdir())
    path = root / f"{restore.PREFIX}{journal.token}"
    if not os.access(root, os.W_OK | os.X_OK):
        raise TargetUnavailable(f"this user may not write to the directory {root}")
    journal.note(restore.directory(path))
    restore.make_directory(path)
    return path
