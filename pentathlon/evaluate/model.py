"""The evaluation as data: what the reports print and what the JSON export holds.

Frozen, in full precision, without a clock: one result directory always gives the same evaluation.
Percentages are of the reference; ratios are ratios of speed, so + is better for every metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from pentathlon.evaluate.derived.model import Derived
from pentathlon.evaluate.diagnostics.preparation import Prepared
from pentathlon.evaluate.frozen import Frozen
from pentathlon.evaluate.hardware import Property
from pentathlon.evaluate.model_aggregate import Absolute, Share, SystemAggregate
from pentathlon.evaluate.model_curves import CurveLevels
from pentathlon.evaluate.model_factorial import Factorial
from pentathlon.evaluate.model_latency import Latency
from pentathlon.evaluate.model_links import LinkUsed
from pentathlon.evaluate.model_series import Cold, Excluded, Mode, ReadSource, Steady, Why
from pentathlon.evaluate.verdict import Verdict
from pentathlon.evaluate.wording import CONTEXT, PERFORMANCE, Wording, wording
from pentathlon.study.later import Later

Scalar = bool | int | float | str | None


class PostHoc(Frozen):
    """One thing that is judged otherwise than the study planned, chosen after the measurement."""

    what: str
    """"delta_percent", "confidence", "declared", "weights" or "only"."""
    used: str
    planned: str
    words: str


class StudyFacts(Frozen):
    """The study and its plan, as far as a report names them."""

    name: str
    title: str
    question: str
    reference: str
    seed: int
    plan_hash: str
    blocks: int
    installs: int = 1
    iterations: int
    warmup: int
    processes: int
    sample_ms: float
    cpu_latency_us: int | None = None
    """Limit of the exit latency of the idle states that the experimenter's CPUs might enter; None:
    there was none."""
    awake_in_turns: bool = False
    """That limit held only in cases whose batches took turns."""
    delta_percent: float
    confidence: float
    weights: dict[str, float] = Field(default_factory=dict)
    """Stated weights of areas and workloads; what is not named has 1."""
    stopping: str = ""
    """The stopping rule in words."""
    stopped: str | None = None
    """Why the rule ended the study before its last block; None if it did not."""
    decided: dict[str, int] = Field(default_factory=dict)
    """Workload -> blocks after which it was decided at a look, and no longer measured."""
    unfinished: str = ""
    """How far a run is that has not ended, in words; "" if it has."""
    declared: tuple[str, ...] | None = None
    """What the study is about; everything if None."""
    post_hoc: tuple[PostHoc, ...] = ()
    """What is not as the study planned it; () for the planned judgement."""
    imported: bool = False
    """Other tools measured it: nothing is known of a procedure, and the inventories are empty."""
    in_blocks: bool = True
    """The boots of a block belong together: ratios are those of paired blocks, else of boots."""
    study_file: str = ""
    """The study file of a run that more blocks would make more certain; "" where none would."""
    block_seconds: float | None = None
    """What a block took on average; None where it is not known."""


class SystemFacts(Frozen):
    """One system and how much of it was measured."""

    name: str
    title: str
    target: str
    layer: str
    kernel: str
    """Kernel name and release that the system itself reports; "" if it does not report."""
    kernels: tuple[str, ...] = ()
    """Kernels and command lines of its boots; one if all is well, none if it does not report."""
    cpu: str
    """CPU model that the system itself reports."""
    memory_bytes: int | None
    agent_builds: tuple[str, ...]
    """Builds of the agent that its boots were measured with; one if all is well."""
    agent_platform: str
    """The platform that the agent was built for, such as "x86_64-pc-windows-gnu"."""
    catalog_version: int | None
    settings: dict[str, Scalar]
    """Settings of the machine that were changed for this system."""
    userland: str = ""
    """What commands find on a guest: "that of this machine", a directory, or an image with its
    digest; "" where it has none of its own."""
    parameters: dict[str, dict[str, Any]]
    """Workload -> parameters that hold for this system only."""
    boots: int
    """Blocks in which the system has at least one counted sample."""
    samples: int
    """Counted, measured samples."""
    hardware: dict[str, Property] = Field(default_factory=dict)
    """The machine and the system as the studies' tables describe theirs (`evaluate.hardware`)."""


