"""How the picture of a workload over a numeric factor is laid out (`sweeps.py` fills it)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from pentathlon.evaluate.model import Evaluation

Words: TypeAlias = Iterator[tuple[str, str, tuple[str, ...]]]
"""(system, curve, sentences) on the derived figures."""


@dataclass(frozen=True)
class Mark:
    """A derived figure on a picture: an interval of x, and the place of the best in it."""

    system: str
    low: float
    high: float
    best: float | None = None


def nothing(*_of: object) -> Iterator[Any]:
    """Nothing is derived from the curves, or the systems claim nothing."""
    return iter(())


@dataclass(frozen=True)
class Sweep:
    """How the picture of one workload is laid out."""

    factor: str
    x_title: str
    caption: str
    marks: Callable[[Evaluation, str], Iterator[Mark]] = nothing
    """Marks of the panel with that key, METRIC|CASE."""
    rules: Callable[[Evaluation], Iterator[tuple[int, str]]] = nothing
    """What the systems claim: (size, name)."""
    words: Callable[[Evaluation], Words] = nothing
    """Sentences on the derived figures."""
    shown: tuple[str, ...] = ()
    """Metrics that are drawn; empty: all of them."""
