"""What the server holds: documents and trees of files, made from a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pentathlon.experiments.file_services.disk import named

DOCUMENT = "document.doc"
PROFILE = "profile"

LARGE_SHARE = 0.7
"""Share of a profile's bytes that lies in its few large files."""
LARGE_EVERY = 24
"""One file in so many is large."""
DIRECTORIES = (
    "Application Data/Microsoft/Office", "Application Data/Microsoft/Templates", "Cookies",
    "Desktop", "Favorites/Links", "My Documents/Letters", "My Documents/Sheets",
    "NetHood", "Recent", "SendTo", "Start Menu/Programs/Startup", "Templates",
)  # fmt: skip
"""The directories of a user's profile in Windows XP."""


@dataclass(frozen=True)
class Content:
    """Files of one task.

    Attributes:
        directory: where they lie.
        names: their paths in it, sorted.
        total: bytes of all of them.
        digest: SHA-256 over names and bytes (`digest`).
    """

    directory: Path
    names: tuple[str, ...]
    total: int
    digest: str


def document(directory: Path, size: int, seed: int) -> Content:
    """One document of `size` bytes, which no link can compress."""
    directory.mkdir(parents=True, exist_ok=True)
    data = np.random.default_rng([seed, size]).bytes(size)
    with named(directory / DOCUMENT):
        (directory / DOCUMENT).write_bytes(data)
    return _described(directory, [DOCUMENT])


def profile(directory: Path, total: int, files: int, seed: int) -> Content:
    """A tree of many small and a few large files, `total` bytes in all.

    Sizes of the small ones are log-normal with a spread of e; which file lies in which directory
    is drawn from the seed.
    """
    random = np.random.default_rng([seed, total, files])
    large = max(1, files // LARGE_EVERY)
    weights = np.exp(random.normal(0.0, 1.0, files))
    share = total * LARGE_SHARE
    sizes = np.concatenate(
        [
            weights[:large] / weights[:large].sum() * share,
            weights[large:] / max(weights[large:].sum(), 1e-9) * (total - share),
        ]
    ).astype(int)
    sizes[0] += total - int(sizes.sum())
    names = []
    for number, size in enumerate(sizes):
        place = DIRECTORIES[int(random.integers(len(DIRECTORIES)))]
        name = f"{PROFILE}/{place}/file-{number:04d}.dat"
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with named(path):
            path.write_bytes(random.bytes(max(0, int(size))))
        names.append(name)
    return _described(directory, names)


def _described(directory: Path, names: list[str]) -> Content:
    names = sorted(names)
    total = sum((directory / name).stat().st_size for name in names)
    return Content(directory, tuple(names), total, digest(directory, names))


def digest(directory: Path, names: list[str] | tuple[str, ...]) -> str:
    """SHA-256 over each name, length and content, as hex digits; files that lack count as none.

    Raises:
        OSError: a file cannot be read.
    """
    found = hashlib.sha256()
    for name in names:
        data = (directory / name).read_bytes()
        found.update(f"{name}\0{len(data)}\0".encode())
        found.update(data)
    return found.hexdigest()


def found(directory: Path) -> Iterator[str]:
    """The names of all files below a directory."""
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            yield path.relative_to(directory).as_posix()
