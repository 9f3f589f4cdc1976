"""What the data files of the tables hold: which of our metrics fills which row of a paper."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from pentathlon.literature.parts import FormulaText, Id, Name, Part

Wanted = str | int | tuple[int, int]
"""Value of a factor, or the least and the most."""


class Row(Part):
    """One row: a row or a column of the published table, and what of ours it shows."""

    row: Id | None = None
    """Row of the published table that gives label, unit and direction."""
    column: Name | None = None
    """Column that does, where the paper has the systems in the rows."""
    label: str | None = None
    """A label of our own, where no row or column states it."""
    metric: str | None = None
    """workload.metric, such as "memory.levels.read"."""
    derived: str | None = None
    """Path of a derived figure, such as "regions/cache/read"."""
    fact: str | None = None
    """Name of a property of the machine, such as "cpu" (`evaluate.hardware`)."""
    case: dict[str, Wanted] = Field(default_factory=dict)
    """Factors that must be so. Cases that differ in others, or inside a range, give a line each."""
    rows: tuple[Id, ...] = ()
    """Published rows that it stands beside, where it shows a column; () for all."""
    where: dict[str, str] = Field(default_factory=dict)
    """What these rows have: a factor, "label", "group" or "part"."""
    optional: bool = False
    """It stands beside another row of ours, and is left out where nothing was measured of it."""
    direction: Literal["higher", "lower"] | None = None
    """Which values are better, where the published row does not say it and the unit does not."""
    unit: str = ""
    """Our unit."""
    shown: str | None = None
    """The unit in the table; the published one if it is left out."""
    convert: FormulaText = "x"
    """Formula from our value x to the table's unit."""
    note: str = ""
    """What the row means here, where it is not what the paper measured."""

    @model_validator(mode="after")
    def _whole(self) -> Row:
        if sum(one is not None for one in (self.metric, self.derived, self.fact)) != 1:
            raise ValueError('a row has one of "metric", "derived" and "fact"')
        if self.fact is None and not self.unit:
            raise ValueError('a row has a "unit"')
        if self.row is None and self.column is None and self.label is None:
            raise ValueError('a row has "row", "column" or "label"')
        return self


class Sweep(Part):
    """One row for each row of the published table, whose factor gives the case."""

    column: Name
    metric: str
    case: dict[str, Wanted] = Field(default_factory=dict)
    factor: str
    """Our factor."""
    from_: Name = Field(alias="from")
    """Factor of the published rows."""
    times: int = 1
    """Our value is the published one times this."""
    unit: str


class Table(Part):
    """One table."""

    id: Id
    of: Id | None = None
    """Published table that the rows' words are taken from, where it is not the one named `id`."""
    printed_as: str | None = None
    """What the paper calls it, where `of` is another table."""
    title: str | None = None
    section: str | None = None
    like: Id | None = None
    """A table of the same measurements; rows named here again replace those."""
    notes: tuple[str, ...] = ()
    size: str | None = None
    """Factor of ours that states how large the file is that the title names."""
    row: tuple[Row, ...] = ()
    sweep: tuple[Sweep, ...] = ()


class Figure(Part):
    """Figures of the paper and what shows the same here."""

    printed_as: str
    title: str
    workload: str
    """Workload whose pictures they are."""
    table: Id | None = None
    """The table that stands for the figure, if the paper prints one."""
    note: str = ""


class Listing(Part):
    """Figures of the paper that show no result."""

    printed_as: str
    title: str


class PaperFile(Part):
    """Everything that is shown of one study."""

    study: Id
    table: tuple[Table, ...] = ()
    figure: tuple[Figure, ...] = ()
    listing: tuple[Listing, ...] = ()
