"""The manual page, made by the commit's own program."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from common import Entry, Source, run

NAME = "share/man/man1/pentathlon.1"


def write(source: Source, packages: Path) -> Entry:
    """The page below a prefix such as /usr; `packages` are those that the program needs."""
    paths = os.pathsep.join([str(source.tree), str(packages)])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "website.manual"]
    return Entry(NAME, run(command, cwd=source.tree, env=environment))
