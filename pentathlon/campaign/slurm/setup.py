"""The lines that an administrator adds to Slurm's configuration, with the scripts they name."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from pentathlon.campaign.machines import LoadedMachines

HELPER = "/usr/local/libexec/pentathlon-boot"
REBOOT = "/usr/local/libexec/pentathlon-reboot"


def files(machines: LoadedMachines, systems: Sequence[str]) -> dict[str, str]:
    """Name of each file -> its text."""
    features = [machines.slurm.feature(name) for name in systems]
    nodes = [one.node_name for one in machines.machines]
    return {
        "slurm.conf": _slurm_conf(nodes, features),
        "helpers.conf": _helpers_conf(features),
        "pentathlon-boot": _helper(machines, systems),
        "pentathlon-reboot": _reboot(),
    }


def unrecognised(machines: LoadedMachines, systems: Sequence[str]) -> list[str]:
    """The systems whose kernels the helper does not know: Slurm would never see them booted."""
    known = machines.slurm.systems
    return [name for name in systems if name not in known or known[name].release is None]


def _slurm_conf(nodes: Sequence[str], features: Sequence[str]) -> str:
    return f"""\
# To add to slurm.conf on all nodes and on the controller; then restart slurmctld, and slurmd.
NodeFeaturesPlugins=node_features/helpers
RebootProgram={REBOOT}
# Longest time from the reboot to slurmd's answer, in seconds.
ResumeTimeout=900
# A node that comes back after its reboot is in service again.
ReturnToService=2
# Time for a job's program to end its boot in an orderly way at a time limit or scancel.
KillWait=120
# Add to the lines of these nodes, which keep everything else:
#   NodeName={",".join(nodes)} Features={",".join(features)}
"""


def _helpers_conf(features: Sequence[str]) -> str:
    lines = [f"Feature={one} Helper={HELPER}" for one in features]
    exclusive = [f"MutuallyExclusive={','.join(features)}"] if len(features) > 1 else []
    return "\n".join(
        [
            "# helpers.conf, beside slurm.conf on the controller and on the nodes.",
            *lines,
            *exclusive,
            "# Seconds for a reboot, and for the helper itself.",
            "BootTime=900",
            "ExecTime=30",
            "",
        ]
    )


def _helper(machines: LoadedMachines, systems: Sequence[str]) -> str:
    """The helper: without a word it prints the active feature, with one it sets the next boot."""
    slurm = machines.slurm
    sets, shows = [], []
    for name in systems:
        own = slurm.systems.get(name)
        feature = slurm.feature(name)
        entry = feature if own is None or own.entry is None else own.entry
        boot = "grub-reboot" if slurm.loader == "grub" else "bootctl set-oneshot"
        sets.append(f"    {shlex.quote(feature)}) {boot} {shlex.quote(entry)} ;;")
        if own is not None and own.release is not None:
            shows.append(f"    {shlex.quote(own.release)}) echo {shlex.quote(feature)} ;;")
    known = "\n".join(sets)
    active = "\n".join(shows) or "    # Add a line for each kernel: RELEASE) echo FEATURE ;;"
    return f"""\
#!/bin/sh
# {HELPER}: Slurm's helper of the systems that this node boots (node_features/helpers).
# Without a word it prints the active feature; with one it sets what the next boot boots.
set -e
PATH=/usr/sbin:/usr/bin:/sbin:/bin
if [ $# -eq 0 ]; then
    case $(uname -r) in
{active}
    *) ;;
    esac
    exit 0
fi
case $1 in
{known}
*) echo "no system $1 on this node" >&2; exit 1 ;;
esac
"""


def _reboot() -> str:
    return f"""\
#!/bin/sh
# {REBOOT}: Slurm's RebootProgram. slurmd is started by the boot itself.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
sync
exec systemctl reboot
"""
