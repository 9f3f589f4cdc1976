"""A disk that is full while the tables and the report are written, of many sizes.

All is measured by then, and the journal has it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.store.journal import JOURNAL
from pentathlon.store.query import FRESH, load_result
from tests.cli.conftest import STUDY, Shop
from tests.fakes.disk import PAGE, leave, pages_free
from tests.fakes.disk import disk as disk  # noqa: PLC0414  a fixture
from tests.targets.conftest import needs_root

pytestmark = pytest.mark.slow

WRITTEN = (FRESH, "*.parquet", "report.html")


@needs_root
def test_a_disk_that_fills_while_tables_are_written(shop: Shop, disk: Path) -> None:
    out = disk / "result"
    study = shop.write(STUDY.replace("blocks = 2", "blocks = 1"))
    done = shop.call("run", study, "--yes", "--no-pilot", "--out", out)
    assert done.code == 0, done.err
    wanted = load_result(out).samples()
    tables = sum(-(-file.stat().st_size // PAGE) for name in WRITTEN[:2] for file in out.glob(name))
    before = pages_free(disk)
    clear(out)
    needed = pages_free(disk) - before
    # What is left to do is to end the run, to make the tables and to write the report.
    lines = (out / JOURNAL).read_bytes().splitlines(keepends=True)
    measured = b"".join(lines[:-1])

    ends = []
    # Every other size while tables are written, some while the report is.
    for pages in [*range(0, tables + 3, 2), *range(tables + 3, needed + 2, 48), needed + 8]:
        clear(out)
        (out / JOURNAL).write_bytes(measured)
        leave(disk, pages)
        done = shop.call("run", "--resume", out)
        ends.append(done.code)
        assert done.code in (0, 2), (pages, done.err)
        if done.code == 2:
            [sentence] = [line for line in done.err.splitlines() if line.startswith("error:")]
            assert "no space left on device" in sentence.lower(), (pages, sentence)
        # Nothing is lost, and no file is there by half.
        assert (out / JOURNAL).read_bytes().startswith(measured)
        assert not list(out.glob(".*.part")) and not list(out.glob("*.part"))
        assert load_result(out).samples().equals(wanted), pages
        # The next command works once there is room, whatever the first one wrote.
        (disk / "filler").unlink(missing_ok=True)
        if not load_result(out).finished:
            done = shop.call("run", "--resume", out)
        else:
            done = shop.call("report", out)
        assert done.code == 0, (pages, done.err)
        result = load_result(out)
        assert result.finished and result.samples().equals(wanted)
    assert ends[0] == 2 and ends[-1] == 0 and ends.count(2) >= tables // 2


def clear(out: Path) -> None:
    """Remove what is derived."""
    for name in WRITTEN:
        for file in out.glob(name):
            file.unlink()
