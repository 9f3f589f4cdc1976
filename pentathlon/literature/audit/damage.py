"""Whether damage of the scanned text could explain a finding, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pentathlon.literature.audit.findings import DIGITS
from pentathlon.literature.audit.judge import Outcome
from pentathlon.literature.audit.misread import readings
from pentathlon.literature.audit.weigh import TEXT, Weighed, derived_claim, weigh
from pentathlon.literature.claims import Claim
from pentathlon.literature.lookup import Term, terms
from pentathlon.literature.model import Study
from pentathlon.literature.printed import Printed, parse
from pentathlon.literature.problems import PublishedError


def explain(
    study: Study, weighed: Weighed, numbers: Mapping[str, Printed], found: Mapping[str, Term]
) -> str:
    """How the finding could come from the scan: one misread digit, or a cell put together.

    A reading counts only if the printed differences and the rules of its own table still hold.
    """
    if weighed.outcome is not Outcome.IMPOSSIBLE:
        return "not needed: it can be true"
    parts = []
    fix = _misread(study, weighed.claim, numbers, found)
    if fix is not None:
        name, reading = fix
        where = found[name].place if name in found else name
        parts.append(f"possible: {numbers[name].text} for {reading} ({where})")
    damaged = next((term for term in found.values() if term.reconstructed is not None), None)
    if damaged is not None:
        parts.append(f"possible: {damaged.place}, was put together from damaged text")
    return "; ".join(parts) or DIGITS


def _misread(
    study: Study, claim: Claim, numbers: Mapping[str, Printed], found: Mapping[str, Term]
) -> tuple[str, str] | None:
    for name, number in numbers.items():
        if number.exact and name != TEXT:
            continue
        # Exponents are left alone: a misread one would be off by powers of ten.
        plain, mark, exponent = number.text.partition("e")
        for reading in readings(plain):
            text = reading + mark + exponent
            other = parse(text, number.qualifier, exact=number.exact)
            if not _holds(claim, {**numbers, name: other}):
                continue
            if name not in found or _fits(study, found[name], other):
                return name, text
    return None


def _holds(claim: Claim, numbers: Mapping[str, Printed]) -> bool:
    try:
        return weigh(claim, numbers).outcome is Outcome.HOLDS
    except PublishedError:
        return False


def _fits(study: Study, term: Term, other: Printed) -> bool:
    """Whether the row of a cell is still consistent when the cell reads otherwise."""
    derived = [derived_claim(term.table, column.id) for column in term.table.column]
    for claim in [*term.table.rule, *(one for one in derived if one is not None)]:
        found = terms(study, claim, term.row)
        names = [name for name, one in found.items() if one.column == term.column]
        if not names or any(one.printed is None for one in found.values()):
            continue
        found = {**found, names[0]: replace(term, printed=other)}
        filled = {name: one.printed for name, one in found.items() if one.printed is not None}
        try:
            if weigh(claim, filled).outcome is Outcome.IMPOSSIBLE:
                return False
        except PublishedError:
            return False
    return True
