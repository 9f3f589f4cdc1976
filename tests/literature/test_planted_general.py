"""The checks that need no statement: each finds what is planted, and nothing in what is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.literature.audit.audit import audit
from pentathlon.literature.audit.findings import Finding
from pentathlon.literature.audit.hardware import processors
from pentathlon.literature.load import load_study
from pentathlon.literature.problems import PublishedError
from tests.literature.study_files import Planted

HEAD = """\
study = "planted"
id = "{id}"
printed_as = "{id}"
title = "Planted"
kind = "{kind}"
section = "2"
{more}
"""


def table(
    columns: dict[str, str], rows: list[dict[str, str]], kind: str = "results", more: str = ""
) -> str:
    """A table; `columns` gives each column's further lines, a row's "+" its own further lines."""
    text = HEAD.format(id="second", kind=kind, more=more)
    for name, lines in columns.items():
        text += f'[[column]]\nid = "{name}"\ntitle = "{name}"\n{lines}\n'
    for place, row in enumerate(rows):
        values = ", ".join(f'{name} = "{row[name]}"' for name in columns)
        label = row.get("label", f"Row {place}")
        group = f'group = "{row["group"]}"\n' if "group" in row else ""
        text += f'[[row]]\nid = "row-{place}"\nlabel = "{label}"\n{group}{row.get("+", "")}\n'
        text += f"values = {{ {values} }}\n"
    return text


def found(
    directory: Path, check: str, *, extra: str = "", facts: str = "", claims: str = ""
) -> list[Finding]:
    target = Planted(facts=facts, claims=claims).write(directory)
    if extra:
        (target / "second.toml").write_text(extra)
    return [one for one in audit(load_study(target)).findings if one.check == check]


FOUR = {"a": "", "b": "", "c": "", "m": ""}
MEASURED = [
    ("1.4867", "1.4660", "125.00"),
    ("0.0946", "0.0737", "0.0048"),
    ("11.692", "9.628", "1.297"),
]


def with_means(changed: dict[int, str] | None = None) -> list[dict[str, str]]:
    rows = []
    for place, values in enumerate(MEASURED):
        mean = f"{sum(map(float, values)) / 3:.6f}"
        rows.append(dict(zip("abc", values, strict=True)) | {"m": (changed or {}).get(place, mean)})
    return rows


def test_a_column_that_is_the_mean_of_the_others_is_found(tmp_path: Path) -> None:
    (one,) = found(tmp_path, "mean-columns", extra=table(FOUR, with_means()))
    assert one.severity == "error" and one.kind == "dependent"
    assert one.printed == "column 4: m" and "columns 1, 2, 3 (a; b; c)" in one.allowed


@pytest.mark.parametrize("place", range(3))
def test_one_row_that_differs_makes_a_column_a_measurement(tmp_path: Path, place: int) -> None:
    rows = with_means({place: "2.000000"})
    assert not found(tmp_path, "mean-columns", extra=table(FOUR, rows))


def test_means_that_few_digits_allow_by_chance_are_not_found(tmp_path: Path) -> None:
    """1, 2 and 3 of one digit: the middle one is their mean in a tenth of all tables."""
    rows = [{"a": "1", "b": "3", "c": "2"}, {"a": "5", "b": "5", "c": "5"}] * 2
    few = {"a": "", "b": "", "c": ""}
    assert not found(tmp_path, "mean-columns", extra=table(few, rows))


@pytest.mark.parametrize(
    ("rate", "kernel", "count"),
    [("16", True, 0), ("18", True, 1), ("125", True, 1), ("125", False, 0), ("3500", False, 1)],
)
def test_rates_above_what_the_clock_allows(
    tmp_path: Path, rate: str, kernel: bool, count: int
) -> None:
    """At 1.70 GHz, 17 million calls a second leave 100 cycles for each."""
    calls = {"rate": rate, "+": f'unit = "Million calls/s"\nenters_kernel = {str(kernel).lower()}'}
    clock = {"rate": "1.70", "+": 'unit = "GHz"'}
    extra = table({"rate": ""}, [calls, clock], more='clock = "second/row-1/rate"')
    findings = found(tmp_path, "rates-above-clock", extra=extra)
    assert [one.severity for one in findings] == ["error"] * count


def test_a_table_without_a_clock_has_no_rate_above_it(tmp_path: Path) -> None:
    extra = table({"rate": ""}, [{"rate": "9e9", "+": 'unit = "Million calls/s"'}])
    assert not found(tmp_path, "rates-above-clock", extra=extra)


def test_the_clock_of_a_table_must_exist(tmp_path: Path) -> None:
    with pytest.raises(PublishedError, match="row-9"):
        extra = table({"rate": ""}, [{"rate": "1"}], more='clock = "second/row-9/rate"')
        found(tmp_path, "rates-above-clock", extra=extra)


@pytest.mark.parametrize(
    ("unit", "display", "count"),
    [("MFrames/s", True, 1), ("KFrames/s", True, 0), ("MFrames/s", False, 0)],
)
def test_frames_above_the_fill_rate(tmp_path: Path, unit: str, display: bool, count: int) -> None:
    rows = [{"x": "1.91", "+": f'unit = "{unit}"'}, {"x": "86.7", "+": 'unit = "GTexels/s"'}]
    more = "display = [1280, 1024]" if display else ""
    extra = table({"x": 'system = "X"'}, rows, more=more)
    findings = found(tmp_path, "frames-above-fill-rate", extra=extra)
    assert [one.row for one in findings] == ["Row 0"] * count
    assert all("prefix K" in one.note for one in findings)


@pytest.mark.parametrize(
    ("size", "unit", "severity"),
    [
        ("65507", "B", None),
        ("65508", "B", "error"),
        ("63", "KB", None),
        ("64", "KB", "warning"),
        ("66", "KB", "error"),
    ],
)
def test_sizes_above_the_limit_of_a_protocol(
    tmp_path: Path, size: str, unit: str, severity: str | None
) -> None:
    """64 KB fit if they are 64,000 B, and not if they are 65,536 B."""
    row = {"x": size, "+": f'unit = "{unit}"\npayload_of = "UDP"\nexact = true'}
    findings = found(tmp_path, "sizes-above-limit", extra=table({"x": ""}, [row], kind="text"))
    assert [one.severity for one in findings] == ([severity] if severity else [])


def machine(*rows: tuple[str, str]) -> str:
    """An inventory of one machine: label and specification."""
    lines = [{"spec": spec, "label": label} for label, spec in rows]
    return table({"spec": 'kind = "text"'}, lines, kind="inventory")


E5200 = ("Intel", "Dual-Core CPU E5200")


@pytest.mark.parametrize(
    ("row", "severity", "words"),
    [
        (("L1", "32 KB per core"), None, ""),
        (("L1", "64 KB"), None, ""),
        (("L2", "2 MB"), None, ""),
        (("L2", "32 KB per core"), "error", "it has L2 2048 KB; that is the size of its L1"),
        (("L3", "2 MB"), "error", "it has no L3"),
        (("Cache size", "2 MB"), None, ""),
        (("Cache size", "1 MB"), "error", "L2 2048 KB"),
        (("Voltage", "1.2 V"), None, ""),
        (("Voltage", "3.3 V"), "error", "0.85 to 1.3625 V"),
        (("Internal Clock", "2500.0 MHz"), None, ""),
        (("Internal Clock", "2.66 GHz"), "error", "2500 MHz"),
        (("External Clock", "200.0 MHz"), None, ""),
        (("External Clock", "800.0 MHz"), "warning", "4 in each cycle"),
        (("External Clock", "266 MHz"), "error", "200 MHz"),
        (("FSB", "800 MHz"), None, ""),
        (("FSB", "533 MHz"), "error", "200 MHz"),
        (("Number of Cores", "2"), None, ""),
        (("Number of Cores", "4"), "error", "2 cores"),
        (("Hard disk cache", "16 MB"), None, ""),
    ],
)
def test_a_processor_is_as_its_manufacturer_describes_it(
    tmp_path: Path, row: tuple[str, str], severity: str | None, words: str
) -> None:
    findings = found(tmp_path, "manufacturer-data", extra=machine(E5200, row))
    assert [one.severity for one in findings] == ([severity] if severity else [])
    assert all(words in one.allowed for one in findings)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Pentium N3540 2.16 GHz, 4 cores, 2 MB cache", 0),
        ("Pentium N3540 2.66 GHz, 2 cores, 8 MB cache", 3),
        ("Pentium X9999 2.66 GHz, 2 cores, 8 MB cache", 0),
    ],
)
def test_what_stands_in_the_cell_of_the_processor(tmp_path: Path, text: str, count: int) -> None:
    assert len(found(tmp_path, "manufacturer-data", extra=machine(("CPU", text)))) == count


def test_two_machines_of_one_table_are_told_apart_by_their_groups(tmp_path: Path) -> None:
    rows = [
        {"spec": "AMD Athlon 64 3500+ 2.2 GHz", "label": "CPU", "group": "Server"},
        {"spec": "512K", "label": "L2 cache", "group": "Server"},
        {"spec": "Dual-Core CPU E5200", "label": "CPU", "group": "Client"},
        {"spec": "512 KB", "label": "L2 cache", "group": "Client"},
    ]
    extra = table({"spec": 'kind = "text"'}, rows, kind="inventory")
    findings = found(tmp_path, "manufacturer-data", extra=extra)
    assert [one.row for one in findings] == ["Client / L2 cache"]


def test_processors_are_found_by_one_name_only() -> None:
    names = [one.name for one in processors()]
    assert len(set(names)) == len(names) and all(one.source for one in processors())


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("2 x 512 MB PC3200 DDR 333 MHz", 1),
        ("2 x 512 MB PC3200 DDR 400 MHz", 0),
        ("2 x 512 MB PC3200 DDR 200 MHz", 0),
        ("3 x 2 GB DDR3-1333 SDRAM 1066 MHz", 1),
        ("3 x 2 GB DDR3-1066 SDRAM 1066 MHz", 0),
        ("2 x 2 GB DDR2 800 MHz", 0),
        ("2 GB DDR PC3200", 0),
    ],
)
def test_memory_modules_with_two_rates(tmp_path: Path, text: str, count: int) -> None:
    """The clock may be given in transfers, or in cycles of which each has two."""
    assert len(found(tmp_path, "memory-modules", extra=machine(("RAM", text)))) == count


@pytest.mark.parametrize(
    ("quantity", "unit", "count"),
    [
        ("rate", "ms", 1),
        ("rate", "MB/s", 0),
        ("rate", "Kpps", 0),
        ("time", "ms", 0),
        ("time", "Mbps", 1),
        ("size", "KB", 0),
        ("size", "s", 1),
    ],
)
def test_units_that_do_not_fit_what_is_measured(
    tmp_path: Path, quantity: str, unit: str, count: int
) -> None:
    row = {"x": "0.207", "+": f'unit = "{unit}"\nquantity = "{quantity}"'}
    findings = found(tmp_path, "unfit-units", extra=table({"x": ""}, [row], kind="text"))
    assert len(findings) == count


GROUPS = """
definitions = "second"

