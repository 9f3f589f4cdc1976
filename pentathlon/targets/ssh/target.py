"""A machine of its own, reached with ssh(1); with `reboot` each boot really starts it anew."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import IO, Any

from pentathlon.machine import ends, launch
from pentathlon.machine.cache import sha256
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.settings import Change, MachineSettings
from pentathlon.machine.system import SystemSpec
from pentathlon.machine.undo_journal import Entry, UndoJournal
from pentathlon.protocol.agent import graphics
from pentathlon.protocol.requests.session import Placement
from pentathlon.targets import guarded, guest, linux_build, options, windows_build
from pentathlon.targets.capabilities import RemoteSession, RemoteTarget
from pentathlon.targets.contract import Description, Session
from pentathlon.targets.session import Launch
from pentathlon.targets.ssh.boots import stay
from pentathlon.targets.ssh.boots.into import Boots
from pentathlon.targets.ssh.client import BROKEN, Address, remote, wait_for_another_boot
from pentathlon.targets.ssh.connection import Connection
from pentathlon.targets.ssh.descriptor import KIND
from pentathlon.targets.ssh.occupancy import copy_proc, owner, refuse_others, taken
from pentathlon.targets.ssh.power.controller import controller
from pentathlon.targets.ssh.settings import BY_AGENT, LinuxSettings
from pentathlon.targets.ssh.windows import machine as windows_machine
from pentathlon.targets.ssh.windows import session as windows_session
from pentathlon.targets.ssh.windows.settings import KEYS as WINDOWS_SETTINGS
from pentathlon.targets.ssh.windows.settings import WindowsSettings
from pentathlon.targets.supplies import FILES, stage

BOOT_ID = "cat /proc/sys/kernel/random/boot_id"

PROBE = f"""
uname -s; uname -m; uname -r
{BOOT_ID} || echo unknown
getconf _NPROCESSORS_ONLN || echo 0
"""

POLL_S = 0.5

AGENT_S = 60.0
"""Time for the agent to be placed on a machine that has just come up, in seconds."""


class SshSession(guarded.GuardedSession, RemoteSession):
    """A session whose system is another machine: it ends when the guard has cleaned up there."""

    def __init__(
        self, name: str, launch: Launch, journal: UndoJournal, connection: Connection
    ) -> None:
        self._connection = connection
        self._undo = journal
        super().__init__(name, launch, journal)

    @property
    def directory(self) -> str:
        return self._connection.directory

    @property
    def scratch(self) -> str:
        return self.private

    def send(self, script: str, *words: str, file: IO[bytes]) -> None:
        self._connection.send(script, *words, file=file)

    def note(self, entry: Entry) -> None:
        self._undo.note(entry)

    def _how_it_ended(self) -> str:
        output = super()._how_it_ended()
        if self._wait(0) != BROKEN:
            return output
        return f'the connection to {self._connection.host} broke before "done"{self._last_words()}'

    def stop(self) -> None:
        self._end_guard()
        try:
            if note := self._connection.close():
                self.boot_log.append(note)
        finally:
            super().stop()


class SshTarget(RemoteTarget):
    """A Linux machine that this user can log in to without being asked anything."""

    kind = KIND.name
    layer = KIND.layers[0]

    def __init__(self, system: SystemSpec, agent_path: Path, state_dir: Path) -> None:
        super().__init__(system, agent_path, state_dir)
        ssh = getattr(system, "ssh", None)
        if ssh is None:
            raise TargetError(
                f'system "{system.name}" names no machine; add ssh = {{ host = "NAME" }}'
            )
        options.refuse(system, self.kind, "kernel", "memory")
        self.settings = MachineSettings(system, besides=WINDOWS_SETTINGS)
        self.address = Address(ssh.host, ssh.user, ssh.port, ssh.key, ssh.jump, ssh.config)
        self.named_reboot: str | None = ssh.reboot_command
        self.reboot_command = ssh.reboot_command or stay.REBOOT
        self.boots = self._boots()
        self.reboots = bool(ssh.reboot) or self.boots is not None
        self.named: str | None = getattr(system, "agent", None)
        self._own_agent = agent_path
        self._windows: windows_machine.WindowsMachine | None = None
        # The CPUs of the study are those of the other machine; none of this one's is measured.
        self.cpus = None
        self._release: str | None = None
        self._cpu_count = 0

    def _boots(self) -> Boots | None:
        """How its kernel is chosen, if the study says it."""
        boot, power = (getattr(self.system, key, None) for key in ("boot", "power"))
        self._power = power
        if boot is None:
            return None
        machine = stay.Machine(self.address, self.reboot_command, boot.back or "", power)
        return Boots(machine, boot, self.state_dir)

    @property
    def host(self) -> str:
        return self.address.host

    def occupies(self) -> frozenset[str]:
        port = f":{self.address.port}" if self.address.port else ""
        return frozenset({f"the machine {self.address.host}{port}"})

    @property
    def restarts(self) -> bool:
        return self.reboots

    def loader_state(self) -> str | None:
        return None if self.boots is None else self.boots.state()

    def describe(self) -> Description:
        found: dict[str, Any] = {
            **self.address.record(),
            "cpus": list(self.system.cpus) if self.system.cpus is not None else None,
            "reboot": self.reboots,
            **self._choice(),
            "settings": self.system.settings.changed(),
        }
        return self.description(
            self._described(),
            found,
            [
                "another machine, reached with ssh; events travel over its network while the "
                "agent waits between samples",
                "each boot starts the machine anew"
                if self.reboots
                else "one boot is one start of the agent; the machine itself is not started anew",
            ],
        )

    def _choice(self) -> dict[str, Any]:
        """What it boots, for the plan; a machine that is only restarted has none."""
        if self.boots is None:
            return {}
        boot = self.boots.boot
        keys = ("method", "entry", "kernel", "initrd", "cmdline")
        found = {key: value for key in keys if (value := getattr(boot, key)) is not None}
        power = {} if self._power is None else {"power": self._power.controller}
        return {"boot": found, **power}

    def _described(self) -> str:
        if self.boots is not None:
            boot = self.boots.boot
            expected = f", expected to be {boot.expect.release}" if boot.expect.release else ""
            return f"({boot.method}: {boot.entry or boot.kernel or boot.command}{expected})"
        if self.reboots:
            # The machine may run another kernel now; a restart shows which one is measured.
            return "(the one that a restart brings)"
        return self._release or "(not reached)"

    def privileges(self) -> list[str]:
        own = [f"a login on {self.address.host} without a question"]
        if self.boots is not None:
            own.append(f"root on {self.address.host}, or sudo -n, for what it boots next")
        return own + ([f"the right to restart {self.address.host}"] if self.reboots else [])

    def settings_to_change(self) -> list[Change]:
        own: list[Change] = [
            {"what": f"{key} of {self.host}", "from": "what it is there", "to": str(value)}
            for key, value in self.system.settings.changed().items()
            if key not in (*BY_AGENT, *WINDOWS_SETTINGS)
        ]
        return [*own, *self._restarts_of_it()]

    def _restarts_of_it(self) -> list[Change]:
        if not self.reboots:
            return []
        if self.boots is not None:
            what = f"what {self.address.host} boots, until the end of the study"
            boot = self.boots.boot
            entry = boot.entry or boot.kernel or boot.command or ""
            return [{"what": what, "from": "its default entry", "to": entry}]
        return [{"what": f"state of {self.address.host}", "from": "running", "to": "restarted"}]

    def prepare(self) -> None:
        lines = self._probe()
        if lines is None:
            self._prepare_windows()
            return
        self._windows = None
        if self.boots is None:
            # Else it shows in the entry that is booted.
            self._refuse_windows_settings(lines[0])
        system, machine, release, _, count = lines
        if system != "Linux":
            raise TargetUnavailable(
                f"{self.address.host} is {system} on {machine}, and the agent is for Linux and "
                "Windows"
            )
        # A Windows build is for the entry that is booted later.
        named = None if self.named and windows_build.is_windows(Path(self.named)) else self.named
        self.agent_path = linux_build.agent_for(machine, named, self._own_agent)
        guest.check_agent(self.agent_path)
        self._cpu_count = int(count)
        self._check_cpus()
        if self.boots is not None:
            self.boots.check()
        elif not self.reboots and (settings := self._linux_settings()):
            settings.writes(self._alone)
        if self._power is not None:
            try:
                controller(self._power, self.host).check()
            except TargetUnavailable:
                raise
            except TargetError as error:
                raise TargetUnavailable(f"the power of {self.host}: {error}") from error
        self._release = release

    def _refuse_windows_settings(self, what: str) -> None:
        for key in WINDOWS_SETTINGS:
            if key in self.system.settings.changed():
                raise TargetUnavailable(
                    f'system "{self.system.name}" has the setting "{key}", which is for Windows; '
                    f"{self.address.host} is {what}"
                )

    def _linux_settings(self) -> LinuxSettings:
        return LinuxSettings(self.host, self.system.settings.changed(), self._cpu_count)

    def _alone(self, script: str, *words: str) -> str:
        """Run a script there over a connection of its own."""
        return self.address.ask_line(remote(script, *words))

    def _refuse_linux_settings(self) -> None:
        for key in self.system.settings.changed():
            if key not in (*BY_AGENT, *WINDOWS_SETTINGS):
                raise TargetUnavailable(
                    f'system "{self.system.name}" has the setting "{key}", which is for Linux; '
                    f"{self.address.host} is {self._release}"
                )

    def _check_cpus(self) -> None:
        for cpu in self.system.cpus or ():
            if not -self._cpu_count <= cpu < self._cpu_count:
                raise TargetUnavailable(
                    f"CPU {cpu} is not on {self.address.host}, which has {self._cpu_count}"
                )

    def _probe(self) -> list[str] | None:
        """What a POSIX shell there answers; None if the machine has none."""
        try:
            lines = self.address.ask(PROBE).splitlines()[-5:]
        except TargetUnavailable:
            raise
        except TargetError:
            return None
        return [line.strip() for line in lines] if len(lines) == 5 else None

    def _prepare_windows(self, booted: bool = False) -> None:
        """The machine is no POSIX system; is it Windows?

        Args:
            booted: it is in the system's own entry.
        """
        found = windows_machine.find(self.address)
        if found is None:
            raise TargetUnavailable(
                f"{self.address.host} has neither a POSIX shell with uname(1) nor cmd.exe or "
                "PowerShell as its login shell"
            )
        if found.shell.architecture != "AMD64":
            raise TargetUnavailable(
                f"{self.address.host} is Windows on {found.shell.architecture}, and the agent's "
                "Windows build is for AMD64"
            )
        self._release, self._cpu_count = f"Windows {found.version}", found.shell.cpus
        self._check_cpus()
        if self.boots is not None and not booted:
            return  # What the system is shows in the entry that is booted.
        self._refuse_linux_settings()
        changed = self.system.settings.changed()
        self._windows_agent = windows_build.agent(self.named, self.agent_path)
        self._windows_settings = WindowsSettings(found, changed)
        self._windows_settings.check()
        self._windows = found

    def copy_proc(self, into: Path) -> bool:
        if self._windows is not None or self._release is None:
            return False
        refuse_others(self.host, self._alone)
        return copy_proc(self._alone, into)

    def boot(self, timeout_s: float) -> Session:
        if self._release is None:
            self.prepare()
        began = time.monotonic()
        if self.reboots and self._windows is None and self._release is not None:
            refuse_others(self.host, self._alone)
        if self.boots is not None:
            now = self.boots.into(timeout_s)
            timeout_s = time.monotonic() - began + AGENT_S
            self._windows = None
            if now.windows:
                self._prepare_windows(booted=True)
            else:
                self._refuse_windows_settings(f"Linux {now.release}")
        if self._windows is not None:
            return self._boot_windows(self._windows, began, timeout_s)
        if self.reboots and self.boots is None:
            self.restart(began + timeout_s)
        return self._start(began, timeout_s, "run")

    def discard(self) -> None:
        """Leave the machine in its default entry."""
        super().discard()
        if self.boots is not None:
            changed = stay.end_stay(self.boots.machine, self.state_dir, stay.BACK_S)
            if changed is not None:
                ends.note(changed)

    def _boot_windows(
        self, machine: windows_machine.WindowsMachine, began: float, timeout_s: float
    ) -> Session:
        agent = self._windows_agent
        if self.reboots and self.boots is None:
            machine.restart(
                agent, sha256(agent), self.named_reboot, self.state_dir, began + timeout_s
            )
        return windows_session.start(
            self.name,
            machine,
            agent,
            self.state_dir,
            began=began,
            timeout_s=timeout_s,
            placement=self._placement(),
            scratch=self.system.scratch,
            settings=self._windows_settings,
            supplies=self.supplies,
        )

    def start_endpoint(self, timeout_s: float) -> SshSession:
        if self._release is None:
            self.prepare()
        if self._windows is not None:
            raise TargetUnavailable(
                f"{self.address.host} is Windows, and a host of a test between hosts needs a POSIX "
                "shell that sets its addresses"
            )
        return self._start(time.monotonic(), timeout_s, "endpoint")

    def _start(self, began: float, timeout_s: float, verb: str) -> SshSession:
        journal = UndoJournal(self.state_dir)
        connection: Connection | None = None
        session: SshSession | None = None
        try:
            local = launch.scratch_directory(None, journal)
            left = max(timeout_s - (time.monotonic() - began), 1.0)
            connection = Connection(self.address, local, journal, left)
            connection.copy(self.agent_path)
            same = linux_build.architecture(self.agent_path) == linux_build.architecture(
                self._own_agent
            )
            if same and (drawing := graphics(self.agent_path)) is not None:
                connection.copy_graphics(drawing)
            staged = stage(self.supplies, local / FILES)
            home = connection.directory
            words = guarded.words(
                verb,
                below=self.system.scratch,
                files=staged is not None,
                home=home,
                owner=" ".join(owner()),
            )
            session = SshSession(
                self.name,
                Launch(
                    command=launch.wrap(connection.agent_command(words)),
                    placement=self._placement(),
                ),
                journal,
                connection,
            )
            packed = None if staged is None else guarded.packed(self.supplies, staged)
            session.open(packed, max(timeout_s - (time.monotonic() - began), 1.0))
            self._linux_settings().apply(connection.run, home, connection.token)
            if verb == "endpoint":
                # The guard starts its verb when something comes, and an endpoint speaks first.
                session.begin()
            session.boot_seconds = time.monotonic() - began
            return session
        except BaseException as error:
            with contextlib.suppress(TargetError):
                if session is not None:
                    session.stop()
                elif connection is not None:
                    connection.close()
            journal.undo()
            if isinstance(error, guarded.Taken):
                raise TargetError(taken(self.host, error.who)) from error
            raise

    def _placement(self) -> Placement:
        placement = self.settings.placement()
        if self.system.cpus is not None:
            placement["cpus"] = [cpu % self._cpu_count for cpu in self.system.cpus]
        return Placement(**placement)

    def _renew_by(self, command: str, timeout_s: float) -> tuple[str, str | None]:
        self.address.ask(command, timeout_s)
        return "done", f"{command} on {self.address.host}"

    def restart(self, deadline: float) -> None:
        """Restart the machine and wait until it answers with another boot id, random(4).

        Raises:
            TargetError: it does not within the time limit.
        """
        address = self.address

        def boot_id() -> str:
            return address.ask(BOOT_ID).strip()

        before = boot_id()
        stay.Machine(address).restart(self.reboot_command)
        still = f"its boot id is still {before}"
        wait_for_another_boot(address.host, boot_id, before, still, deadline, poll_s=POLL_S)
