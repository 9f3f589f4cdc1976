"""A real Slurm on this machine: a controller and several slurmd, whose nodes "boot" features.

A node's reboot ends its slurmd and starts it again with the feature that the helper was given.
Nothing outside the directory is used: no munge, no cgroups, ports of loopback.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.targets.sshd import free_port

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo")
PATH = f"{os.environ.get('PATH')}:/usr/sbin:/sbin"

CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SlurmdParameters=config_overrides
StateSaveLocation={d}/state
SlurmdSpoolDir={d}/spool-%n
SlurmctldPidFile={d}/slurmctld.pid
SlurmdPidFile={d}/slurmd-%n.pid
SlurmctldLogFile={d}/slurmctld.log
SlurmdLogFile={d}/slurmd-%n.log
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=1
SlurmctldTimeout=30
SlurmdTimeout=10
ResumeTimeout=60
KillWait=5
MinJobAge=300
NodeFeaturesPlugins=node_features/helpers
RebootProgram={d}/reboot
{nodes}
PartitionName=all Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""

NODE = (
    "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 Features={features}"
)

# The node's name from the slurmd that called.
NAME = r"""
p=$$
while [ "$p" -gt 1 ]; do
    n=$(tr '\0' ' ' <"/proc/$p/cmdline" | sed -n 's/.*slurmd .*-N \([^ ]*\).*/\1/p')
    [ -n "$n" ] && break
    p=$(sed 's/.*) . //' "/proc/$p/stat" | cut -d' ' -f1)