[[group]]
prefix = "v_"
quantity = "rate"

[[group]]
prefix = "t_"
quantity = "time"
"""


def test_symbols_that_belong_to_no_group_are_found(tmp_path: Path) -> None:
    rows = [{"x": name, "+": f'symbol = "{name}"'} for name in ("v_Mrd", "t_L1", "c_f", "p_r")]
    extra = table({"x": 'kind = "text"'}, rows, kind="definitions")
    findings = found(tmp_path, "symbols-outside-groups", extra=extra, facts=GROUPS)
    assert [one.printed.split()[0] for one in findings] == ["c_f", "p_r"]
    plain = GROUPS.split("[[group]]", maxsplit=1)[0]
    assert not found(tmp_path, "symbols-outside-groups", extra=extra, facts=plain)


def test_a_symbol_of_a_group_has_a_unit_of_its_quantity(tmp_path: Path) -> None:
    rows = [
        {"x": "1", "+": f'symbol = "{symbol}"\nunit = "{unit}"'}
        for symbol, unit in (("v_a", "MB/s"), ("v_b", "ms"), ("t_c", "ns"), ("t_d", "GB/s"))
    ]
    findings = found(tmp_path, "unfit-units", extra=table({"x": ""}, rows), facts=GROUPS)
    assert [one.row for one in findings] == ["Row 1", "Row 3"]


@pytest.mark.parametrize(
    ("value", "count"),
    [("0xFFFF", 0), ("65535", 0), ("1-0xFFFF", 1), ("0x100000000", 1), ("on", 1)],
)
def test_a_setting_has_one_value(tmp_path: Path, value: str, count: int) -> None:
    row = {"spec": value, "+": 'setting = "DWORD"'}
    extra = table({"spec": 'kind = "text"'}, [row], kind="inventory")
    assert len(found(tmp_path, "unset-settings", extra=extra)) == count


def statements(*output: tuple[str, str, str]) -> str:
    return "".join(
        f'[[statement]]\nsubject = "{subject}"\nsection = "{section}"\nsays = "{says}"\n'
        for subject, section, says in output
    )


def test_statements_that_contradict_each_other_are_found(tmp_path: Path) -> None:
    claims = statements(
        ("jitter", "5", "lower"), ("delay", "5", "lower"), ("jitter", "6", "not lower")
    )
    (one,) = found(tmp_path, "contradictions", claims=claims)
    assert (one.row, one.section) == ("jitter", "5, 6")
    assert one.printed == "lower (section 5)" and one.allowed == "not lower (section 6)"


def test_a_statement_that_is_repeated_contradicts_nothing(tmp_path: Path) -> None:
    claims = statements(
        ("jitter", "5", "lower"), ("jitter", "6", "lower"), ("delay", "6", "higher")
    )
    assert not found(tmp_path, "contradictions", claims=claims)


def test_what_is_announced_and_not_shown_is_found(tmp_path: Path) -> None:
    claims = """
