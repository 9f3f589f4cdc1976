"""Rows in quarantine: known to be unstable, with a record of why, and no reason to close a gate."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

from pentathlon.cli.exits import InputError
from pentathlon.evaluate.results.gate import Gate, quarantined
from pentathlon.evaluate.results.matching import matches
from pentathlon.safeio.clipping import clip
from pentathlon.store.files import read_bytes

KEYS = ("metric", "system", "reason", "since")


def apply(found: Gate, file: Path) -> Gate:
    """Set the rows of a gate apart that a file names.

    Raises:
        InputError: the file cannot be read, or an entry lacks something.
    """
    record = {}
    for entry in _entries(file):
        for row in found.rows:
            if matches(row.key, [entry["metric"]]) and row.system == entry.get(
                "system", row.system
            ):
                record[row.key, row.system] = f"{entry['reason']} (since {entry['since']})"
    return quarantined(found, record)


def _entries(file: Path) -> list[dict[str, str]]:
    try:
        document = tomllib.loads(read_bytes(file).decode())
    except (OSError, ValueError) as error:
        text = getattr(error, "strerror", None) or clip(str(error))
        raise InputError(f"{file} cannot be read: {text}") from error
    for name in document:
        if name != "row":
            raise InputError(f'{file} has no key "{clip(name)}"; its entries are [[row]]')
    rows = document.get("row", [])
    if not isinstance(rows, list) or not all(isinstance(one, dict) for one in rows):
        raise InputError(f"{file}: row is no list; write its entries as [[row]]")
    for number, one in enumerate(rows, start=1):
        where = f"{file}: row {number}"
        for name in one:
            if name not in KEYS:
                raise InputError(f'{where} has the key "{clip(name)}"; keys are {", ".join(KEYS)}')
        for name in ("metric", "reason"):
            if not isinstance(one.get(name), str) or not one[name].strip():
                raise InputError(f"{where} lacks {name}, a text")
        if not isinstance(one.get("system", ""), str):
            raise InputError(f"{where}: system is a text")
        if not isinstance(one.get("since"), date):
            raise InputError(f"{where}: since is a date, such as 2026-11-25, without quotes")
    return [{name: str(value) for name, value in one.items()} for one in rows]
