"""What the audit finds in the papers; each was checked by hand in the printed text."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from pentathlon.literature.audit.audit import audit
from pentathlon.literature.audit.findings import KINDS, Finding
from pentathlon.literature.load import STUDIES, data_root, find_study, load_study

ERRORS = {
    "martinovic2012": {
        "exp1-random-192kb-win7",
        "exp1-cache-faults",
        "exp1-disk-all-win7",
        "exp1-file-write-win7",
        "exp1-random-read-win7",
        "exp2-vista-lowest",
        "experiments",
        "frames-above-fill-rate",
        "impossible-reductions",
        "manufacturer-data",
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
        "impossible-streams",
        "mean-columns",
        "rates-above-clock",
    },
    "salah2010": set(),
}
"""Checks with at least one error, but for the 13 cells of the table that is printed twice."""

PLACES = {
    "martinovic2012": {
        ("frames-above-fill-rate", "Table 7", "v_G3d / Pixel Shader"),
        ("frames-above-fill-rate", "Table 7", "v_Gts / 3D - Pixel Shader"),
        ("frames-above-fill-rate", "Table 7", "v_Gts / Graphics Memory 128 lines"),
        ("frames-above-fill-rate", "Table 7", "v_Gts / Graphics Memory 64 lines"),
        ("manufacturer-data", "Table 19", "CPU / External Clock"),
        ("manufacturer-data", "Table 19", "CPU / Voltage"),
        ("manufacturer-data", "Table 21", "Cache Memory / L2"),
        ("manufacturer-data", "Table 21", "Cache Memory / L3"),
        ("memory-modules", "Table 17", "RAM / Corsair Dominator"),
        ("memory-modules", "Table 19", "RAM / Samsung M3"),
        ("symbols-outside-groups", "Table 1", "Memory management / c_f"),
        ("symbols-outside-groups", "Table 1", "Memory management / p_f"),
        ("symbols-outside-groups", "Table 1", "Memory management / p_r"),
        ("symbols-outside-groups", "Table 1", "Network performance / p_CPUnet"),
        (
            "contradictions",
            "text",
            "UDP: large packets for which Windows XP has less delay and more throughput",
        ),
    },
    "vdovjak2021": {
        ("contradictions", "text", "D-ITG: time between two packets"),
        ("contradictions", "text", "Windows 10: jitter against the other systems"),
        ("contradictions", "text", "Windows 10: throughput against the other systems"),
        ("sizes-above-limit", "Text, set-up", "NetStress, last size"),
    },
    "tolly2007": {
        ("contradictions", "text", "Most that Vista with Server 2008 gains in throughput"),
        ("contradictions", "text", "Release of Windows Server 2003"),
        ("unset-settings", "Text, settings", "HTTP, Windows Server 2003 / MaxBytesPerSend"),
    },
    "venkata2003": {
        ("contradictions", "text", "Compiler optimisation of the tests"),
        ("contradictions", "text", "Figure 7, argument 1"),
        ("contradictions", "text", "Figures 13 and 19: what each pass of the mmap loop maps"),
        ("contradictions", "text", "Linux: synchronous against asynchronous writes by descriptors"),
        (
            "contradictions",
            "text",
            "Windows: synchronous against asynchronous access by descriptors",
        ),
        ("impossible-streams", "Figure 7", "reading and writing by streams"),
        ("mean-columns", "Figure 26", "all rows"),
        ("rates-above-clock", "Figure 26", "Call / Getpid"),
        ("unfit-units", "Text", "Data transfer rate from ping"),
    },
    "salah2010": {
        ("contradictions", "text", "Linux: CPU availability shortly after 200 Kpps"),
        ("dangling-mentions", "text", "Section II"),
        ("dangling-mentions", "text", "Section III"),
        ("dangling-mentions", "text", "Section IV"),
        ("dangling-mentions", "text", "[30]"),
        ("unshown-results", "text", "Round-trip time of ICMP packets, by ping"),
    },
}
"""Everything that the checks without a statement of its own find, by check, table and row."""

GENERAL = {check for places in PLACES.values() for check, _, _ in places}

WARNED = {
    "vdovjak2021": {"netstress-load-nic"},
    "tolly2007": {"t1-rate", "summary-phase2-rate", "lan-twice-1000mbps", "lan-twice-100mbps"},
}
"""Statements that mislead: some of those with a warning."""

RIGHT = {
    "martinovic2012": {"exp1-read-8mb-vista", "exp1-page-reads", "discussion-page-reads"},
    "tolly2007": {"open-wan-time", "open-wan-rate-text", "portal-2008", "e1-rate"},
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


@pytest.mark.parametrize("study", PLACES)
def test_general_checks_find_what_was_looked_up_and_nothing_else(study: str) -> None:
    found = {(one.check, one.table, one.row) for one in of(study) if one.check in GENERAL}
    assert found == PLACES[study]


@pytest.mark.parametrize("study", WARNED)
def test_statements_that_mislead_are_warned_of(study: str) -> None:
    found = {one.check for one in of(study) if one.severity == "warning"}
    assert WARNED[study] <= found


def test_the_columns_of_windows_in_figure_26_are_not_compared() -> None:
    """The second one is the mean of the other three: it states nothing of optimised code."""
    assert not any("optimised" in one.check for one in of("venkata2003"))
    (mean,) = [one for one in of("venkata2003") if one.check == "mean-columns"]
    assert mean.printed == "column 4: Windows, Without Optimizations"


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


@pytest.mark.parametrize("study", STUDIES)
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
