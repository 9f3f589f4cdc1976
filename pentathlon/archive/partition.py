"""Where the files of a study's month lie."""

from __future__ import annotations

from urllib.parse import quote


def folder(kind: str, study: str, month: str) -> str:
    """A folder of files of one kind, partitioned as Hive does."""
    return f"{kind}/study={quote(study, safe='')}/month={month}"
