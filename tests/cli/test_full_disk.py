"""A disk that is full while the tables and the report are written, of many sizes.

All is measured by then, and the journal has it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pentathlon.store.journal import JOURNAL
from pentathlon.store.query import FRESH, load_result
from tests.cli.conftest import STUDY, Shop
from tests.targets.conftest import needs_root

pytestmark = pytest.mark.slow

PAGE = 4096
"""Bytes by which a tmpfs(5) gives room."""
MOST_PAGES = 400
WRITTEN = (FRESH, "*.parquet", "report.html")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk, of which the tests leave some pages."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={MOST_PAGES * PAGE}", "tmpfs", str(place)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip(f"no disk can be made here: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def leave(disk: Path, pages: int) -> None:
    """Fill the disk but for so many pages."""
    filler = disk / "filler"
    filler.unlink(missing_ok=True)
    free = pages_free(disk)
    if free > pages:
        filler.write_bytes(bytes((free - pages) * PAGE))
    assert pages_free(disk) == pages


def pages_free(disk: Path) -> int:
    output = subprocess.run(
        ["stat", "--file-system", "--format", "%f %S", str(disk)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    blocks, size = map(int, output.stdout.split())
    return blocks * size // PAGE


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
    # Every size while tables are written, some while the report is.
    for pages in [*range(tables + 3), *range(tables + 3, needed + 2, 16), needed + 8]:
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
    assert ends[0] == 2 and ends[-1] == 0 and ends.count(2) >= tables


def clear(out: Path) -> None:
    """Remove what is derived."""
    for name in WRITTEN:
        for file in out.glob(name):
            file.unlink()
