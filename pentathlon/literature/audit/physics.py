"""Rates above what the processor's clock allows, and sizes above a protocol's limit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from pentathlon.literature.audit.findings import Check, Finding, in_row
from pentathlon.literature.audit.units import scale
from pentathlon.literature.interval import Interval, decimal
from pentathlon.literature.lookup import locate
from pentathlon.literature.model import Study
from pentathlon.literature.printed import is_number, parse
from pentathlon.literature.tables import Column, Row, Table

ABOVE_CLOCK = Check("rates-above-clock", "physical", "error")
ABOVE_LIMIT = Check("sizes-above-limit", "source", "error")
ABOVE_FILL_RATE = Check(
    "frames-above-fill-rate", "physical", "error", "possible: the prefix of the unit is misread"
)
OPERATIONS = {"calls/s", "Accesses/s"}
"""Units of rates that count single operations of the processor."""
OPERATION_CYCLES = Fraction(1, 2)
"""A processor of these papers starts at most two loads in a cycle."""
KERNEL_CYCLES = Fraction(100)
"""Cycles below which nothing has entered and left the kernel.

A quarter of the fastest kind measured on a Pentium 4: getpid takes 432 cycles by sysenter, and 12
where it runs in the kernel and enters nothing (Maeda, Kernel Mode Linux, Linux Journal, 2003,
Table 2).
"""
LIMITS = {"UDP": (65_507, "RFC 768 and RFC 791: 65,535 B less 20 B and 8 B of headers")}
"""Largest payload of one packet over IPv4 in bytes, and where it is laid down."""
BYTES = {"B": (1, 1), "KB": (1000, 1024), "MB": (1000**2, 1024**2)}
"""Bytes of a unit in its two readings."""
FRAMES = "Frames/s"
FILLS = "Texels/s"
_CLOCK = re.compile(r"(\d+(?:\.\d+)?) *([MG])Hz")
_PREFIX = {"M": 10**6, "G": 10**9}


def clock_of(study: Study, table: Table) -> Fraction | None:
    """The clock in Hz of the processor that a table was measured on; None if it is not given."""
    if table.clock is None:
        return None
    _, row, column = locate(study, table.clock, None)
    match = _CLOCK.search(f"{row.cell(column).printed or ''} {row.unit or ''}")
    return Fraction(match[1]) * _PREFIX[match[2]] if match else None


def rates_above_clock(study: Study) -> Iterator[Finding]:
    """Operations in fewer cycles than any processor needs, one finding for each row."""
    for table in study.tables:
        clock = clock_of(study, table)
        if clock is None:
            continue
        columns = [column for column in table.column if column.derived is None]
        for row in table.row:
            least = KERNEL_CYCLES if row.enters_kernel else OPERATION_CYCLES
            fast = []
            for column in columns:
                factor, unit = scale(column.unit or row.unit or "")
                text = row.cell(column.id).printed or ""
                if unit not in OPERATIONS or not is_number(text):
                    continue
                rate = parse(text).interval.low * factor
                if rate > 0 and clock / rate < least:
                    fast.append((column, text, clock / rate))
            if fast:
                yield _too_fast(table, row, fast, least)


def _too_fast(
    table: Table, row: Row, fast: list[tuple[Column, str, Fraction]], least: Fraction
) -> Finding:
    what = "a call into the kernel" if row.enters_kernel else "an operation"
    cycles = ", ".join(decimal(one, 3) for _, _, one in fast)
    return ABOVE_CLOCK.at(
        in_row(table, row),
        says=f"A rate leaves {what} the clock cycles that it needs.",
        printed="; ".join(
            f"{text} {column.unit or row.unit or ''} [{column.name}]" for column, text, _ in fast
        ),
        allowed=f"{cycles} cycles of the processor's clock each, must be at least {decimal(least)}",
        note="No call entered the kernel, or none was timed." if row.enters_kernel else "",
    )


def sizes_above_limit(study: Study) -> Iterator[Finding]:
    """Payloads that no packet of their protocol can carry."""
    for table, row in study.rows():
        if row.payload_of is None or row.unit not in BYTES:
            continue
        limit, source = LIMITS[row.payload_of]
        small, large = BYTES[row.unit]
        for cell in row.values.values():
            if cell.printed is None or not is_number(cell.printed):
                continue
            value = parse(cell.printed).value
            if value * large <= limit:
                continue
            fits = value * small <= limit
            check = replace(ABOVE_LIMIT, severity="warning") if fits else ABOVE_LIMIT
            yield check.at(
                in_row(table, row),
                says=f"A packet of {row.payload_of} can carry the size.",
                printed=f"{cell.printed} {row.unit}",
                allowed=(
                    f"{decimal(value * large, 9)} B, must be at most {limit} B ({source})"
                    + ("; it fits if 1 KB is 1000 B" if fits else "")
                ),
            )


def frames_above_fill_rate(study: Study) -> Iterator[Finding]:
    """More pixels in a second than the same card fills: each pixel of a frame is filled once."""
    for table in study.tables:
        if table.display is None:
            continue
        pixels = table.display[0] * table.display[1]
        fills = {
            column.id: max((rate.high for _, rate in _rates(table, column, FILLS)), default=None)
            for column in table.systems
        }
        for row in table.row:
            over = []
            for column in table.systems:
                fill = fills[column.id]
                for one, frames in _rates(table, column, FRAMES):
                    if one is row and fill is not None and frames.low * pixels > fill:
                        over.append((column, frames.low * pixels, fill))
            if over:
                yield _too_many(table, row, over)


def _rates(table: Table, column: Column, wanted: str) -> Iterator[tuple[Row, Interval]]:
    """Rows of a column whose unit is the wanted one, with any prefix, as rates without it."""
    for row in table.row:
        factor, unit = scale(row.unit or "")
        text = row.cell(column.id).printed or ""
        if unit == wanted and is_number(text):
            yield row, parse(text).interval * Interval.exact(factor)


def _too_many(table: Table, row: Row, over: list[tuple[Column, Fraction, Fraction]]) -> Finding:
    width, height = table.display or (0, 0)
    thousandth = (row.unit or "").startswith("M") and all(
        drawn / 1000 <= fill for _, drawn, fill in over
    )
    return ABOVE_FILL_RATE.at(
        in_row(table, row),
        says="Frames hold no more pixels in a second than the card fills texels.",
        printed=", ".join(f"{row.cell(one.id).text} [{one.title}]" for one, _, _ in over)
        + f" {row.unit}",
        allowed="; ".join(
            f"{decimal(drawn / 10**9, 4)} GPixels/s at {width}x{height}, must be at most "
            f"{decimal(fill / 10**9, 4)}, the greatest fill rate of {one.title}"
            for one, drawn, fill in over
        ),
        note="With the prefix K it is possible." if thousandth else "",
    )
