"""A small study written to a directory, so that tests can plant values and faults in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pentathlon.literature.load import load_study
from pentathlon.literature.model import Study

FACTS = """\
id = "{name}"
document = "none"
authors = "nobody"
title = "A planted study"
year = 2000
published_in = "nowhere"
{facts}
"""

TABLE = """\
study = "{name}"
id = "table-01"
printed_as = "Table 1"
title = "Planted values"
kind = "results"
section = "1"
{table}

[[column]]
id = "old"
title = "Old"
system = "Old"

[[column]]
id = "new"
title = "New"
system = "New"

[[column]]
id = "diff"
title = "Difference"
unit = "%"
derived = "(new / old - 1) * 100"
formula = "formula (4)"

{rows}
"""

ROW = """\
[[row]]
id = "row-{number}"
label = "Row {number}"
unit = "s"
{more}
values = {{ old = "{old}", new = "{new}", diff = "{diff}" }}
"""


@dataclass
class Planted:
    """Rows (old, new, printed difference) and whatever else a test plants."""

    rows: list[tuple[str, str, str]] = field(default_factory=lambda: [("100", "110", "10.00%")])
    facts: str = ""
    table: str = ""
    more: str = ""
    claims: str = ""
    name: str = "planted"

    def write(self, directory: Path) -> Path:
        target = directory / self.name
        target.mkdir(exist_ok=True)
        rows = "\n".join(
            ROW.format(number=place, old=old, new=new, diff=diff, more=self.more)
            for place, (old, new, diff) in enumerate(self.rows)
        )
        named = {"name": self.name}
        (target / "study.toml").write_text(FACTS.format(**named, facts=self.facts))
        (target / "table-01.toml").write_text(TABLE.format(**named, table=self.table, rows=rows))
        (target / "claims.toml").write_text(self.claims)
        return target

    def study(self, directory: Path) -> Study:
        return load_study(self.write(directory))
