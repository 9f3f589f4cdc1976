"""Journal -> tables. The tables are derived: they can be thrown away and are made again."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from pentathlon.procedure.records import AgentEvent, BootStart, Imported, Record, RunStart
from pentathlon.procedure.state import BootState, Failure, RunState
from pentathlon.protocol.events import (
    SERVED,
    Case,
    Counter,
    Histogram,
    Inventory,
    Link,
    Measured,
    Picture,
    Sample,
    Served,
    read_served,
)
from pentathlon.store import links, read_sources
from pentathlon.store.files import read_bytes, write_whole
from pentathlon.store.histograms import derived
from pentathlon.store.schema import BESIDE, TABLES
from pentathlon.study.catalog import Catalog, case_text, metric_key
from pentathlon.study.plan import Plan, canonical_json

ADAPTERS = {"graphics_adapter": "graphics.adapter", "graphics_window": "graphics.window"}
"""`counter` events that say what a graphics workload found when it began (docs/graphics.md), and
where they stand in the inventory: the parameters of a workload may choose among adapters."""


NO_PROCEDURE = dict.fromkeys(
    ("iterations", "warmup", "processes", "sample_ms", "timeout_s", "order", "workload_order")
)
"""Columns of a planned step that are not known where another tool measured it."""


class TableBuilder:
    """Takes the records of a journal and yields the tables.

    Attributes:
        state: where the run stands.
        boots: every boot that began, by (block, system, attempt).
        started: when the run began; "" if its first record is missing.
    """

    def __init__(self, plan: Plan, catalog: Catalog) -> None:
        self.plan = plan
        self.state = RunState(plan)
        self.started = ""
        self.boots: dict[tuple[int, str, int], BootStart] = {}
        self._factors = {w.id: [f.name for f in w.factors] for w in catalog.workloads}
        self._histogram_entries = {(w.id, h.id): h for w in catalog.workloads for h in w.histograms}
        self._samples: dict[str, list[Any]] = {name: [] for name in TABLES["samples"]}
        self._histograms: dict[str, list[Any]] = {name: [] for name in TABLES["histograms"]}
        self._answers: dict[str, list[Any]] = {name: [] for name in TABLES["answers"]}
        self._steps: dict[str, list[int]] = {"samples": [], "histograms": [], "answers": []}
        self._inventory: list[dict[str, Any]] = []
        self._adapters_seen: set[tuple[str, str, str | None, str | None]] = set()
        self._pictures: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._links: list[dict[str, Any]] = []
        self._engines: dict[tuple[str, str], str] = {}
        self._cases: dict[str, tuple[str, str]] = {}

    def take(self, records: Iterable[Record]) -> None:
        """Take records in, in the order of the journal."""
        for record in records:
            if isinstance(record, RunStart):
                self.started = self.started or record.utc
            elif isinstance(record, BootStart):
                self.boots[record.block, record.system, record.attempt] = record
            elif isinstance(record, AgentEvent):
                self._event(record)
            elif isinstance(record, Imported):
                self._imported(record)
            self.state.apply(record)

    def _event(self, record: AgentEvent) -> None:
        event = record.message
        if isinstance(event, Sample):
            self._sample(record, event, event.metric, event.value, event.batch)
        elif isinstance(event, Histogram):
            self._histogram(record, event)
        elif isinstance(event, Counter) and event.name == SERVED:
            self._answer(record, read_served(event))
        elif isinstance(event, Counter) and event.name in ADAPTERS:
            self._adapter_rows(record, event)
        elif isinstance(event, Picture):
            self._picture(record, event)
        elif isinstance(event, Link):
            self._link(record, event)
        elif isinstance(event, Inventory):
            self._inventory += _leaves(record, event)

    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables, by name."""
        return {
            "samples": self._measured("samples", self._samples),
            "histograms": self._measured("histograms", self._histograms),
            "answers": self._measured("answers", self._answers),
            "plan": _frame("plan", self._plan_rows()),
            "failures": _frame("failures", self._failure_rows()),
            "inventory": _frame("inventory", self._inventory),
            "pictures": _frame("pictures", list(self._pictures.values())),
            "links": _frame("links", self._links),
        }

    def _sample(
        self, record: AgentEvent, event: Measured, metric: str, value: float, batch: int
    ) -> None:
        row = self._row(record, event, metric)
        if row is not None:
            row["metric"] = metric
            row["value"] = value
            row["batch"] = batch
            self._append("samples", self._samples, row)

    def _imported(self, record: Imported) -> None:
        """Values of another tool: what beside them is not known is null."""
        system = self.plan.study.system(record.system)
        steps = self.plan.steps[record.system]
        planned = self.state.boots[record.block, record.system].steps
        numbers = {steps[number].workload: number for number in planned}
        for one in record.values:
            case, case_json = self._case(one["workload"], one["case"])
            row = {
                "step": numbers[one["workload"]],
                "system": record.system,
                "target": system.target,
                "layer": self.plan.targets[record.system]["layer"],
                "install": "0",
                "block": record.block,
                "boot": boot_id(record.block, record.system, 0),
                "attempt": 0,
                "workload": one["workload"],
                "metric": one["metric"],
                "case": case,
                "case_json": case_json,
                "key": metric_key(one["workload"], one["metric"], case),
                "unit": one["unit"],
                "direction": one["direction"],
                "phase": "measure",
                "utc": record.utc,
            }
            for iteration, value in enumerate(one["values"]):
                values = {"iteration": iteration, "value": float(value)}
                self._append("samples", self._samples, row | values)

    def _histogram(self, record: AgentEvent, event: Histogram) -> None:
        row = self._row(record, event, event.metric)
        if row is None:
            return
        row["histogram"] = event.metric
        row["count"] = event.count
        row["lowest"] = event.lowest
        row["highest"] = event.highest
        row["significant_digits"] = event.significant_digits
        row["bucket_upper"] = [upper for upper, _ in event.buckets]
        row["bucket_count"] = [count for _, count in event.buckets]
        self._append("histograms", self._histograms, row)
        entry = self._histogram_entries.get((event.workload, event.metric))
        if entry is not None:
            for metric, value in derived(event, entry):
                self._sample(record, event, metric, value, event.count)

    def _answer(self, record: AgentEvent, value: Served) -> None:
        step = self.state.current_step(record)
        if step is None:
            return
        case, _ = self._case(value.workload, value.case)
        warmup = self.plan.steps[record.system][step].warmup
        for metric, tally in read_sources.tallies(value, warmup):
            for served, reads in tally.items():
                row = {
                    "step": step,
                    **_of_boot(record),
                    "workload": value.workload,
                    "metric": metric,
                    "case": case,
                    "key": metric_key(value.workload, metric, case),
                    "served": served,
                    "reads": reads,
                }
                self._append("answers", self._answers, row)

    def _adapter_rows(self, record: AgentEvent, event: Counter) -> None:
        """Once for each boot and value, since each of its workloads states it."""
        for row in _flat(record, [(ADAPTERS[event.name], event.value)]):
            known = (row["boot"], row["path"], row["value_json"], row["unsupported"])
            if known not in self._adapters_seen:
                self._adapters_seen.add(known)
                self._inventory.append(row)

    def _picture(self, record: AgentEvent, event: Picture) -> None:
        """The first picture of a case; a system draws the same in each boot."""
        case, _ = self._case(event.workload, event.case)
        key = (record.system, event.workload, case)
        if key not in self._pictures:
            self._pictures[key] = {
                "system": record.system, "workload": event.workload, "case": case,
                "width": event.width, "height": event.height, "jpeg": event.jpeg,
            }  # fmt: skip

    def _link(self, record: AgentEvent, event: Link) -> None:
        """A calibration states what carries the frames, for the trials of its boot too."""
        boot = boot_id(record.block, record.system, record.attempt)
        profile = event.profile_name
        if event.calibration is not None:
            self._engines[boot, profile] = event.calibration.engine
        engine = self._engines.get((boot, profile))
        of = {**_of_boot(record), "profile": profile, "engine": engine}
        if event.case is not None and event.workload is not None:
            case, _ = self._case(event.workload, event.case)
            of |= {"workload": event.workload, "case": case}
        self._links += [of | row for row in links.rows(event)]

    def _append(self, table: str, columns: dict[str, list[Any]], row: dict[str, Any]) -> None:
        self._steps[table].append(row.pop("step"))
        for name, column in columns.items():
            column.append(row.get(name))

    def _row(self, record: AgentEvent, event: Measured, metric: str) -> dict[str, Any] | None:
        """What a sample and a histogram have in common; None if it belongs to no step."""
        step = self.state.step_of(record)
        boot = self.boots.get((record.block, record.system, record.attempt))
        if step is None or boot is None:
            return None
        workload = event.workload
        case, case_json = self._case(workload, event.case)
        counters = event.counters
        return {
            "step": step,
            **_of_boot(record),
            "target": boot.target,
            "layer": boot.layer,
            "install": boot.install,
            "order": boot.order,
            "workload_order": self.state.boots[record.block, record.system].steps.index(step),
            "process": event.process,
            "workload": workload,
            "case": case,
            "case_json": case_json,
            "key": metric_key(workload, metric, case),
            "unit": event.unit,
            "direction": event.direction,
            "phase": event.phase,
            "iteration": self._iteration(record.system, step, event),
            "elapsed_ns": event.elapsed_ns,
            "checksum": event.checksum,
            "t_ns": event.t_ns,
            "utc": record.utc,
            **{name: counters.get(name) for name in BESIDE},
        }

    def _iteration(self, system: str, step: int, event: Measured) -> int:
        """Its number among those of all visits of the boot."""
        planned = self.plan.steps[system][step]
        before = planned.first_iteration
        if event.phase == "warmup":
            before = planned.visit * planned.warmup
        return before + event.iteration

    def _case(self, workload: str, case: Case) -> tuple[str, str]:
        # A study has few cases and many samples of each.
        found = f"{workload}{case}"
        if found not in self._cases:
            text = case_text(case, self._factors.get(workload, []))
            self._cases[found] = (text, canonical_json(case))
        return self._cases[found]

    def _measured(self, table: str, columns: dict[str, list[Any]]) -> pl.DataFrame:
        columns["counted"] = [
            self.state.counted(block, system, step, attempt)
            for block, system, step, attempt in zip(
                columns["block"],
                columns["system"],
                self._steps[table],
                columns["attempt"],
                strict=True,
            )
        ]
        return pl.DataFrame(columns, schema=TABLES[table], strict=False)

    def _plan_rows(self) -> list[dict[str, Any]]:
        rows = []
        for boot in self.state.boots.values():
            system = self.plan.study.system(boot.system)
            layer = self.plan.targets.get(boot.system, {}).get("layer")
            for order, number in enumerate(boot.steps):
                step = self.plan.steps[boot.system][number]
                rows.append(
                    {
                        "block": boot.block,
                        "order": boot.order,
                        "system": boot.system,
                        "target": system.target,
                        "layer": layer,
                        "workload_order": order,
                        **step.model_dump(exclude={"parameters"}),
                        "parameters_json": canonical_json(step.parameters),
                        **(NO_PROCEDURE if system.imported else {}),
                        "state": self._step_state(boot, number),
                    }
                )
        return rows

    def _step_state(self, boot: BootState, number: int) -> str:
        if number in boot.finished:
            return "finished"
        if number in boot.failed:
            return "failed"
        needed = self.state.needed(boot.block) and number not in boot.spared
        return "open" if needed else "not needed"

    def _failure_rows(self) -> list[dict[str, Any]]:
        rows = []
        for failure in self.state.failures:
            steps = self.state.boots[failure.block, failure.system].steps
            factors = self._factors.get(failure.workload or "", [])
            rows.append(
                {
                    **vars(failure),
                    **_of_boot(failure),
                    "workload_order": None if failure.step is None else steps.index(failure.step),
                    "case": case_text(failure.case, factors),
                    "resolved": self.state.resolved(failure),
                }
            )
        return rows