done
[ -n "$n" ] || exit 9
"""

HELPER = f"""#!/bin/sh
{NAME}
if [ $# -eq 0 ]; then cat {{d}}/active-$n 2>/dev/null; exit 0; fi
echo "$1" >{{d}}/next-$n
"""

REBOOT = f"""#!/bin/sh
{NAME}
echo "$n" >>{{d}}/reboots
[ -f {{d}}/next-$n ] && mv {{d}}/next-$n {{d}}/active-$n
[ -d {{d}}/kernels ] && ln -sfn "{{d}}/kernels/$(cat {{d}}/active-$n)" {{d}}/kernel-$n
setsid sh -c 'old=$(cat {{d}}/slurmd-'"$n"'.pid); kill -9 $old
    while grep -qs ") [^ZX] " /proc/$old/stat; do sleep 0.1; done
    exec slurmd -b -D -N '"$n"' -f {{d}}/slurm.conf' </dev/null >/dev/null 2>&1 &
"""


class Cluster:
    """A controller and its nodes.

    Args:
        features: those that every node can boot; the first is active.
    """

    def __init__(self, directory: Path, nodes: tuple[str, ...], features: tuple[str, ...]) -> None:
        if os.geteuid() != 0:
            pytest.skip("Slurm's daemons of this test run as root")
        for name in PROGRAMS:
            if shutil.which(name, path=PATH) is None:
                pytest.skip(f"{name} is not installed (slurmctld, slurmd, slurm-client)")
        self.directory, self.nodes = directory, nodes
        self._processes: list[subprocess.Popen[bytes]] = []
        (directory / "state").mkdir(parents=True)
        for name in nodes:
            (directory / f"spool-{name}").mkdir()
            (directory / f"active-{name}").write_text(f"{features[0]}\n")
        host = socket.gethostname()
        lines = [
            NODE.format(name=name, host=host, port=free_port(), features=",".join(features))
            for name in nodes
        ]
        self.conf = directory / "slurm.conf"
        self.conf.write_text(
            CONF.format(
                host=host,
                port=free_port(),
                d=directory,
                nodes="\n".join(lines),
                names=",".join(nodes),
            )
        )
        helpers = [f"Feature={one} Helper={directory}/helper" for one in features]
        (directory / "helpers.conf").write_text(
            "\n".join([*helpers, f"MutuallyExclusive={','.join(features)}", "BootTime=30", ""])
        )
        for name, text in (("helper", HELPER), ("reboot", REBOOT)):
            (directory / name).write_text(text.replace("{d}", str(directory)))
            (directory / name).chmod(0o755)
        self.environment = {"SLURM_CONF": str(self.conf), "PATH": PATH}

    def boots_kernels(self, kernels: dict[str, Path]) -> None:
        """Have each node's file `kernel-NODE` be the kernel of its active feature, from its next
        boot on; now it is that of the first."""
        folder = self.directory / "kernels"
        folder.mkdir()
        for feature, kernel in kernels.items():
            (folder / feature).symlink_to(kernel)
        for name in self.nodes:
            (self.directory / f"kernel-{name}").symlink_to(next(iter(kernels.values())))

    def start(self) -> None:
        self.start_controller()
        for name in self.nodes:
            self.start_node(name)
        self.wait(lambda: all(self.state(name).startswith("idle") for name in self.nodes), 60)

    def start_controller(self) -> None:
        self._start("slurmctld", "-D", "-f", str(self.conf))

    def start_node(self, name: str) -> None:
        self._start("slurmd", "-D", "-N", name, "-f", str(self.conf))

    def _start(self, *words: str) -> None:
        self._processes.append(
            subprocess.Popen(
                words,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )

    def run(self, *words: str) -> str:
        done = subprocess.run(
            words,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.stdout

    def state(self, node: str) -> str:
        return self.run("sinfo", "-h", "-N", "-n", node, "-o", "%T").strip()

    def jobs(self) -> list[tuple[str, str, str]]:
        """Id, state and name of those that have not ended."""
        text = self.run("squeue", "-h", "-o", "%i|%T|%j")
        return [tuple(line.split("|", 2)) for line in text.splitlines()]  # type: ignore[misc]

    def reboots(self) -> int:
        file = self.directory / "reboots"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def stop_controller(self) -> None:
        """As for a restart: it saves its jobs."""
        self._kill("slurmctld", number=signal.SIGTERM)
        self.wait(lambda: not self._running("slurmctld"), 30)

    def kill_node(self, name: str) -> None:
        """As a node that loses its power: slurmd, and the jobs on it."""
        for pid in self._of_node(name):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._kill("slurmd", "-N", name)

    def _of_node(self, name: str) -> list[int]:
        """Processes of the node's jobs, which slurmd gives its node's name."""
        return self._with(f"SLURMD_NODENAME={name}")

    def _with(self, *more: str) -> list[int]:
        """Processes that began with this cluster's configuration in their environment."""
        found = []
        wanted = {one.encode() for one in (f"SLURM_CONF={self.conf}", *more)}
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if wanted <= set(path.read_bytes().split(b"\0")):
                    found.append(int(path.parent.name))
        return found

    def _running(self, *words: str) -> list[int]:
        """The daemons of this cluster, which its configuration distinguishes from others."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                own = path.read_bytes().decode(errors="replace").split("\0")
                if str(self.conf) in own and " ".join(words) in " ".join(own):
                    found.append(int(path.parent.name))
        return found

    def _kill(self, *words: str, number: int = signal.SIGKILL) -> None:
        for pid in self._running(*words):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def wait(self, condition: Callable[[], bool], seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.2)

    def log(self) -> str:
        """The end of every log, for a failure's text."""
        texts = (
            f"{file.name}:\n" + "\n".join(file.read_text(errors="replace").splitlines()[-15:])
            for file in sorted(self.directory.glob("*.log"))
        )
        return "\n".join([*texts, str(self.jobs())])

    def stop(self) -> None:
        self.run("scancel", "--user=root")
        for name in self.nodes:
            self.kill_node(name)
        self._kill("slurmctld")
        time.sleep(0.5)  # A reboot that was going on starts a slurmd again.
        self._kill("slurm")
        for pid in self._with():  # Among them slurmstepd, which outlives slurmd.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for one in self._processes:
            one.wait()
