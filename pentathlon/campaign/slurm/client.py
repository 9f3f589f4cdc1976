"""Slurm's own commands: sbatch, squeue, scancel."""

from __future__ import annotations

import getpass
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

PATIENCE_S = 60.0

AWAY = re.compile(
    r"contact slurm controller|timed out|connection|communication|temporarily|backup controller"
    r"|slurmctld",
    re.IGNORECASE,
)
"""What Slurm's commands print where the controller does not answer, as while it restarts."""

ALIVE = "PENDING RUNNING SUSPENDED COMPLETING CONFIGURING REQUEUED STAGE_OUT SIGNALING STOPPED"
STATES = frozenset(ALIVE.split()) | {"REQUEUE_HOLD", "REQUEUE_FED", "RESIZING", "SPECIAL_EXIT"}


class SlurmRefusal(Exception):
    """Slurm does not do what it is asked; its own sentence."""


class ControllerAway(Exception):
    """The controller does not answer now; it may later."""


@dataclass(frozen=True)
class Job:
    """A job that is in the queue or runs."""

    id: str
    name: str
    state: str
    reason: str


def missing() -> str | None:
    """The first of the commands that is not installed, or None."""
    return next((name for name in ("sbatch", "squeue", "scancel") if not shutil.which(name)), None)


def submit(words: Sequence[str]) -> str:
    """Submit a job; returns its id.

    Raises:
        ControllerAway, SlurmRefusal.
    """
    text = _run(["sbatch", "--parsable", *words]).strip()
    # `ID` or `ID;CLUSTER`; a plugin may print before it.
    found = re.search(r"^(\d+)(;\S*)?$", text, re.MULTILINE)
    if found is None:
        raise SlurmRefusal(f"sbatch printed no id of a job: {text[:200]!r}")
    return found[1]


def queue(prefix: str) -> dict[str, Job]:
    """The jobs of this user whose names begin so and that have not ended: id -> job.

    Raises:
        ControllerAway, SlurmRefusal.
    """
    text = _run(
        ["squeue", "--all", "--noheader", f"--user={getpass.getuser()}", "--format=%i|%T|%r|%j"]
    )
    found = {}
    for line in text.splitlines():
        parts = line.strip().split("|", 3)
        if len(parts) == 4 and parts[3].startswith(prefix) and parts[1] in STATES:
            found[parts[0]] = Job(parts[0], parts[3], parts[1], parts[2])
    return found


def cancel(jobs: Sequence[str]) -> None:
    """Cancel jobs; one that has ended is none.

    Raises:
        ControllerAway, SlurmRefusal.
    """
    if jobs:
        _run(["scancel", *jobs])


def _run(words: list[str]) -> str:
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired as error:
        raise ControllerAway(f"{words[0]} did not answer within {PATIENCE_S:g} s") from error
    except OSError as error:
        raise SlurmRefusal(f"{words[0]} cannot be run: {(error.strerror or '').lower()}") from error
    if done.returncode == 0:
        return done.stdout
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    text = "; ".join(lines[-2:]) or f"it ended with {done.returncode}"
    if AWAY.search(text):
        raise ControllerAway(text)
    raise SlurmRefusal(text if text.startswith(words[0]) else f"{words[0]}: {text}")
