"""From a system of the study to its target."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

from pentathlon.machine.errors import TargetError
from pentathlon.machine.system import SystemSpec
from pentathlon.targets.contract import Target

# Module and class by kind. Imported on demand: a study of the host does not load the UML module.
KINDS: dict[str, tuple[str, str]] = {
    "local": ("pentathlon.targets.local.target", "LocalTarget"),
    "netns": ("pentathlon.targets.netns.target", "NetnsTarget"),
    "uml": ("pentathlon.targets.uml.target", "UmlTarget"),
    "gvisor": ("pentathlon.targets.gvisor.target", "GvisorTarget"),
    "qemu": ("pentathlon.targets.qemu.target", "make"),
    "ssh": ("pentathlon.targets.ssh.target", "SshTarget"),
    "wine": ("pentathlon.targets.wine.target", "WineTarget"),
}


def make_target(system: SystemSpec, agent_path: Path, state_dir: Path) -> Target:
    """The target of one system; nothing is started, changed or checked yet.

    Args:
        system: a system of the study.
        agent_path: the agent's static file on this machine.
        state_dir: directory for the undo journal (`undo_journal.default_state_dir`).

    Raises:
        TargetError: the system names a kind of target that does not exist, or an option that the
            kind does not have.
    """
    if system.target not in KINDS:
        known = ", ".join(sorted(KINDS))
        raise TargetError(
            f'system "{system.name}" names the target "{system.target}", which does not exist; '
            f"use one of {known}"
        )
    module, name = KINDS[system.target]
    maker = cast(Callable[[SystemSpec, Path, Path], Target], getattr(import_module(module), name))
    target = maker(system, agent_path, state_dir)
    peer = getattr(system, "peer", None)
    if peer is None:
        return target
    from pentathlon.experiments.file_services.behaviours import OWN  # noqa: PLC0415
    from pentathlon.experiments.two_hosts import PairTarget  # noqa: PLC0415  (loads scipy)

    return PairTarget(target, peer, make_target, getattr(system, "behaves", OWN))
