"""The one module through which results are read, so that another engine can serve them later."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from pentathlon.procedure.records import BootEnd, Imported, Record
from pentathlon.procedure.state import RunState
from pentathlon.protocol.events import Packets
from pentathlon.safeio.checksum import SealError, sealed, unsealed
from pentathlon.store.calibration import read_from_result
from pentathlon.store.choice import Choice
from pentathlon.store.counted import counted_boots
from pentathlon.store.directory import read_catalog, read_plan_and_start, result_directories
from pentathlon.store.files import read_bytes, write_whole
from pentathlon.store.journal import JOURNAL, StoreError, is_locked, read_journal
from pentathlon.store.journal_sums import journal_sums
from pentathlon.store.ondemand import OnDemand
from pentathlon.store.packets import kept_trials
from pentathlon.store.problems import writing
from pentathlon.store.schema import TABLES
from pentathlon.store.standing import Standing, Summary
from pentathlon.store.tables import TableBuilder, as_file, read_file, write_tables
from pentathlon.study.catalog import Catalog
from pentathlon.study.counting import count_text
from pentathlon.study.model import Study
from pentathlon.study.plan import Plan
from pentathlon.study.rules import Evaluation

FRESH = "tables.json"
FRESH_FORMAT = 7
"""To be raised whenever the columns of a table or the meaning of one change."""


class _PartOfPlan(Plan):
    """Some systems of a plan. It was not measured by itself, so it keeps the whole plan's hash."""

    whole_hash: str

    def hash(self) -> str:
        return self.whole_hash


