"""How large a study may be: what is beyond costs one sentence and neither hours nor memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pentathlon.study.problems import Problem, TomlPath

MOST_BYTES = 4 << 20
"""Of a study file."""

MOST_VALUES = 10_000
"""Of one list or table."""

MOST_SYSTEMS = 100
MOST_SUITES = 100
MOST_OWN = 1_000

MOST_CASES = 100_000
"""Of one workload: the product of the lengths of its lists."""

MOST_STEPS = 1_000_000
"""Of all boots of all blocks."""

_OWN: dict[TomlPath, int] = {
    ("system",): MOST_SYSTEMS,
    ("suite",): MOST_SUITES,
    ("workload",): MOST_OWN,
}


def oversized(document: dict[str, Any]) -> Iterator[Problem]:
    """Lists and tables of a study, as TOML has it, that are too long to be looked through."""
    pending: list[tuple[TomlPath, Any]] = [((), document)]
    while pending:
        path, value = pending.pop()
        most = _OWN.get(path, MOST_VALUES)
        if len(value) > most:
            what = "tables" if path in _OWN else "entries"
            yield Problem(path, f"has {len(value):,} {what}; the most is {most:,}")
            continue
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        pending += [((*path, key), one) for key, one in inner if isinstance(one, dict | list)]


def too_many_cases(parameters: Mapping[str, Any]) -> str | None:
    """The sentence on a workload whose lists make more cases than anything could measure."""
    lengths = [len(value) for value in parameters.values() if isinstance(value, list)]
    cases = math.prod(lengths)
    if cases <= MOST_CASES:
        return None
    return f"its lists make {cases:,} cases; the most is {MOST_CASES:,}"


def check_steps(blocks: int, steps: Mapping[str, Sequence[object]]) -> None:
    """Whether a plan of so many blocks stays small enough.

    Args:
        steps: system -> its steps in one boot.

    Raises:
        ValueError: it has too many steps.
    """
    count = blocks * sum(len(own) for own in steps.values())
    if count > MOST_STEPS:
        raise ValueError(
            f"{blocks:,} blocks make {count:,} steps of all systems; the most is {MOST_STEPS:,}"
        )
