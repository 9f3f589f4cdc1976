"""The first points of the Sobol sequence: SciPy's, without what its statistics take to load.

Loading `scipy.stats` takes longer than a comparison of two systems, which needs nothing else of it.
"""

from __future__ import annotations

import numpy as np

from pentathlon.evaluate.values import Values

BITS = 12
"""The first 2 to the power of BITS points are had."""

DIRECTIONS = (
    (3, (1,)),
    (7, (1, 3)),
    (11, (1, 3, 1)),
    (13, (1, 1, 1)),
    (19, (1, 1, 3, 3)),
    (25, (1, 3, 5, 13)),
    (37, (1, 1, 5, 5, 17)),
    (41, (1, 1, 5, 5, 5)),
    (47, (1, 1, 7, 11, 19)),
    (55, (1, 1, 5, 1, 1)),
    (59, (1, 1, 1, 3, 11)),
    (61, (1, 3, 5, 5, 31)),
    (67, (1, 3, 3, 9, 7, 49)),
    (91, (1, 1, 1, 15, 21, 21)),
    (97, (1, 3, 1, 13, 27, 49)),
)
"""Primitive polynomial and first direction numbers of each dimension from the second.

Source: Joe and Kuo 2008, "Constructing Sobol sequences with better two-dimensional projections",
SIAM J. Sci. Comput. 30(5), the file new-joe-kuo-6.21201.
"""


def sobol(dimensions: int) -> Values:
    """The first points, 2^BITS × dimensions, in the order of the Gray code; the first is 0."""
    if dimensions > len(DIRECTIONS) + 1:
        from scipy.stats import qmc  # noqa: PLC0415  see above

        return np.asarray(qmc.Sobol(dimensions, scramble=False).random(1 << BITS))
    steps = np.array([_numbers(place) for place in range(dimensions)], dtype=np.int64)
    # From a point to the next, the direction of the lowest 0 bit of its number is taken.
    lowest = [(~number & (number + 1)).bit_length() - 1 for number in range((1 << BITS) - 1)]
    moves = np.vstack([np.zeros((1, dimensions), dtype=np.int64), steps.T[lowest]])
    return np.bitwise_xor.accumulate(moves, axis=0) / (1 << BITS)


def _numbers(place: int) -> list[int]:
    """Direction numbers of a dimension, shifted to BITS bits."""
    if place == 0:
        return [1 << (BITS - 1 - bit) for bit in range(BITS)]
    polynomial, first = DIRECTIONS[place - 1]
    degree = len(first)
    numbers = list(first)
    for bit in range(degree, BITS):
        fresh = numbers[bit - degree]
        for back in range(1, degree + 1):
            if polynomial >> (degree - back) & 1:
                fresh ^= numbers[bit - back] << back
        numbers.append(fresh)
    return [number << (BITS - 1 - bit) for bit, number in enumerate(numbers)]
