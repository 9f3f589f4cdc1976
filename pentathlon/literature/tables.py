"""Tables as printed: cells, columns, rows."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from pentathlon.literature.claims import Claim
from pentathlon.literature.parts import FormulaText, Id, Name, Part
from pentathlon.literature.problems import unknown


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


def _cell(value: Any) -> Any:
    return {"printed": value} if isinstance(value, str) else value


class Column(Part):
    """One column. `derived` is the formula that the paper states the column follows."""

    id: Name
    title: str
    group: str | None = None
    kind: Literal["number", "text"] = "number"
    unit: str | None = None
    system: str | None = None
    derived: FormulaText | None = None
    formula: str | None = None
    """Where the paper gives the formula."""

    @property
    def name(self) -> str:
        """The title with its group, for people."""
        return f"{self.group}, {self.title}" if self.group else self.title


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
    factors: dict[Name, str] = Field(default_factory=dict)
    """Numbers that the row's label holds, such as the rate of the link; they are exact."""
    restates: str | None = None
    """TABLE/ROW whose cells this row gives again, rounded."""
    reconstructed: str | None = None
    """How the whole row was put together from damaged text."""
    exact: bool = False
    """The numbers are set or counted, not measured and rounded."""
    quantity: Literal["rate", "time", "size"] | None = None
    """What the paper calls the number, where its unit should be looked at."""
    payload_of: Literal["UDP"] | None = None
    """The size is that of the payload of one packet of this protocol."""
    setting: Literal["DWORD"] | None = None
    """The cell is what a setting of this type was set to."""
    enters_kernel: bool = False
    """Each counted operation is a call into the kernel, by the paper's own words."""
    ocr: tuple[str, ...] = ()
    values: dict[Name, Annotated[Cell, BeforeValidator(_cell)]]

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
    clock: str | None = None
    """TABLE/ROW/COLUMN of the clock of the processor that the table was measured on."""
    display: tuple[int, int] | None = None
    """Pixels of the screen that the frames of the table were drawn on."""
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
        """A rule applies to the table that it stands in."""
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
