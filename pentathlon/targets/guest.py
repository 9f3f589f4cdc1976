"""The root directory of a guest: the agent and empty mount points."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.system import SystemSpec
from pentathlon.protocol.agent import is_static
from pentathlon.targets import userland
from pentathlon.targets.supplies import FILES, Supply, stage

AGENT = "pentathlon-agent"
SCRATCH = ("/tmp", "/run", "/mnt")
DIRECTORIES = ("proc", "sys", "dev", "tmp", "mnt", "run")


def build_root(root: Path, agent: Path) -> None:
    """Make the directory. The agent is copied and not linked: a guest cannot change the file."""
    root.mkdir()
    for name in DIRECTORIES:
        (root / name).mkdir()
    shutil.copy(agent, root / AGENT)
    (root / AGENT).chmod(0o755)


def add_modules(root: Path, modules: Mapping[str, bytes]) -> None:
    """Put kernel modules for tests between hosts into the root, in the order of loading.

    `/modules/network` lists them for the agent (agent/crates/session/src/guest.rs).
    """
    place = root / "modules"
    place.mkdir(exist_ok=True)
    for name, code in modules.items():
        (place / f"{name}.ko").write_bytes(code)
    listed = "".join(f"/modules/{name}.ko\n" for name in modules)
    (place / "network").write_text(listed)


def supply(
    supplies: Sequence[Supply], land: Path | None, own: Path, root: Path | None
) -> tuple[Path | None, str | None]:
    """Copy the files of commands: beside the guest's root if it has a user land, else into it.

    Args:
        land: the root directory of its user land.
        own: the boot's own directory.
        root: the directory that is the guest's root; None: its files are put there otherwise.

    Returns:
        Where they lie on this machine, and where on the guest; None: there are none.

    Raises:
        TargetError: a file is another one than when the study was read, or cannot be copied.
    """
    inside = root if land is None and root is not None else own
    place = inside / FILES
    if place.exists():  # The root of an install, which its boots share.
        shutil.rmtree(place)
    staged = stage(supplies, place)
    if staged is None:
        return None, None
    return staged, userland.FILES if land is not None else userland.OWN_FILES


def empty_supply(own: Path) -> Path:
    """A folder of files for a guest with a user land whose commands have none."""
    place = own / FILES
    place.mkdir(exist_ok=True)
    return place


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


def scratch(system: SystemSpec) -> str:
    """The directory for file workloads inside of the guest.

    Raises:
        TargetError: the study names one that the guest does not have.
    """
    wanted = system.scratch or SCRATCH[0]
    if wanted not in SCRATCH:
        raise TargetError(
            f'system "{system.name}" has the scratch directory "{wanted}", which a guest does not '
            f"have; use one of {', '.join(SCRATCH)}"
        )
    return wanted
