"""What holds for a fleet, as data: the terminal, the page and the JSON show the same."""

from __future__ import annotations

from pydantic import Field

from pentathlon.evaluate.frozen import Frozen
from pentathlon.evaluate.verdict import Verdict
from pentathlon.evaluate.wording import PERFORMANCE, Wording, wording


class MachineEffect(Frozen):
    """One row on one machine, as the machine's own result judges it."""

    machine: str
    blocks: int
    percent: float | None
    low_percent: float | None
    """Interval over its blocks, for this row alone."""
    high_percent: float | None
    verdict: Verdict
    words: str
    reason: str
    counted: bool
    """It is in the fleet's mean; else `reason` states why not."""
    p_odd: float | None = None
    """p value of "its effect is the mean of the others'", where it is refused."""


class Spread(Frozen):
    """How much the true effects of the machines differ (`random_effects`)."""

    tau_percent: float
    """Standard deviation between machines."""
    tau_low_percent: float
    tau_high_percent: float | None
    """None where the interval has no end."""
    i_squared: float
    """Share of the variance of the machines' means that is no noise of their boots."""
    i_squared_low: float
    i_squared_high: float
    p_alike: float
    prediction_low_percent: float
    """Where the true effect of one more machine lies."""
    prediction_high_percent: float


class FleetRowResult(Frozen):
    """One metric of one system against the reference, over the machines."""

    key: str
    system: str
    area: str
    workload: str
    metric: str
    title: str
    case_text: str
    unit: str
    role: str = PERFORMANCE
    declared: bool
    machines: tuple[MachineEffect, ...]
    counted: int
    """Machines in the mean."""
    percent: float | None
    low_percent: float | None
    """Interval over the machines, for this row alone."""
    high_percent: float | None
    p_different: float | None
    p_equivalent: float | None
    verdict: Verdict
    words: str
    reason: str
    spread: Spread | None

    @property
    def kind(self) -> Wording:
        """How its differences are reported."""
        return wording(self.role, self.unit)

    @property
    def odd(self) -> tuple[MachineEffect, ...]:
        """Machines that differ from the others."""
        return tuple(one for one in self.machines if one.p_odd is not None)


class FleetMean(Frozen):
    """One system as a whole: the weighted mean of its rows, over the machines."""

    system: str
    machines: tuple[MachineEffect, ...]
    percent: float | None
    low_percent: float | None
    high_percent: float | None
    p_different: float | None
    spread: Spread | None


class FleetMachine(Frozen):
    """One machine that is judged."""

    name: str
    path: str
    plan_hash: str
    cpu: str
    kernels: dict[str, str]
    """System -> kernel that it ran."""
    blocks: int
    samples: int
    """Counted, measured samples of all systems."""
    unfinished: str = ""


class Refused(Frozen):
    """A machine that is not judged with the others."""

    name: str
    reason: str


class Fleet(Frozen):
    """Everything that is judged about a campaign."""

    study: str
    title: str
    question: str
    reference: str
    systems: tuple[str, ...]
    delta_percent: float
    confidence: float
    machines: tuple[FleetMachine, ...]
    refused: tuple[Refused, ...] = ()
    cautions: tuple[str, ...] = ()
    means: tuple[FleetMean, ...] = ()
    rows: tuple[FleetRowResult, ...] = Field(default=())

    def rows_of(self, system: str) -> list[FleetRowResult]:
        """The rows of one system."""
        return [row for row in self.rows if row.system == system]
