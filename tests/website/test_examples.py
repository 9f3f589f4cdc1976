"""The index of examples names every example, with the systems and boots of its plan."""

import math
import re
import tomllib
from typing import Any

import pytest

from website.staging import DOCS, ROOT

PAGE = (DOCS / "examples.md").read_text(encoding="utf-8")
ROW = r"^\| \[([\w-]+)\]\(\.\./examples/\1\.toml\) \| [^|]+ \| ([^|]+ \| \d+) \| [^|]+ \| [^|]+ \|$"
ROWS = dict(re.findall(ROW, PAGE, re.M))
EXAMPLES = sorted(file.stem for file in (ROOT / "examples").glob("*.toml"))


def test_every_example_has_a_row() -> None:
    assert sorted(ROWS) == EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_systems_and_boots(name: str) -> None:
    study: dict[str, Any] = tomllib.loads((ROOT / "examples" / f"{name}.toml").read_text())
    kinds = [f"{one['target']}{'+' * ('peer' in one)}" for one in study["system"]]
    # In a factorial design each combination of levels is booted.
    arms = math.prod(len(one["levels"]) for one in study.get("factor", ()))
    boots = len(kinds) * arms * study.get("procedure", {}).get("blocks", 5)
    assert ROWS[name] == f"{', '.join(dict.fromkeys(kinds))} | {boots}"
