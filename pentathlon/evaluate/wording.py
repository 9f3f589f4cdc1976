"""What "more" of a metric is called: faster, better, or plainly more of something.

A time or a rate has a speed, so a ratio of two of them is written "12 % faster". A share, such as
loss, or a size has no speed: it is better or worse. Context (what the work took of the system, how
well a clock is known) is no score at all: there is more or less of it, and nothing is said of good
or bad.
"""

from __future__ import annotations

from dataclasses import dataclass

PERFORMANCE = "performance"
CONTEXT = "context"
"""Roles of a metric in the catalog."""

SHARES = frozenset({"%", "percentage points"})
COUNTS = frozenset({"1", "1/s"})
SIZES = frozenset({"B", "KB", "MB", "GB", "KiB", "MiB", "GiB"})


@dataclass(frozen=True)
class Wording:
    """The words for more and less.

    Attributes:
        up: where the log-ratio is positive.
        down: where it is negative.
        score: whether one of the two is the better one.
    """

    up: str
    down: str
    score: bool = True

    @property
    def speed(self) -> bool:
        """Whether the ratio is one of speeds."""
        return self.up == "faster"


SPEED = Wording("faster", "slower")
QUALITY = Wording("better", "worse")
_COUNT = Wording("more", "fewer", score=False)
_SIZE = Wording("more", "less", score=False)
_OTHER = Wording("higher", "lower", score=False)


def wording(role: str, unit: str) -> Wording:
    """The words for a metric, by its role in the catalog and its unit."""
    if role == CONTEXT:
        return _COUNT if unit in COUNTS else _SIZE if unit in SIZES else _OTHER
    return QUALITY if unit in SHARES | SIZES else SPEED
