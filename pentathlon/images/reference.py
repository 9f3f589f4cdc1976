"""What a study calls an image: the path of an archive, or `oci:PATH[:TAG]`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

OCI: Final = "oci:"
ARCHIVES: Final = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.zst", ".tzst")
"""How the name of an archive of a root file system ends."""


@dataclass(frozen=True)
class Reference:
    """An image as a study names it.

    Attributes:
        path: the archive, or the directory or archive of an OCI image layout.
        oci: whether it is a layout.
        tag: which image of the layout; None: the only one.
    """

    path: Path
    oci: bool
    tag: str | None = None

    def __str__(self) -> str:
        if not self.oci:
            return str(self.path)
        return f"{OCI}{self.path}" + (f":{self.tag}" if self.tag else "")


def parse(text: str) -> Reference | None:
    """The image that a text names; None: it names none, such as a directory.

    A path may hold colons, and so may a tag: the longest path that is there is meant.
    """
    if not text.startswith(OCI):
        archive = text.endswith(ARCHIVES) and not Path(text).is_dir()
        return Reference(Path(text), oci=False) if archive else None
    rest = text[len(OCI) :]
    path, tag = rest, ""
    while not Path(path).exists() and ":" in path:
        path, _, last = path.rpartition(":")
        tag = f"{last}:{tag}" if tag else last
    if not Path(path).exists():  # Nothing is there: the last part without a slash is the tag.
        path, colon, tag = rest.rpartition(":")
        if not colon or "/" in tag:
            path, tag = rest, ""
    return Reference(Path(path), oci=True, tag=tag or None)


def absolute(text: str, directory: Path) -> str:
    """The same image by an absolute path, a relative one beginning in a directory."""
    inner = text.removeprefix(OCI)
    if not inner or Path(inner).is_absolute():
        return text
    return f"{OCI if text.startswith(OCI) else ''}{directory / inner}"
