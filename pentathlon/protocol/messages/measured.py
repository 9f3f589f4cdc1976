"""What is measured: one value of one timed batch, or the values of one round in buckets."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pentathlon.protocol.messages.base import (
    Better,
    Case,
    Number,
    OfStep,
    Phase,
    Signed,
    Small,
    Time,
    Unsigned,
    whole,
)


class Measured(OfStep):
    """What a sample and a histogram have in common.

    Attributes:
        case: the factors that tell one case of the metric from another.
        direction: which values are the better ones.
        elapsed_ns: time of the batch, or of the round, ns.
        checksum: what the workload computed; the same on every system.
        counters: readings of the system beside the batch; None: it does not report.
    """

    metric: str
    case: Case
    unit: str
    direction: Better
    phase: Phase
    process: Small
    iteration: Small
    elapsed_ns: Time
    checksum: Annotated[str, Field(max_length=128)] | None = None
    counters: dict[str, Signed | None]


class Sample(Measured):
    """One raw value: one timed batch of one metric.

    Attributes:
        value: in `unit`.
        batch: operations that were timed together.
    """

    event: Literal["sample"]
    value: Number
    batch: Unsigned


Bucket = Annotated[tuple[Unsigned, Signed], Field(strict=False)]
"""Greatest value that the bucket can hold, values in it. JSON has lists."""


class Histogram(Measured):
    """The raw values of one round, counted in buckets (docs/protocol.md).

    Attributes:
        metric: id of the histogram in the catalog.
        count: values of the round; the buckets hold as many.
        lowest, highest: the least and the greatest value, whole numbers of `unit`.
        significant_digits: a bucket is no wider than this part of its values.
        buckets: in ascending order, empty ones left out.
    """

    event: Literal["histogram"]
    count: Unsigned
    lowest: Unsigned
    highest: Unsigned
    significant_digits: Annotated[int, Field(ge=0, le=9), whole(9)]
    buckets: Annotated[tuple[Bucket, ...], Field(min_length=1, strict=False)]

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        total, before = 0, -1
        for upper, held in self.buckets:
            if upper <= before:
                raise ValueError("the buckets are not in ascending order")
            before = upper
            total += held
        if total != self.count or total < 1:
            raise ValueError(f"{self.count} values are announced and {total} are in the buckets")
        if not self.lowest <= self.highest <= before:
            raise ValueError(
                f"its values reach from {self.lowest} to {self.highest}, its buckets to {before}"
            )
        return self
