"""What is measured (`[[suite]]`): workloads by name or by pattern, with parameters."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator, model_validator

from pentathlon.study.later import Later
from pentathlon.study.names import Name, Value
from pentathlon.study.table import Table


class WorkloadChoice(Later, Table):
    """One entry of a suite: a workload id or a pattern, with what differs from the default."""

    LATER = ("visits",)

    id: str = Field(min_length=1)
    """Workload id, such as `memory.read`, or a pattern with `*`, `?` or `[...]`."""
    parameters: dict[str, Value] = Field(default_factory=dict)
    iterations: int | None = Field(default=None, ge=1, le=100_000)
    warmup: int | None = Field(default=None, ge=0, le=100_000)
    processes: int | None = Field(default=None, ge=1, le=1_000)
    visits: int | None = Field(default=None, ge=1, le=1_000)
    sample_ms: float | None = Field(default=None, gt=0, le=60_000)
    timeout_s: float | None = Field(default=None, gt=0, le=86_400)

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"id": value} if isinstance(value, str) else value

    @property
    def is_pattern(self) -> bool:
        """Whether the id stands for several workloads."""
        return any(character in self.id for character in "*?[")


class Suite(Table):
    """A named set of workloads (`[[suite]]`)."""

    name: Name
    title: str | None = None
    workloads: tuple[WorkloadChoice, ...]

    @field_validator("workloads", mode="before")
    @classmethod
    def _workloads(cls, value: Any) -> Any:
        if isinstance(value, list | tuple) and not value:
            raise ValueError('the list is empty; name at least one workload, such as "process.*"')
        return tuple(value) if isinstance(value, list) else value
