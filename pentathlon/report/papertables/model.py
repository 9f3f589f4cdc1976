"""What the data files of the tables hold: which of our indicators fills which row of a paper."""

from __future__ import annotations

from pydantic import Field, model_validator

from pentathlon.published.parts import FormulaText, Id, Name, Part


class Row(Part):
    """One row: a row or a column of the published table, and what of ours it shows."""

    row: Id | None = None
    """Row of the published table that gives label, unit and direction."""
    column: Name | None = None
    """Column that does, where the paper has the systems in the rows."""
    label: str | None = None
    """A label of our own, where no row or column says it."""
    indicator: str | None = None
    """workload.indicator, such as "memory.levels.read"."""
    derived: str | None = None
    """Path of a derived figure, such as "regions/cache/read"."""
    case: dict[str, str | int] = Field(default_factory=dict)
    """Factors that must be so. Cases that differ in others give a line each."""
    unit: str
    """Our unit."""
    shown: str | None = None
    """The unit in the table; the published one if it is left out."""
    convert: FormulaText = "x"
    """Formula from our value x to the table's unit."""
    note: str = ""
    """What the row means here, where it is not what the paper measured."""

    @model_validator(mode="after")
    def _whole(self) -> Row:
        if (self.indicator is None) == (self.derived is None):
            raise ValueError('a row has either "indicator" or "derived"')
        if self.row is None and self.column is None and self.label is None:
            raise ValueError('a row has "row", "column" or "label"')
        return self


class Sweep(Part):
    """One row for each row of the published table, whose factor gives the case."""

    column: Name
    indicator: str
    case: dict[str, str | int] = Field(default_factory=dict)
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
    like: Id | None = None
    """A table with the same rows; rows named here again replace those."""
    notes: tuple[str, ...] = ()
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
