"""Headlines: one metric of each workload that a study is about, the others exploratory.

A sweep over 34 sizes asks one question in 34 rows. As headlines, a workload is in the family of
declared rows once: by its first score in the catalog, of its cases by the one with the largest
numbers (the largest block, the most repetitions), and among those by the first in the order of the
tables. Nothing of this depends on a value that was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pentathlon.evaluate.cases import order
from pentathlon.evaluate.estimate import Series
from pentathlon.evaluate.facts import case_of
from pentathlon.evaluate.titles import Titles
from pentathlon.evaluate.wording import CONTEXT


def headlines(
    keys: Sequence[str], everything: Mapping[tuple[str, str], Series], titles: Titles
) -> tuple[str, ...]:
    """The key of one row for each workload, in the order of the rows.

    Args:
        keys: of all rows, in the tables' order.
    """
    first: dict[str, Series] = {}
    for (key, _), one in everything.items():
        first.setdefault(key, one)
    chosen: dict[str, tuple[tuple[object, ...], str]] = {}
    for place, key in enumerate(keys):
        one = first[key]
        if titles.role(one.workload, one.metric) == CONTEXT:
            continue
        numbers = order(case_of(one.case_json))[1]
        rank = (
            titles.place(one.workload, one.metric),
            tuple(-value for _, value in sorted(numbers)),
            place,
        )
        if one.workload not in chosen or rank < chosen[one.workload][0]:
            chosen[one.workload] = (rank, key)
    return tuple(key for _, key in chosen.values())
