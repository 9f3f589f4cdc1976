"""The audit: everything printed in a study that can be computed again, computed again."""

from __future__ import annotations

from pentathlon.literature.audit.findings import SEVERITIES, Audit
from pentathlon.literature.audit.statements import StatementCheck
from pentathlon.literature.audit.structure import structure
from pentathlon.literature.model import Study


def audit(study: Study) -> Audit:
    """All findings about a study, the gravest first, each in the order of the tables.

    Raises:
        PublishedError: a claim in the data divides by something that can be 0.
    """
    statements = StatementCheck(study)
    found = [*statements.findings(), *structure(study)]
    return Audit(
        study=study.id,
        findings=tuple(sorted(found, key=lambda one: list(SEVERITIES).index(one.severity))),
        unchecked=tuple(statements.unchecked),
        checks=dict(sorted(statements.checks.items())),
    )
