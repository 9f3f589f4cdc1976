"""Names of the files of a result directory, for who needs no more than these."""

from __future__ import annotations

from typing import Final

PLAN: Final = "plan.json"
CATALOG: Final = "catalog.json"
STUDY: Final = "study.toml"
JOURNAL: Final = "journal.jsonl"
TORN: Final = "journal.torn"
LOCK: Final = "lock"