class BootMean(Frozen):
    """The arithmetic mean of one metric's samples in one boot: the published repetition."""

    block: int
    value: float
    install: str = ""
    """The install that was booted; "" in a study with one."""


class Summary(Frozen):
    """One metric on one system, in the unit of the metric (martinovic2012, formula (3))."""

    system: str
    samples: int
    boots: int
    mean: float
    """Mean of the boot means; it is the mean of all samples where boots have equally many."""
    minimum: float
    maximum: float
    sd: float | None
    """Standard deviation of all samples; None for a single one."""
    boot_sd: float | None
    """Standard deviation of the boot means; None for a single boot."""
    deviation_percent: float | None
    """Largest deviation of a boot mean from the mean, in percent of the mean."""
    within_one_percent: bool | None
    boot_means: tuple[BootMean, ...]


class Checks(Frozen):
    """Beside the primary t interval: the same difference by other means (docs/evaluation.md)."""

    median_percent: float
    """Median of the blocks' ratios, with its exact interval; None with too few blocks."""
    median_low_percent: float | None
    median_high_percent: float | None
    median_confidence: float | None
    """Coverage that the median's interval achieves."""
    p_sign_flip: float
    means_percent: float
    """Ratio of the arithmetic means, with Fieller's interval; None where it is unbounded."""
    means_low_percent: float | None
    means_high_percent: float | None
    means_unbounded: bool
    probability_faster: float
    """P(a boot of the system is better than one of the reference), ties counted half."""
    cliffs_delta: float
    p_serial: float | None
    """p value of "the order of the blocks does not matter"; None below 6 blocks."""
    p_max_t: float | None = None
    """p value of this system adjusted for all systems of the row; None with a single one."""


class Moderated(Frozen):
    """The same difference with the variance that the row borrowed (`estimators.moderated`).

    Its interval holds the truth with the stated confidence on average over the rows of a group:
    less often in the noisiest of them, more often in the quietest.
    """

    low_percent: float
    """Interval at the confidence of the row's own one, for this row alone."""
    high_percent: float
    error: float
    """Standard error of the mean log-ratio."""
    freedom: float
    """Its degrees of freedom."""


class Effect(Later, Frozen):
    """The ratio of speeds, system to reference, from paired blocks."""

    LATER = ("moderated",)

    blocks: int
    log_ratios: tuple[float, ...]
    """Per block, in block order: positive is better than the reference."""
    mean: float
    """Mean log-ratio."""
    sd: float | None
    percent: float
    """exp(mean) − 1, in percent."""
    low_percent: float | None
    """Interval at the study's confidence, for this row alone."""
    high_percent: float | None
    adjusted_confidence: float | None
    """Confidence of the interval behind the verdict, after allowing for all rows."""
    adjusted_low_percent: float | None
    adjusted_high_percent: float | None
    p_different: float | None
    p_equivalent: float | None
    mde_percent: float | None
    """Smallest difference that this n and s would show with power 0.8 at the row's level."""
    installs: int = 1
    """Installs above the blocks; with several they are the unit of inference."""
    units: tuple[float, ...] = ()
    """Log-ratios of the installs where there are several, each the mean of its blocks."""
    nominal_confidence: float | None = None
    """Confidence of `low_percent` to `high_percent` at this look; the study's with one look."""
    checks: Checks | None = None
    moderated: Moderated | None = None
    """What the claims rest on where the row borrowed strength from others; None where not."""

    @property
    def sample(self) -> tuple[float, ...]:
        """The log-ratios that inference counts: of the installs where there are several."""
        return self.units or self.log_ratios


