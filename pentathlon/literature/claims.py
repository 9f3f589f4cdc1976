"""Statements of a text, with the cells that they speak of."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from pentathlon.literature.parts import FormulaText, Id, Name, Part, Relation, Severity


class Claim(Part):
    """A statement with numbers: which cells it refers to and what it states of them.

    `states` is our wording. The right side is one of `printed` (a number as printed in the text),
    `value` (an exact number) and `than` (a formula).
    """

    id: Id
    says: str
    section: str = ""
    table: Id | None = None
    rows: tuple[Id, ...] | Literal["all"] | None = None
    """Rows of `table` that it is true of, one by one; their cells and factors have their names."""
    skip: tuple[Id, ...] = ()
    cells: dict[Name, str] = Field(default_factory=dict)
    """Further names: "TABLE/ROW/COLUMN", or "ROW/COLUMN" in `table`."""
    read: dict[Name, str] = Field(default_factory=dict)
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


class Statement(Part):
    """What the text states of a subject, in our words; it states one thing of each subject."""

    subject: str
    section: str
    says: str
    note: str = ""


class Announcement(Part):
    """A result that the text announces, and the sections or figures that give it."""

    subject: str
    section: str
    shown: tuple[str, ...] = ()
    """() if nothing gives it."""


class ClaimFile(Part):
    """The claims of a study's text."""

    claim: tuple[Claim, ...] = ()
    choice: tuple[Choice, ...] = ()
    statement: tuple[Statement, ...] = ()
    announcement: tuple[Announcement, ...] = ()
