"""How the picture of a workload over a numeric factor is laid out (`sweeps.py` fills it)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

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


def no_marks(_evaluation: Evaluation, _key: str) -> Iterator[Mark]:
    """Nothing is derived from the curves."""
    return iter(())


def no_rules(_evaluation: Evaluation) -> Iterator[tuple[int, str]]:
    """The systems claim nothing."""
    return iter(())


def no_words(_evaluation: Evaluation) -> Words:
    """There is nothing to say."""
    return iter(())


@dataclass(frozen=True)
class Sweep:
    """How the picture of one workload is laid out."""

    factor: str
    x_title: str
    caption: str
    marks: Callable[[Evaluation, str], Iterator[Mark]] = no_marks
    """Marks of the panel with that key, METRIC|CASE."""
    rules: Callable[[Evaluation], Iterator[tuple[int, str]]] = no_rules
    """What the systems claim: (size, name)."""
    words: Callable[[Evaluation], Words] = no_words
    """Sentences on the derived figures."""
    shown: tuple[str, ...] = ()
    """Metrics that are drawn; empty: all of them."""
