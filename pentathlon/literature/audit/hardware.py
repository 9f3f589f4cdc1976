"""Hardware that no processor or memory module of the printed name has.

`processors.toml` holds what the manufacturers state of the processors of the studies.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files

from pydantic import Field

from pentathlon.literature.audit.findings import Check, Finding, in_row
from pentathlon.literature.model import Study
from pentathlon.literature.parts import Part
from pentathlon.literature.tables import Row, Table

MANUFACTURER_DATA = Check("manufacturer-data", "source", "error")
MEMORY_MODULES = Check("memory-modules", "unit", "warning")
CLOSE = 0.01
"""Clocks that differ by no more are the same: 2.93 GHz and 2933 MHz."""
MODULES = {
    "PC1600": 200,
    "PC2100": 266,
    "PC2700": 333,
    "PC3200": 400,
    "PC2-5300": 667,
    "PC2-6400": 800,
    "PC3-8500": 1066,
    "PC3-10600": 1333,
}
"""Millions of transfers a second of modules by name (JEDEC)."""
_SIZE = re.compile(r"(\d+) ?([KM])B?(?![A-Za-z])")
_CACHE = re.compile(r"(\d+ ?[KM]B) cache")
_CLOCK = re.compile(r"(\d+(?:\.\d+)?) ?([MG])Hz")
_VOLT = re.compile(r"(\d+(?:\.\d+)?) ?V")
_CORES = re.compile(r"(\d+) cores")
_NAMED_RATE = re.compile(r"DDR[2-5]?L?-(\d+)")
Fault = tuple[Check, str]
"""The check that found a fault, and what would be right."""
_UNLIKE_NAMED = replace(MANUFACTURER_DATA, kind="unit", severity="warning")
_LEVEL = re.compile(r"L([123])(?: cache)?", re.IGNORECASE)


class Cache(Part):
    """One level: the sizes of its parts (data, instructions) in KiB, for each core or shared."""

    kb: tuple[int, ...]
    per_core: bool = False


class Processor(Part):
    """What the manufacturer states of one processor."""

    name: str
    match: str
    """Regular expression that finds its name in a cell."""
    cores: int
    clock_mhz: float
    bus_mhz: float
    """Clock of the front-side bus, or base clock."""
    transfers: int = 1
    """Transfers of the bus in one cycle of its clock."""
    volts: tuple[float, float] | None = None
    """Range of the core voltage."""
    level: dict[str, Cache] = Field(default_factory=dict)
    source: str


@cache
def processors() -> tuple[Processor, ...]:
    """The processors of the studies, as their manufacturers describe them."""
    text = (files("pentathlon.literature") / "processors.toml").read_text(encoding="utf-8")
    return tuple(Processor.model_validate(one) for one in tomllib.loads(text)["processor"])


def unlike_its_name(study: Study) -> Iterator[Finding]:
    """Inventories that give a processor or a memory module what none of its name has."""
    for table in study.tables:
        if table.kind != "inventory":
            continue
        for chip, rows in _chips(table):
            for row in rows:
                yield from _row(table, row, chip)
        for row in table.row:
            yield from _module(table, row)


def _chips(table: Table) -> Iterator[tuple[Processor, list[Row]]]:
    """Each known processor of a table with the rows that speak of it.

    These are all rows if it is the only one, otherwise those of its group.
    """
    found = [
        (chip, row)
        for row in table.row
        for chip in processors()
        if re.search(chip.match, _text(row))
    ]
    for chip, at in found:
        yield chip, [row for row in table.row if len(found) == 1 or row.group == at.group]


def _text(row: Row) -> str:
    return " ".join(cell.printed or "" for cell in row.values.values())


def _row(table: Table, row: Row, chip: Processor) -> Iterator[Finding]:
    text = _text(row)
    named = re.search(chip.match, text) is not None
    label = row.label.lower()
    faults = [
        *_cache_faults(chip, row.label, text, named=named),
        *_clock_faults(chip, label, text, named=named),
        *_other_faults(chip, label, text, named=named),
    ]
    for check, wrong in faults:
        yield check.at(
            in_row(table, row),
            says=f"The machine's {chip.name} is as its manufacturer describes it.",
            printed=text,
            allowed=f"{wrong} ({chip.source})",
        )


def _cache_faults(chip: Processor, label: str, text: str, *, named: bool) -> Iterator[Fault]:
    """Sizes of caches, in rows of their own or in the processor's."""
    level = _LEVEL.fullmatch(label)
    inside = _CACHE.search(text) if named else None
    if inside is not None:
        size = _SIZE.search(inside[1])
    else:
        size = _SIZE.search(text) if level or label.lower() == "cache size" else None
    if size is None:
        return
    kb = int(size[1]) * (1024 if size[2] == "M" else 1)
    name = f"l{level[1]}" if level else None
    own = [one for key, one in chip.level.items() if name in (None, key)]
    if any(kb in _sizes(chip, one) for one in own):
        return
    other = [key.upper() for key, one in chip.level.items() if kb in _sizes(chip, one)]
    has = ", ".join(_words(key, one) for key, one in chip.level.items() if not own or one in own)
    lacks = f"it has no {name.upper()}; " if name is not None and not own else ""
    shifted = f"; that is the size of its {other[0]}" if other else ""
    yield MANUFACTURER_DATA, f"{lacks}it has {has}{shifted}"


