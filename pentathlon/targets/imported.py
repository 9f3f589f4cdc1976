"""The kind of systems that were measured by another tool: they are judged and never booted.

No study file can name it (`registry.names` has it not), only the plan of an imported result.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from pentathlon.machine.errors import TargetError
from pentathlon.machine.system import SystemSpec
from pentathlon.targets.descriptor import Kind

KIND = Kind(
    name="imported",
    target="pentathlon.targets.imported:target",
    layers=("imported",),
    place="elsewhere",
    renews="nothing that is known",
    needs="nothing: it is not measured here",
)


def target(system: SystemSpec, _agent_path: Path, _state_dir: Path) -> NoReturn:
    """Refuse: what was imported cannot be measured.

    Raises:
        TargetError: always.
    """
    raise TargetError(f'the system "{system.name}" was imported; it cannot be booted')
