"""Results of scripted targets, in many variants, without a machine."""

from __future__ import annotations

import itertools
import math
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pentathlon.safeio.checksum import sealed, unsealed
from pentathlon.store.journal import JOURNAL
from pentathlon.store.query import load_result
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget, well
from tests.store.test_tables import measure

Make = Callable[..., Path]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One result of two systems with its tables."""
    directory = tmp_path_factory.mktemp("made") / "night"
    measure(directory, scripted.plan(), ScriptedTarget("b", well))
    load_result(directory).refresh()
    return directory


@pytest.fixture
def night(measured: Path, tmp_path: Path) -> Make:
    """Makes copies of the result: of another night, slower, with other noise."""
    numbers = itertools.count()

    def make(factor: float = 1.0, name: str | None = None, *, within: str = "results") -> Path:
        number = next(numbers)
        noise = math.exp(random.Random(number).gauss(0.0, 0.004))
        directory = tmp_path / within / (name or f"night-{number:03d}")
        shutil.copytree(measured, directory)
        for derived in [*directory.glob("*.parquet"), directory / "tables.json"]:
            derived.unlink()
        journal = directory / JOURNAL
        lines = []
        for place, line in enumerate(journal.read_bytes().splitlines()):
            record = unsealed(line)[0]
            if place == 0:
                day = number + 1
                record["utc"] = f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}T00:00:00+00:00"
            event = record.get("event")
            if isinstance(event, dict) and event.get("event") == "sample":
                event["value"] *= factor * noise * (1.0 + 0.001 * record["block"])
            lines.append(sealed(record))
        journal.write_bytes(b"".join(lines))
        return directory

    return make