[[announcement]]
subject = "Loss"
section = "2"
shown = ["Figure 1"]

[[announcement]]
subject = "Ping"
section = "2"
"""
    assert [one.row for one in found(tmp_path, "unshown-results", claims=claims)] == ["Ping"]


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("Section 2.1", None),
        ("Section II", "it has 2, 2.1"),
        ("Section 3", "it has 2, 2.1"),
        ("Figure 2", None),
        ("Fig. 3", "it has 1, 2"),
        ("Table 1", None),
        ("Tab. 2", "it has 1"),
        ("[4]", None),
        ("[30]", "end with [4]"),
        ("[0]", "end with [4]"),
        ("Appendix", "neither a section"),
    ],
)
def test_mentions_of_what_the_paper_does_not_have(
    tmp_path: Path, printed: str, words: str | None
) -> None:
    facts = f"""
figures = 2
citations = 4

[[section]]
number = "2"
subject = "all"

[[section]]
number = "2.1"
subject = "part"

[[mention]]
section = "1"
printed = "{printed}"
"""
    findings = found(tmp_path, "dangling-mentions", facts=facts)
    assert len(findings) == (words is not None)
    assert all((words or "") in one.allowed for one in findings)


def test_a_numbered_citation_of_references_without_numbers_is_found(tmp_path: Path) -> None:
    facts = '[[mention]]\nsection = "1"\nprinted = "[1]"'
    (one,) = found(tmp_path, "dangling-mentions", facts=facts)
    assert "no numbers" in one.allowed


@pytest.mark.parametrize(
    ("mode", "does", "count"),
    [("r", "read", 0), ("r", "write", 1), ("w", "read", 1), ("r+", "write", 0), ("a", "write", 0)],
)
def test_streams_that_are_not_opened_for_what_is_done(
    tmp_path: Path, mode: str, does: str, count: int
) -> None:
    facts = f"""
[[listing]]
printed_as = "Figure 1"
subject = "files"
sha256 = "0"

[[listing.stream]]
mode = "{mode}"
does = "{does}"
"""
    assert len(found(tmp_path, "impossible-streams", facts=facts)) == count
