"""From a system of the study to its target."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

from pentathlon.target.contract import SystemSpec, Target, TargetError

# Module and class by kind. Imported on demand: a study of the host does not load the UML module.
KINDS: dict[str, tuple[str, str]] = {
    "local": ("pentathlon.target.local", "LocalTarget"),
    "netns": ("pentathlon.target.netns", "NetnsTarget"),
    "uml": ("pentathlon.target.uml.target", "UmlTarget"),
    "gvisor": ("pentathlon.target.gvisor", "GvisorTarget"),
    "qemu": ("pentathlon.target.qemu.target", "make"),
    "ssh": ("pentathlon.target.ssh.target", "SshTarget"),
    "wine": ("pentathlon.target.wine.target", "WineTarget"),
}


def make_target(system: SystemSpec, agent_path: Path, state_dir: Path) -> Target:
    """The target of one system; nothing is started, changed or checked yet.

    Args:
        system: a system of the study.
        agent_path: the agent's static file on this machine.
        state_dir: directory for the undo journal (`pentathlon.target.undo.default_state_dir`).

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
    from pentathlon.target.files.behaviours import OWN  # noqa: PLC0415
    from pentathlon.target.pair.target import PairTarget  # noqa: PLC0415  (loads scipy)

    return PairTarget(target, peer, make_target, getattr(system, "behaves", OWN))
