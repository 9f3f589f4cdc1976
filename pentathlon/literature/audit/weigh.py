"""Both sides of a claim as intervals, and what comes of comparing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pentathlon.literature.audit.judge import Outcome, judge
from pentathlon.literature.claims import Claim
from pentathlon.literature.expression import formula
from pentathlon.literature.interval import Interval
from pentathlon.literature.lookup import Term
from pentathlon.literature.printed import Printed, parse
from pentathlon.literature.tables import Table

TEXT = "the text"
"""Name of the number that a sentence gives, beside the names of cells."""

LONG = 80
"""Characters of a formula beyond which a finding shows its beginning only: max(..., ...)."""

_WORDS = {
    "equals": "must be",
    "at-least": "must be at least",
    "at-most": "must be at most",
    "more-than": "must be more than",
    "less-than": "must be less than",
}


@dataclass(frozen=True)
class Weighed:
    """A claim with its numbers filled in."""

    claim: Claim
    left: Interval
    right: Interval
    outcome: Outcome

    @property
    def allowed(self) -> str:
        """What the other numbers allow, in words."""
        unit = f" {self.claim.unit}" if self.claim.unit else ""
        text = self.claim.expression
        if len(text) > LONG:
            text = f"{text[: text.index(',')]}, …)"
        computed = f"{text} = {self.left.text()}{unit}"
        if self.outcome in (Outcome.CUT_OFF, Outcome.ROUND):
            return f"{computed}; {self.outcome.value}"
        words = _WORDS.get(self.claim.relation) or _about(self.claim.tolerance_percent or 0)
        phrase = f"{computed}, {words} {self.right.text()}{unit}"
        return f"{phrase}; {self.outcome.value}" if self.outcome is Outcome.NOT_SHOWN else phrase


def _about(tolerance_percent: float) -> str:
    if tolerance_percent < 50:
        return f"must be within {tolerance_percent:g} % of"
    return f"must be within a factor of {1 + tolerance_percent / 100:g} of"


def weigh(claim: Claim, numbers: Mapping[str, Printed]) -> Weighed:
    """Compare the two sides of a claim; `numbers` holds every name, and TEXT.

    Raises:
        PublishedError: a division has no bounds.
    """
    values = {name: number.interval for name, number in numbers.items()}
    single: Printed | None = None
    if claim.than is not None:
        right = formula(claim.than)(values)
        single = numbers.get(claim.than)
    elif claim.printed is not None:
        single = numbers[TEXT]
        right = single.interval
    else:
        right = Interval.exact(parse(claim.value or "0").value)
    left = formula(claim.expression)(values)
    outcome = judge(left, claim.relation, right, single, claim.tolerance_percent)
    return Weighed(claim, left, right, outcome)


def numbers_of(claim: Claim, found: Mapping[str, Term]) -> dict[str, Printed]:
    """Every number of a claim by name."""
    numbers = {name: term.printed for name, term in found.items() if term.printed is not None}
    if claim.printed is not None:
        numbers[TEXT] = parse(claim.printed)
    return numbers


def derived_claim(table: Table, column: str) -> Claim | None:
    """The claim that a column follows its formula, row by row; None if it has none."""
    own = next(one for one in table.column if one.id == column)
    if own.derived is None:
        return None
    return Claim(
        id=f"{table.id}-{column}".replace("_", "-"),
        says=f"{own.title} follows its formula.",
        section=table.section,
        table=table.id,
        rows="all",
        expression=own.derived,
        than=column,
        unit=own.unit or "",
        kind="derived",
    )
