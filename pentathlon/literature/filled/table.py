"""A filled table: what every format prints, as text."""

from __future__ import annotations

from dataclasses import dataclass, field

from pentathlon.evaluate.verdict import Verdict

ABSENT = "not measured in this study"

BETTER = {"higher": "more is better", "lower": "less is better", "": ""}


@dataclass(frozen=True)
class Cell:
    """The value of one system."""

    text: str
    value: float | None = None
    """In the table's unit, not rounded; None for words, and where there is no value."""
    low: float | None = None
    high: float | None = None
    """Interval of a derived figure."""
    deviation_percent: float | None = None
    """Largest deviation of a boot from the mean."""
    flagged: bool = False
    """A repetition lies further than 1 % from the mean (martinovic2012, section 6.1)."""
    missing: bool = False
    """`text` states why there is no value."""
    detail: str = ""
    interval: str = ""
    """Of a derived figure."""


@dataclass(frozen=True)
class Judgement:
    """One system against the reference, in the table's unit."""

    system: str
    difference: str
    verdict: Verdict | None
    words: str
    difference_percent: float | None = None
    """Formula (4) of martinovic2012, not rounded; None where a value is missing."""


@dataclass(frozen=True)
class Line:
    """One row."""

    label: str
    unit: str
    better: str
    cells: tuple[Cell, ...]
    judgements: tuple[Judgement, ...]
    key: str = ""
    """Key of the row of the evaluation; "" for derived figures."""
    measured: bool = True
    group: str = ""
    """Group of the metric: "v", "t", "W_G" (martinovic2012, section 5.2), or ""."""
    note: str = ""
    """What the row means here, where it is not what the paper measured."""


@dataclass(frozen=True)
class Filled:
    """One table of a paper with one's own systems in the columns."""

    study: str
    id: str
    printed_as: str
    title: str
    section: str
    systems: tuple[str, ...]
    reference: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = field(default=())
    ids: tuple[str, ...] = ()
    """Of this table and of those of the same measurements, which it stands for too."""

    @property
    def anchor(self) -> str:
        return f"paper-{self.study}-{self.id}"

    @property
    def measured(self) -> int:
        """Lines that have a value on some system."""
        return sum(line.measured for line in self.lines)

    @property
    def facts(self) -> bool:
        """Whether it describes machines and systems: texts, and no verdict."""
        return all(not line.unit for line in self.lines)

    @property
    def others(self) -> list[str]:
        """The systems that are judged against the reference."""
        return [name for name in self.systems if name != self.reference]
