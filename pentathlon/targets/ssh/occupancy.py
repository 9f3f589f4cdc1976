"""Who measures on another machine, and what else runs there.

Locks of this machine keep its own runs apart. Runs that other machines make there are seen by the
directories of their guards, each of which names the machine that it was started from.
"""

from __future__ import annotations

import contextlib
import getpass
import socket
from pathlib import Path

from pentathlon.machine.claims import Busy
from pentathlon.machine.errors import TargetError
from pentathlon.targets.ssh.copies import Run, write_copy

# Words: the machine that asks. Prints a line for each guard of another one, as far as they can be
# read: those of the same login, or all for root.
OTHERS = r"""
others() {
    for other in "${TMPDIR:-/tmp}"/pentathlon-there-*; do
        [ -r "$other/owner" ] && read -r pid boot <"$other/guard" || continue
        [ "$boot" = "$(cat /proc/sys/kernel/random/boot_id)" ] && kill -0 "$pid" 2>/dev/null || continue
        read -r machine words <"$other/owner"
        [ "$machine" = "$1" ] || echo "$words"
    done
}
"""  # noqa: E501

ASK = OTHERS + 'others "$1"'

# Every file as "PATH:LINE", by one program, so that looking costs the machine little.
LOOK = "grep -s '' /proc/loadavg /proc/stat /proc/vmstat /proc/[0-9]*/comm /proc/[0-9]*/stat; :"


def owner() -> tuple[str, str]:
    """The machine that asks, by the id of its boot, and who it is, for people."""
    machine = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return machine, f"{getpass.getuser()} on {socket.gethostname()}"


def taken(host: str, who: str) -> str:
    return f"{host} is taken by a run of {who}; wait for its end"


def refuse_others(host: str, run: Run) -> None:
    """Refuse to measure beside a run that another machine makes there.

    A machine that cannot be asked, such as one that runs Windows at the moment, is not refused.

    Raises:
        Busy: there is one.
    """
    others: list[str] = []
    with contextlib.suppress(TargetError):
        others = run(ASK, owner()[0]).splitlines()
    if others:
        raise Busy(taken(host, others[0]))


def copy_proc(run: Run, into: Path) -> bool:
    """Copy what shows the load of that machine into a directory, as `proc/...` below it.

    Returns:
        Whether the machine answered.
    """
    try:
        lines = run(LOOK).splitlines()
    except TargetError:
        return False
    files: dict[str, list[str]] = {}
    for line in lines:
        name, separator, text = line.partition(":")
        if separator:
            files.setdefault(name, []).append(text)
    written = [write_copy(into, name, "\n".join(texts) + "\n") for name, texts in files.items()]
    return any(written)
