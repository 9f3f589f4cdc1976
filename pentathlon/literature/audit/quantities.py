"""Units that do not fit what is measured, symbols outside of the paper's groups, and settings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pentathlon.literature.audit.findings import UNLIKELY, Check, Finding, in_row
from pentathlon.literature.audit.units import TIMES
from pentathlon.literature.model import Study
from pentathlon.literature.tables import Row

UNFIT_UNITS = Check("unfit-units", "unit", "warning", UNLIKELY)
OUTSIDE_GROUPS = Check("symbols-outside-groups", "label", "warning", UNLIKELY)
UNSET_SETTINGS = Check("unset-settings", "source", "warning", UNLIKELY)
SIZES = {"B", "KB", "MB", "GB", "bit", "Mbit"}
DWORD_MAX = 2**32 - 1
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+", re.IGNORECASE)


def quantity_of(unit: str) -> str | None:
    """What a unit measures: "time", "size", "rate", or None for anything else."""
    if unit in TIMES:
        return "time"
    if unit in SIZES:
        return "size"
    if unit.endswith("/s") or unit.endswith(("bps", "pps")) or unit.endswith("Hz"):
        return "rate"
    return None


def unfit_units(study: Study) -> Iterator[Finding]:
    """Units that do not measure what the paper calls the number, or what its symbol stands for."""
    for table, row in study.rows():
        if not row.unit:
            continue
        group = next((g for g in study.facts.group if _in(row, g.prefix)), None)
        wanted = row.quantity or (group.quantity if group is not None else None)
        if wanted is None or quantity_of(row.unit) == wanted:
            continue
        yield UNFIT_UNITS.at(
            in_row(table, row),
            says="A unit fits the quantity that it is given for.",
            printed=f"a {wanted} of {_values(row)} {row.unit}",
            allowed=f"{row.unit} is no unit of a {wanted}",
        )


def _in(row: Row, prefix: str) -> bool:
    return row.symbol is not None and row.symbol.startswith(prefix)


def _values(row: Row) -> str:
    return ", ".join(cell.text for cell in row.values.values())


def symbols_outside_groups(study: Study) -> Iterator[Finding]:
    """Symbols of the table of definitions that belong to none of the paper's groups."""
    if study.facts.definitions is None or not study.facts.group:
        return
    table = study.table(study.facts.definitions)
    prefixes = tuple(group.prefix for group in study.facts.group)
    names = ", ".join(prefixes)
    for row in table.row:
        if row.symbol is None or row.symbol.startswith(prefixes):
            continue
        yield OUTSIDE_GROUPS.at(
            in_row(table, row),
            says="Every metric belongs to one of the groups that the paper defines.",
            printed=f"{row.symbol} ({_values(row)})",
            allowed=f"the groups are {names}; the symbol begins with none of them",
        )


def unset_settings(study: Study) -> Iterator[Finding]:
    """Settings whose printed value is no value of their type."""
    for table, row in study.rows():
        for cell in row.values.values():
            if row.setting is None or cell.printed is None or _is_dword(cell.printed):
                continue
            yield UNSET_SETTINGS.at(
                in_row(table, row),
                says=f"A setting of type {row.setting} has one value.",
                printed=cell.printed,
                allowed=(
                    f"one whole number from 0 to 0x{DWORD_MAX:X} (REG_DWORD of the Windows "
                    "registry); which value was set is not known"
                ),
            )


def _is_dword(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text)) and int(text, 0) <= DWORD_MAX
