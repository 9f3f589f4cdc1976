"""What the audit finds in the papers; each was checked by hand in the printed text."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from pentathlon.published.audit import audit
from pentathlon.published.findings import KINDS, Finding
from pentathlon.published.load import data_root, find_study, load_all, load_study

ERRORS = {
    "martinovic2012": {
        "exp1-random-192kb-win7",
        "exp1-cache-faults",
        "exp1-disk-all-win7",
        "exp1-file-write-win7",
        "exp1-random-read-win7",
        "exp2-vista-lowest",
        "experiments",
        "impossible-reductions",
    },
    "vdovjak2021": {"impossible-reductions"},
    "tolly2007": {
        "copy-wan-time",
        "copy-t1-server-rate-xp",
        "copy-t1-server-time-xp",
        "copy-t1-server-time-vista",
        "open-wan-rate",
        "portal-time",
        "portal-rate",
        "portal-t1-server-rate",
        "portal-t1-client-rate",
        "copy-lan-best-rate-1000mbps",
        "copy-lan-best-rate-100mbps",
        "summary-phase1-rate-open",
        "summary-phase2-time",
        "repeated-tables",
        "text-roaming-wan-10mbps-2003-xp-time",
    },
    "venkata2003": {
        "read-ratio-linux",
        "read-ratio-windows",
        "access-linux-second-swap",
        "access-windows-second-swap",
    },
    "salah2010": set(),
}
"""Checks with at least one error, but for the 13 cells of the table that is printed twice."""

RIGHT = {
    "martinovic2012": {"exp1-read-8mb-vista", "exp1-page-reads", "discussion-page-reads"},
    "tolly2007": {"open-wan-time", "open-wan-rate-text", "portal-2008", "open-lan-client-rate"},
    "venkata2003": {"write-ratio-linux", "mmap-total", "fig-22-rw-total", "readahead-pages"},
    "vdovjak2021": {"netstress-sizes", "packet-sizes-multiples", "shares"},
    "salah2010": {"simplex-covers-flow", "linux-ahead", "generator-line-rate"},
}
"""Statements that hold: some of those that the audit must not find."""

LAN = "text-copy-lan-"


@cache
def of(study: str) -> list[Finding]:
    return list(audit(find_study(study)).findings)


@pytest.mark.parametrize("study", ERRORS)
def test_errors_are_those_checked_by_hand(study: str) -> None:
    found = {one.check for one in of(study) if one.severity == "error"}
    assert {one for one in found if not one.startswith(LAN)} == ERRORS[study]


@pytest.mark.parametrize("study", RIGHT)
def test_statements_that_hold_are_not_found(study: str) -> None:
    known = {claim.id for claim in find_study(study).claims}
    known |= {rule.id for table in find_study(study).tables for rule in table.rule}
    assert RIGHT[study] <= known
    assert not RIGHT[study] & {one.check for one in of(study)}


def test_the_table_that_is_printed_twice_is_the_one_that_the_text_contradicts() -> None:
    found = [one for one in of("tolly2007") if one.check.startswith(LAN)]
    assert len(found) == 13
    repeated = next(one for one in of("tolly2007") if one.check == "repeated-tables")
    assert "contradicts 13 of 16 values of Appendix B, SMB copy LAN" in repeated.allowed
    assert "contradicts 0 of 16 values of Appendix B, SMB open LAN" in repeated.allowed


def test_swap_latencies_do_not_follow_from_the_bandwidths() -> None:
    """1/256 MB at 12.0370933 MB/s takes 324.518 µs; printed are 324.57 µs."""
    found = {one.check: one for one in of("venkata2003")}
    assert "0.0003245177" in found["access-linux-second-swap"].allowed
    assert found["access-linux-first-ram"].kind == "rounding"


@pytest.mark.parametrize("study", [study.id for study in load_all()])
def test_findings_are_whole(study: str) -> None:
    for one in of(study):
        assert one.kind in KINDS
        assert all((one.table, one.row, one.says, one.printed, one.allowed, one.ocr, one.check))


def copied(study: str, directory: Path, file: str, before: str, after: str) -> set[str]:
    """Checks that find something when one place of the data reads otherwise."""
    target = directory / study
    target.mkdir()
    for one in (data_root() / study).iterdir():
        (target / one.name).write_text(one.read_text(encoding="utf-8"), encoding="utf-8")
    text = (target / file).read_text(encoding="utf-8")
    assert before in text
    (target / file).write_text(text.replace(before, after), encoding="utf-8")
    return {one.check for one in audit(load_study(target)).findings}


def test_findings_come_from_the_data(tmp_path: Path) -> None:
    """With the table's own 83.62 % in the text, the contradiction is gone."""
    found = copied(
        "martinovic2012", tmp_path, "claims.toml", 'printed = "86.62"', 'printed = "83.62"'
    )
    assert "exp1-cache-faults" not in found
    assert "exp1-file-write-win7" in found


def test_a_difference_planted_in_a_paper_is_found(tmp_path: Path) -> None:
    found = copied(
        "martinovic2012", tmp_path, "table-08.toml", 'diff_win7 = "-3.69%"', 'diff_win7 = "-2.69%"'
    )
    assert "table-08-diff-win7" in found


def test_a_total_planted_in_a_paper_is_found(tmp_path: Path) -> None:
    found = copied("venkata2003", tmp_path, "fig-22.toml", '"67.992"', '"67.962"')
    assert "fig-22-rw-total" in found
