"""Results that other tools measured: made from what was imported, as a directory like any other.

The journal is the only truth here too. Its records `imported` hold everything, so the plan and the
catalog follow from them; a directory grows by being written anew from all of its records. Its files
are replaced one after the other, the journal first: where that was cut, the next import makes the
others again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pentathlon import __version__
from pentathlon.procedure.records import Imported, Record, RunEnd, RunStart, to_json
from pentathlon.protocol.version import PROTOCOL
from pentathlon.safeio.checksum import sealed
from pentathlon.store.directory import CATALOG, PLAN
from pentathlon.store.files import read_bytes, write_whole
from pentathlon.store.journal import FORMAT, JOURNAL, LOCK, LONGEST_LINE, StoreError, read_journal
from pentathlon.store.problems import writing
from pentathlon.study.catalog import Catalog
from pentathlon.study.counting import count_text
from pentathlon.study.model import Study
from pentathlon.study.names import IMPORTED, IMPORTED_TARGET
from pentathlon.study.plan import Boot, Plan, Step, canonical_json
from pentathlon.study.system import System

MOST_BOOTS = 10_000
SHOWN_DIGITS = 12
"""Digits of a SHA-256 that are shown; the journal has them all."""
MOST_NAMED = 2
"""Files of one system that a note names; `results show` lists them all."""


def read_imported(directory: Path) -> list[Imported]:
    """What a directory was made from; [] if there is none yet.

    Raises:
        StoreError: it is damaged, or holds something else.
    """
    if not directory.exists():
        return []
    try:
        names = {path.name for path in directory.iterdir()}
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise StoreError(f"{directory} cannot be used as a result: {reason}") from error
    if JOURNAL not in names:
        if names - {LOCK}:
            raise StoreError(
                f"{directory} is not empty and no result; name a new directory with --into"
            )
        return []
    records = list(read_journal(directory))
    found = [record for record in records if isinstance(record, Imported)]
    if len(found) != len(records) - 2 or not isinstance(records[0], RunStart):
        raise StoreError(
            f"{directory} was measured by pentathlon, and nothing is added to what was measured; "
            "import into a new directory and compare the two: pentathlon compare RESULT RESULT"
        )
    return found


def write_imported(directory: Path, records: Sequence[Imported]) -> None:
    """Write a result from everything that was imported into it.

    Raises:
        StoreError: the directory cannot be written, or there is too much of it.
    """
    catalog = catalog_of(records)
    plan = plan_of(directory.resolve().name, records)
    text = canonical_json(catalog.model_dump(mode="json"))
    start = RunStart(
        utc=min(record.utc for record in records),
        plan_hash=plan.hash(),
        study_file="",
        study_sha256="",
        blocks=None,
        version=__version__,
        pid=os.getpid(),
        notes=list(_notes(records)),
        catalog_sha256=hashlib.sha256(text.encode()).hexdigest(),
    )
    end = RunEnd(utc=max(record.utc for record in records), outcome="finished", failures=0)
    lines = [_line(record) for record in (start, *records, end)]
    with writing(directory):
        write_whole(directory / JOURNAL, b"".join(lines), sync=True)
        write_whole(directory / CATALOG, text + "\n", sync=True)
        write_whole(directory / PLAN, plan.canonical() + "\n", sync=True)


def mend(directory: Path, records: Sequence[Imported]) -> None:
    """Write plan and catalog again where a cut left older ones beside the journal.

    Raises:
        StoreError: the directory cannot be written.
    """
    start = next(read_journal(directory))
    plan = plan_of(directory.resolve().name, records)
    if not isinstance(start, RunStart) or plan.hash() != start.plan_hash:
        return
    try:
        old = read_bytes(directory / PLAN)
    except OSError:
        old = b""
    if old != plan.canonical().encode() + b"\n":
        write_imported(directory, records)


def _line(record: Record) -> bytes:
    document = to_json(record)
    if isinstance(record, RunStart):
        document["format"] = FORMAT
    line = sealed(document)
    if len(line) > LONGEST_LINE:
        raise StoreError("one of the files holds too much for a record; import it in parts")
    return line


def _notes(records: Sequence[Imported]) -> Iterable[str]:
    """Where everything came from, one sentence for each system; the journal has every file."""
    systems: dict[str, list[Imported]] = {}
    for record in records:
        systems.setdefault(record.system, []).append(record)
    for system, own in systems.items():
        tools = dict.fromkeys(tool_text(one) for one in own)
        files = dict.fromkeys((one.file, one.sha256[:SHOWN_DIGITS]) for one in own)
        named = [f"{name} (SHA-256 {digits}…)" for name, digits in files][:MOST_NAMED]
        more = len(files) - len(named)
        rest = f" and {count_text(more, 'more file')}" if more else ""
        yield (
            f"Imported, not measured here: {system}, {count_text(len(own), 'boot')} by "
            f"{', '.join(tools)}, from {', '.join(named)}{rest}."
        )


def tool_text(record: Imported) -> str:
    """A tool with its version."""
    return f"{record.tool} {record.tool_version or '(version not known)'}"


def catalog_of(records: Sequence[Imported]) -> Catalog:
    """The workloads and metrics of what was imported, in the order in which they came."""
    workloads: dict[str, dict[str, Any]] = {}
    for one in (value for record in records for value in record.values):
        entry = workloads.setdefault(
            one["workload"],
            {
                "id": one["workload"],
                "area": one["workload"].partition(".")[0],
                "title": one["workload_title"],
                "metrics": {},
                "factors": {},
            },
        )
        entry["metrics"].setdefault(
            one["metric"],
            {
                "id": one["metric"],
                **{key: one[key] for key in ("title", "unit", "direction", "role")},
                "zero_allowed": one["zero_allowed"],
            },
        )
        for factor in one["case"]:
            entry["factors"].setdefault(factor, {"name": factor})
    for entry in workloads.values():
        entry["metrics"] = list(entry["metrics"].values())
        entry["factors"] = list(entry["factors"].values())
    return Catalog.model_validate(
        {
            "protocol": PROTOCOL,
            "catalog_version": 0,
            "agent": {},
            "workloads": list(workloads.values()),
        }
    )


def plan_of(name: str, records: Sequence[Imported]) -> Plan:
    """The plan that what was imported would have been measured by.

    Args:
        name: of the directory.
    """
    workloads: dict[str, dict[str, None]] = {}
    boots: dict[int, dict[str, dict[str, None]]] = {}
    for record in records:
        own = dict.fromkeys(one["workload"] for one in record.values)
        workloads.setdefault(record.system, {}).update(own)
        boots.setdefault(record.block, {}).setdefault(record.system, {}).update(own)
    systems = list(workloads)
    every = list(dict.fromkeys(one for own in workloads.values() for one in own))
    count = max(boots) + 1
    study = Study.model_validate(
        {
            "name": _name(name),
            "title": f"Imported results: {name}",
            "reference": systems[0],
            "procedure": {"blocks": count},
            "system": [
                System.model_validate({"name": one, "target": IMPORTED_TARGET}, context=IMPORTED)
                for one in systems
            ],
            "suite": [{"name": "imported", "workloads": every}],
        },
        context=IMPORTED,
    )  # fmt: skip
    numbers = {system: {one: at for at, one in enumerate(own)} for system, own in workloads.items()}
    return Plan(
        study=study,
        agent={"version": None, "build": None, "catalog_version": None},
        targets={system: _target(system, records) for system in systems},
        steps={system: tuple(_step(one) for one in own) for system, own in workloads.items()},
        blocks=tuple(
            tuple(
                Boot(system=system, steps=tuple(numbers[system][one] for one in own))
                for system, own in boots.get(block, {}).items()
            )
            for block in range(count)
        ),
    )


def _name(name: str) -> str:
    kept = "".join(one if one.isascii() and one.isalnum() else "-" for one in name.lower())
    return kept.strip("-")[:64].strip("-") or "imported"


def _target(system: str, records: Sequence[Imported]) -> dict[str, Any]:
    own = [record for record in records if record.system == system]
    return {
        "layer": IMPORTED_TARGET,
        "in_blocks": all(record.in_blocks for record in own),
        "files": sorted({record.sha256 for record in own}),
    }


def _step(workload: str) -> Step:
    """A step has numbers of a procedure; nothing shows those of one that was imported."""
    return Step(
        suite="imported", workload=workload, parameters={}, qualified=False, iterations=1,
        warmup=0, processes=1, sample_ms=1.0, timeout_s=1.0,
    )  # fmt: skip


def next_boot(records: Iterable[Imported], system: str) -> int:
    """The number, from 0, of the boot after the last one of a system."""
    return max((one.block + 1 for one in records if one.system == system), default=0)


def objection(records: Sequence[Imported], new: Imported) -> str | None:
    """Why a record cannot be added to others, as the end of a sentence that begins with its file.

    A system's metric has one unit and one direction in all files, a boot holds each metric and case
    once, and a result is judged paired or unpaired as a whole.
    """
    known: dict[tuple[str, str], tuple[Mapping[str, Any], Imported]] = {}
    for record in records:
        if (record.sha256, record.part) == (new.sha256, new.part) and not _same_call(record, new):
            return (
                f"was imported already, as boot {record.block + 1} of {record.system} "
                f"(SHA-256 {new.sha256[:SHOWN_DIGITS]}…, then called {record.file})"
            )
        if record.in_blocks != new.in_blocks:
            first, second = ("with", "without") if record.in_blocks else ("without", "with")
            return (
                f"is imported {second} blocks, and {record.file} was imported {first} them; a "
                "result is judged paired or unpaired as a whole, so import into another directory"
            )
        for one in record.values:
            known.setdefault((one["workload"], one["metric"]), (one, record))
    for one in new.values:
        before = known.get((one["workload"], one["metric"]))
        if before is None:
            continue
        for key in ("unit", "direction"):
            if before[0][key] != one[key]:
                return (
                    f"has {one['metric']} of {one['workload']} with the {key} {one[key]}, and "
                    f"{before[1].file} has it with {before[0][key]}; one metric has one {key}"
                )
    return _twice(records, new)


def _same_call(one: Imported, other: Imported) -> bool:
    """Whether two records are boots of one file that numbers its boots, imported together."""
    return one.utc == other.utc and one.system == other.system and one.block != other.block


def _twice(records: Sequence[Imported], new: Imported) -> str | None:
    own = {_identity(one) for one in new.values}
    for record in records:
        if (record.block, record.system) != (new.block, new.system):
            continue
        for one in record.values:
            if _identity(one) in own:
                return (
                    f"has {one['metric']} of {one['workload']} in boot {new.block + 1} of "
                    f"{new.system}, which {record.file} has too; give it another boot"
                )
    return None


def _identity(one: Mapping[str, Any]) -> tuple[str, str, str]:
    return one["workload"], one["metric"], canonical_json(one["case"])
