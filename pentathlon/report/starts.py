"""Numbers of new starts in the words of a report: boots, or process starts."""

from __future__ import annotations

from pentathlon.evaluate.model import Evaluation
from pentathlon.study.counting import count_text, plural
from pentathlon.study.starts import noun

__all__ = ["counted", "noun", "plurals"]


def counted(evaluation: Evaluation, system: str, number: int) -> str:
    """A number of starts of a system in words, such as "5 process starts"."""
    return count_text(number, noun([evaluation.system(system)]))


def plurals(evaluation: Evaluation) -> str:
    """What the starts of all systems of a result are called together."""
    return plural(noun(evaluation.systems))
