"""Network namespaces of their own for programs (network_namespaces(7)).

A namespace has no name: it lives as long as its processes, so it is gone after a crash too.
"""

from __future__ import annotations

import os
import subprocess

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.settings import TCP_ALLOWED, TCP_CONGESTION_CONTROL, MachineSettings
from pentathlon.machine.tools import last_line, run

# sysfs shows the network devices of the namespace in which it was mounted, so it is mounted anew;
# /sys lies in a mount namespace of its own by then, and nothing of it is seen outside.
ENTER = '"$0" link set lo up && mount -t sysfs -o ro sysfs /sys && exec "$@"'


CONGESTION = 'echo "$0" >FILE && read -r now <FILE && [ "$now" = "$0" ] && exec "$@"'.replace(
    "FILE", str(TCP_CONGESTION_CONTROL)
)
"""For sh(1): the file is the one of the namespace in which it is opened."""


def is_root() -> bool:
    """Whether this user is root."""
    return os.geteuid() == 0


def namespace(settings: MachineSettings | None = None) -> list[str]:
    """The words in front of a command that give it its own network namespace.

    Args:
        settings: those of the system that it is for, some of which are of the namespace.

    Raises:
        TargetUnavailable: a program is missing.
    """
    unshare = str(launch.need("unshare", "util-linux"))
    ip = str(launch.need("ip", "iproute2"))
    # An ordinary user is root in a user namespace of his own, and may set up the network there.
    user = [] if is_root() else ["--user", "--map-root-user"]
    congestion = settings.congestion_control if settings is not None else None
    own = [] if congestion is None else ["/bin/sh", "-c", CONGESTION, congestion]
    return [
        *[unshare, *user, "--net", "--mount", "--propagation", "private", "--"],
        *["/bin/sh", "-c", ENTER, ip],
        *own,
    ]


def probe() -> None:
    """Make a namespace, and leave it.

    Raises:
        TargetUnavailable: it cannot be made here.
    """
    if (message := _refused(namespace())) is not None:
        raise TargetUnavailable(
            f"a network namespace cannot be made here: {message}", "sudo pentathlon run STUDY"
        )


def probe_congestion_control(settings: MachineSettings, name: str) -> None:
    """Make a namespace with a TCP congestion control, and leave it.

    Raises:
        TargetUnavailable: a namespace cannot have it here.
    """
    if _refused(namespace(settings)) is not None:
        # A namespace has only those as its default that the machine allows everybody (tcp(7)).
        allowed = TCP_ALLOWED.read_text().split() if TCP_ALLOWED.exists() else []
        raise TargetUnavailable(
            f"a network namespace of this machine may have the congestion control "
            f"{' or '.join(allowed) or '(none)'}, and not {name}",
            f"sudo sysctl -w net.ipv4.{TCP_ALLOWED.name}='{' '.join([*allowed, name])}'",
        )


def _refused(words: list[str]) -> str | None:
    """Why a namespace cannot be entered by these words; None: it can."""
    try:
        done = run([*words, "true"], 10)
    except subprocess.TimeoutExpired as error:
        raise TargetUnavailable("a network namespace could not be made within 10 s") from error
    return last_line(done.stderr) if done.returncode else None
