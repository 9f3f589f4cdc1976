"""What a result was judged to be: every number and every verdict of an evaluation, by its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pentathlon.evaluate import Evaluation

Leaf = float | int | bool | str | None


def leaves(value: Any, place: str) -> Iterator[tuple[str, Leaf]]:
    """The numbers, absent numbers and verdicts below a value, each with its place.

    Other text is left out: words may be put better, what is found may not change.
    """
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, f"{place}.{key}")
    elif isinstance(value, (list, tuple)):
        for number, one in enumerate(value):
            yield from leaves(one, f"{place}.{number}")
    elif value is None or isinstance(value, (bool, int, float)) or place.endswith(".verdict"):
        yield place, value


def judgement(evaluation: Evaluation) -> dict[str, Leaf]:
    """Every number and verdict; a row is found by its key and a comparison by its system."""
    found: dict[str, Leaf] = {}
    for row in evaluation.rows:
        values = row.model_dump(mode="json")
        for kind in ("summaries", "comparisons"):
            for one in values[kind]:
                found |= leaves(one, f"{row.key} | {one['system']} | {kind}")
    rest = evaluation.model_dump(mode="json", exclude={"rows", "systems", "study", "inventory"})
    return found | dict(leaves(rest, "evaluation"))
