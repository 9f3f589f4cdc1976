"""What every report says before its answer, because it makes the answer doubtful."""

from __future__ import annotations

from collections.abc import Iterator

from pentathlon.evaluate.diagnostics.share import LEAST_PERCENT, blocks_words, share_text
from pentathlon.evaluate.model import Evaluation, Starved

TITLE = f"Samples with less than {LEAST_PERCENT:.0f} % of a CPU"

MOST_NAMED = 3
"""Systems of which each has a sentence of its own."""


def warnings(evaluation: Evaluation) -> tuple[str, ...]:
    """Whole sentences: systems that were to differ and did not, and samples without a whole CPU."""
    return (*_identical(evaluation), *_starved(evaluation))


def _identical(evaluation: Evaluation) -> Iterator[str]:
    for one in evaluation.identical:
        end = " This compares a system with itself." if one.whole else ""
        yield f"{one.words}.{end}"


def _starved(evaluation: Evaluation) -> Iterator[str]:
    concerned = {one.system for one in evaluation.starved}
    if len(concerned) > MOST_NAMED:
        worst = min(evaluation.starved, key=lambda one: one.lowest_percent)
        yield (
            f"{len(concerned)} of {len(evaluation.systems)} systems got less than "
            f"{LEAST_PERCENT:.0f} % of a CPU for some metrics, at worst {worst.system} "
            f"{share_text(worst.lowest_percent)} % for {worst.key}: something else ran where they "
            "were measured. Measure again on a quiet machine."
        )
        return
    for system in evaluation.systems:
        own = [one for one in evaluation.starved if one.system == system.name]
        if not own:
            continue
        rows = sum(row.summary(system.name) is not None for row in evaluation.rows)
        worst = min(own, key=lambda one: one.lowest_percent)
        blocks = sorted({block for one in own for block in one.blocks})
        yield (
            f"{system.name} got less than {LEAST_PERCENT:.0f} % of a CPU for {len(own)} of {rows} "
            f"{'metric' if rows == 1 else 'metrics'} {blocks_words(blocks)}, at worst "
            f"{share_text(worst.lowest_percent)} % for {worst.key}: something else ran where it "
            "was measured. Measure again on a quiet machine."
        )


def starved_lines(evaluation: Evaluation) -> list[tuple[str, str]]:
    """(system, words) for each metric concerned; cases with the same blocks share a line."""
    rows = {row.key: row for row in evaluation.rows}
    groups: dict[tuple[str, str, tuple[int, ...]], list[Starved]] = {}
    for one in evaluation.starved:
        if (row := rows.get(one.key)) is not None:
            name = f"{row.workload}.{row.metric}"
            groups.setdefault((one.system, name, one.blocks), []).append(one)
    found = []
    for (system, name, blocks), members in groups.items():
        what = members[0].key if len(members) == 1 else f"{name}, {len(members)} cases"
        least = min(one.lowest_percent for one in members)
        most = max(one.lowest_percent for one in members)
        ends = dict.fromkeys((share_text(least), share_text(most)))
        found.append((system, f"{what}: {' to '.join(ends)} % {blocks_words(blocks)}"))
    return found
