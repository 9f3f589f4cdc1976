"""Which metrics patterns of the command line choose."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase


def matches(key: str, patterns: Sequence[str]) -> bool:
    """Whether a metric is chosen: by its workload, WORKLOAD.METRIC, or its whole key.

    Without patterns everything is chosen. Brackets of a pattern stand for themselves only in a
    whole key that is given exactly.
    """
    if not patterns:
        return True
    name = key.partition("[")[0]
    workload = name.rpartition(".")[0]
    return any(
        key == pattern or fnmatchcase(name, pattern) or fnmatchcase(workload, pattern)
        for pattern in patterns
    )
