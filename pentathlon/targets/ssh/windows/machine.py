"""A Windows machine that ssh(1) reaches: found by its shell, restarted, known by its boot."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.tools import last_line
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.targets.ssh.client import BROKEN, PROBE_S, Address, call, wait_for_another_boot
from pentathlon.targets.ssh.windows import shell
from pentathlon.targets.ssh.windows.files import Files
from pentathlon.targets.windows_build import AGENT

REBOOT = ("shutdown.exe", "/r", "/t", "0", "/f")
POLL_S = 1.0
RESTART_S = 30.0
"""Longest time for a command that restarts a machine to take the connection with it, in seconds."""

THERE = "pentathlon-there-"
"""How the directories of sessions are called over there (agent/crates/session/src/home.rs)."""
LOCK = "lock"
UNDO = "undo"


@dataclass(frozen=True)
class WindowsMachine:
    """A machine whose login shell is cmd.exe or PowerShell."""

    address: Address
    shell: shell.Shell
    version: str

    def run(self, words: Sequence[str], timeout_s: float = PROBE_S) -> str:
        """Run a program there over a connection of its own; what it prints.

        Raises:
            TargetUnavailable: the machine cannot be reached.
            TargetError: it ended with another status than 0; its last words.
        """
        return self.address.ask_line(self.shell.line(words), timeout_s)

    def directory(self, files: Files, token: str) -> str:
        """Make the private directory of a session; only its user and administrators see into it,
        as into everything in a user's temporary directory.
        """
        base = self.shell.temp
        if not base.isascii() or "\ufffd" in base:
            # cmd.exe prints in the console's code page; SFTP has the name as it is.
            base = files.home() + r"\AppData\Local\Temp"
        place = f"{base}\\{THERE}{token}"
        self.shell.line([place])
        files.make_directory(place)
        return place

    def copy(self, files: Files, agent: Path, place: str, wanted: str) -> str:
        """Copy the agent into a directory there and compare its digest; its path there.

        Raises:
            TargetError: it did not arrive whole.
        """
        path = f"{place}\\{AGENT}"
        files.put(agent, path)
        got = self._sha256(path) or files.sha256(path)
        if got != wanted:
            raise TargetError(
                f"the agent did not arrive whole on {self.address.host}: its SHA-256 is {got} "
                f"there, {wanted} here"
            )
        return path

    def _sha256(self, path: str) -> str | None:
        """The digest that certutil computes there; None where it computes none (Wine)."""
        with contextlib.suppress(TargetError):
            found = re.search(
                r"^(?:[0-9a-fA-F]{2} ?){32}\s*$",
                self.run(["certutil.exe", "-hashfile", path, "SHA256"], 60.0),
                re.MULTILINE,
            )
            return found[0].replace(" ", "").strip().lower() if found else None
        return None

    def boot_id(self, agent: str) -> str:
        """Which boot answers, as the agent over there finds it: when the machine was started.

        Args:
            agent: its path there.
        """
        text = self.run([agent, "inventory"])
        try:
            boot: Any = json.loads(text)["system"]["kernel"]["boot_id"]
        except (ValueError, KeyError, TypeError) as error:
            raise TargetError(
                f"the agent on {self.address.host} does not report which boot it is in"
            ) from error
        if not isinstance(boot, str):
            reason = boot.get("unsupported") if isinstance(boot, dict) else "no text"
            raise TargetError(
                f"{self.address.host} does not report when it was started ({reason}), so a restart "
                "cannot be verified"
            )
        return boot

    def restart(
        self, agent: Path, digest: str, command: str | None, state: Path, deadline: float
    ) -> None:
        """Restart the machine and wait until another boot of it answers.

        Args:
            agent: the agent's Windows build on this machine.
            command: a line for its shell that restarts it; None: shutdown.exe.
            deadline: as time.monotonic() counts.

        Raises:
            TargetError: it does not restart, or not within the time limit.
        """
        journal = UndoJournal(state)
        try:
            local = launch.scratch_directory(None, journal)
            after = local / "after"
            after.mkdir()
            files = Files(self.address, local, journal, _left(deadline))
            place = self.directory(files, journal.token)
            # Where this run ends before it removes the directory, the next guard there does.
            files.append(f"{place}\\{LOCK}", "")
            path = self.copy(files, agent, place, digest)
            before = self.boot_id(path)
            self._restart(command or self.shell.line(REBOOT))
            files.close()
            self._wait(path, before, deadline)
            files = Files(self.address, after, journal, 30.0)
            files.remove_tree(place)
            files.close()
        finally:
            journal.undo()

    def _restart(self, line: str) -> None:
        try:
            # The connection may break before the command has an exit status.
            done = call(self.address.alone(line), RESTART_S)
        except subprocess.TimeoutExpired:
            return
        if done.returncode not in (0, BROKEN):
            last = last_line(done.stderr or done.stdout)
            raise TargetError(
                f"{self.address.host} does not restart: {last} (the login needs the right to shut "
                "the machine down from a remote computer)"
            )

    def _wait(self, agent: str, before: str, deadline: float) -> None:
        time.sleep(POLL_S)
        still = f"its boot is still that of {before}"
        wait_for_another_boot(
            self.address.host, lambda: self.boot_id(agent), before, still, deadline, poll_s=POLL_S
        )


def _left(deadline: float) -> float:
    return max(deadline - time.monotonic(), 1.0)


def find(address: Address) -> WindowsMachine | None:
    """The machine, if its login shell is one of Windows'.

    Raises:
        TargetUnavailable: it cannot be reached.
    """
    try:
        found = shell.recognise(address.ask_line(shell.PROBE))
    except TargetUnavailable:
        raise
    except TargetError:
        return None
    if found is None:
        return None
    version = re.search(r"\d+(\.\d+)+", address.ask_line(found.version_line))
    return WindowsMachine(address, found, version[0] if version else "of an unknown version")
