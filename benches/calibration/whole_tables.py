"""What `whole` counts: kept in a file while it runs, and as tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pentathlon.evaluate.estimators.binomial import clopper_pearson

EQUAL_LIMIT = 0.035
"""Share of studies that may call a row equal whose truth is δ."""
COVERAGE_LIMIT = 0.94
"""Share of rows whose own interval must hold the truth, where `limit` holds too."""

Line = dict[str, float | int | str]
"""One line of a table, as it is kept."""


class Kept:
    """The lines of a run, in a file if there is one."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._lines: dict[str, list[Line]] = {}
        if file is not None and file.exists():
            self._lines = json.loads(file.read_text(encoding="utf-8"))

    def get(self, name: str, make: Callable[[], list[Line]]) -> list[Line]:
        """The lines of that name: those of before, or made now."""
        if name not in self._lines:
            self._lines[name] = make()
            print(name, flush=True)
            if self._file is not None:
                self._file.write_text(json.dumps(self._lines, indent=0) + "\n", encoding="utf-8")
        return self._lines[name]


HEAD = ["noise", "blocks", "false differences: own", "moderated", "limit", "false equality: own",
        "moderated", "own intervals hold: own rule", "moderated rule", "moderated ones",
        "dependence found"]  # fmt: skip
POWER_HEAD = ["blocks", "own: all rows", "rows alone in their workload", "moderated: all rows",
              "alone"]  # fmt: skip


def cell_table(
    lines: list[Line], limits: dict[str, float | None]
) -> tuple[list[str], list[list[str]], int]:
    """Head and rows of the table of cells, and how many figures are not shown to keep their limit:
    false differences by their upper bound, false equality and coverage by their share.
    """
    rows, missed = [], 0
    for own, lent in zip(lines[::2], lines[1::2], strict=True):
        limit = limits[str(own["noise"])]
        shares = []
        for one in (own, lent):
            studies, alarms = int(one["studies"]), int(one["alarms"])
            low, high = clopper_pearson(alarms, studies)
            over = one is lent and limit is not None and high > limit
            missed += over
            text = f"{alarms / studies:.1%} ({low * 100:.1f}–{high * 100:.1f})".replace("%", "")
            shares.append(f"**{text}**" if over else text)
        texts = [str(own["noise"]), str(own["blocks"]), *shares]
        texts.append("" if limit is None else f"{limit * 100:.0f}")
        for one in (own, lent):
            share = int(one["equal"]) / int(one["studies"])
            over = one is lent and limit is not None and share > EQUAL_LIMIT
            missed += over
            texts.append(f"**{share * 100:.1f}**" if over else f"{share * 100:.1f}")
        for one in (own, lent):
            share = float(one["covered"]) / int(one["studies"])
            over = one is lent and limit is not None and share < COVERAGE_LIMIT
            missed += over
            texts.append(f"**{share * 100:.1f}**" if over else f"{share * 100:.1f}")
        studies = int(lent["studies"])
        texts.append(f"{float(lent['covered_moderated']) / studies * 100:.1f}")
        texts.append(f"{int(lent['serial']) / studies * 100:.0f}")
        rows.append(texts)
    return HEAD, rows, missed


def show(console: Console, head: list[str], rows: list[list[str]]) -> None:
    table = Table(*head)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])
