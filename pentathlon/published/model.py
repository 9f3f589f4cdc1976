"""The published studies as data: one file per table, one for the study, one for its claims."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pentathlon.published.expression import Formula
from pentathlon.published.printed import Printed, parse
from pentathlon.published.problems import PublishedError, unknown

Id = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Relation = Literal["equals", "at-least", "at-most", "more-than", "less-than", "about"]
Severity = Literal["error", "warning", "note"]


class Part(BaseModel):
    """A part of the data; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Cell(Part):
    """One cell: as printed, or missing with the reason."""

    printed: str | None = None
    missing: str | None = None
    """Why the value cannot be read."""
    reconstructed: str | None = None
    """How the cell was put together from damaged text."""
    qualifier: Literal["over", "under"] | None = None
    """The author's word: "over 9" is printed = "9", qualifier = "over"."""

    @model_validator(mode="after")
    def _one(self) -> Cell:
        if (self.printed is None) == (self.missing is None):
            raise ValueError('a cell has either "printed" or "missing"')
        return self

    @property
    def text(self) -> str:
        """The cell for people."""
        if self.printed is None:
            return "missing"
        return f"{self.qualifier} {self.printed}" if self.qualifier else self.printed

    def number(self) -> Printed | None:
        """The printed number; None if missing, or if it is a word such as "Failed"."""
        if self.printed is None:
            return None
        try:
            return parse(self.printed, self.qualifier)
        except PublishedError:
            return None


def _cell(value: Any) -> Any:
    return {"printed": value} if isinstance(value, str) else value


def _formula(text: str) -> str:
    """Check a formula; pydantic passes on ValueError only."""
    try:
        Formula(text)
    except PublishedError as error:
        raise ValueError(str(error)) from error
    return text


FormulaText = Annotated[str, AfterValidator(_formula)]


class Counterpart(Part):
    """The indicator of ours that a row or column corresponds to."""

    indicator: str
    """workload.indicator, such as "memory.read.bandwidth"."""
    case: dict[str, str | int | tuple[int, int]] = {}
    """Factor -> value, or [least, most]."""
    convert: FormulaText = "x"
    """Formula from the published number x to our unit."""
    note: str = ""
    """What else differs between the two."""


class Column(Part):
    """One column. `derived` is the formula that the paper says the column follows."""

    id: Name
    title: str
    group: str | None = None
    kind: Literal["number", "text"] = "number"
    unit: str | None = None
    system: str | None = None
    derived: FormulaText | None = None
    formula: str | None = None
    """Where the paper gives the formula."""
    counterpart: Counterpart | None = None


class Claim(Part):
    """A statement with numbers: which cells it speaks of and what it says of them.

    `says` is our wording. The right side is one of `printed` (a number as printed in the text),
    `value` (an exact number) and `than` (a formula).
    """

    id: Id
    says: str
    section: str = ""
    table: Id | None = None
    rows: tuple[Id, ...] | Literal["all"] | None = None
    """Rows of `table` that it is true of, one by one; their cells and factors have their names."""
    skip: tuple[Id, ...] = ()
    cells: dict[Name, str] = {}
    """Further names: "TABLE/ROW/COLUMN", or "ROW/COLUMN" in `table`."""
    read: dict[Name, str] = {}
    """For cells of text: the regular expression whose first group is the number."""
    expression: FormulaText
    relation: Relation = "equals"
    printed: str | None = None
    value: str | None = None
    than: FormulaText | None = None
    tolerance_percent: float | None = None
    """For "about": how far apart the two sides may lie."""
    unit: str = ""
    kind: Literal["text", "derived", "physical", "unit", "source"] = "text"
    severity: Severity = "error"
    note: str = ""

    @model_validator(mode="after")
    def _whole(self) -> Claim:
        sides = [side for side in (self.printed, self.value, self.than) if side is not None]
        if len(sides) != 1:
            raise ValueError('a claim has one of "printed", "value" and "than"')
        if (self.relation == "about") != (self.tolerance_percent is not None):
            raise ValueError('"tolerance_percent" goes with the relation "about", and only there')
        if self.rows is None and not self.cells:
            raise ValueError('a claim speaks of "rows" or "cells"')
        if self.rows is not None and self.table is None:
            raise ValueError('"rows" needs a "table"')
        return self


class Choice(Part):
    """A statement that cells name one and the same thing, such as the best system."""

    id: Id
    says: str
    section: str = ""
    table: Id
    column: Name
    rows: tuple[Id, ...]
    names: str
    note: str = ""


