"""Wrong data files: one sentence states what is wrong, where, and what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.literature.load import find_study, load_study
from pentathlon.literature.problems import PublishedError
from tests.literature.study_files import Planted

CLAIM = """
[[claim]]
id = "c"
says = "so"
table = "table-01"
{body}
"""


def refusal(directory: Path, planted: Planted, change: tuple[str, str] = ("", "")) -> str:
    target = planted.write(directory)
    file = target / "table-01.toml"
    file.write_text(file.read_text().replace(*change))
    with pytest.raises(PublishedError) as caught:
        load_study(target)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (('old = "100"', 'old = "about 100"'), ["row-0", '"about 100" in old', '"words"']),
        (('old = "100", ', ""), ["row-0", "one cell for each column", "old"]),
        (('diff = "10.00%"', 'difff = "10.00%"'), ["check diff, difff"]),
        (('old = "100"', 'old = { printed = "1", missing = "x" }'), ["printed", "missing"]),
        (('old = "100"', "old = 100"), ["row-0.values.old"]),
        (('id = "new"', 'id = "old"'), ["column old is given twice"]),
        (
            ("(new / old - 1)", "(new / odl - 1)"),
            ["no column in planted/table-01", '"odl"', '"old"'],
        ),
        (("(new / old - 1)", "(new / new - 1)"), ["names new twice"]),
        (('kind = "results"', 'kind = "result"'), ["table-01.toml: kind"]),
        (('study = "planted"', 'study = "plant"'), ['study must be "planted"']),
        (('section = "1"', 'section = "1"\nsektion = 2'), ["sektion"]),
        (("[[row]]", "[[row"), ["no TOML"]),
    ],
)
def test_a_wrong_table_is_refused(
    tmp_path: Path, change: tuple[str, str], expected: list[str]
) -> None:
    text = refusal(tmp_path, Planted(), change)
    assert "\n" not in text
    for words in expected:
        assert words in text, text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            'rows = ["row-7"]\nexpression = "old"\nvalue = "1"',
            'there is no row in table-01 "row-7"',
        ),
        ('rows = "all"\nexpression = "older"\nvalue = "1"', '"older" is neither in "cells"'),
        ('expression = "old"\nvalue = "1"', 'speaks of "rows" or "cells"'),
        ('rows = "all"\nexpression = "old"', 'one of "printed", "value" and "than"'),
        (
            'rows = "all"\nexpression = "old"\nvalue = "1"\nrelation = "about"',
            '"tolerance_percent" goes with',
        ),
        ('cells = { a = "row-0/odl" }\nexpression = "a"\nvalue = "1"', 'did you mean "old"?'),
        ('cells = { a = "row-0" }\nexpression = "a"\nvalue = "1"', "write TABLE/ROW/COLUMN"),
        ('rows = "all"\nexpression = "old ** 2"\nvalue = "1"', "may hold numbers"),
    ],
)
def test_a_wrong_claim_is_refused(tmp_path: Path, body: str, expected: str) -> None:
    text = refusal(tmp_path, Planted(claims=CLAIM.format(body=body)))
    assert expected in text


def test_words_that_a_table_declares_may_stand_for_numbers(tmp_path: Path) -> None:
    planted = Planted(rows=[("100", "Failed", "-")], table='words = ["Failed", "-"]')
    assert planted.study(tmp_path).table("1").row[0].cell("new").text == "Failed"


def test_names_that_do_not_exist_come_with_the_nearest_that_does() -> None:
    with pytest.raises(PublishedError, match='did you mean "venkata2003"'):
        find_study("venkata2002")
    study = find_study("martinovic2012")
    assert study.table("3") is study.table("Table 3") is study.table("table-03")
    with pytest.raises(PublishedError, match="there is no table in martinovic2012"):
        study.table("33")


@pytest.mark.parametrize("name", ["4", "04", "table-4", "table-04", "Table 4", "TABLE 04"])
def test_a_table_is_found_by_any_spelling(name):
    assert find_study("martinovic2012").table(name).id == "table-04"


def test_another_number_is_another_table():
    assert find_study("martinovic2012").table("table-14").id == "table-14"
    with pytest.raises(PublishedError):
        find_study("martinovic2012").table("table-40")
