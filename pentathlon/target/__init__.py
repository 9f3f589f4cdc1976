"""Where a study runs: how to reach a system, start the agent there and stop it again."""

from pentathlon.target.contract import (
    Session,
    SystemSpec,
    Target,
    TargetError,
    TargetUnavailable,
)
from pentathlon.target.factory import make_target

__all__ = [
    "Session",
    "SystemSpec",
    "Target",
    "TargetError",
    "TargetUnavailable",
    "make_target",
]
