"""How the results are judged (`[evaluation]`)."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from pydantic import Field, field_validator, model_validator

from pentathlon.study.exclusion import Exclusion, parse_exclusion
from pentathlon.study.later import Later
from pentathlon.study.table import Table


class Evaluation(Later, Table):
    """How the results are judged (`[evaluation]`)."""

    LATER = ("moderated", "headlines")

    delta_percent: float = Field(default=1.0, gt=0, lt=100)
    """Half width of the region of equivalence, in percent: ±δ."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    """Confidence of the intervals, as a fraction."""
    declared: tuple[str, ...] | None = None
    """Workloads, or WORKLOAD.METRIC, with patterns, or whole keys of single rows, that the study is
    about; the others are exploratory. None declares everything."""
    headlines: bool = False
    """Instead of `declared`: the study is about one metric of each workload."""
    exclude: tuple[str, ...] = ()
    """Rules that leave samples out by the counters beside them, such as "steal_percent > 2"."""
    moderated: bool = False
    """Rows of a workload or an area lend each other strength (docs/evaluation.md). A study file
    without the key has it; a plan without it is of a version that could not."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Evaluation:
        if self.headlines and self.declared is not None:
            raise ValueError(
                "headlines choose what is declared themselves; leave out headlines, or declared"
            )
        return self

    @field_validator("exclude", mode="before")
    @classmethod
    def _exclude(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("exclude")
    @classmethod
    def _rules(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(parse_exclusion(rule).text for rule in rules)

    def exclusions(self) -> tuple[Exclusion, ...]:
        """The rules, read."""
        return tuple(parse_exclusion(rule) for rule in self.exclude)

    @field_validator("declared", mode="before")
    @classmethod
    def _declared(cls, value: Any) -> Any:
        if isinstance(value, list | tuple) and not value:
            raise ValueError("the list is empty; name what is declared, or leave the key out")
        return tuple(value) if isinstance(value, list) else value

    def declares(self, workload: str, metric: str, *, key: str = "", context: bool = False) -> bool:
        """Whether a metric is one of those that the study is about.

        Args:
            key: of the row, such as `memory.read.bandwidth[block_bytes=65536,variant=vector]`.
            context: it is no score; a study is about it only where it is named itself.
        """
        if key and key in (self.declared or ()):
            return True
        if context:
            return f"{workload}.{metric}" in (self.declared or ())
        if self.declared is None:
            return True
        names = (workload, f"{workload}.{metric}")
        return any(fnmatchcase(name, pattern) for pattern in self.declared for name in names)
