"""This machine in a network namespace of its own (network_namespaces(7))."""

from __future__ import annotations

from typing import ClassVar

from pentathlon.machine.network_namespace import (
    is_root,
    namespace,
    probe,
    probe_congestion_control,
)
from pentathlon.targets.local.target import LocalTarget
from pentathlon.targets.netns.descriptor import KIND


class NetnsTarget(LocalTarget):
    """The host in a fresh network namespace with only the loopback device, which is up."""

    kind = KIND.name
    layer = KIND.layers[0]
    own_network: ClassVar[bool] = True

    def notes(self) -> list[str]:
        return [
            *super().notes(),
            "the network namespace is new in each boot and has only the loopback device",
        ]

    def privileges(self) -> list[str]:
        own = [] if is_root() else ["user namespaces for ordinary users (the kernel's setting)"]
        return [*super().privileges(), *own]

    def command(self) -> list[str]:
        return [*namespace(self.settings), *super().command()]

    def prepare(self) -> None:
        super().prepare()
        probe()
        if (congestion := self.settings.congestion_control) is not None:
            probe_congestion_control(self.settings, congestion)