def boot_id(block: int, system: str, attempt: int) -> str:
    """Text id of one boot, "<block>.<system>.<attempt>"."""
    return f"{block}.{system}.{attempt}"


def _of_boot(one: AgentEvent | Failure) -> dict[str, Any]:
    """The columns of the boot that something belongs to."""
    return {
        "system": one.system,
        "block": one.block,
        "boot": boot_id(one.block, one.system, one.attempt),
        "attempt": one.attempt,
    }


def write_tables(directory: Path, tables: dict[str, pl.DataFrame]) -> dict[str, str]:
    """Write each table as `NAME.parquet`, whole or not at all; returns the digest of each file.

    Raises:
        OSError: one of them cannot be written.
    """
    digests = {}
    for name, frame in tables.items():
        data = as_file(frame)
        write_whole(directory / f"{name}.parquet", data)
        digests[name] = f"{len(data)}:{hashlib.sha256(data).hexdigest()}"
    return digests


def as_file(table: pl.DataFrame) -> bytes:
    """A table as the bytes of a file of Parquet."""
    file = io.BytesIO()
    table.write_parquet(file)
    return file.getvalue()


def read_file(
    path: Path, name: str, digest: str, most_rows: int, columns: Sequence[str] | None = None
) -> tuple[bytes, pl.DataFrame] | None:
    """The bytes of a file that `write_tables` wrote, and the table in it; None if the file is
    another one, or cannot be read.

    Args:
        digest: what `write_tables` returned for it.
        most_rows: rows that it can have; a small file can stand for any number of them.
        columns: of the table, in their order; None for all of them.
    """
    length, _, wanted = digest.partition(":")
    try:
        # From bytes: Polars takes `[`, `*` and `?` in a path for wildcards.
        data = read_bytes(path, int(length))
        if hashlib.sha256(data).hexdigest() != wanted:
            return None
        chosen = None if columns is None else list(columns)
        table = pl.read_parquet(io.BytesIO(data), columns=chosen, n_rows=most_rows + 1)
        schema = table.schema if chosen is None else pl.read_parquet_schema(io.BytesIO(data))
    except (OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    whole = table.height <= most_rows and dict(schema) == TABLES[name]
    return (data, table) if whole else None


def _frame(name: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    schema = TABLES[name]
    columns = {column: [row.get(column) for row in rows] for column in schema}
    return pl.DataFrame(columns, schema=schema, strict=False)


def _leaves(record: AgentEvent, event: Inventory) -> list[dict[str, Any]]:
    """Rows of one inventory event."""
    pending: list[tuple[str, Any]] = [
        (part, getattr(event, part))
        for part in ("telemetry", "placement", "clock", "agent")
        if part in event.model_fields_set
    ]
    tree = list((event.system or {}).items())
    return _flat(record, [*pending, *reversed(tree)])


def _flat(record: AgentEvent, pending: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    """A row for each leaf: a value, a list, or {"unsupported": reason}."""
    rows = []
    while pending:
        path, value = pending.pop()
        reason = value.get("unsupported") if isinstance(value, dict) and len(value) == 1 else None
        if isinstance(value, dict) and value and not isinstance(reason, str):
            pending += [(f"{path}.{key}", part) for key, part in reversed(value.items())]
            continue
        rows.append(
            {
                **_of_boot(record),
                "path": path,
                "value_json": None if reason else json.dumps(value, ensure_ascii=False),
                "unsupported": reason if isinstance(reason, str) else None,
                "utc": record.utc,
            }
        )
    return rows
