"""The extent of reordering, with answers worked out by hand from RFC 4737."""

import numpy as np
import pytest

from pentathlon.packets.reordering import Reordering, reordering


def found(*sequence: int) -> Reordering | None:
    return reordering(np.array(sequence, np.int64))


def test_nothing_came_and_nothing_reordered() -> None:
    assert found() is None
    assert found(0, 1, 2, 5, 6) == Reordering(None, 0.0)


def test_the_example_of_the_standard() -> None:
    # RFC 4737, section 7.2, figure 2: 1 2 3 7 8 9 10 4 5 6 11: extents 4, 5, 6.
    reported = found(1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11)
    assert reported is not None
    assert reported.extent == pytest.approx((4 + 5 + 6) / 3)
    # Only 4 came just behind three later ones; 5 and 6 came behind an earlier one.
    assert reported.three == pytest.approx(1 / 11)


def test_two_overtake_is_no_3_reordering() -> None:
    reported = found(0, 2, 3, 1, 4)
    assert reported == Reordering(2.0, 0.0)


def test_second_copies_do_not_count() -> None:
    assert found(0, 1, 1, 0, 2) == Reordering(None, 0.0)


def test_against_the_definition() -> None:
    random = np.random.default_rng(11)
    sequence = np.argsort(np.arange(400) + random.uniform(0, 12, 400))
    extents, three = [], 0
    for place, number in enumerate(sequence):
        later = [before for before in range(place) if sequence[before] > number]
        if later:
            extents.append(place - later[0])
        three += place >= 3 and all(sequence[place - back] > number for back in (1, 2, 3))
    reported = reordering(sequence.astype(np.int64))
    assert reported is not None and len(extents) > 50 and three > 5
    assert reported.extent == pytest.approx(np.mean(extents))
    assert reported.three == pytest.approx(three / 400)