class Comparison(Frozen):
    """One metric of one system against the reference."""

    system: str
    difference_percent: float | None
    """Diff% of martinovic2012, formula (4): raw, in the metric's own direction."""
    effect: Effect | None
    verdict: Verdict
    words: str
    reason: str
    """Why the verdict is not a plain one; "" if there is nothing to say."""
    cautions: tuple[str, ...]
    """What qualifies this row, one sentence each."""


class Row(Frozen):
    """One metric: identity, every system, every comparison."""

    key: str
    area: str
    workload: str
    metric: str
    case: dict[str, Scalar]
    workload_title: str
    title: str
    """What is measured, for people."""
    declared: bool = True
    """The study is about it; other rows are exploratory."""
    case_text: str
    """The case for people, such as "64 KiB, avx512"."""
    unit: str
    direction: str
    role: str = PERFORMANCE
    """`context` is no score: it is in no mean, and its ratios are those of the values."""
    summaries: tuple[Summary, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def score(self) -> bool:
        """Whether one value of it is better than another."""
        return self.role != CONTEXT

    @property
    def kind(self) -> Wording:
        """How its differences are reported."""
        return wording(self.role, self.unit)

    def summary(self, system: str) -> Summary | None:
        """The summary of a system, or None if it has no counted sample."""
        return next((one for one in self.summaries if one.system == system), None)

    def boots(self, system: str) -> dict[int, float]:
        """Block -> mean of the system's boot there; {} if it has no counted sample."""
        found = self.summary(system)
        return {} if found is None else {boot.block: boot.value for boot in found.boot_means}

    def comparison(self, system: str) -> Comparison | None:
        """The comparison of a system with the reference; None for the reference itself."""
        return next((one for one in self.comparisons if one.system == system), None)


class Sweep(Frozen):
    """A curve over block sizes as one claim (`sweeps`)."""

    system: str
    area: str
    workload: str
    metric: str
    title: str
    sizes: int
    differing: tuple[int, ...]
    """Sizes in bytes at which a difference is shown."""
    p_equivalent: float
    """p value of "some size lies beyond ±δ": the largest of the sizes'."""
    verdict: Literal["equivalent", "differs", "inconclusive"]
    words: str


class AreaCount(Frozen):
    """How often each verdict was given in one area."""

    area: str
    verdicts: dict[Verdict, int]


class PairSummary(Frozen):
    """One system against the reference, as a whole."""

    system: str
    rows: int
    """Declared rows that were tested together."""
    selected: int
    """Declared rows with a difference shown."""
    exploratory_rows: int = 0
    exploratory_selected: int = 0
    calibrated: str = ""
    """How this machine was calibrated, where its noise floors hold for the comparison."""
    areas: tuple[AreaCount, ...]
    cautions: tuple[str, ...]
    """What qualifies every row of the comparison."""


class Scaling(Frozen):
    """Time over the number of repetitions, for one style of call on one system."""

    system: str
    workload: str
    metric: str
    case_text: str
    unit: str
    points: tuple[tuple[float, float], ...]
    """(repetitions, mean time of the whole)."""
    slope: float
    """Time per repetition, mean of the boots' least-squares slopes."""
    slope_low: float | None
    slope_high: float | None
    intercept: float
    r_squared: float
    worst_percent: float
    """Largest residual in percent of the fitted value."""


class Failure(Frozen):
    """Something that a system could not do, with how often it was reported."""

    system: str
    workload: str
    case: str
    kind: str
    reason: str
    resolved: bool
    """A later attempt made it good."""
    count: int
    blocks: tuple[int, ...]


class InventoryLine(Frozen):
    """One path of the inventory on every system; None where the path is missing there."""

    path: str
    values: dict[str, str | None]


class Identical(Frozen):
    """Two systems that differ in the study, but not in their inventories."""

    systems: tuple[str, str]
    keys: tuple[str, ...]
    """What the study states differs, such as `reboot_command`."""
    whole: bool
    """Nothing that matters differs: the comparison is one of a system with itself."""
    words: str


class Starved(Frozen):
    """Samples of one metric that got less than a whole CPU, though they waited for nothing."""

    system: str
    key: str
    blocks: tuple[int, ...]
    """From 0."""
    lowest_percent: float
    """Share of one CPU in the worst of these blocks."""


@dataclass(frozen=True)
class RowIndex:
    """Where rows are, so that none is looked for among all of them.

    Attributes:
        rows: the rows.
        places: key -> number of the row.
        areas: area -> its rows.
    """

    rows: tuple[Row, ...]
    places: dict[str, int]
    areas: dict[str, list[Row]]

    @classmethod
    def of(cls, rows: tuple[Row, ...]) -> RowIndex:
        """The index of some rows."""
        areas: dict[str, list[Row]] = {}
        for row in rows:
            areas.setdefault(row.area, []).append(row)
        return cls(rows, {row.key: place for place, row in enumerate(rows)}, areas)


class Evaluation(Later, Frozen):
    """Everything that is judged about one result."""

    LATER = ("factorial",)

    study: StudyFacts
    systems: tuple[SystemFacts, ...]
    areas: tuple[str, ...]
    pairs: tuple[PairSummary, ...]
    rows: tuple[Row, ...]
    curves: tuple[CurveLevels, ...]
    scalings: tuple[Scaling, ...]
    derived: Derived
    failures: tuple[Failure, ...]
    inventory_differences: tuple[InventoryLine, ...]
    aggregates: tuple[SystemAggregate, ...] = ()
    """Each compared system as a whole: weighted means, what they rest on, their sensitivity."""
    shares: tuple[Share, ...] = ()
    """With three systems or more: how often each is the best, over all possible weights."""
    excluded: tuple[Excluded, ...] = ()
    steady: tuple[Steady, ...] = ()
    cold: tuple[Cold, ...] = ()
    modes: tuple[Mode, ...] = ()
    read_sources: tuple[ReadSource, ...] = ()
    whys: tuple[Why, ...] = ()
    latencies: tuple[Latency, ...] = ()
    prepared: tuple[Prepared, ...] = ()
    """How the steps before the measurement went."""
    absolutes: tuple[Absolute, ...] = ()
    """Weighted geometric means of the rates themselves, formula (2) of martinovic2012."""
    links: tuple[LinkUsed, ...] = ()
    """Emulated links, by profile and engine."""
    identical: tuple[Identical, ...] = ()
    """Systems that were to differ and did not."""
    starved: tuple[Starved, ...] = ()
    """Metrics for which something else took CPU time, by system."""
    sweeps: tuple[Sweep, ...] = ()
    """Curves over block sizes, each as one claim; () in studies of versions without them."""
    factorial: Factorial | None = None
    """Which factor matters, in a factorial design."""

    @property
    def with_itself(self) -> bool:
        """Whether some comparison that the study requests is one of a system with itself."""
        return any(one.whole for one in self.identical)

    def system(self, name: str) -> SystemFacts:
        """The system of that name.

        Raises:
            KeyError: no system has the name.
        """
        return {one.name: one for one in self.systems}[name]

    def row(self, key: str) -> Row:
        """The row of that key.

        Raises:
            KeyError: no row has the key.
        """
        return self.rows[self.place(key)]

    def place(self, key: str) -> int:
        """The number of the row of that key, from 0.

        Raises:
            KeyError: no row has the key.
        """
        return self._found().places[key]

    def rows_of(self, area: str) -> list[Row]:
        """The rows of an area, in their order."""
        return self._found().areas.get(area, [])

    def _found(self) -> RowIndex:
        # A copy with other rows has taken the index of the original along.
        return found if (found := self.index).rows is self.rows else RowIndex.of(self.rows)

    @cached_property
    def index(self) -> RowIndex:
        """Where each row is; made once."""
        return RowIndex.of(self.rows)
