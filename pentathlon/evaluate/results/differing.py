"""Parameters that two results do not share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Parameters: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Workload -> parameters that it ran with."""


def differing(own: Parameters, other: Parameters) -> list[str]:
    """Workloads of both sides that ran with different parameters."""
    return sorted(name for name in own.keys() & other.keys() if own[name] != other[name])
