"""A machine's stay away from its default entry, and the way back.

Before a machine is first asked to boot something else, the undo journal of this side has its
address and the id of the boot that it was in. The entry goes when the machine has been restarted
without a choice and has come back. A crash of the experimenter leaves the entry, and the next use
of the machine, or `pentathlon doctor --restore`, takes the way back first.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pentathlon.machine import ends, restore, undo_journal
from pentathlon.machine.activity import activity
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.tools import last_line
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.targets.ssh.boots import own, running
from pentathlon.targets.ssh.boots.loader import disarm_all
from pentathlon.targets.ssh.boots.methods import LOADERS
from pentathlon.targets.ssh.boots.running import Running
from pentathlon.targets.ssh.client import Address, call
from pentathlon.targets.ssh.power.controller import PowerSpec, Supply, controller
from pentathlon.targets.ssh.windows import running as windows

REBOOT = 'if [ "$(id -u)" = 0 ]; then reboot; else sudo -n reboot; fi'

STOPPING = "pentathlon: it shuts down"
IS_STOPPING = f"""
if [ "$(systemctl is-system-running 2>/dev/null)" = stopping ]; then echo '{STOPPING}'; fi
"""
"""Prints `STOPPING` where systemd(1) has begun to stop the machine."""

POLL_S = 0.5
COMMAND_S = 30.0
"""Longest time for a command that restarts a machine to take the connection with it, in seconds."""
BACK_S = 600.0
"""Longest time for the way back after a crash, which has no study to state one, in seconds."""


@dataclass(frozen=True)
class Machine:
    """A machine that can be restarted.

    Attributes:
        reboot: shell command there that restarts it.
        back: shell command here that makes its next start the default, or "".
        power: what switches it off and on, or None.
    """

    address: Address
    reboot: str = REBOOT
    back: str = ""
    power: PowerSpec | None = None

    @property
    def host(self) -> str:
        return self.address.host

    def running(self) -> Running:
        """What it runs now.

        Raises:
            TargetError: it cannot be reached, or does not say.
        """
        try:
            output = self.address.ask(running.SCRIPT)
        except TargetUnavailable:
            raise
        except TargetError:
            found = windows.read(self.address)
            if found is None:
                raise
            return found
        return self.look(output)

    def look(self, output: str) -> Running:
        """What it runs, out of what `running.SCRIPT` printed there."""
        try:
            return running.read(output)
        except TargetError as error:
            raise TargetError(f"{self.host}: {error}") from error

    def chooser(self, deadline: float) -> tuple[Running, bool]:
        """Wait until it answers from the Linux in which its next start is chosen: a Windows is
        restarted, which leads to the default entry.

        Returns:
            What it runs, and whether it was restarted for that.

        Raises:
            TargetError: it does not answer, or its default entry is Windows.
        """
        with activity(f"{self.host} is waited for until it answers"):
            now = self.wait(None, deadline)
        if not now.windows:
            return now, False
        with activity(f"{self.host} restarts from Windows into its default entry"):
            self._restart(self.address.alone(windows.restart_line(self.address)))
            now = self.wait(now.boot_id, deadline)
        if now.windows:
            raise TargetError(
                f"{self.host} boots {now.words()} by default, and what a machine boots is chosen "
                "from its Linux; make that the default entry"
            )
        return now, True

    def restart(self, script: str) -> None:
        """Run a script that takes the connection with it.

        Raises:
            TargetError: it failed.
        """
        self._restart(self.address.once(script))

    def _restart(self, command: list[str]) -> None:
        try:
            done = call(command, COMMAND_S)
        except subprocess.TimeoutExpired:
            return
        # The connection may break before the command has an exit status.
        if done.returncode not in (0, 255):
            why = last_line(done.stderr, "no reason")
            raise TargetError(f"{self.host} does not restart: {why}")

    def wait(self, before: str | None, deadline: float) -> Running:
        """Wait until it answers in another boot than `before`.

        Raises:
            TargetError: it does not; why it was not the last time.
        """
        why = "the time limit is over"
        while time.monotonic() < deadline:
            try:
                now = self.running()
            except TargetError as error:
                # That it cannot be reached has no remedy here but to wait.
                why = error.reason if isinstance(error, TargetUnavailable) else str(error)
            else:
                if now.boot_id != before:
                    return now
                why = f"its boot id is still {before}"
            time.sleep(POLL_S)
        raise TargetError(why)

    def cycle(self) -> None:
        """Switch it off and on.

        Raises:
            TargetError: there is no controller, or it refuses.
        """
        if self.power is None:
            raise TargetError(
                f"no power controller of {self.host} is named (power = {{ ... }}), so it is left "
                "as it is"
            )
        supply: Supply = controller(self.power, self.host)
        supply.cycle()

    def revive(self, before: str | None, timeout_s: float) -> Running:
        """Switch it off and on and wait until it answers in another boot than `before`.

        Where it does not, it is done once more: a machine that was switched off before its loader
        had started, as one that hangs while it shuts down, still has the entry chosen for once.

        Raises:
            TargetError: there is no controller, it refuses, or the machine does not answer.
        """
        with activity(f"{self.host} is switched off and on"):
            self.cycle()
            with contextlib.suppress(TargetError):
                return self.wait(before, time.monotonic() + timeout_s)
            self.cycle()
            return self.wait(before, time.monotonic() + timeout_s)

    def record(self) -> dict[str, Any]:
        """For the undo journal: nothing that is secret."""
        power = {} if self.power is None else {
            name: value
            for name in ("controller", "address", "port", "system", "user", "password_file",
                         "verify", "command")
            if (value := getattr(self.power, name)) is not None
        }  # fmt: skip
        return {
            "address": {**self.address.record(), "key": self.address.key,
                        "config": self.address.config},
            "reboot": self.reboot,
            "back": self.back,
            "power": power,
        }  # fmt: skip

    @staticmethod
    def of_record(entry: dict[str, Any]) -> Machine:
        """The machine of an entry of the undo journal."""
        return Machine(
            Address(**entry["address"]),
            entry["reboot"],
            entry["back"],
            JournalledPower(**entry["power"]) if entry["power"] else None,
        )


@dataclass(frozen=True)
class JournalledPower:
    """A power controller as the undo journal has it (`PowerSpec`)."""

    controller: str
    address: str | None = None
    port: int | None = None
    system: str | None = None
    user: str | None = None
    password_file: str | None = None
    verify: bool | str = True
    command: str | None = None


class Stay:
    """One stay, from the first choice of another entry to the way back.

    Attributes:
        home: what the machine ran before.
    """

    def __init__(self, machine: Machine, home: Running, state_dir: Path) -> None:
        self.machine = machine
        self.home = home
        self._journal = UndoJournal(state_dir)
        self._journal.note(restore.booted(machine.record(), home.boot_id))

    def back(self, timeout_s: float) -> str | None:
        """Leave the machine in its default entry.

        Returns:
            A sentence, if that is another kernel than it ran before.

        Raises:
            TargetError: it is not there; the undo journal still has it.
        """
        now = way_back(self.machine, self.home.boot_id, timeout_s)
        self._journal.undo()
        if now.boot_id != self.home.boot_id and now.release != self.home.release:
            return (
                f"{self.machine.host} is back in its default entry, with {now.words()}; before the "
                f"study it ran {self.home.words()}"
            )
        return None

    def abandon(self) -> None:
        """Let go of the journal, which stays for the next use of the machine."""
        self._journal.keep()


_stays: dict[tuple[Path, Address], Stay] = {}
"""Those of this process."""


def stay_of(machine: Machine, state_dir: Path, timeout_s: float) -> Stay:
    """The machine's stay; it begins now if it has not begun.

    Raises:
        TargetError: the machine cannot be reached, or an earlier run left it elsewhere and it does
        not
            come back.
    """
    key = (state_dir, machine.address)
    if key not in _stays:
        ends.at_end(_end_all)
        restore_machines(state_dir, machine.address, timeout_s)
        home, _ = machine.chooser(time.monotonic() + timeout_s)
        _stays[key] = Stay(machine, home, state_dir)
    elif _stays[key].machine.power is None:
        # Another system of the same machine may name its controller.
        _stays[key].machine = machine
    return _stays[key]


def end_stay(machine: Machine, state_dir: Path, timeout_s: float) -> str | None:
    """Take the way back if the machine is away; as `Stay.back`. It is not tried twice: what fails
    is left to the undo journal."""
    stay = _stays.pop((state_dir, machine.address), None)
    if stay is None:
        return None
    try:
        return stay.back(timeout_s)
    except BaseException:
        stay.abandon()
        raise


def _end_all() -> list[str]:
    """Take the way back of every machine that is still away when this process ends.

    A run does it before; this is for what ends before a run.
    """
    sentences = []
    for (state_dir, _), one in list(_stays.items()):
        try:
            changed = end_stay(one.machine, state_dir, BACK_S)
        except TargetError as error:
            sentences.append(f"could not put back: {error}")
        else:
            if changed is not None:
                ends.note(changed)
    return sentences


def way_back(machine: Machine, home: str, timeout_s: float) -> Running:
    """Undo every choice of the next start, and restart the machine if it is in another boot.

    Where a crashed run had ordered a restart that has just begun, its end is waited for: a machine
    that shuts down still answers from the boot before, and is gone a moment later.

    Args:
        home: id of the boot in which the machine was before.

    Raises:
        TargetError: it does not come back.
    """
    deadline = time.monotonic() + timeout_s
    with activity(f"{machine.host} is led back to its default entry"):
        if machine.back:
            own.run(machine.back, machine.host)
        now, fresh = _disarmed(machine, deadline, timeout_s)
    if now.boot_id == home or fresh:
        return now
    with activity(f"{machine.host} restarts into its default entry"):
        machine.restart(machine.reboot)
        try:
            return machine.wait(now.boot_id, deadline)
        except TargetError as error:
            why = f"{machine.host} did not come back from the restart into its default entry"
            return _by_power(machine, now.boot_id, timeout_s, f"{why}: {error}")


def _disarmed(machine: Machine, deadline: float, timeout_s: float) -> tuple[Running, bool]:
    """Undo every choice of the next start.

    Returns:
        What the machine runs, and whether it was started without a choice since.
    """
    while True:
        try:
            now, fresh = machine.chooser(deadline if machine.power is None else _half(deadline))
        except TargetError as error:
            now = _by_power(machine, None, timeout_s, f"{machine.host} does not answer: {error}")
            # It may have hung before its loader took the choice, and have booted it only now.
            fresh = False
        try:
            output = machine.address.ask(running.SCRIPT + disarm_all(LOADERS) + IS_STOPPING)
        except TargetUnavailable:
            # It went down between the two questions.
            if time.monotonic() >= deadline:
                raise
            time.sleep(POLL_S)
            continue
        found = machine.look(output)
        if found.boot_id != now.boot_id:
            # It was started anew between the two questions, perhaps by the choice.
            now, fresh = found, False
        if STOPPING not in output:
            return now, fresh
        try:
            with activity(f"{machine.host} restarts into its default entry, as was ordered before"):
                return machine.wait(now.boot_id, deadline), True
        except TargetError as error:
            why = f"{machine.host} did not come back from a restart that had begun: {error}"
            return _by_power(machine, now.boot_id, timeout_s, why), True


def _half(deadline: float) -> float:
    now = time.monotonic()
    return now + max(deadline - now, 0) / 2


def _by_power(machine: Machine, before: str | None, timeout_s: float, why: str) -> Running:
    try:
        return machine.revive(before, timeout_s)
    except TargetError as error:
        raise TargetError(f"{why}; {error}") from error


def restore_machines(
    state_dir: Path, only: Address | None = None, timeout_s: float = BACK_S
) -> list[str]:
    """Take the way back of machines that a crashed run left in another entry.

    Args:
        only: this machine alone.

    Returns:
        A sentence for each.

    Raises:
        TargetError: one does not come back; the undo journal still has it.
    """
    sentences, failed = [], []
    for left in undo_journal.away(state_dir):
        for entry in [change for change in left.changes if restore.is_elsewhere(change)]:
            machine = Machine.of_record(entry)
            if only is not None and machine.address != only:
                break
            try:
                now = way_back(machine, entry["home"], timeout_s)
            except TargetError as error:
                failed.append(str(error))
                break
            sentences.append(
                f"put back after a crash: {machine.host} is in its default entry ({now.release})"
            )
        else:
            left.path.unlink(missing_ok=True)
    if failed:
        raise TargetError(f"could not put back: {'; '.join(failed)}")
    return sentences
