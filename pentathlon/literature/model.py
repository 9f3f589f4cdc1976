"""The published studies as data: one file per table, one for the study, one for its claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pentathlon.literature.claims import Announcement, Choice, Claim, Statement
from pentathlon.literature.parts import Id, Name, Part
from pentathlon.literature.problems import unknown
from pentathlon.literature.tables import Row, Table


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


class Section(Part):
    """A section with its number; `subject` is what it treats, in our words."""

    number: str
    subject: str
    area: str | None = None
    """The area of our workloads that it belongs to; None for several or none."""


class Group(Part):
    """A group of metrics: the beginning of its symbols, and what they measure."""

    prefix: str
    quantity: Literal["rate", "time"]


class Reference(Part):
    """A reference in the text, with the subject that the sentence expects there."""

    section: str
    target: Id
    subject: str


class Mention(Part):
    """A section, figure, table or citation that the text names, as printed."""

    section: str
    printed: str
    """Such as "Section II", "Figure 3", "Table 2" or "[30]"."""
    note: str = ""


class Heading(Part):
    """A numbered heading and the number of the section that it stands in."""

    printed: str
    inside: str


class Stream(Part):
    """A stream that a listing opens, and what it then does with it."""

    mode: str
    """The mode of fopen(3), such as "r"."""
    does: Literal["read", "write"]


class Listing(Part):
    """A program listing: SHA-256 of its characters without white space."""

    printed_as: str
    subject: str
    section: str = ""
    sha256: str
    stream: tuple[Stream, ...] = ()


class StudyFile(Part):
    """What holds for a study as a whole."""

    id: Id
    document: str
    authors: str
    title: str
    year: int
    published_in: str
    reference_system: str | None = None
    significant_digits: int | None = None
    """Digits that the paper announces."""
    definitions: Id | None = None
    """The table that declares the symbols."""
    group: tuple[Group, ...] = ()
    """The groups of metrics that the paper defines."""
    figures: int = 0
    """Number of figures, which are numbered from 1."""
    citations: int = 0
    """Number of entries of a numbered list of references; 0 if it is not numbered."""
    notes: tuple[str, ...] = ()
    figure: tuple[Figure, ...] = ()
    target: tuple[Target, ...] = ()
    section: tuple[Section, ...] = ()
    reference: tuple[Reference, ...] = ()
    mention: tuple[Mention, ...] = ()
    heading: tuple[Heading, ...] = ()
    listing: tuple[Listing, ...] = ()


class Study(Part):
    """A study with everything that belongs to it."""

    facts: StudyFile
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]
    choices: tuple[Choice, ...] = ()
    statements: tuple[Statement, ...] = ()
    announcements: tuple[Announcement, ...] = ()

    @property
    def id(self) -> str:
        return self.facts.id

    def table(self, name: str) -> Table:
        """The table with that id, or printed under that name ("3", "Table 3", "table-3").

        Raises:
            PublishedError: there is none.
        """
        wanted = plain_name(name)
        for one in self.tables:
            printed = plain_name(one.printed_as)
            if wanted in {plain_name(one.id), printed, printed.removeprefix("table ")}:
                return one
        raise unknown(f"table in {self.id}", name, [one.id for one in self.tables])

    def rows(self, kind: str | None = None) -> Iterator[tuple[Table, Row]]:
        """Every row with its table: of all tables, or of those of a kind."""
        for table in self.tables:
            if kind in (None, table.kind):
                for row in table.row:
                    yield table, row

    def figure(self, name: str) -> Figure | None:
        """The figure with that id or printed name, or None."""
        wanted = plain_name(name)
        for one in self.facts.figure:
            if wanted in {plain_name(one.id), plain_name(one.printed_as)}:
                return one
        return None


def plain_name(name: str) -> str:
    """A name without what people write in different ways: "table-04" and "Table 4" are one."""
    words = name.lower().replace("-", " ").replace(".", " ").split()
    return " ".join(word.lstrip("0") or "0" if word.isdigit() else word for word in words)
