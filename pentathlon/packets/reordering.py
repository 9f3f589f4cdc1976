"""How far packets were reordered (RFC 4737), beyond how many were."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pentathlon.packets.records import Integers

FAST_RETRANSMIT = 3
"""Packets that overtake another until TCP takes it for lost (RFC 5681, section 3.2)."""


@dataclass(frozen=True)
class Reordering:
    """Of one flow.

    Attributes:
        extent: mean extent of the reordered packets, in packets (RFC 4737, section 4.2.1): how far
            before one the earliest later packet came. None where none was reordered.
        three: share of arrivals that are 3-reordered (section 5.4): each of the three packets that
            came just before is a later one.
    """

    extent: float | None
    three: float


def reordering(arrival_sequence: Integers) -> Reordering | None:
    """The reordering of arrivals in their order; None if nothing came.

    Second copies are left out (RFC 4737, section 3.3).
    """
    if not len(arrival_sequence):
        return None
    _, first = np.unique(arrival_sequence, return_index=True)
    singles = arrival_sequence[np.sort(first)]
    highest = np.maximum.accumulate(singles)
    places = np.flatnonzero(singles < highest)
    if not len(places):
        return Reordering(None, 0.0)
    # The earliest arrival with a later sequence is where the highest so far passes it.
    earliest = np.searchsorted(highest, singles[places], side="right")
    three = places[places >= FAST_RETRANSMIT]
    for back in range(1, FAST_RETRANSMIT + 1):
        three = three[singles[three - back] > singles[three]]
    return Reordering(float((places - earliest).mean()), len(three) / len(singles))