class Result:
    """One result directory.

    Attributes:
        path: the directory.
        plan: the plan, which holds the study.
        catalog: the agent's catalog at the time of the run.
        start: the record that began the run.
    """

    plan: Plan

    def __init__(self, path: Path, journal: tuple[int, str] | None = None) -> None:
        self.path = path
        self.plan, self.start = read_plan_and_start(path)
        self.catalog: Catalog = read_catalog(path, self.start)
        self._known = journal

    @property
    def study(self) -> Study:
        """The study, defaults filled in."""
        return self.plan.study

    @property
    def planned(self) -> Study:
        """The study as it was planned; a view may be judged by other rules."""
        return self.plan.study

    @property
    def chosen(self) -> tuple[int, int]:
        """How many metrics are looked at, and of how many."""
        every = self.samples()["key"].n_unique()
        return every, every

    @cached_property
    def plan_hash(self) -> str:
        """SHA-256 of the plan as it was written, which a later version may write otherwise."""
        return self.start.plan_hash

    @cached_property
    def state(self) -> RunState:
        """Where the run stands."""
        state = RunState(self.plan)
        self._each_record(state.apply)
        return state

    @property
    def finished(self) -> bool:
        """Whether every step of the plan was run or has failed for good."""
        return self._standing.ended

    def samples(self) -> pl.DataFrame:
        """All samples (`schema.SAMPLES`); `counted` and `phase` say which ones to evaluate."""
        return self._tables["samples"]

    def samples_file(self, columns: Sequence[str] | None) -> tuple[bytes, pl.DataFrame]:
        """All samples as the bytes of a file of Parquet, and some of their columns.

        Args:
            columns: their names; None for all of them.
        """
        found = self._file("samples", columns)
        if found is not None:
            return found
        table = self.samples()
        return as_file(table), table if columns is None else table.select(columns)

    def trials(self) -> list[tuple[str, int, Packets]]:
        """The trials between two hosts that count: system, block and `packets` event of each."""
        ended = {
            (record.block, record.system, record.attempt)
            for record in read_journal(self.path)
            if isinstance(record, BootEnd) and record.outcome == "ok"
        }
        return [
            (trial.system, trial.block, trial.event)
            for trial in kept_trials(self.path)
            if (trial.block, trial.system, trial.attempt) in ended
        ]

    def histograms(self) -> pl.DataFrame:
        """All histograms of raw values (`schema.HISTOGRAMS`), to be merged bucket by bucket."""
        return self._tables["histograms"]

    def answers(self) -> pl.DataFrame:
        """Which source answered the reads of disk workloads (`schema.ANSWERS`)."""
        return self._tables["answers"]

    def pictures(self) -> pl.DataFrame:
        """What the systems drew (`schema.PICTURES`)."""
        return self._tables["pictures"]

    def links(self) -> pl.DataFrame:
        """What emulated links were and did (`schema.LINKS`)."""
        return self._tables["links"]

    def failures(self) -> pl.DataFrame:
        """Everything that was requested and not measured (`schema.FAILURES`)."""
        return self._tables["failures"]

    def inventory(self) -> pl.DataFrame:
        """What the systems say of themselves (`schema.INVENTORY`)."""
        return self._tables["inventory"]

    def plan_table(self) -> pl.DataFrame:
        """Every planned step and its state (`schema.PLAN`)."""
        return self._tables["plan"]

    def facts(self, system: str) -> dict[str, Any]:
        """Inventory of the last boot that counts: path -> value, or {"unsupported": reason}."""
        counted = counted_boots(self.inventory(), self.samples())
        rows = counted.filter(pl.col("system") == system)
        if rows.is_empty():
            return {}
        last = rows.filter(pl.col("boot") == rows["boot"][-1])
        return {
            row["path"]: {"unsupported": row["unsupported"]}
            if row["unsupported"] is not None
            else json.loads(row["value_json"])
            for row in last.iter_rows(named=True)
        }

    def imports(self) -> list[Imported]:
        """What was imported from other tools, in its order; [] of what was measured here."""
        if not self.planned.imported:
            return []
        return [one for one in read_journal(self.path) if isinstance(one, Imported)]

    def notes(self) -> list[str]:
        """Sentences that the run noted when it began, such as why a fallback was run."""
        return list(self.start.notes)

    @property
    def cpu_latency_us(self) -> int | None:
        """Limit of the idle states of the experimenter's CPUs, in µs; None: there was none."""
        return self.start.cpu_latency_us

    def summary(self) -> Summary:
        """The result in one line."""
        standing = self._standing
        state = "finished" if standing.ended else "unfinished"
        if not standing.ended and is_locked(self.path):
            state = "running"
        return Summary(
            path=self.path,
            name=self.study.name,
            plan_hash=self.plan_hash,
            started=standing.started,
            state=state,
            steps=self.plan.step_count(),
            finished=standing.finished_steps,
            failures=standing.failures,
            not_needed=standing.not_needed,
            unsupported=standing.unsupported,
        )

    @property
    def unfinished(self) -> str:
        """How far a run is that has not ended, in words; "" if it has."""
        one = self.summary()
        if one.state == "finished":
            return ""
        begun = "is going on" if one.state == "running" else "was cut off"
        requested = count_text(one.steps - one.not_needed, "step")
        return f"unfinished, {one.finished} of {requested}: the run {begun}"

    @property
    def enough(self) -> str | None:
        """Why the stopping rule ended the study before its last block; None if it did not."""
        return self._standing.enough

    @property
    def decided(self) -> Mapping[str, int]:
        """Workload -> blocks after which it was decided at a look, and no longer measured."""
        return self._standing.decided

    @cached_property
    def calibrations(self) -> list[dict[str, Any]]:
        """Calibrations of the machine that were kept when the run began."""
        return read_from_result(self.path)

    def focused(self, reference: str, others: Sequence[str]) -> Result:
        """The same result, seen from another reference and with some of the systems.

        The plan hash stays that of the plan that was measured.
        """
        names = {reference, *others}
        systems = tuple(system for system in self.study.systems if system.name in names)
        study = self.study.model_copy(update={"reference": reference, "systems": systems})
        return _View(self, study, lambda _, table: table.filter(pl.col("system").is_in(names)))

    def narrowed(
        self,
        evaluation: Evaluation,
        chosen: Callable[[str], bool],
        weights: Mapping[str, float] | None = None,
    ) -> Result:
        """The same result, judged by other rules and by some of its metrics.

        Args:
            chosen: whether the metric of a key (`schema.SAMPLES`) is looked at.
            weights: of areas and workloads, instead of the study's.
        """
        update: dict[str, Any] = {"evaluation": evaluation}
        if weights is not None:
            update["weights"] = dict(weights)
        study = self.study.model_copy(update=update)
        measured = self.samples().select("workload", "key").unique().iter_rows()
        workloads = frozenset(workload for workload, key in measured if chosen(key))
        return _View(self, study, Choice(chosen, workloads, self.catalog).narrow)

    def refresh(self) -> None:
        """Make the tables again from the journal and write them beside it.

        Raises:
            StoreError: the journal is damaged, or the directory cannot be written.
        """
        self.__dict__.pop("state", None)
        self.__dict__.pop("_pass", None)
        self._known = None
        size, checksum, digest = journal_sums(self.path)
        tables, standing = self._pass
        self.__dict__["_tables"], self.__dict__["_standing"] = tables, standing
        with writing(self.path):
            (self.path / FRESH).unlink(missing_ok=True)
            noted = {
                "format": FRESH_FORMAT,
                "journal_bytes": size,
                "journal_crc32": checksum,
                "journal_sha256": digest,
                "standing": asdict(standing),
                "tables": write_tables(self.path, tables),
            }
            write_whole(self.path / FRESH, sealed(noted))

    @cached_property
    def _tables(self) -> Mapping[str, pl.DataFrame]:
        return self._pass[0] if self._fresh is None else OnDemand(self._table)

    def _table(self, name: str) -> pl.DataFrame:
        """A table from its file; one that is damaged is made again."""
        found = self._file(name)
        return self._pass[0][name] if found is None else found[1]

    def _file(
        self, name: str, columns: Sequence[str] | None = None
    ) -> tuple[bytes, pl.DataFrame] | None:
        """A table's file and what it holds; None if the table has to be made, or was made."""
        if "_pass" in self.__dict__ or self._fresh is None:
            return None
        # No row of a table takes less than a byte of the journal or of the plan.
        most = self._journal_bytes() + self.plan.step_count()
        path = self.path / f"{name}.parquet"
        return read_file(path, name, self._fresh[1][name], most, columns)

    @cached_property
    def _standing(self) -> Standing:
        return self._pass[1] if self._fresh is None else self._fresh[0]

    @cached_property
    def _fresh(self) -> tuple[Standing, dict[str, str]] | None:
        """Where the run stands and the digests of the tables, as noted beside them; None if they
        were made from another journal than the one that is there, or the note is damaged."""
        try:
            noted, has_seal = unsealed(read_bytes(self.path / FRESH))
            if not has_seal or noted["format"] != FRESH_FORMAT:
                return None
            if noted["journal_bytes"] != self._journal_bytes():
                return None  # A look at the length spares the reading of what has grown since.
            if not self._is_of_the_journal(noted):
                return None
            digests = {name: str(noted["tables"][name]) for name in TABLES}
            return Standing(**noted["standing"]), digests
        except (OSError, SealError, LookupError, TypeError):
            return None

    @cached_property
    def _pass(self) -> tuple[dict[str, pl.DataFrame], Standing]:
        """One pass over the journal: the tables and where the run stands."""
        builder = TableBuilder(self.plan, self.catalog)
        self._each_record(lambda record: builder.take([record]))
        try:
            tables = builder.tables()
        except (
            LookupError, TypeError, ValueError, ArithmeticError,
            pl.exceptions.PolarsError, pl.exceptions.PanicException,
        ) as error:  # fmt: skip
            raise StoreError(
                f"{self.path / JOURNAL}: a record holds what fits no table: "
                f"{type(error).__name__}: {error}"
            ) from error
        state = builder.state
        standing = Standing(
            ended=state.ended and not state.pending(),
            started=builder.started,
            finished_steps=state.finished_steps(),
            failures=len(state.unresolved()),
            unsupported=sum(one.kind == "unsupported" for one in state.failures),
            not_needed=state.steps_not_needed(),
            enough=None if state.enough is None else state.enough.reason,
            decided=dict(state.decided),
        )
        return tables, standing

    def _each_record(self, take: Callable[[Record], None]) -> None:
        """Have every record taken, in order.

        Raises:
            StoreError: one of them is not of this plan, or lacks what its kind has.
        """
        for number, record in enumerate(read_journal(self.path), start=1):
            try:
                take(record)
            except (
                LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError,
            ) as error:  # fmt: skip
                raise StoreError(
                    f"{self.path / JOURNAL}:{number}: this record ({record.kind}) does not fit the "
                    f"plan beside it, or is damaged: {type(error).__name__}: {error}"
                ) from error

    def _journal_bytes(self) -> int:
        try:
            return (self.path / JOURNAL).stat().st_size
        except OSError:
            return -1

    def _is_of_the_journal(self, noted: Mapping[str, Any]) -> bool:
        """Whether what is noted beside the tables is of the journal that is there."""
        if self._known is not None and "journal_sha256" in noted:  # Earlier versions lack it.
            return self._known == (noted["journal_bytes"], noted["journal_sha256"])
        size, checksum, _ = journal_sums(self.path, with_digest=False)
        return (noted["journal_bytes"], noted["journal_crc32"]) == (size, checksum)


