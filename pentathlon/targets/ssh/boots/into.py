"""Restart a machine into the entry of one system, and look whether that is what came up."""

from __future__ import annotations

import time
from pathlib import Path

from pentathlon.machine.activity import activity
from pentathlon.machine.errors import TargetError
from pentathlon.targets.ssh.boots import running, stay
from pentathlon.targets.ssh.boots.loader import BootSpec, Entry, Loader
from pentathlon.targets.ssh.boots.methods import BY_NAME
from pentathlon.targets.ssh.boots.running import Running
from pentathlon.targets.ssh.boots.stay import Machine


class Boots:
    """The boots of one system of a machine that has several.

    Args:
        boot: which entry, and what must come of it.
        state_dir: of the undo journal.
    """

    def __init__(self, machine: Machine, boot: BootSpec, state_dir: Path) -> None:
        self.machine = machine
        self.boot = boot
        self._state_dir = state_dir
        self.loader: Loader = BY_NAME[boot.method](boot, machine.address.ask, machine.host)

    def check(self) -> Entry:
        """The entry, if the machine has it; changes nothing.

        Raises:
            TargetUnavailable: it has not.
        """
        return self.loader.check()

    def into(self, timeout_s: float) -> Running:
        """Boot the entry.

        Raises:
            TargetError: the machine does not come back, or with another kernel; it was then brought
                back to its default entry if that needed no more than its power controller.
        """
        machine, loader = self.machine, self.loader
        home = stay.stay_of(machine, self._state_dir, timeout_s).home
        before, _ = machine.chooser(time.monotonic() + timeout_s)
        script = loader.arm(home)
        if not loader.restarts:
            script = f"({script}) || exit 3\n{machine.reboot}"
        began = time.monotonic()
        with activity(f"{machine.host} restarts by {self._entry()}"):
            machine.restart(script)
            try:
                now = machine.wait(before.boot_id, began + timeout_s)
            except TargetError as error:
                raise TargetError(self._lost(before, home, timeout_s, error)) from error
        differs = [running.difference(now, self.boot.expect, loader.words())]
        if not now.windows:  # From there the loader cannot be seen.
            differs = [differs[0] or loader.booted(now, home)]
        if differs[0] is None:
            return now
        raise TargetError(
            f"{machine.host} booted another kernel than {self._asked()}: {differs[0]}; "
            f"{self.state()}"
        )

    def _asked(self) -> str:
        return f"the one asked for ({self._entry()})"

    def _entry(self) -> str:
        what = self.boot.entry or self.boot.kernel or self.boot.command
        return f'{self.loader.name}, "{what}"'

    def state(self) -> str:
        """The loader's state as a clause, also where it cannot be read."""
        try:
            return self.loader.state()
        except TargetError as error:
            return f"the loader's state could not be read ({error})"

    def _lost(self, before: Running, home: Running, timeout_s: float, why: TargetError) -> str:
        """What is done about a machine that does not come back, and the sentence on it."""
        host = self.machine.host
        text = (
            f"{host} did not come back within {timeout_s:g} s after it was to boot "
            f"{self._asked()}, so that kernel hangs or panics, or has no network ({why})"
        )
        try:
            now = self.machine.revive(before.boot_id, timeout_s)
        except TargetError as error:
            return f"{text}; {error}"
        if (now.release, now.cmdline) == (home.release, home.cmdline):
            again = f"is in its default entry again (release {now.release})"
        else:
            # Its loader had not started by then, or the default was never what it ran before.
            again = f"answers again, with {now.words()}"
        return f"{text}; it was switched off and on, and {again}"
