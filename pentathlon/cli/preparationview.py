"""How the steps before the measurement went, system by system."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from pentathlon.evaluate.diagnostics.preparation import find_prepared
from pentathlon.store.query import Result
from pentathlon.tables.sheet import Sheet


def table(result: Result) -> Table:
    """One row for each step of each system."""
    found = Sheet(title="Before the measurement")
    found.add_columns("system", "step", "how it went", header_style="dim", overflow="fold")
    for one in find_prepared(result.plan, result.state):
        found.add_row(
            one.system, one.step, Text(one.words, style="yellow" if one.troubled else "default")
        )
    return found
