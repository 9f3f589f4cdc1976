"""A small disk that tests fill but for some pages."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

PAGE = 4096
"""Bytes by which a tmpfs(5) gives room."""
MOST_PAGES = 400


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
