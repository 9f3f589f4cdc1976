"""A container of this machine's kernel with the agent as its only program, by runc or crun.

The root directory is an overlay on the user land, mounted in a mount namespace of the runtime's
own: what a boot writes is gone with the boot, and no mount is left when something is killed. The
agent's guard is process 1 of the container, so that the end of its input ends the container,
whoever was killed.
"""

from __future__ import annotations

import json
import os
import platform
import re
from pathlib import Path
from typing import Any, cast

from pentathlon.machine import cpus, launch, processes, restore
from pentathlon.machine.errors import TargetError, TargetUnavailable, if_available
from pentathlon.machine.on_error import on_error
from pentathlon.machine.system import SystemSpec
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.protocol.requests.session import Placement
from pentathlon.targets import guarded, guest, options, userland
from pentathlon.targets.contract import Description, Session
from pentathlon.targets.installs import KeepingTarget
from pentathlon.targets.oci import bundle, runtime, seccomp
from pentathlon.targets.oci.descriptor import KIND, Container
from pentathlon.targets.session import Launch

NOTES = [
    "this machine's kernel serves the container; its root directory is an overlay that is new in "
    "each boot",
    "capabilities, masked files and namespaces are those of docker's containers",
]

ENTER = """\
set -e
if [ "$1" = crun ]; then
    # It refuses version 1 of control groups where version 2 is mounted beside it; here it is hidden
    # from the runtime alone.
    umount -l /sys/fs/cgroup/unified 2>/dev/null || :
fi
cd "$2"
mount -t overlay -o "lowerdir=$3,upperdir=upper,workdir=work" overlay root
shift 3
exec "$@"
"""
"""Runs in a mount namespace of its own. Words: runtime, the boot's directory, what the root's lower
directory is, the command."""

SIZE = re.compile(r"(\d+)([KMG])?")
TRIAL_S = 20.0


class OciTarget(KeepingTarget):
    """A container with the agent's guard as its first program."""

    kind = KIND.name
    layer = KIND.layers[0]
    persistent = False

    def __init__(self, system: SystemSpec, agent_path: Path, state_dir: Path) -> None:
        super().__init__(system, agent_path, state_dir)
        self.userland = userland.of(system)
        self.scratch = guest.scratch(system)
        self.container = cast(Container, getattr(system, "container", None) or {})
        options.refuse_settings(system)
        options.refuse(system, self.kind, "kernel", "memory")
        self.memory_bytes = self._limits()

    def _limits(self) -> int | None:
        """Bytes of memory.

        Raises:
            TargetError: a limit that cannot be one.
        """
        name = self.system.name
        for key, least in (("cpu_percent", 1), ("pids", 16)):
            value: Any = self.container.get(key)
            if value is not None and value < least:
                raise TargetError(
                    f'system "{name}" has container.{key} = {value}; it must be {least} or more'
                )
        profile = self.container.get("seccomp", "off")
        if profile not in {"off", "default"} and not profile.startswith("/"):
            raise TargetError(
                f'system "{name}" has container.seccomp = "{profile}"; use "off", "default" or '
                "the absolute path of a profile"
            )
        text = self.container.get("memory")
        if text is None:
            return None
        found = SIZE.fullmatch(text)
        size = int(found[1]) << {"K": 10, "M": 20, "G": 30}.get(found[2], 0) if found else 0
        if size < 32 << 20:
            raise TargetError(
                f'system "{name}" has container.memory = "{text}"; write a size of "32M" or more'
            )
        return size

    def describe(self) -> Description:
        program = if_available(runtime.find, self.container.get("runtime"))
        found: dict[str, Any] = {
            **userland.described(self.userland),
            "container": {"seccomp": "off", "network": "none", **self.container},
            "runtime": program.record() if program else None,
            "host_cpus": list(self.cpus) if self.cpus is not None else None,
        }
        return self.description(platform.release(), found, NOTES)

    def privileges(self) -> list[str]:
        return ["root"]

    def bytes_written(self) -> int | None:
        return self.agent_path.stat().st_size

    def prepare(self) -> None:
        self._check()
        # What the machine refuses shows only where a container is started.
        try:
            with self._start(["guard", "run"], TRIAL_S):
                pass
        except TargetError as error:
            if isinstance(error, TargetUnavailable):
                raise
            raise TargetUnavailable(f"no container starts on this machine: {error}") from error

    def _check(self) -> None:
        guest.check_agent(self.agent_path)
        runtime.find(self.container.get("runtime"))
        if os.geteuid() != 0:
            raise TargetUnavailable(
                "this user may not make a container with its own control group and root directory",
                "sudo pentathlon run STUDY",
            )
        userland.check(self.userland)
        userland.plain(self.userland, "the options of an overlay")
        launch.check_plain("the options of an overlay")
        seccomp.profile(self.container.get("seccomp", "off"), bundle.CAPABILITIES)
        cpus.check(self.cpus)

    def make_files(self, own: Path) -> None:
        guest.build_root(own / "bare", self.agent_path)

    def boot(self, timeout_s: float) -> Session:
        self._check()
        return self._start(guarded.words(below=self.scratch), timeout_s)

    def _start(self, words: list[str], timeout_s: float) -> guarded.GuardedSession:
        program = runtime.find(self.container.get("runtime"))
        journal = UndoJournal(self.state_dir)
        with on_error(journal.undo):
            own = launch.scratch_directory(None, journal)
            bare = self.files(own) / "bare"
            land = userland.check(self.userland)
            staged, supplied = guest.supply(self.supplies, land or Path("/"), own, None)
            name = f"{restore.PREFIX}{journal.token}"
            for group in groups(name):
                journal.note(restore.cgroup(group))
            for part in ("upper", "work", "root"):
                (own / part).mkdir()
                (own / part).chmod(0o755)
            document = bundle.config(
                words,
                {"PATH": os.defpath, "HOME": "/", processes.TOKEN: journal.token},
                name=name,
                root=own / "root",
                agent=bare / guest.AGENT,
                files=staged,
                container=self.container,
                seccomp=seccomp.profile(self.container.get("seccomp", "off"), bundle.CAPABILITIES),
                memory_bytes=self.memory_bytes,
            )
            (own / "config.json").write_text(json.dumps(document))
            command = [
                *[str(launch.need("unshare", "util-linux")), "--mount", "--propagation", "private"],
                *["--", "/bin/sh", "-c", ENTER, "sh", program.name, str(own), str(land or bare)],
                *[str(program.path), "--root", str(own / "state"), "run"],
                *["--bundle", str(own), name],
            ]
            session = guarded.GuardedSession(
                self.name,
                Launch(
                    command=launch.wrap(command, cpus=self.cpus),
                    placement=Placement(cpus=list(self.cpus) if self.cpus is not None else None),
                    supplied=supplied,
                ),
                journal,
            )
        try:
            session.open(None, timeout_s)
        except TargetError as error:
            session.stop()
            raise TargetError(
                f'system "{self.name}": {program.name} {program.version} does not start the '
                f"agent: {error}"
            ) from error
        return session


def groups(name: str, mounts: str | None = None) -> list[Path]:
    """The control groups of a container, one in each hierarchy.

    Args:
        mounts: text of /proc/self/mounts.
    """
    text = Path("/proc/self/mounts").read_text() if mounts is None else mounts
    lines = [line.split() for line in text.splitlines()]
    points = [Path(words[1]) for words in lines if words[2] in {"cgroup", "cgroup2"}]
    return [point / name for point in points]
