"""The figures of docs/explanation/traps.md are those of its simulation."""

import re

from benches import traps
from website.staging import DOCS

PAGE = (DOCS / "explanation" / "traps.md").read_text(encoding="utf-8")


def test_the_table_holds_the_figures_of_the_simulation() -> None:
    rows = re.findall(r"^\| (.+) \| (\d+\.\d) % \| (\d+\.\d) % \|$", PAGE, re.M)
    assert rows == [
        (trap.name, f"{trap.habit:.1f}", f"{trap.remedy:.1f}") for trap in traps.figures()
    ]


def test_the_percentiles_of_the_two_loops() -> None:
    stated = re.findall(r"\*\*(\d+) ms\*\*", PAGE)
    assert stated == [f"{figure:.0f}" for figure in traps.omission()]
