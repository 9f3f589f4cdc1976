"""What every target offers: `prepare -> boot -> run -> events -> stop`.

A target is a way to start the agent on one system and to hold its standard input and output.
Nothing else crosses the boundary. A session is one boot: it serves one request, and a new request
needs a new boot.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NotRequired, Self, TypedDict

from pentathlon.machine.cpus import AVAILABLE, cpu_names, resolve
from pentathlon.machine.errors import TargetError
from pentathlon.machine.settings import Change
from pentathlon.machine.system import SystemSpec
from pentathlon.protocol.events import Message
from pentathlon.protocol.requests.session import Release, Request
from pentathlon.targets import registry
from pentathlon.targets.supplies import Supply
from pentathlon.targets.user_command import run_command


class Session(ABC):
    """One boot of a system, with the agent ready to take one request.

    Attributes:
        boot_seconds: time from the start of the boot until the agent could take a request.
        boot_log: what the system printed that is no event (kernel text, the agent's errors).
    """

    boot_seconds: float
    boot_log: Sequence[str]

    @abstractmethod
    def run(
        self, request: Request, idle_timeout_s: float, total_timeout_s: float
    ) -> Iterator[Message]:
        """Send the request and yield the agent's events, `done` being the last one.

        The target adds what it alone knows: `placement` and `scratch`, where the request leaves
        them out.

        Args:
            idle_timeout_s: longest wait for the next event, in seconds.
            total_timeout_s: longest time for the whole request, in seconds.

        Raises:
            TargetError: a timeout, the end of the agent before `done`, or output that is torn. The
                session is stopped by then.
            WrongEvent: an event is not what the protocol says.
        """

    def release(self, release: Release) -> None:
        """Let a workload begin for which the event `ready` came; `run` goes on to yield events.

        Raises:
            TargetError: the session has no way to be released step by step.
        """
        raise TargetError("this session cannot be released step by step")

    @abstractmethod
    def stop(self) -> None:
        """End every process of the session and put every setting back; may be called again.

        Raises:
            TargetError: a setting could not be put back; the undo journal still holds it.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Description(TypedDict):
    """A target for the plan, as JSON data.

    Attributes:
        kernel: its release, or why it is not known yet.
        options: of its kind.
        notes: what a reader of the results has to know, a sentence each.
        peer: it has a second host.
        behaves: end -> how it behaves, where that is not its own way.
        server: the second host's target, where it is another one.
    """

    kind: str
    layer: str
    kernel: str
    options: dict[str, Any]
    notes: list[str]
    peer: NotRequired[bool]
    behaves: NotRequired[dict[str, Any]]
    server: NotRequired[Description]


class Target(ABC):
    """How to reach one system.

    Attributes:
        name: the name of the system in the study.
        kind: the kind of target, such as "uml".
        layer: what lies under the system, one of its kind's layers, such as "host" or "kvm".
            Recorded with every result.
        cpus: CPUs of this machine that the system runs on, or None for any.
    """

    kind: str
    layer: str
    persistent: bool = True
    """Whether what a system learns, or has installed, is still there in its next boot."""

    def __init__(self, system: SystemSpec, agent_path: Path, state_dir: Path) -> None:
        self.system = system
        self.name = system.name
        self.cpus = resolve(system.cpus)
        self.agent_path = agent_path
        self.state_dir = state_dir
        self.install: int | None = None
        """The install of a guest that is held, in a study with several."""
        self.supplies: tuple[Supply, ...] = ()

    def supply(self, supplies: tuple[Supply, ...]) -> None:
        """Give the system files of the user's commands, in each of its boots."""
        self.supplies = supplies

    @abstractmethod
    def describe(self) -> Description:
        """The target for the plan, as JSON data.

        It changes nothing, needs no privilege, and is the same for the same study and machine.
        """

    def description(
        self, kernel: str, options: dict[str, Any], notes: Sequence[str]
    ) -> Description:
        """What `describe` returns, with its kind and layer."""
        return {
            "kind": self.kind,
            "layer": self.layer,
            "kernel": kernel,
            "options": options,
            "notes": list(notes),
        }

    def occupies(self) -> frozenset[str]:
        """What its measurement needs for itself, by name: "CPU 1" for those of this machine."""
        return cpu_names(AVAILABLE if self.cpus is None else self.cpus)

    @property
    def restarts(self) -> bool:
        """Whether each boot restarts a machine, so that no two of them have one boot id."""
        return False

    def loader_state(self) -> str | None:
        """What the loader that chose the kernel of this boot reports, as a clause; None: nothing
        chose it."""
        return None

    def alone(self) -> str | None:
        """Why no other system can be alive on this machine beside this one; None: others can."""
        kind = registry.find(self.kind)
        if kind is not None and kind.concurrent:
            return None
        return f"a system of the kind {self.kind} is booted by itself"

    @property
    def held_bytes(self) -> int:
        """Memory of this machine that the system may take while it is alive, in bytes."""
        return 0

    def privileges(self) -> list[str]:
        """What the target needs beyond an ordinary user, one sentence each."""
        return []

    def settings_to_change(self) -> list[Change]:
        """Settings of the machine that a boot changes."""
        return []

    def renew(
        self, command: str | None, timeout_s: float, install: int | None = None
    ) -> tuple[str, str | None]:
        """Make the system anew, as formatting its disk and installing it would.

        Args:
            command: the user's shell command for it, or None.
            timeout_s: longest time, in seconds.
            install: number of the install in a study with several. What a guest is made of is then
                kept between its boots, until the next install or `discard`.

        Returns:
            "done" or "unsupported", and how or why not.

        Raises:
            TargetError: the command failed.
        """
        if not self.persistent and install is not None:
            return self._keep(install)
        if not self.persistent:
            return "done", "each boot of this target has a new root directory and a new kernel"
        if command is None:
            return "unsupported", (
                "this target cannot make its system anew by itself; give the step a command"
            )
        return self._renew_by(command, timeout_s)

    def _keep(self, install: int) -> tuple[str, str | None]:
        """Make the install of a guest; `target.installs` has those that outlive a boot."""
        self.install = install
        return "done", "nothing of this target outlives a boot: each boot is an install of its own"

    def lost(self, install: int) -> bool:
        """Whether this target makes installs that end with a run, and does not hold this one."""
        return not self.persistent and self.install != install

    def forgets(self) -> str | None:
        """Why nothing that the system learns is there in its next boot; None if it is."""
        return None if self.persistent else "nothing that this system learns survives its boot"

    def discard(self) -> None:
        """Remove what `renew` keeps between boots; may be called again.

        Raises:
            TargetError: something could not be removed; the undo journal still holds it.
        """
        self.install = None

    def _renew_by(self, command: str, timeout_s: float) -> tuple[str, str | None]:
        """Run the user's command on this machine."""
        run_command(command, timeout_s)
        return "done", command

    def copy_proc(self, into: Path) -> bool:
        """Where the system is another machine, copy those files of its /proc that show its load.

        Args:
            into: a directory; the files are `proc/...` below it.

        Returns:
            Whether there are any.

        Raises:
            Busy: another run measures there.
        """
        return False

    def bytes_written(self) -> int | None:
        """Bytes that one boot itself writes to disk, or None if that is not known."""
        return 0

    @abstractmethod
    def prepare(self) -> None:
        """Check that the target can work, and fetch nothing.

        Raises:
            TargetUnavailable: it cannot work here; the reason and the remedy are in the error.
        """

    @abstractmethod
    def boot(self, timeout_s: float) -> Session:
        """Start the system and wait until the agent can take a request.

        Raises:
            TargetUnavailable: the target cannot work here.
            TargetError: the boot failed, or took longer than `timeout_s` seconds.
        """
