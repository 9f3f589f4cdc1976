"""One system over the results of an archive: read by a query, judged as any line."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from pentathlon.archive import queries
from pentathlon.archive.engines import Engine
from pentathlon.archive.where import ALWAYS, both, to_sql
from pentathlon.evaluate.results.digest import Level, SystemDigest
from pentathlon.evaluate.results.timeline import Point
from pentathlon.store.problems import StoreError

NO_ROW = (
    'no row of the system "{system}" is one that --only chooses; it takes a workload, '
    "WORKLOAD.METRIC, a whole key, or a pattern such as process.*"
)


def points(
    run: Engine,
    where: str | None,
    system: str,
    only: Callable[[str], bool] | None = None,
    *,
    also: str = ALWAYS,
) -> list[Point]:
    """The results with a system that a filter chooses, as points of a line.

    Args:
        only: whether the row of a key is read.
        also: a further condition, in SQL.

    Raises:
        StoreError: there is none.
    """
    condition = both(to_sql(where, "r."), also)
    rows = run.rows(queries.systems(condition, system))
    if not rows:
        raise StoreError(f'no chosen result has a system "{system}"')
    chosen = None
    if only is not None:
        every = run.columns(queries.keys(condition, system)).get("key", [])
        chosen = [key for key in every if only(key)]
        if not chosen:
            raise StoreError(NO_ROW.format(system=system))
    parameters = _parameters(run, {row["parameters_sha256"] for row in rows})
    levels: dict[str, dict[str, Level]] = {row["result"]: {} for row in rows}
    found = run.columns(queries.levels(condition, system, chosen))
    names = ("workload", "metric", "area", "role", "unit", "direction", "lowest", "log_mean")
    if found:
        columns = zip(
            found["result"], found["key"], found["bad"], *(found[name] for name in names),
            strict=True,
        )  # fmt: skip
        for result, key, bad, *values in columns:
            if bad or values[-1] is None:
                values[-2:] = [math.nan, math.nan]
            levels[result][key] = Level(*values)
    return [
        Point(
            label=f"{row['name']} ({row['result'][:12]})",
            started=row["started"],
            found=SystemDigest(
                name=row["system"],
                layer=row["layer"],
                cpu=row["cpu"],
                kernel=row["kernel"],
                catalog_version=row["catalog_version"],
                builds=tuple(row["build"].split("+")) if row["build"] else (),
                parameters=parameters[row["parameters_sha256"]],
                levels=levels[row["result"]],
            ),
        )
        for row in rows
    ]


def _parameters(run: Engine, digests: set[str]) -> Mapping[str, Mapping[str, Any]]:
    """Parameters by their digest: each text is read once, however many results have it."""
    return {
        row["parameters_sha256"]: json.loads(row["parameters_json"])
        for row in run.rows(queries.parameters(sorted(digests)))
    }
