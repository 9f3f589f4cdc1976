"""The options of a study's system that a target has no use for, refused in one way."""

from __future__ import annotations

from pentathlon.machine.errors import TargetError
from pentathlon.machine.system import SystemSpec
from pentathlon.targets import registry
from pentathlon.targets.descriptor import EVERY


def refuse(system: SystemSpec, kind: str, *names: str) -> None:
    """Refuse options that targets of this kind do not have.

    Raises:
        TargetError: the study gives one of them.
    """
    for name in names:
        if getattr(system, name) is not None:
            raise TargetError(
                f'system "{system.name}" has the option "{name}", which the target "{kind}" does '
                "not have; leave it out"
            )


def refuse_settings(system: SystemSpec) -> None:
    """Refuse settings of the machine, where the system is not the machine itself.

    Raises:
        TargetError: the study gives one.
    """
    if system.settings.changed():
        whole = (f'"{name}"' for name in registry.names(lambda kind: kind.settings == EVERY))
        raise TargetError(
            f'system "{system.name}" has settings, which are for the targets '
            f"{' and '.join(whole)}; leave them out"
        )


def kernel(system: SystemSpec) -> str:
    """The kernel that the study names.

    Raises:
        TargetError: it names none.
    """
    if system.kernel is None:
        raise TargetError(
            f'system "{system.name}" names no kernel; give its version, such as kernel = "6.1"'
        )
    return system.kernel
