"""This machine in a network namespace of its own (network_namespaces(7)).

The namespace has no name: it lives as long as its processes, so it is gone after a crash too.
"""

from __future__ import annotations

import os
import subprocess
from typing import ClassVar

from pentathlon.target import launch
from pentathlon.target.contract import TargetUnavailable
from pentathlon.target.local import LocalTarget

# sysfs shows the network devices of the namespace in which it was mounted, so it is mounted anew;
# /sys lies in a mount namespace of its own by then, and nothing of it is seen outside.
ENTER = '"$0" link set lo up && mount -t sysfs -o ro sysfs /sys && exec "$@"'


CONGESTION = 'echo "$0" > /proc/sys/net/ipv4/tcp_congestion_control && exec "$@"'


class NetnsTarget(LocalTarget):
    """The host in a fresh network namespace with only the loopback device, which is up."""

    kind: ClassVar[str] = "netns"
    layer: ClassVar[str] = "host"

    def notes(self) -> list[str]:
        return [
            *super().notes(),
            "the network namespace is new in each boot and has only the loopback device",
        ]

    def privileges(self) -> list[str]:
        own = [] if _is_root() else ["user namespaces for ordinary users (the kernel's setting)"]
        return [*super().privileges(), *own]

    def command(self) -> list[str]:
        words = namespace()
        if (congestion := self.settings.congestion_control) is not None:
            # The file is the one of the namespace in which it is opened.
            words += ["/bin/sh", "-c", CONGESTION, congestion]
        return [*words, *super().command()]

    def prepare(self) -> None:
        super().prepare()
        probe()


def _is_root() -> bool:
    return os.geteuid() == 0


def namespace() -> list[str]:
    """The words in front of a command that give it its own network namespace.

    Raises:
        TargetUnavailable: a program is missing.
    """
    unshare = str(launch.need("unshare", "util-linux"))
    ip = str(launch.need("ip", "iproute2"))
    # An ordinary user is root in a user namespace of his own, and may set up the network there.
    user = [] if _is_root() else ["--user", "--map-root-user"]
    return [
        *[unshare, *user, "--net", "--mount", "--propagation", "private", "--"],
        *["/bin/sh", "-c", ENTER, ip],
    ]


def probe() -> None:
    """Make a namespace, and leave it.

    Raises:
        TargetUnavailable: it cannot be made here.
    """
    try:
        done = subprocess.run(
            [*namespace(), "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=10,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise TargetUnavailable("a network namespace could not be made within 10 s") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
        raise TargetUnavailable(
            f"a network namespace cannot be made here: {said[-1]}", "sudo pentathlon run STUDY"
        )
