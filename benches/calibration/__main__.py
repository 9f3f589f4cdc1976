"""Run the calibration and write what docs/calibration.md shows.

    python -m benches.calibration [TRIALS]

Writes docs/calibration.json (every cell), the tables of docs/calibration.md and
docs/images/calibration.png. The seed is in cells.py; the same seed gives the same files.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from . import family, installs
from .cells import SEED, TRIALS, Cell, cells
from .picture import draw
from .tables import put, write_tables

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    found: list[Cell] = []
    for cell in cells(trials):
        found.append(cell)
        print(f"{cell.what:12}  {cell.design:34}  {cell.noise:24}  {cell.share:.4f}", flush=True)
    studies = list(family.cells(trials))
    levels = list(installs.cells(trials))
    document = {
        "seed": SEED,
        "trials": trials,
        "cells": [cell.json() for cell in found],
        "studies": [asdict(one) for one in studies],
        "installs": [asdict(one) for one in levels],
    }
    (DOCS / "calibration.json").write_text(json.dumps(document, indent=0) + "\n")
    write_tables(found, DOCS / "calibration.md")
    put(
        DOCS / "calibration.md",
        {"studies": family.table(studies), "installs": installs.table(levels)},
    )
    draw(found, DOCS / "images" / "calibration.png")


if __name__ == "__main__":
    main()
