"""The audit: everything printed in a study that can be computed again, computed again."""

from __future__ import annotations

from pentathlon.published.findings import SEVERITIES, Audit, Finding
from pentathlon.published.model import Study
from pentathlon.published.statements import StatementCheck
from pentathlon.published.structure import structure


def audit(study: Study) -> Audit:
    """All findings about a study, the gravest first, each in the order of the tables.

    Raises:
        PublishedError: a claim in the data divides by something that can be 0.
    """
    statements = StatementCheck(study)
    found = [*statements.findings(), *structure(study)]
    return Audit(
        study=study.id,
        findings=tuple(sorted(found, key=_gravity)),
        unchecked=tuple(statements.unchecked),
        checks=dict(sorted(statements.checks.items())),
    )


def _gravity(finding: Finding) -> int:
    return list(SEVERITIES).index(finding.severity)
