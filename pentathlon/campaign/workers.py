"""The run of one machine as a process of its own: what ends it ends no other one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from pentathlon.campaign.directory import Campaign
from pentathlon.store.files import open_regular
from pentathlon.store.journal import LOCK, is_locked

APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
MOST_LOG = 1 << 16


class Worker:
    """`pentathlon run`, or `run --resume`, for one machine.

    It has a session of its own: whatever ends the campaign's program ends it only by `stop`.
    """

    def __init__(self, campaign: Campaign, machine: str) -> None:
        self.machine = machine
        self.campaign = campaign
        begun = campaign.begun(machine)
        words = [sys.executable, "-m", "pentathlon", "run"]
        if begun:
            words += [str(campaign.result(machine)), "--resume"]
        else:
            words += [str(campaign.study(machine)), "--out", str(campaign.result(machine))]
            words += [] if campaign.blocks is None else ["--blocks", str(campaign.blocks)]
            words += ["--no-pilot"]
        # Stand-ins on one machine would meet on its CPUs; they take turns.
        words += ["--no-report", "--wait"] + (["--yes"] if campaign.yes else [])
        log = open_regular(campaign.log(machine), APPEND)
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        finally:
            os.close(log)
        self._explained = False

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs. Minus the number of the signal that ended it."""
        status = self._process.poll()
        if status is not None and status < 0 and not self._explained:
            self._explained = True
            self._explain(-status)
        return status

    def _explain(self, number: int) -> None:
        """A run that a signal ended could not write its last words itself."""
        name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
        with suppress(OSError):
            log = open_regular(self.campaign.log(self.machine), APPEND)
            try:
                os.write(log, f"error: its run was ended by signal {name}\n".encode())
            finally:
                os.close(log)

    def stop(self) -> None:
        """Ask it to stop in an orderly way."""
        with suppress(OSError):
            self._process.send_signal(signal.SIGTERM)

    def wait(self) -> None:
        """Wait for its end."""
        self._process.wait()


def last_words(log: Path) -> str:
    """The last sentence that a run printed; "" if it printed none."""
    try:
        with open(open_regular(log, os.O_RDONLY), "rb") as file:  # noqa: PTH123  a descriptor
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - MOST_LOG, 0))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return ""
    errors = [line for line in lines if line.startswith("error: ")]
    found = (errors or [line for line in lines if line.strip()] or [""])[-1]
    return found.removeprefix("error: ").strip()


def writer(directory: Path) -> int | None:
    """The process that writes a directory now, or None."""
    if not is_locked(directory):
        return None
    try:
        with open(open_regular(directory / LOCK, os.O_RDONLY), "rb") as file:  # noqa: PTH123
            return int(file.read(32))
    except (OSError, ValueError):
        return None


def ask_to_stop(directory: Path) -> bool:
    """Ask whoever writes a directory to stop; returns whether somebody did."""
    process = writer(directory)
    # On a file system that machines share the writer may be a process of another one.
    if process is None or not _ours(process):
        return False
    try:
        os.kill(process, signal.SIGTERM)
    except ProcessLookupError:
        return False
    return True


def _ours(process: int) -> bool:
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(b"pentathlon" in word for word in words)
