"""How often and how long is measured (`[procedure]`)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from pentathlon.study.later import Later
from pentathlon.study.preparation import PreparationStep, from_file
from pentathlon.study.stopping import Stopping
from pentathlon.study.table import Table

LONGEST_LATENCY_US = 1_000_000


class Procedure(Later, Table):
    """How often and how long is measured (`[procedure]`)."""

    LATER = ("pairing", "cpu_latency_us", "visits")

    blocks: int = Field(default=10, ge=1, le=10_000)
    """Blocks; each block boots every system once, in a balanced order. A stopping rule other than
    `fixed` states it itself: it is then the most that the rule can take."""
    stopping: Stopping = Stopping()
    """When the study has measured enough."""
    installs: int = Field(default=1, ge=1, le=1_000)
    """How often every system is made anew, with its share of the blocks after each time."""
    iterations: int = Field(default=3, ge=1, le=100_000)
    """Measured samples of each case in each process."""
    visits: int = Field(default=1, ge=1, le=1_000)
    """Into how many visits the iterations of a workload are divided. The visits lie apart: each
    boot goes through all workloads so many times. Commands, workloads between hosts and workloads
    in several processes have one visit."""
    warmup: int = Field(default=1, ge=0, le=100_000)
    """Samples of each case before the measured ones; reported, never counted."""
    processes: int = Field(default=1, ge=1, le=1_000)
    """Worker processes in which a workload is repeated in each boot."""
    sample_ms: float = Field(default=5.0, gt=0, le=60_000)
    """Wanted length of one timed batch, in milliseconds."""
    boot_timeout_s: float = Field(default=60.0, gt=0, le=86_400)
    """Longest time from the start of a boot to the agent's first event, in seconds."""
    step_timeout_s: float = Field(default=120.0, gt=0, le=86_400)
    """Longest time of one workload in one boot, in seconds."""
    retries: int = Field(default=1, ge=0, le=100)
    """How often a boot that failed is tried again."""
    pairing: Literal["turns", "steps", "none"] | None = None
    """Whether the systems of a block are alive at once and take each step one after the other
    ("steps"), each batch besides where its working set is small ("turns"), or are booted one after
    the other ("none"); None: "steps" where they can."""
    cpu_latency_us: int | Literal["any"] | None = None
    """The CPUs of this machine may enter only idle states that they leave within so many µs, during
    the whole run; "any" state; None: 0 for cases whose batches take turns, else any."""
    steps: tuple[PreparationStep, ...] = ()
    """What is done before a system is measured: nothing ("fast"), the whole published process
    ("published"), or steps."""

    @field_validator("cpu_latency_us", mode="before")
    @classmethod
    def _cpu_latency_us(cls, value: Any) -> Any:
        # One sentence instead of one for each type that it may have.
        whole = isinstance(value, int) and not isinstance(value, bool)
        if value is None or value == "any" or (whole and 0 <= value <= LONGEST_LATENCY_US):
            return value
        raise ValueError(
            f"{value!r} is no limit; it must be a whole number of µs from 0 to "
            f'{LONGEST_LATENCY_US}, or "any"'
        )

    @field_validator("steps", mode="before")
    @classmethod
    def _steps(cls, value: Any) -> Any:
        return from_file(value)

    @model_validator(mode="after")
    def _installs_and_blocks(self) -> Procedure:
        if self.installs > 1:
            if self.stopping.rule != "fixed":
                raise ValueError(
                    "installs are the units of the judgement, and the stopping rules count "
                    'blocks; leave out installs, or take the rule "fixed"'
                )
            if self.blocks < self.installs:
                raise ValueError(
                    f"{self.blocks} blocks are too few for {self.installs} installs; each needs "
                    "one or more"
                )
        return self

    @model_validator(mode="after")
    def _most_blocks(self) -> Procedure:
        most = self.stopping.most
        if most is not None and self.blocks != most:
            if "blocks" in self.model_fields_set:
                raise ValueError(
                    f"the stopping rule states how many blocks there are (at most {most}); "
                    "leave out blocks"
                )
            # The model is frozen for everybody else; this is still its making.
            object.__setattr__(self, "blocks", most)
        return self

    def with_blocks(self, blocks: int) -> Procedure:
        """The same procedure with another (greatest) number of blocks.

        Raises:
            ValueError: the stopping rule cannot work with so few.
        """
        if blocks < self.installs:
            raise ValueError(f"{blocks} blocks are too few for {self.installs} installs")
        stopping = self.stopping.limited(blocks)
        return self.model_copy(update={"blocks": blocks, "stopping": stopping})
