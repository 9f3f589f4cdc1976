"""Where files of a user lie that no command names (XDG base directory specification)."""

from __future__ import annotations

import os
from pathlib import Path

from pentathlon.machine.errors import TargetError


def user_dir(variable: str, *below_home: str) -> Path:
    """$VARIABLE/pentathlon, or pentathlon in a directory below the home directory.

    A relative path in the variable is ignored, as the specification asks.

    Raises:
        TargetError: there is neither, as in a container whose user has no entry in passwd(5).
    """
    named = os.environ.get(variable)
    if named and Path(named).is_absolute():
        return Path(named) / "pentathlon"
    try:
        home = Path.home()
    except RuntimeError as error:
        raise TargetError(
            f"this user (number {os.getuid()}) has no home directory; set HOME or {variable}"
        ) from error
    return home.joinpath(*below_home) / "pentathlon"
