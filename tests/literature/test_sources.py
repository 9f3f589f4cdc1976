"""The sources in the agent's catalog lead to what the papers have there."""

from __future__ import annotations

import re

import pytest

from pentathlon.literature.load import STUDIES, find_study
from pentathlon.literature.model import Study
from pentathlon.protocol import agent

CITED = re.compile(rf"\b({'|'.join(STUDIES)})\b(.*)")
AUTHORS = re.compile(
    r"\b(Martinovi|Balen|Vdovjak|Tolly|Venkata|Mathew|Salah|Hamawi)", re.IGNORECASE
)
SECTION = re.compile(r"§(\d+(?:\.\d+)*)")
NUMBERS = re.compile(r"(Fig|Tab)\. ((?:\d+(?: to \d+)?(?:, | and )?)+)")
PROGRAMS = "martinovic2012"
"""The study whose sections 4.1 to 4.7 are one program each, and whose Table 1 names them."""


def numbers(text: str, kind: str) -> list[int]:
    """The figures or tables of a source: "Fig. 4 to 6 and 37" are 4, 5, 6 and 37."""
    found: list[int] = []
    for name, listed in NUMBERS.findall(text):
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", listed):
            if name == kind:
                found += range(int(first), int(last or first) + 1)
    return found


def faults(workload: str, source: str) -> list[str]:
    """What is wrong with a workload's source, for each paper that it names."""
    wrong: list[str] = []
    for part in source.split(";"):
        cited = CITED.search(part)
        if cited is None:
            wrong += [f"{one} is no short name of a paper" for one in AUTHORS.findall(part)]
            continue
        study, rest = find_study(cited[1]), cited[2]
        sections = {one.number: one for one in study.facts.section}
        named = SECTION.findall(rest)
        wrong += [f"no section {one}" for one in named if one not in sections]
        wrong += [f"no Fig. {one}" for one in numbers(rest, "Fig") if one > study.facts.figures]
        areas = {sections[one].area for one in named if one in sections} - {None}
        room = workload.partition(".")[0]
        # Workloads of the CPU are also competitors of others: salah2010's simplex is one.
        if study.id != PROGRAMS and areas and room not in areas | {"cpu"}:
            wrong.append(f"{', '.join(named)} are about {areas}")
        if study.id == PROGRAMS:
            wrong += programs(study, named, numbers(rest, "Tab"), rest)
    return wrong


def programs(study: Study, named: list[str], tables: list[int], text: str) -> list[str]:
    """The program of a section is the one that is named, and that filled the tables cited."""
    subjects = {one.number: one.subject for one in study.facts.section if one.number[:2] == "4."}
    cited = {subjects[one] for one in named if one in subjects}
    wrong = [
        f"{program} is in section {number}"
        for number, program in subjects.items()
        if cited and program in text and program not in cited
    ]
    benchmarks = {row.symbol: row.cell("benchmark").text for row in study.table("1").row}
    # Table 1 declares t_Me for what the results call t_ML: the audit finds it.
    for one in tables:
        table = study.table(str(one))
        filled = {benchmarks.get(row.symbol, "") for row in table.row if row.symbol is not None}
        if table.kind == "results" and cited and not cited & filled:
            wrong.append(f"Table {one} is filled by {filled}, not {cited}")
    return wrong


def test_every_source_of_the_catalog_leads_to_what_the_papers_have_there() -> None:
    sources = {one["id"]: one["source"] for one in agent.catalog()["workloads"]}
    assert sum(CITED.search(source) is not None for source in sources.values()) > 40
    wrong = {name: faults(name, source) for name, source in sources.items()}
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.parametrize(
    ("workload", "source", "words"),
    [
        (
            "disk.trace",
            "martinovic2012 §4.4, Tab. 8 (PCMark05 HDD suite)",
            "PCMark05 is in section 4.1",
        ),
        ("disk.trace", "martinovic2012 §4.4, Tab. 8 and 15", "Table 15 is filled by"),
        ("memory.levels", "martinovic2012 §4.1, Tab. 4 (Everest)", "Everest is in section 4.5"),
        ("process.getpid", "Venkatasubramanian 2003, section 5.1", "no short name"),
        ("process.getpid", "venkata2003 §4.1", "are about {'disk'}"),
        ("process.getpid", "venkata2003 §5.3", "no section 5.3"),
        ("process.getpid", "lmbench; venkata2003 §5.1, Fig. 40 to 43", "no Fig. 43"),
        ("network.traffic", "vdovjak2021 §4.4", "no section 4.4"),
    ],
)
def test_wrong_sources_are_found(workload: str, source: str, words: str) -> None:
    assert any(words in one for one in faults(workload, source))


def test_figures_and_tables_of_a_source_are_counted() -> None:
    text = "§3.3 and §7.1, Fig. 4 to 6 and 37, Tab. 1, 3 and 10, Tab. 12 (Everest)"
    assert numbers(text, "Fig") == [4, 5, 6, 37]
    assert numbers(text, "Tab") == [1, 3, 10, 12]
    assert SECTION.findall(text) == ["3.3", "7.1"]


def test_the_outlines_hold_what_the_papers_number() -> None:
    """The tops of the outlines, counted in the papers; vdovjak2021 numbers its references too."""
    tops = {"martinovic2012": 8, "vdovjak2021": 7, "venkata2003": 8, "salah2010": 4}
    for study, count in tops.items():
        sections = [one.number for one in find_study(study).facts.section]
        assert [one for one in sections if "." not in one] == [
            str(number) for number in range(1, count + 1)
        ]
        assert all(one.rpartition(".")[0] in sections for one in sections if "." in one)
