"""When a study has measured enough: the stopping rule (`procedure.stopping`).

The rule is fixed before anything is measured and is part of the plan, so its hash covers it. The
plan holds the most blocks that the rule can take.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from pentathlon.study.later import Later
from pentathlon.study.table import Table

DEFAULT_LOOKS = (10, 15, 20, 30)
FEWEST_AT_LOOK = 3
"""Blocks before the first look: with fewer there is next to no estimate of the spread."""
PRECISION_MINIMUM = 10
"""Blocks before a half width is believed (docs/calibration.md shows what fewer would do)."""


class Stopping(Later, Table):
    """How many blocks are measured: a fixed number, looks, or a stated precision."""

    LATER = ("drop_decided",)

    rule: Literal["fixed", "looks", "precision"] = "fixed"
    looks: tuple[int, ...] | None = None
    """`looks`: numbers of blocks after which the study may stop; the last one is the most."""
    half_width_percent: float | None = Field(default=None, gt=0, lt=100)
    """`precision`: half width of every declared metric's own interval, in percent."""
    minimum: int | None = Field(default=None, ge=FEWEST_AT_LOOK, le=10_000)
    """`precision`: fewest blocks."""
    maximum: int | None = Field(default=None, ge=FEWEST_AT_LOOK, le=10_000)
    """`precision`: most blocks."""
    drop_decided: bool = False
    """`looks`: workloads whose rows are all decided are left out of later blocks. A study file
    without the key has it; a plan without it is of a version that could not."""

    @field_validator("looks", mode="before")
    @classmethod
    def _looks(cls, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        whole = all(isinstance(look, int) and not isinstance(look, bool) for look in value)
        if not value or not whole or sorted(set(value)) != list(value):
            raise ValueError("must be whole numbers of blocks in rising order, such as [10, 20]")
        if value[0] < FEWEST_AT_LOOK:
            raise ValueError(f"the first look needs at least {FEWEST_AT_LOOK} blocks")
        if value[-1] > 10_000:
            raise ValueError("the last look is out of range; it must be at most 10000 blocks")
        return tuple(value)

    @model_validator(mode="after")
    def _fits(self) -> Stopping:
        if self.looks is not None and self.rule != "looks":
            raise ValueError(f'"looks" is for rule = "looks", this rule is "{self.rule}"')
        if self.drop_decided and self.rule != "looks":
            raise ValueError(f'"drop_decided" is for rule = "looks", this rule is "{self.rule}"')
        if self.rule != "precision":
            for key in ("half_width_percent", "minimum", "maximum"):
                if getattr(self, key) is not None:
                    raise ValueError(f'"{key}" is for rule = "precision", this is "{self.rule}"')
            return self
        if self.half_width_percent is None or self.maximum is None:
            raise ValueError(
                'rule = "precision" needs half_width_percent and maximum, such as '
                '{ rule = "precision", half_width_percent = 0.5, maximum = 40 }'
            )
        if self.fewest > self.maximum:
            raise ValueError(f"maximum must be at least {self.fewest}, the fewest blocks")
        return self

    @property
    def schedule(self) -> tuple[int, ...]:
        """Blocks after which a study with looks may stop; () for the other rules."""
        return (self.looks or DEFAULT_LOOKS) if self.rule == "looks" else ()

    @property
    def fewest(self) -> int:
        """Fewest blocks of the rule `precision`."""
        return PRECISION_MINIMUM if self.minimum is None else self.minimum

    @property
    def most(self) -> int | None:
        """Most blocks that the rule can take; None where `blocks` states it."""
        return self.schedule[-1] if self.rule == "looks" else self.maximum

    def limited(self, blocks: int) -> Stopping:
        """The rule with another greatest number of blocks.

        Raises:
            ValueError: the rule cannot work with so few.
        """
        if self.rule == "looks":
            looks = (*(look for look in self.schedule if look < blocks), blocks)
            return Stopping(rule="looks", looks=looks, drop_decided=self.drop_decided)
        if self.rule == "precision":
            return Stopping(**{**self.model_dump(), "maximum": blocks})
        return self

    def may_stop(self, blocks: int) -> bool:
        """Whether the rule looks at the data after so many blocks, before the last."""
        if self.rule == "looks":
            return blocks in self.schedule[:-1]
        return self.rule == "precision" and self.fewest <= blocks < (self.maximum or 0)

    def words(self, blocks: int) -> str:
        """The rule for people; `blocks` is the plan's number of blocks."""
        if self.rule == "looks":
            dropped = ", what is decided is left out from then on" if self.drop_decided else ""
            return (
                f"looks after {', '.join(map(str, self.schedule))} blocks, "
                f"O'Brien-Fleming-type spending{dropped}"
            )
        if self.rule == "precision":
            return (
                f"until every declared metric is known to ±{self.half_width_percent:g} %, "
                f"{self.fewest} to {self.maximum} blocks"
            )
        return f"fixed, {blocks} block{'' if blocks == 1 else 's'}"