class _View(Result):
    """Some of a result. What is derived is made from the whole of it, and then narrowed."""

    def __init__(
        self, whole: Result, study: Study, narrow: Callable[[str, pl.DataFrame], pl.DataFrame]
    ) -> None:
        self.path = whole.path
        self.plan = _PartOfPlan(
            **{name: getattr(whole.plan, name) for name in Plan.model_fields if name != "study"},
            study=study,
            whole_hash=whole.plan_hash,
        )
        self.catalog, self.start = whole.catalog, whole.start
        self._whole = whole
        self._narrow = narrow

    @property
    def planned(self) -> Study:
        return self._whole.planned

    @property
    def chosen(self) -> tuple[int, int]:
        names = {system.name for system in self.study.systems}
        every = self._every.samples().filter(pl.col("system").is_in(names))
        return self.samples()["key"].n_unique(), every["key"].n_unique()

    @property
    def _every(self) -> Result:
        """The result that no view narrows."""
        return self._whole._every if isinstance(self._whole, _View) else self._whole

    @cached_property
    def state(self) -> RunState:
        return self._whole.state

    def samples_file(self, columns: Sequence[str] | None) -> tuple[bytes, pl.DataFrame]:
        table = self.samples()
        return as_file(table), table if columns is None else table.select(columns)

    def trials(self) -> list[tuple[str, int, Packets]]:
        names = {system.name for system in self.study.systems}
        return [trial for trial in self._whole.trials() if trial[0] in names]

    def refresh(self) -> None:
        self._whole.refresh()
        self.__dict__.pop("state", None)
        self.__dict__.pop("_tables", None)

    @cached_property
    def _tables(self) -> Mapping[str, pl.DataFrame]:
        return OnDemand(lambda name: self._narrow(name, self._whole._tables[name]))

    @property
    def _standing(self) -> Standing:
        return self._whole._standing


def load_result(path: Path, journal: tuple[int, str] | None = None) -> Result:
    """Open a result directory.

    Args:
        journal: bytes of the journal and their SHA-256, from who has just read it.

    Raises:
        StoreError: it is none, or it is damaged.
    """
    return Result(path, journal)


def list_results(root: Path, unreadable: list[str] | None = None) -> list[Summary]:
    """The results in a directory, newest first; those that cannot be read are left out.

    Args:
        unreadable: takes a sentence for each of these.
    """
    found = []
    for directory in result_directories(root):
        try:
            found.append(load_result(directory).summary())
        except StoreError as error:
            if unreadable is not None:
                unreadable.append(str(error))
    return found


def newest(root: Path) -> Path:
    """The newest result.

    Raises:
        StoreError: there is none.
    """
    for directory in result_directories(root):
        return directory
    raise StoreError(f"there is no result in {root}; name one, or start with: pentathlon run STUDY")


def newest_unfinished(root: Path) -> Path:
    """The newest result that was cut off.

    Raises:
        StoreError: there is none.
    """
    for summary in list_results(root):
        if summary.state == "unfinished":
            return summary.path
    raise StoreError(
        f"there is no unfinished result in {root}; start one with: pentathlon run STUDY"
    )
