"""What lies beneath the means, as data: warm-up, cold start, modes, exclusions, counters."""

from __future__ import annotations

from pentathlon.evaluate.frozen import Frozen


class Excluded(Frozen):
    """What one declared rule left out of one system's samples."""

    rule: str
    system: str
    samples: int
    """Counted samples before any rule."""
    excluded: int
    untold: int
    """Samples of which the system did not tell the quantity; the rule keeps them."""
    p_uneven: float | None
    """Fisher's exact test against the reference's share; None for the reference itself."""


class Steady(Frozen):
    """How the processes of one metric on one system went on in time."""

    key: str
    system: str
    processes: int
    iterations: int
    """Iterations of the shortest process, warm-up with the final batch size included."""
    counts: dict[str, int]
    """Class -> processes: "flat", "warm-up", "slowdown", "no steady state"."""
    verdict: str
    """One of these where all processes agree, else "inconsistent"; or "not assessed"."""
    steady_after: float | None
    """Median number of iterations before the steady state, of the processes that reach one."""
    words: str


class Cold(Frozen):
    """The first sample of every process: cold performance, as a metric of its own."""

    key: str
    system: str
    boots: int
    mean: float
    """Mean over the boots, in the unit of the metric."""
    slower_percent: float | None
    """How much slower than the boot's counted samples, geometric mean over the boots."""
    percent: float | None
    """Ratio of speeds to the reference's cold samples; None for the reference itself."""
    low_percent: float | None
    high_percent: float | None
    different: bool
    """Shown by Holm's procedure over all cold comparisons of the system."""


class Mode(Frozen):
    """Boots of one system that are slow by a clear step."""

    key: str
    system: str
    slow: int
    boots: int
    percent: float
    """How much slower they are than the others, geometric means."""
    low_percent: float
    """Clopper-Pearson interval of the share of slow boots, in percent."""
    high_percent: float
    blocks: tuple[int, ...]
    """The blocks of the slow boots."""
    also: tuple[str, ...]
    """Systems that are slow in just the same blocks: a disturbed machine rather than a mode."""


class ReadSource(Frozen):
    """Which source answered the measured reads of one metric on one system."""

    key: str
    system: str
    reads: dict[str, int]
    """Answer ("device", "cache", "mixed", "below", "unknown") -> reads, the most frequent first."""

    @property
    def usual(self) -> str:
        """The most frequent answer."""
        return next(iter(self.reads))


class Candidate(Frozen):
    """A counter that differs beside a difference of speed."""

    counter: str
    title: str
    unit: str
    reference: float
    """Mean over the boots of the paired blocks."""
    value: float
    agreeing: int
    """Blocks in which the sign is that of the mean difference."""
    blocks: int
    p: float
    """Two-sided sign test."""


class Why(Frozen):
    """Candidates beside one difference: what also differs, which need not be its cause."""

    key: str
    system: str
    candidates: tuple[Candidate, ...]
