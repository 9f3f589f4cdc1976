"""From a system of the study to its target."""

from __future__ import annotations

from pathlib import Path

from pentathlon.machine.errors import TargetError
from pentathlon.machine.system import SystemSpec
from pentathlon.targets import registry
from pentathlon.targets.contract import Target


def make_target(
    system: SystemSpec, agent_path: Path, state_dir: Path, *, scheduled: bool = False
) -> Target:
    """The target of one system; nothing is started, changed or checked yet.

    Args:
        system: a system of the study.
        agent_path: the agent's static file on this machine.
        state_dir: directory for the undo journal (`undo_journal.default_state_dir`).
        scheduled: whether a batch scheduler boots the machine for each of its jobs.

    Raises:
        TargetError: the system names a kind of target that does not exist, or an option that the
            kind does not have.
    """
    kind = registry.find(system.target)
    if kind is None:
        known = ", ".join(sorted(registry.names()))
        raise TargetError(
            f'system "{system.name}" names the target "{system.target}", which does not exist; '
            f"use one of {known}"
        )
    target = kind.make(system, agent_path, state_dir, scheduled=scheduled)
    peer = getattr(system, "peer", None)
    if peer is None:
        return target
    from pentathlon.experiments.file_services.behaviours import OWN  # noqa: PLC0415
    from pentathlon.experiments.two_hosts import PairTarget  # noqa: PLC0415  (loads scipy)

    return PairTarget(target, peer, make_target, getattr(system, "behaves", OWN))
