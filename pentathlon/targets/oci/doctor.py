"""What `pentathlon doctor` looks at for containers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pentathlon.machine.finding import Finding
from pentathlon.targets.descriptor import Doctor
from pentathlon.targets.oci import runtime
from pentathlon.targets.oci.descriptor import Container
from pentathlon.targets.plain import PlainSystem


@dataclass(frozen=True)
class ContainerSystem(PlainSystem):
    """A system of the kind for a trial boot."""

    container: Container = field(default_factory=Container)


class OciDoctor(Doctor):
    """Each runtime that is installed."""

    def trials(self) -> Iterator[PlainSystem | Finding]:
        here = [name for name in runtime.NAMES if runtime.installed(name) is not None]
        for name in here:
            yield ContainerSystem(
                f"{self.kind.name} {name}", self.kind.name, container=Container(runtime=name)
            )
        if not here:
            yield Finding(
                *("target", self.kind.name, False),
                "neither runc nor crun is installed, which makes containers",
                f"sudo apt-get install {runtime.NAMES[0]}",
            )
