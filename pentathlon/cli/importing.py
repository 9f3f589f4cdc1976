"""`pentathlon import`: results of other tools, judged like those that were measured here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pentathlon.cli.exits import InputError
from pentathlon.cli.screen import out
from pentathlon.extraction.tools.registry import EXTRACTORS
from pentathlon.extraction.tools.rows import (
    MOST_BYTES,
    Extracted,
    ExtractError,
    Extractor,
    Measure,
    Options,
    Row,
)
from pentathlon.procedure.records import Imported, utc_now
from pentathlon.protocol.events import JsonObject
from pentathlon.safeio.escaping import complaint, one_line
from pentathlon.safeio.reading import ReadError, read_bytes
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.store.imported import (
    MOST_BOOTS,
    mend,
    next_boot,
    objection,
    read_imported,
    write_imported,
)
from pentathlon.store.journal import Lock
from pentathlon.study.counting import count_text

SYSTEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
FLAGS = {"measures": "--measure", "cases": "--case COLUMN", "boots": "--boots or --blocks",
         "part": "--entry"}  # fmt: skip


def import_(
    tool: str,
    files: list[Path],
    *,
    system: str,
    into: Path,
    boot: int | None,
    block: int | None,
    measure: list[str] | None,
    case: list[str] | None,
    boots: str,
    blocks: str,
    entry: str,
) -> None:
    extractor = _extractor(tool)
    _check(system, boot, block, boots, blocks)
    options = _options(extractor, measure or [], case or [], boots or blocks, entry)
    place = block if block is not None else boot
    in_blocks = block is not None or bool(blocks)
    # Everything is read before anything is made, so that a bad file leaves no directory.
    texts = [_text(path) for path in files]
    extracted = [
        _extract(extractor, path, text, options)
        for path, (text, _) in zip(files, texts, strict=True)
    ]
    known = read_imported(into)
    new: list[Imported] = []
    for path, (_, digest), found in zip(files, texts, extracted, strict=True):
        first = next_boot([*known, *new], system) if place is None else place - 1
        source = _Source(extractor.name, path.name, digest, system)
        for record in _records(source, found, first, in_blocks=in_blocks):
            if (why := objection([*known, *new], record)) is not None:
                if known:
                    with Lock(into):
                        mend(into, known)
                raise InputError(one_line(str(path)) + complaint(f" {why}"))
            new.append(record)
    into.mkdir(parents=True, exist_ok=True)
    with Lock(into):
        if read_imported(into) != known:
            raise InputError(f"{into} was written by another import meanwhile; import again")
        write_imported(into, [*known, *new])
    for line in _said(files, extracted, new, into):
        out.print(line, soft_wrap=True)


def _extractor(tool: str) -> Extractor:
    if tool not in EXTRACTORS:
        raise InputError(f'"{tool}" is no tool that is read{did_you_mean(tool, EXTRACTORS)}')
    return EXTRACTORS[tool]


def _check(system: str, boot: int | None, block: int | None, boots: str, blocks: str) -> None:
    """Refuse a name, a number or a combination that means nothing."""
    if not SYSTEM.fullmatch(system):
        raise InputError(
            f"--system is {system[:80]!r}; use up to 64 letters, digits, dots, dashes, plus signs "
            "and underscores, beginning with a letter or a digit"
        )
    given = [name for name, value in (("--boot", boot), ("--block", block), ("--boots", boots),
                                      ("--blocks", blocks)) if value]  # fmt: skip
    for name, number in (("--boot", boot), ("--block", block)):
        if number is not None and not 1 <= number <= MOST_BOOTS:
            raise InputError(f"{name} is {number}; give a number from 1 to {MOST_BOOTS}")
    if len(given) > 1:
        raise InputError(
            f"{' and '.join(given)} exclude each other: a block has one boot of each system, so "
            "its number is the boot's"
        )


def _options(
    extractor: Extractor, measures: Sequence[str], cases: Sequence[str], boots: str, entry: str
) -> Options:
    columns = tuple(one for one in cases if "=" not in one)
    given = dict(_factor(one) for one in cases if "=" in one)
    found = Options(
        measures=dict(_measure(one) for one in measures),
        cases=columns,
        boots=boots,
        given=given,
        part=entry,
    )
    for attribute, flag in FLAGS.items():
        if getattr(found, attribute) and attribute not in extractor.takes:
            takers = [one.name for one in EXTRACTORS.values() if attribute in one.takes]
            raise InputError(f"{flag} is for {' and '.join(takers)}, not for {extractor.name}")
    if both := set(columns) & given.keys():
        raise InputError(f"--case names {sorted(both)[0]!r} as a column and as a factor")
    return found


def _measure(text: str) -> tuple[str, Measure]:
    name, equals, rest = text.rpartition("=")
    unit, comma, better = rest.rpartition(",")
    if not (name and equals and unit.strip() and comma) or better not in ("higher", "lower"):
        raise InputError(
            f"--measure is {text[:120]!r}; give NAME=UNIT,higher or NAME=UNIT,lower, such as "
            '"time=ms,lower"'
        )
    return name, Measure(unit.strip(), "higher" if better == "higher" else "lower")


def _factor(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", name) or not value:
        raise InputError(
            f"--case is {text[:120]!r}; a factor is NAME=VALUE, its name of letters, digits and "
            "underscores"
        )
    return name, value


def _text(path: Path) -> tuple[str, str]:
    """The text of a file and the SHA-256 of its bytes."""
    try:
        data = read_bytes(path, MOST_BYTES)
    except ReadError as error:
        raise InputError(f"{one_line(str(path))} {error}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(f"{one_line(str(path))}:{line}: is not UTF-8 text") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text, hashlib.sha256(data).hexdigest()


def _extract(extractor: Extractor, path: Path, text: str, options: Options) -> Extracted:
    try:
        return extractor.read(text, options)
    except ExtractError as error:
        line = f":{error.line}:" if error.line else ""
        raise InputError(one_line(str(path)) + line + complaint(f" {error}")) from error


@dataclass(frozen=True)
class _Source:
    """Where values come from."""

    tool: str
    file: str
    sha256: str
    system: str


def _records(source: _Source, found: Extracted, first: int, *, in_blocks: bool) -> list[Imported]:
    """A record for each boot of a file: the one that was chosen for it, or those that it names."""
    utc = utc_now()
    places = {row.boot for row in found.rows}
    return [
        Imported(
            utc=utc,
            block=first if boot is None else boot - 1,
            system=source.system,
            tool=source.tool,
            tool_version=found.version,
            file=source.file,
            sha256=source.sha256,
            part=found.part,
            in_blocks=in_blocks,
            values=[_value(row) for row in found.rows if row.boot == boot],
        )
        for boot in sorted(places, key=lambda one: one or 0)
    ]


def _value(row: Row) -> JsonObject:
    metric = row.metric
    return {
        "workload": row.workload,
        "workload_title": row.workload_title,
        "metric": metric.id,
        "title": metric.title,
        "unit": metric.unit,
        "direction": metric.direction,
        "role": metric.role,
        "zero_allowed": metric.zero_allowed,
        "case": dict(row.case),
        "values": list(row.values),
        "place": row.place,
    }


def _said(
    files: Sequence[Path], extracted: Sequence[Extracted], new: Sequence[Imported], into: Path
) -> list[str]:
    """What was imported, what was left out, and what to do next, in lines."""
    boots = sorted({one.block + 1 for one in new})
    where = "block" if new[0].in_blocks else "boot"
    numbers = f"{where} {boots[0]}" if len(boots) == 1 else f"{where}s {boots[0]} to {boots[-1]}"
    metrics = {(one["workload"], one["metric"]) for record in new for one in record.values}
    values = sum(len(one["values"]) for record in new for one in record.values)
    lines = [
        f"imported {count_text(len(files), 'file')} as {numbers} of {new[0].system}: "
        f"{count_text(len(metrics), 'metric')}, {count_text(values, 'value')}"
    ]
    for path, found in zip(files, extracted, strict=True):
        lines += [f"left out of {one_line(path.name)}: {one_line(one)}" for one in found.left_out]
    return [*lines, f"judge with: pentathlon compare {one_line(str(into))}"]
