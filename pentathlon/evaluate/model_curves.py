"""Steps of curves over block size as data, beside the caches that a system claims."""

from __future__ import annotations

from pentathlon.evaluate.frozen import Frozen


class Boundary(Frozen):
    """One step of a curve over block size."""

    low_bytes: int
    """The largest block that still fits, at the lower end of the uncertainty."""
    high_bytes: int
    """The smallest block that no longer fits, at the upper end of the uncertainty."""
    before: float
    after: float
    """Cost before and after the step, in `unit` of the curve."""


class CacheCheck(Frozen):
    """A cache that the system claims, beside what the curve shows."""

    level: str
    claimed_bytes: int
    found_low_bytes: int | None
    found_high_bytes: int | None
    outcome: str
    """"agrees", "smaller", "larger", "not seen" or "outside"."""
    words: str


class CurveLevels(Frozen):
    """Cache levels found in one curve over block size."""

    system: str
    workload: str
    metric: str
    case_text: str
    unit: str
    """Unit of the cost: ns per access, or ns per byte for bandwidth."""
    boundaries: tuple[Boundary, ...]
    checks: tuple[CacheCheck, ...]
    unexplained: tuple[int, ...]
    """Places in `boundaries` of steps that no claimed cache explains."""