def _sizes(chip: Processor, one: Cache) -> set[int]:
    """Every size in KiB that may be given for a level: a part or all, of a core or the chip."""
    sizes = {*one.kb, sum(one.kb)}
    return sizes | {size * chip.cores for size in sizes} if one.per_core else sizes


def _words(key: str, one: Cache) -> str:
    sizes = " + ".join(f"{kb} KB" for kb in one.kb)
    return f"{key.upper()} {sizes}" + (" per core" if one.per_core else "")


def _clock_faults(chip: Processor, label: str, text: str, *, named: bool) -> Iterator[Fault]:
    """The clocks of the processor and of its bus."""
    clock = _CLOCK.search(text)
    if clock is None:
        return
    mhz = float(clock[1]) * (1000 if clock[2] == "G" else 1)
    if (named or label == "internal clock") and not _near(mhz, chip.clock_mhz):
        yield MANUFACTURER_DATA, f"its clock is {chip.clock_mhz:g} MHz"
    if label not in ("external clock", "fsb") or _near(mhz, chip.bus_mhz):
        return
    if not _near(mhz, chip.bus_mhz * chip.transfers):
        yield MANUFACTURER_DATA, f"its bus clock is {chip.bus_mhz:g} MHz"
    elif label == "external clock":  # a bus is named by its transfers, a clock is not
        yield (
            _UNLIKE_NAMED,
            f"its bus clock is {chip.bus_mhz:g} MHz; {mhz:g} are millions of transfers a second, "
            f"{chip.transfers} in each cycle",
        )


def _other_faults(chip: Processor, label: str, text: str, *, named: bool) -> Iterator[Fault]:
    """Voltage and number of cores."""
    volts = _VOLT.search(text) if label == "voltage" else None
    if volts is not None and chip.volts is not None:
        low, high = chip.volts
        if not low <= float(volts[1]) <= high:
            yield MANUFACTURER_DATA, f"its core voltage is {low:g} to {high:g} V"
    cores = _CORES.search(text) if named else None
    count = cores[1] if cores else text if label == "number of cores" else None
    if count is not None and count.isdigit() and int(count) != chip.cores:
        yield MANUFACTURER_DATA, f"it has {chip.cores} cores"


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE * other


def _module(table: Table, row: Row) -> Iterator[Finding]:
    """A memory module whose name and clock give two transfer rates."""
    text = _text(row)
    name = next((one for one in MODULES if re.search(rf"\b{one}\b", text)), None)
    rate = _NAMED_RATE.search(text)
    rated = MODULES[name] if name is not None else int(rate[1]) if rate is not None else None
    clock = re.search(r"(\d+) ?MHz", text)
    if rated is None or clock is None or "DDR" not in text:
        return
    mhz = int(clock[1])
    if any(_near(mhz, one) for one in (rated, rated / 2)):
        return
    yield MEMORY_MODULES.at(
        in_row(table, row),
        says="A memory module's name and its clock give the same transfer rate.",
        printed=text,
        allowed=(
            f"{name or (rate[0] if rate else '')} stands for {rated} million transfers a second, "
            f"not {mhz}"
        ),
        note="The module may have run below what its name says; the table does not say so.",
    )
