"""What a new start of a system is called: a boot; of programs on this machine a process start."""

from __future__ import annotations

from collections.abc import Iterable

from pentathlon.evaluate.model import Evaluation, SystemFacts
from pentathlon.study.counting import count_text, plural

PROCESS_START = "process start"
BOOT = "boot"
LOCAL = "local"
"""The target whose systems are this machine as it is: nothing boots."""


def noun(systems: Iterable[SystemFacts]) -> str:
    """The word for a new start of these systems; "boot" where one of them boots."""
    return PROCESS_START if all(one.target == LOCAL for one in systems) else BOOT


def counted(evaluation: Evaluation, system: str, number: int) -> str:
    """A number of starts of a system in words, such as "5 process starts"."""
    return count_text(number, noun([evaluation.system(system)]))


def plurals(evaluation: Evaluation) -> str:
    """What the starts of all systems of a result are called together."""
    return plural(noun(evaluation.systems))
