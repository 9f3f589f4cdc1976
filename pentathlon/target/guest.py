"""The root directory of a guest: the agent and empty mount points."""

from __future__ import annotations

import shutil
from pathlib import Path

from pentathlon.agent import is_static
from pentathlon.target.contract import TargetUnavailable

AGENT = "pentathlon-agent"
DIRECTORIES = ("proc", "sys", "dev", "tmp", "mnt", "run")


def build_root(root: Path, agent: Path) -> None:
    """Make the directory. The agent is copied and not linked: a guest cannot change the file."""
    root.mkdir()
    for name in DIRECTORIES:
        (root / name).mkdir()
    shutil.copy(agent, root / AGENT)
    (root / AGENT).chmod(0o755)


def check_agent(agent: Path) -> None:
    """Whether the agent starts in a root directory that holds nothing else.

    Raises:
        TargetUnavailable: it does not.
    """
    if not agent.is_file() or not is_static(agent):
        raise TargetUnavailable(
            f"the agent {agent} is not a static program, so it cannot start in an empty root",
            "pip install .",
        )
