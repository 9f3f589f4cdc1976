"""Names of files in a study that the program makes itself and puts elsewhere."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

TRACE = re.compile(r"(\btrace\s+@)([^;]*)")


def absolute(document: dict[str, Any], directory: Path) -> None:
    """Have relative names of files hold from everywhere.

    Args:
        document: a study as TOML has it, which is changed.
        directory: where its relative names of files begin.
    """
    if isinstance(included := document.get("include"), list):
        document["include"] = [_from(directory, name) for name in included]
    for own in document.get("workload") or ():
        if isinstance(own, dict) and isinstance(own.get("files"), list):
            own["files"] = [_from(directory, name) for name in own["files"]]
    for key in ("suite", "system"):
        if key in document:
            document[key] = _traces(document[key], directory)


def _from(directory: Path, name: Any) -> Any:
    # Joined as text: the last "/" of a directory's name is kept.
    return os.path.join(directory, name) if isinstance(name, str) and name else name  # noqa: PTH118


def _traces(value: Any, directory: Path) -> Any:
    if isinstance(value, dict):
        return {key: _traces(inner, directory) for key, inner in value.items()}
    if isinstance(value, list):
        return [_traces(inner, directory) for inner in value]
    if isinstance(value, str):
        return TRACE.sub(lambda one: one[1] + str(_from(directory, one[2].strip())), value)
    return value
