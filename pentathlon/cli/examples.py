"""What `pentathlon examples` does."""

from __future__ import annotations

import shutil
import sys
import tomllib
from pathlib import Path

from rich.text import Text

import pentathlon
from pentathlon.cli.exits import InputError
from pentathlon.cli.screen import err, out
from pentathlon.study.counting import count_text
from pentathlon.tables.sheet import Sheet

SHARED = Path("share") / "pentathlon" / "examples"


def examples(to: Path | None) -> None:
    source = _source()
    if to is None:
        _list(source)
    else:
        _copy(source, to)


def _source() -> Path:
    """Where they are: in a checkout, or where a wheel or a Debian package puts them.

    Raises:
        InputError: they were not installed.
    """
    above = Path(pentathlon.__file__).resolve().parent.parent
    places = (above / "examples", Path(sys.prefix) / SHARED)
    for place in places:
        if (place / "two-kernels.toml").is_file():
            return place
    raise InputError(f"the examples are not installed: looked in {', '.join(map(str, places))}")


def _list(source: Path) -> None:
    table = Sheet(header_style="dim")
    table.add_column("example", no_wrap=True)
    table.add_column("question")
    for file in sorted(source.glob("*.toml")):
        study = tomllib.loads(file.read_text(encoding="utf-8"))
        table.add_row(file.stem, Text(study.get("question") or study.get("title") or ""))
    out.print(table)
    err.print("\nCopy them: pentathlon examples --to examples", style="dim")


def _copy(source: Path, to: Path) -> None:
    files = [one for one in sorted(source.rglob("*")) if one.is_file()]
    for file in files:
        if (target := to / file.relative_to(source)).exists():
            raise InputError(f"{target} is there already; name a new directory with --to")
    for file in files:
        target = to / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        if file.read_bytes().startswith(b"#!"):
            target.chmod(0o755)
    out.print(f"{count_text(len(files), 'file')} in {to}", soft_wrap=True)
