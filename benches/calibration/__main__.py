"""Run the calibration and write what docs/calibration.md shows.

    python -m benches.calibration [TRIALS] [--studies]

Writes docs/calibration.json (every cell), the tables of docs/calibration.md and
docs/images/calibration.png. The seed is in cells.py; the same seed gives the same files.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from . import family, installs
from .cells import SEED, TRIALS, Cell, cells
from .picture import draw
from .tables import put, write_tables

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trials", type=int, nargs="?", default=TRIALS)
    parser.add_argument(
        "--studies", action="store_true", help="only the studies of several metrics"
    )
    given = parser.parse_args()
    file = DOCS / "calibration.json"
    if given.studies:
        document = json.loads(file.read_text(encoding="utf-8"))
    else:
        document = {"seed": SEED, "trials": given.trials, **_rows(given.trials)}
    studies = list(family.cells(given.trials))
    document["studies"] = [asdict(one) for one in studies]
    file.write_text(json.dumps(document, indent=0) + "\n", encoding="utf-8")
    put(DOCS / "calibration.md", {"studies": family.table(studies)})


def _rows(trials: int) -> dict[str, object]:
    """Cells of single rows and of installs; their tables and their picture are written."""
    found: list[Cell] = []
    for cell in cells(trials):
        found.append(cell)
        print(f"{cell.what:12}  {cell.design:34}  {cell.noise:24}  {cell.share:.4f}", flush=True)
    levels = list(installs.cells(trials))
    write_tables(found, DOCS / "calibration.md")
    put(DOCS / "calibration.md", {"installs": installs.table(levels)})
    draw(found, DOCS / "images" / "calibration.png")
    return {
        "cells": [cell.json() for cell in found],
        "installs": [asdict(one) for one in levels],
    }


if __name__ == "__main__":
    main()
