"""One pack, and the list of all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pentathlon.safeio.reading import parse_toml

FOLDER: Final = Path(__file__).parent
PREFIX: Final = "pack:"
"""Begins the name of a pack where the path of a file could stand."""

TABLE: Final = "pack"


@dataclass(frozen=True)
class Pack:
    """A ready definition.

    Attributes:
        name: as `include` and `try --pack` take it, without the prefix.
        title: what it measures.
        programs: what has to be on the system, by the names that are started.
        install: the command that installs them on Debian.
        source: the documentation of the program, and its licence.
        workloads: the tables `[[workload]]`, as TOML has them.
    """

    name: str
    title: str
    programs: tuple[str, ...]
    install: str
    source: str
    workloads: tuple[dict[str, Any], ...]

    @property
    def file(self) -> Path:
        """Where it is defined."""
        return FOLDER / f"{self.name}.toml"


def names() -> list[str]:
    """All packs, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find(name: str) -> Pack | None:
    """The pack of a name, or None."""
    if name not in names():
        return None
    document = parse_toml((FOLDER / f"{name}.toml").read_text())
    about = document[TABLE]
    return Pack(
        name=name,
        title=about["title"],
        programs=tuple(about["programs"]),
        install=about["install"],
        source=about["source"],
        workloads=tuple(document["workload"]),
    )
