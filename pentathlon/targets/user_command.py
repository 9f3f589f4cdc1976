"""A shell command of the user's own, run on this machine."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from pentathlon.machine.errors import TargetError
from pentathlon.machine.tools import last_line, run


def run_command(
    command: str, timeout_s: float, environment: Mapping[str, str] | None = None
) -> None:
    """Run a command of a study to its end.

    Args:
        timeout_s: longest time, in seconds.
        environment: None: that of this program.

    Raises:
        TargetError: it failed, or did not end in time.
    """
    try:
        done = run(["/bin/sh", "-c", command], timeout_s, env=environment)
    except subprocess.TimeoutExpired as error:
        raise TargetError(f"`{command}` did not end within {timeout_s:g} s") from error
    if done.returncode:
        raise TargetError(f"`{command}` ended with {done.returncode}: {last_line(done.stderr)}")
