"""The rate that a system forwards without loss, or with little, as its searches found it (RFC 2544,
section 26.1), with an interval over the boots.

A search ends with the highest rate that passed and the lowest that failed; the limit lies between
the two. Systems are compared by the ratio of the rates that passed in each block.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pentathlon.evaluate.cases import case_text, without
from pentathlon.evaluate.derived import wording
from pentathlon.evaluate.derived.model import Limit
from pentathlon.evaluate.model import Row

WORKLOAD = "forwarding.ndr"
PASSED, FAILED, CRITERION = "rate", "rate_above", "criterion"


def find_limits(rows: Sequence[Row], systems: Sequence[str], level: float) -> tuple[Limit, ...]:
    """Every limit on every system; `level` is 1 − confidence."""
    found = []
    for row in rows:
        if (row.workload, row.metric) != (WORKLOAD, PASSED):
            continue
        above = next((one for one in rows if _beside(one, row)), None)
        first: dict[int, float] = {}
        for system in systems:
            passed, failed = row.boots(system), above.boots(system) if above else {}
            if not passed:
                continue
            shared = [
                math.log(rate / first[block]) for block, rate in passed.items() if first.get(block)
            ]
            limit = Limit(
                system=system,
                criterion=str(row.case.get(CRITERION, "")),
                case_text=case_text(without(row.case, CRITERION)),
                passed=wording.mean(list(passed.values()), level, 0),
                failed=wording.mean(list(failed.values()), level, 0),
                against=wording.ratio(shared, level),
            )
            first = first or passed
            found.append(limit.model_copy(update={"words": tuple(_words(limit))}))
    return tuple(found)


def _beside(one: Row, row: Row) -> bool:
    return (one.workload, one.metric, one.case) == (WORKLOAD, FAILED, row.case)


def _words(limit: Limit) -> list[str]:
    if limit.passed is None:
        return []
    words = [f"{limit.criterion}: {wording.thousands(limit.passed)} thousand packets/s"]
    if limit.failed is not None:
        words[0] += f"; the next rate, {wording.thousands(limit.failed)}, failed"
    if limit.passed.boots < 2:
        words[0] += "; one boot, so no interval"
    if limit.against is not None:
        words.append(f"{limit.criterion}, against the reference: {wording.percent(limit.against)}")
    return words
