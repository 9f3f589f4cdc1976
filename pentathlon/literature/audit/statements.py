"""The statements of a study, checked one by one: differences, rules, claims, repeated values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from pentathlon.literature.audit.damage import explain
from pentathlon.literature.audit.findings import Check, Finding, Kind, Place, Unchecked
from pentathlon.literature.audit.judge import Outcome
from pentathlon.literature.audit.weigh import derived_claim, numbers_of, weigh
from pentathlon.literature.claims import Choice, Claim
from pentathlon.literature.lookup import Term, subjects, terms
from pentathlon.literature.model import Study
from pentathlon.literature.parts import Severity
from pentathlon.literature.tables import Row, Table

SHOWN = 6
"""Cells that a finding names; a claim over whole tables has more."""


class StatementCheck:
    """Checks the statements of one study and keeps count."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self.unchecked: list[Unchecked] = []
        self.checks: Counter[str] = Counter()

    def findings(self) -> Iterator[Finding]:
        """All statements: derived columns, rules of tables, rows given again, claims, choices."""
        for table in self._study.tables:
            for column in table.column:
                derived = derived_claim(table, column.id)
                if derived is not None:
                    yield from self._claim(
                        derived, "difference" if column.unit == "%" else "derived"
                    )
            for rule in table.rule:
                yield from self._claim(rule, rule.kind)
            for row in table.row:
                if row.restates is not None:
                    for claim in restated(self._study, table, row):
                        yield from self._claim(claim, "text")
        for claim in self._study.claims:
            yield from self._claim(claim, claim.kind)
        for choice in self._study.choices:
            yield from self._choice(choice)

    def _claim(self, claim: Claim, kind: Kind) -> Iterator[Finding]:
        for row in subjects(self._study, claim):
            found = terms(self._study, claim, row)
            blank = next((term for term in found.values() if term.printed is None), None)
            if blank is not None:
                self._not_checked(claim, blank.place, blank.why)
                continue
            self.checks[kind] += 1
            finding = self._finding(claim, kind, row, found)
            if finding is not None:
                yield finding

    def _not_checked(self, statement: Claim | Choice, place: str, reason: str) -> None:
        self.unchecked.append(
            Unchecked(study=self._study.id, check=statement.id, place=place, reason=reason)
        )

    def _finding(
        self, claim: Claim, kind: Kind, row: Row | None, found: Mapping[str, Term]
    ) -> Finding | None:
        numbers = numbers_of(claim, found)
        weighed = weigh(claim, numbers)
        if weighed.outcome is Outcome.HOLDS:
            return None
        lenient = weighed.outcome in (Outcome.CUT_OFF, Outcome.ROUND)
        severity: Severity = claim.severity if weighed.outcome is Outcome.IMPOSSIBLE else "note"
        tables = "; ".join(dict.fromkeys(term.table.printed_as for term in found.values()))
        rows = row.name if row is not None else _rows(found)
        ocr = explain(self._study, weighed, numbers, found)
        return Check(claim.id, "rounding" if lenient else kind, severity, ocr).at(
            Place(self._study.id, tables, rows, claim.section),
            says=claim.says,
            printed=_printed(claim, found),
            allowed=weighed.allowed,
            note=claim.note,
        )

    def _choice(self, choice: Choice) -> Iterator[Finding]:
        table = self._study.table(choice.table)
        for name in choice.rows:
            row = table.find_row(name)
            cell = row.cell(choice.column)
            if cell.printed is None:
                why = f"the cell is missing: {cell.missing}"
                place = f"{table.printed_as}, {row.name}"
                self._not_checked(choice, place, why)
                continue
            self.checks["text"] += 1
            if cell.printed != choice.names:
                ocr = "unlikely: names are not misread for one another"
                yield Check(choice.id, "text", "warning", ocr).at(
                    Place(self._study.id, table.printed_as, row.name, choice.section),
                    says=choice.says,
                    printed=cell.printed,
                    allowed=f"must be {choice.names}",
                    note=choice.note,
                )


def restated(study: Study, table: Table, row: Row) -> Iterator[Claim]:
    """The claims that a row gives the cells of another one again, perhaps rounded."""
    target = row.restates or ""
    first = study.table(target.partition("/")[0])
    for column in row.values:
        title = next(one for one in table.column if one.id == column)
        yield Claim(
            id=f"{table.id}-{row.id}-{column}".replace("_", "-"),
            says=f"{table.printed_as}, gives the {title.title.lower()} of {first.printed_as}.",
            section=table.section,
            table=table.id,
            rows=(row.id,),
            cells={"given": f"{target}/{column}"},
            expression="given",
            than=column,
            unit=title.unit or "",
        )


def _rows(found: Mapping[str, Term]) -> str:
    rows = list(dict.fromkeys(term.row.name for term in found.values()))
    return "; ".join(rows[:3]) + ("; …" if len(rows) > 3 else "")


def _printed(claim: Claim, found: Mapping[str, Term]) -> str:
    """What is printed: the number of the text, and the cells that it speaks of."""
    same = len({(id(term.table), term.row.id) for term in found.values()}) == 1
    cells = [
        f"{name} = {term.printed.text} [{term.title if same else term.place}]"
        for name, term in found.items()
        if term.printed is not None
    ]
    words = "; ".join(cells[:SHOWN] + (["…"] if len(cells) > SHOWN else []))
    if claim.printed is None:
        return words
    unit = f" {claim.unit}" if claim.unit else ""
    return f"{claim.printed}{unit}, from {words}"
