"""The rows of an archive's tables that one result gives."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import polars as pl

from pentathlon.archive import unmerged
from pentathlon.archive.format import FORMAT
from pentathlon.archive.original import pack
from pentathlon.archive.schema import BOOTS, INDEX, SYSTEMS
from pentathlon.archive.source import Source
from pentathlon.evaluate import published
from pentathlon.evaluate.diagnostics.exclude import exclude
from pentathlon.evaluate.estimate import counted, deviation_of_values, mean_of_values
from pentathlon.evaluate.facts import Measured, inventories_of_used, system_facts
from pentathlon.evaluate.titles import Titles
from pentathlon.store.problems import StoreError
from pentathlon.store.query import Result, load_result
from pentathlon.study.plan import canonical_json

USED: Final = (
    "system", "key", "block", "boot", "layer", "install", "workload", "metric", "case_json", "unit",
    "direction", "value", "checksum", "counted", "phase",
)  # fmt: skip
"""Columns of samples that the rows of boots and the facts of systems are made from."""


@dataclass(frozen=True)
class Rows:
    """One result: its rows, and all of its files."""

    result: str
    study: str
    month: str
    index: dict[str, Any]
    systems: list[dict[str, Any]]
    boots: pl.DataFrame
    """Without what names the result."""
    samples: bytes
    """A file of Parquet."""
    original: bytes

    @property
    def original_name(self) -> str:
        return str(self.index["original"])

    @property
    def samples_name(self) -> str:
        return unmerged.name(self.study, self.month, self.result, str(self.index["batch"]))


def tables(results: Sequence[Rows]) -> dict[str, pl.DataFrame]:
    """The rows of several results as one table of each kind."""
    return {
        "index": _frame([one.index for one in results], INDEX),
        "systems": _frame([row for one in results for row in one.systems], SYSTEMS),
        "boots": _boots_of(results),
    }


def read(source: Source, machine: str, batch: str, branch: str = "") -> Rows:
    """Read a result as rows.

    Args:
        machine: where it was measured; the result itself does not state it.
        branch: of the project that was measured, or "".

    Raises:
        StoreError: it is none, damaged or not complete.
        OSError: it cannot be read.
    """
    path, found = source.path, source.identity
    result = load_result(path, source.journal)
    if result.unfinished:
        raise StoreError(
            f"{path} is {result.unfinished}, or it was not copied in full; end it with "
            f"pentathlon run --resume {path}, or copy it again"
        )
    original = pack(path)
    summary, study = result.summary(), result.study
    names = [one.name for one in study.systems]
    rules = study.evaluation.exclusions()
    # Only rules look at the readings beside a sample.
    file, samples = result.samples_file(None if rules else USED)
    if source.changed:
        raise StoreError(f"{path} changes while it is read; add it once that has ended")
    measured = counted(samples)
    used, _ = exclude(measured, rules, names)
    boots = _boots(used, result)
    inventories_of = inventories_of_used(result.inventory(), measured)
    facts = system_facts(result.plan, _measured(boots), inventories_of, with_hardware=False)
    common = {"result": found, "batch": batch, "study": study.name}
    systems = []
    for one in facts:
        parameters = canonical_json(
            {step.workload: step.parameters for step in result.plan.steps.get(one.name, ())}
        )
        systems.append(
            {
                **common,
                "started": summary.started,
                "system": one.name,
                "layer": one.layer,
                "cpu": one.cpu,
                "kernel": one.kernel,
                "catalog_version": one.catalog_version,
                "build": "+".join(one.agent_builds),
                "parameters_sha256": hashlib.sha256(parameters.encode()).hexdigest(),
                "parameters_json": parameters,
                "facts_json": one.model_dump_json(),
            }
        )
    month = _month(summary.started)
    builds = dict.fromkeys(build for one in facts for build in one.agent_builds)
    index = {
        **common,
        "month": month,
        "title": study.title or study.name,
        "plan": result.plan_hash,
        "build": "+".join(builds),
        "machine": machine,
        "systems": ",".join(names),
        "reference": study.reference,
        "kernel": facts[0].kernel,
        "cpu": facts[0].cpu,
        "started": summary.started,
        "added": datetime.now(UTC).isoformat(timespec="seconds"),
        "format": FORMAT,
        "name": path.absolute().name,
        "blocks": len(result.plan.blocks),
        "samples": samples.height,
        "failures": summary.failures,
        "delta_percent": study.evaluation.delta_percent,
        "confidence": study.evaluation.confidence,
        "weights_json": canonical_json(dict(study.weights)),
        "original": f"originals/{month}/{found}-{batch}.tar.zst",
        "original_bytes": len(original),
        "original_sha256": hashlib.sha256(original).hexdigest(),
        "branch": branch,
    }
    return Rows(found, study.name, month, index, systems, boots, file, original)


def _aggregates(*, plain: bool) -> list[pl.Expr]:
    value = pl.col("value")
    log_mean = value.log().mean()
    lowest = value.min()
    if not plain:
        log_mean = pl.when((value > 0).all()).then(log_mean)
        lowest = pl.when(value.is_finite().all()).then(lowest).otherwise(float("nan"))
    return [
        pl.col("workload", "metric", "case_json").first(),
        pl.col("unit", "direction").min(),
        pl.struct("unit", "direction").n_unique().cast(pl.Int64).alias("units"),
        pl.col("install").first(),
        pl.col("layer").max(),
        pl.len().cast(pl.Int64).alias("n"),
        (value.mean() if plain else mean_of_values()).alias("mean"),
        log_mean.alias("log_mean"),
        (value.std(ddof=1) if plain else deviation_of_values()).alias("sd"),
        lowest.alias("lowest"),
    ]


AGGREGATES: Final = {plain: _aggregates(plain=plain) for plain in (False, True)}
"""Columns of a boot out of its samples, and the same where every value is positive and its square a
number: half of the work is to look for those that are not. Made once, as this takes long too."""
PLAIN: Final = pl.col("value").is_finite().all() & pl.col("value").is_between(
    published.LEAST, published.MOST
).all()  # fmt: skip
CHECKSUMS: Final = pl.col("checksum").drop_nulls().unique().sort().str.join(",").alias("checksums")
FIRST_CHECKSUM: Final = (
    pl.col("checksum").first().alias("checksums"),
    pl.col("checksum").n_unique().alias("different"),
)
"""All that there is where each boot has one, in a third of the time."""
COLUMNS: Final = [pl.col(name).cast(kind) for name, kind in BOOTS.items()]


def _boots(used: pl.DataFrame, result: Result) -> pl.DataFrame:
    titles = Titles(result.catalog)
    aggregates = AGGREGATES[bool(used.select(PLAIN).item())]
    groups = used.group_by("system", "key", "block")
    without = used["checksum"].null_count()
    if without == used.height:
        boots = groups.agg(*aggregates, pl.lit("").alias("checksums"))
    else:
        boots = groups.agg(*aggregates, *FIRST_CHECKSUM)
        if without or boots["different"].max() != 1:
            boots = groups.agg(*aggregates, CHECKSUMS)
    rows = list(zip(boots["workload"].to_list(), boots["metric"].to_list(), strict=True))
    areas = {pair: titles.area(pair[0]) for pair in set(rows)}
    roles = {pair: titles.role(*pair) for pair in areas}
    return boots.with_columns(
        pl.Series("area", [areas[pair] for pair in rows], dtype=BOOTS["area"]),
        pl.Series("role", [roles[pair] for pair in rows], dtype=BOOTS["role"]),
    )


def _boots_of(results: Sequence[Rows]) -> pl.DataFrame:
    """The boots of several results in one table: a query for each would cost more than its work."""
    named = {
        name: pl.Series(
            [one.index[name] for one in results for _ in range(one.boots.height)],
            dtype=BOOTS[name],
        )
        for name in ("result", "batch", "study")
    }
    return pl.concat([one.boots for one in results]).with_columns(**named).select(COLUMNS)


def _measured(boots: pl.DataFrame) -> dict[str, Measured]:
    """How much of each system counts, from its boots."""
    blocks: dict[str, set[int]] = {}
    samples: dict[str, int] = {}
    layers: dict[str, str] = {}
    columns = (boots[name].to_list() for name in ("system", "block", "n", "layer"))
    for system, block, count, layer in zip(*columns, strict=True):
        blocks.setdefault(system, set()).add(block)
        samples[system] = samples.get(system, 0) + count
        layers[system] = max(layers.get(system, ""), layer or "")
    return {name: Measured(len(blocks[name]), samples[name], layers[name]) for name in blocks}


def _month(started: str) -> str:
    """Year and month of a time that a journal states.

    Raises:
        StoreError: it is no time.
    """
    try:
        return f"{datetime.fromisoformat(started):%Y-%m}"
    except ValueError as error:
        raise StoreError(f"the journal begins at {started!r}, which is no time") from error


def _frame(rows: list[dict[str, Any]], schema: dict[str, pl.DataType]) -> pl.DataFrame:
    return pl.DataFrame(
        {name: [row[name] for row in rows] for name in schema}, schema=schema, strict=False
    )
