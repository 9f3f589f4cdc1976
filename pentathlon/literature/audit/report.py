"""An audit as a grid and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from pentathlon.literature.audit.findings import KINDS, SEVERITIES, Audit, Finding
from pentathlon.tables.grid import Grid, plain


def findings_grid(findings: Sequence[Finding]) -> Grid:
    """One line per finding."""
    headings = ("Study", "Severity", "Kind", "Where", "Statement", "Printed", "But", "Scan")
    named = [*SEVERITIES.items(), *KINDS.items()]
    notes = [f"{name}: {text}." for name, text in named]
    return plain("Findings", headings, [False] * len(headings), map(_line, findings), notes)


def counts_grid(audits: Sequence[Audit]) -> Grid:
    """How much was checked and found, by study."""
    headings = ("Study", "Checked", "Not checkable", *SEVERITIES)
    rows = [
        (
            audit.study,
            str(sum(audit.checks.values())),
            str(len(audit.unchecked)),
            *(str(_count(audit, severity)) for severity in SEVERITIES),
        )
        for audit in audits
    ]
    return plain("Audit", headings, [place > 0 for place in range(len(headings))], rows)


def _count(audit: Audit, severity: str) -> int:
    return sum(finding.severity == severity for finding in audit.findings)


def _line(finding: Finding) -> tuple[str, ...]:
    where = f"{finding.table}, {finding.row}"
    if finding.section and finding.section not in finding.table:
        where += f" (section {finding.section})"
    but = finding.allowed + (f". {finding.note}" if finding.note else "")
    return (
        finding.study,
        finding.severity,
        finding.kind,
        where,
        finding.says,
        finding.printed,
        but,
        finding.ocr,
    )
