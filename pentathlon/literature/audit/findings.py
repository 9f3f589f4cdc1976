"""What an audit finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from pentathlon.literature.parts import Part, Severity
from pentathlon.literature.tables import Row, Table

Kind = Literal[
    "difference",
    "derived",
    "text",
    "physical",
    "unit",
    "source",
    "rounding",
    "duplicate",
    "dependent",
    "label",
    "precision",
    "reference",
]

KINDS: dict[Kind, str] = {
    "difference": "a printed difference that its inputs cannot give",
    "derived": "a derived number, a sum or a count that its inputs cannot give",
    "text": "text that contradicts a table, or other text",
    "physical": "a number that nothing can have",
    "unit": "units that do not go together",
    "source": "something that a named standard, or a manufacturer's data, rules out",
    "rounding": "digits cut off, or zeros that are not significant",
    "duplicate": "the same thing printed twice under two names",
    "dependent": "measurements that other measurements of the table determine",
    "label": "labels that stand for two things, or for nothing",
    "precision": "more or fewer digits than the paper says or the inputs allow",
    "reference": "a reference, heading or announcement that leads elsewhere or nowhere",
}

SEVERITIES: dict[Severity, str] = {
    "error": "cannot be right",
    "warning": "misleading, or right only under a lenient reading",
    "note": "worth knowing",
}


DIGITS = "unlikely: no single misread digit explains it"
"""What an audit states of the scan where one digit is not enough."""

UNLIKELY = "unlikely: it is not a matter of one digit"
"""What an audit states of the scan where words or many numbers would have to be misread."""


class Finding(Part):
    """One thing that cannot be right, or that a reader should know.

    Attributes:
        printed: what the paper gives.
        allowed: what its other numbers allow.
        ocr: whether damage of the scanned text could explain it, and how.
        check: id of the claim or name of the check that found it.
    """

    study: str
    table: str
    row: str
    section: str
    kind: Kind
    severity: Severity
    says: str
    printed: str
    allowed: str
    ocr: str
    check: str
    note: str = ""


class Place(NamedTuple):
    """Where a study prints what a finding is about."""

    study: str
    table: str
    row: str
    section: str


def in_row(table: Table, row: Row) -> Place:
    """A row of a table."""
    return Place(table.study, table.printed_as, row.name, row.section or table.section)


def in_table(table: Table, row: str) -> Place:
    """Something in a table that is no row; `row` is what it is called."""
    return Place(table.study, table.printed_as, row, table.section)


def in_text(study: str, subject: str, section: str) -> Place:
    """A subject of the text."""
    return Place(study, "text", subject, section)


@dataclass(frozen=True)
class Check:
    """A check, with what all of its findings have in common.

    Attributes:
        name: what `Finding.check` holds.
        ocr: whether damage of the scanned text could explain a finding.
    """

    name: str
    kind: Kind
    severity: Severity
    ocr: str = DIGITS

    def at(self, place: Place, says: str, printed: str, allowed: str, note: str = "") -> Finding:
        """What the check found at a place; the texts are those of `Finding`."""
        return Finding(
            **place._asdict(),
            kind=self.kind,
            severity=self.severity,
            says=says,
            printed=printed,
            allowed=allowed,
            ocr=self.ocr,
            check=self.name,
            note=note,
        )


class Unchecked(Part):
    """Something that could not be checked, with the reason."""

    study: str
    check: str
    place: str
    reason: str


class Audit(Part):
    """The outcome for one study.

    Attributes:
        checks: number of single comparisons that were made, by kind.
    """

    study: str
    findings: tuple[Finding, ...]
    unchecked: tuple[Unchecked, ...]
    checks: dict[str, int]