class Row(Part):
    """One row, its label as in the paper."""

    id: Id
    label: str
    group: str | None = None
    part: str | None = None
    """A division that the paper does not print but describes."""
    symbol: str | None = None
    unit: str | None = None
    direction: Literal["higher", "lower"] | None = None
    """Which values are better."""
    sense: Literal["reduction", "increase"] | None = None
    """For percentages in the text: what they are a percentage of change of."""
    system: str | None = None
    section: str | None = None
    factors: dict[Name, str] = {}
    """Numbers that the row's label holds, such as the rate of the link; they are exact."""
    restates: str | None = None
    """TABLE/ROW whose cells this row gives again, rounded."""
    reconstructed: str | None = None
    """How the whole row was put together from damaged text."""
    exact: bool = False
    """The numbers are set or counted, not measured and rounded."""
    ocr: tuple[str, ...] = ()
    values: dict[Name, Annotated[Cell, BeforeValidator(_cell)]]
    counterpart: Counterpart | None = None

    def cell(self, column: str) -> Cell:
        """The cell, with the reconstruction of its row.

        Raises:
            PublishedError: there is no such column.
        """
        if column not in self.values:
            raise unknown(f"column in row {self.id}", column, self.values)
        cell = self.values[column]
        if self.reconstructed is not None and cell.reconstructed is None:
            return cell.model_copy(update={"reconstructed": self.reconstructed})
        return cell

    @property
    def name(self) -> str:
        """The label with its groups, for people."""
        return " / ".join(part for part in (self.group, self.part, self.label) if part)


class Table(Part):
    """One table, or the numbers of one subject in the text."""

    study: Id
    id: Id
    printed_as: str
    title: str
    kind: Literal["results", "text", "inventory", "definitions"]
    area: str | None = None
    section: str
    page: int | None = None
    words: tuple[str, ...] = ()
    """What stands in number columns beside numbers, such as "Failed"."""
    notes: tuple[str, ...] = ()
    ocr: tuple[str, ...] = ()
    column: tuple[Column, ...]
    rule: tuple[Claim, ...] = ()
    row: tuple[Row, ...]

    @model_validator(mode="before")
    @classmethod
    def _own_rules(cls, data: Any) -> Any:
        """A rule speaks of the table that it stands in."""
        if isinstance(data, dict) and isinstance(data.get("rule"), list):
            own = {"table": data.get("id"), "section": data.get("section", "")}
            data["rule"] = [own | rule if isinstance(rule, dict) else rule for rule in data["rule"]]
        return data

    def find_row(self, row: str) -> Row:
        """The row of that id.

        Raises:
            PublishedError: there is none.
        """
        if row not in self._rows:
            raise unknown(f"row in {self.study} {self.id}", row, self._rows)
        return self._rows[row]

    @cached_property
    def _rows(self) -> dict[str, Row]:
        return {row.id: row for row in self.row}

    @property
    def systems(self) -> list[Column]:
        return [column for column in self.column if column.system is not None]


class Series(Part):
    """One line or set of bars of a figure: a column of a table, for some of its rows."""

    title: str
    table: Id
    y: Name
    rows: tuple[Id, ...] = ()
    """() for all."""
    x: Name | None = None
    """Column or factor of the x axis; None for the row labels."""


class Figure(Part):
    """A figure of the paper whose numbers are printed in a table or in the text."""

    id: Id
    printed_as: str
    title: str
    mark: Literal["line", "bar"]
    x_title: str
    y_title: str
    x_scale: Literal["category", "linear", "log2"]
    series: tuple[Series, ...]


class Target(Part):
    """Something that a text can refer to, with its subject."""

    id: Id
    printed_as: str
    subject: str


class Reference(Part):
    """A reference in the text, with the subject that the sentence expects there."""

    section: str
    target: Id
    subject: str


class Heading(Part):
    """A numbered heading and the number of the section that it stands in."""

    printed: str
    inside: str


class Listing(Part):
    """A program listing: SHA-256 of its characters without white space."""

    printed_as: str
    subject: str
    sha256: str


class StudyFile(Part):
    """What holds for a study as a whole."""

    id: Id
    seed: str
    authors: str
    title: str
    year: int
    published_in: str
    reference_system: str | None = None
    significant_digits: int | None = None
    """Digits that the paper says it reports."""
    definitions: Id | None = None
    """The table that declares the symbols."""
    notes: tuple[str, ...] = ()
    figure: tuple[Figure, ...] = ()
    target: tuple[Target, ...] = ()
    reference: tuple[Reference, ...] = ()
    heading: tuple[Heading, ...] = ()
    listing: tuple[Listing, ...] = ()


class ClaimFile(Part):
    """The claims of a study's text."""

    claim: tuple[Claim, ...] = ()
    choice: tuple[Choice, ...] = ()


class Study(Part):
    """A study with everything that belongs to it."""

    facts: StudyFile
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    choices: tuple[Choice, ...] = ()

    @property
    def id(self) -> str:
        return self.facts.id

    def table(self, name: str) -> Table:
        """The table with that id, or printed under that name ("3", "Table 3").

        Raises:
            PublishedError: there is none.
        """
        wanted = name.strip().lower()
        for one in self.tables:
            printed = one.printed_as.lower()
            if wanted in {one.id, printed, printed.removeprefix("table ")}:
                return one
        raise unknown(f"table in {self.id}", name, [one.id for one in self.tables])

    def figure(self, name: str) -> Figure | None:
        """The figure with that id or printed name, or None."""
        wanted = name.strip().lower()
        for one in self.facts.figure:
            if wanted in {one.id, one.printed_as.lower()}:
                return one
        return None
