"""One result directory, to be looked at from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import polars as pl

from pentathlon.analysis import judged
from pentathlon.analysis.comparison import Comparison
from pentathlon.analysis.frames import Form, converted
from pentathlon.evaluate import evaluate
from pentathlon.evaluate.estimate import counted as counted_samples
from pentathlon.evaluate.model import Evaluation
from pentathlon.store.query import list_results, load_result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOOTS: dict[str, pl.DataType] = {
    "system": pl.String(),
    "block": pl.Int64(),
    "install": pl.String(),
    "key": pl.String(),
    "workload": pl.String(),
    "metric": pl.String(),
    "case": pl.String(),
    "unit": pl.String(),
    "direction": pl.String(),
    "role": pl.String(),
    "value": pl.Float64(),
}
"""Columns of `Result.boots`."""


class Result:
    """One result directory, read only.

    The first table that is asked for reads the directory; each is kept from then on. A run that
    goes on writing is seen as it was then: make another `Result` to look again.

    Args:
        path: the directory, such as "results/two-kernels-20260101T120000Z".

    Raises:
        StoreError: it is no result directory, it is damaged, or its plan is not the one that was
            measured by.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._result = load_result(Path(path))

    def __repr__(self) -> str:
        return f"Result({str(self.path)!r})"

    @property
    def path(self) -> Path:
        """The directory."""
        return self._result.path

    @property
    def name(self) -> str:
        """Name of the study."""
        return self._result.study.name

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, the reference among them, in the order of the study file."""
        return tuple(system.name for system in self._result.study.systems)

    @property
    def reference(self) -> str:
        """The system that the study compares the others with."""
        return self._result.study.reference

    @property
    def plan_hash(self) -> str:
        """SHA-256 of the plan, in hexadecimal digits; the journal was begun with the same."""
        return self._result.plan_hash

    @property
    def unfinished(self) -> str:
        """How far a run is that has not ended, in words; "" if it has."""
        return self._result.unfinished

    @property
    def keys(self) -> tuple[str, ...]:
        """Every metric with its case, such as "memory.read.bandwidth[block_bytes=1024]"."""
        return tuple(row.key for row in self._evaluation.rows)

    @overload
    def samples(self, *, counted: bool = ..., to: Literal["polars"] = ...) -> pl.DataFrame: ...
    @overload
    def samples(self, *, counted: bool = ..., to: Form) -> Any: ...
    def samples(self, *, counted: bool = True, to: Form = "polars") -> Any:
        """One row per sample; the columns are in docs/results.md.

        Args:
            counted: only those that the judgement counts: of finished steps, without warm-up.
                Otherwise all that were taken; the columns `counted` and `phase` state which.
            to: the form of the table.

        Raises:
            StoreError: the directory is damaged.
            ModuleNotFoundError: the package of that form is not installed.
        """
        every = self._result.samples()
        return converted(counted_samples(every) if counted else every, to)

    @overload
    def boots(self, *, to: Literal["polars"] = ...) -> pl.DataFrame: ...
    @overload
    def boots(self, *, to: Form) -> Any: ...
    def boots(self, *, to: Form = "polars") -> Any:
        """One row per metric, system and block: the mean of one boot, the unit of inference.

        These are the numbers that the judgement rests on. `value` is the arithmetic mean of the
        boot's counted samples in `unit`, without those that the study excludes; the row of a metric
        and a block in another system is the other half of its pair. Of the role "context" no value
        is better than another, and ratios are those of the values, not of speeds.
        """
        rows = [
            {
                "system": summary.system,
                "block": boot.block,
                "install": boot.install,
                "key": row.key,
                "workload": row.workload,
                "metric": row.metric,
                "case": ",".join(f"{name}={value}" for name, value in row.case.items()),
                "unit": row.unit,
                "direction": row.direction,
                "role": row.role,
                "value": boot.value,
            }
            for row in self._evaluation.rows
            for summary in row.summaries
            for boot in summary.boot_means
        ]
        return converted(pl.DataFrame(rows, schema=BOOTS), to)

    @overload
    def failures(self, *, to: Literal["polars"] = ...) -> pl.DataFrame: ...
    @overload
    def failures(self, *, to: Form) -> Any: ...
    def failures(self, *, to: Form = "polars") -> Any:
        """Everything that was requested and not measured, what is unsupported among it."""
        return converted(self._result.failures(), to)

    @overload
    def inventory(self, *, to: Literal["polars"] = ...) -> pl.DataFrame: ...
    @overload
    def inventory(self, *, to: Form) -> Any: ...
    def inventory(self, *, to: Form = "polars") -> Any:
        """What each boot of a system reported of itself: a row for each path of its inventory."""
        return converted(self._result.inventory(), to)

    def compare(
        self,
        *,
        reference: str | None = None,
        systems: Sequence[str] | None = None,
        delta: float | None = None,
        confidence: float | None = None,
        declared: Sequence[str] | None = None,
        weights: Mapping[str, float] | None = None,
        only: Sequence[str] | None = None,
    ) -> Comparison:
        """Judge the systems against a reference, as the study planned or otherwise.

        What is given here was chosen after the measurement: the comparison, its table and its
        pictures are then marked "post hoc", as the reports are.

        Args:
            reference: system that the others are compared with; None: the study's.
            systems: those to compare with it; None: all others.
            delta: region of equivalence in percent, between 0 and 100; None: the study's.
            confidence: a fraction, from 0.5 to 1, both excluded; None: the study's.
            declared: WORKLOAD, WORKLOAD.METRIC or patterns that the claims are about; the rest is
                exploratory. None: the study's.
            weights: of areas and workloads, what is not named has 1; None: the study's.
            only: WORKLOAD, WORKLOAD.METRIC, keys or patterns to judge alone; None: everything.

        Raises:
            ValueError: a number is out of its range, or a name means nothing in this result.
        """
        planned = reference in (None, self.reference) and systems is None
        if planned and (delta, confidence, declared, weights, only) == (None,) * 5:
            return Comparison(self._evaluation)
        found = judged.focused(self._result, reference, systems)
        rules = judged.by(
            found,
            delta=delta,
            confidence=confidence,
            declared=declared,
            weights=weights,
            only=only,
        )
        return Comparison(evaluate(rules))

    def plot(
        self, key: str, *, kind: Literal["boots", "samples"] = "boots", paired: bool = True
    ) -> Figure:
        """A picture of one metric on every system (Matplotlib).

        Args:
            key: one of `keys`.
            kind: "boots" draws the mean of each boot, joined along the blocks where `paired`;
                "samples" draws every counted sample, boot by boot.
            paired: join the boots of a block, which were measured next to each other.

        Raises:
            ValueError: there is no such metric, or no such kind.
            ModuleNotFoundError: Matplotlib is not installed.
        """
        from pentathlon.analysis import plots  # noqa: PLC0415  an extra that need not be there

        judged.known(key, self.keys, "metric", self.path)
        if kind == "boots":
            return plots.boots(self.boots().filter(pl.col("key") == key), self.systems, paired)
        if kind == "samples":
            return plots.samples(self.samples().filter(pl.col("key") == key), self.systems)
        raise ValueError(f'"{kind}" is no kind of picture; use "boots" or "samples"')

    def write(
        self,
        directory: str | PathLike[str],
        *,
        form: Literal["csv", "parquet", "arrow"] = "csv",
    ) -> list[Path]:
        """Write the tables `samples`, `boots`, `comparison`, `failures` and `inventory`.

        Args:
            directory: where to; it is made.
            form: "csv" (RFC 4180, numbers in full precision), "parquet", or "arrow" (its file
                format, also called Feather version 2). Counted samples alone are written.

        Returns:
            The files.

        Raises:
            ValueError: there is no such form.
            OSError: a file cannot be written.
        """
        tables = {
            "samples": self.samples(),
            "boots": self.boots(),
            "comparison": self.compare().table(),
            "failures": self.failures(),
            "inventory": self.inventory(),
        }
        if form not in ("csv", "parquet", "arrow"):
            raise ValueError(f'"{form}" is no form of a file; use "csv", "parquet" or "arrow"')
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        files = []
        for name, table in tables.items():
            files.append(folder / f"{name}.{form}")
            if form == "csv":
                table.write_csv(files[-1])
            elif form == "parquet":
                table.write_parquet(files[-1])
            else:
                table.write_ipc(files[-1])
        return files

    @cached_property
    def _evaluation(self) -> Evaluation:
        """The judgement that the study planned."""
        return evaluate(self._result)


def results(root: str | PathLike[str] = "results") -> list[Result]:
    """The results in a directory, newest first; directories that cannot be read are left out."""

    return [Result(one.path) for one in list_results(Path(root))]
