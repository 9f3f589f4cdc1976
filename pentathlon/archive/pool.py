"""The baseline of a gate: the last good results of an archive, by their boots."""

from __future__ import annotations

import json
import math
from typing import Any

from pentathlon.archive import queries
from pentathlon.archive.engines import Engine
from pentathlon.archive.where import quoted, to_sql
from pentathlon.evaluate.estimate import Series
from pentathlon.evaluate.model import Summary, SystemFacts
from pentathlon.evaluate.results.pooled import Run


def last_good(
    run: Engine, where: str | None, system: str, count: int, *, before: str, but: str
) -> list[Run]:
    """At most so many results that a filter chooses, the newest first; nothing failed in them.

    Where the archive has the judged result, they are of its study and machine.

    Args:
        before: results that began later are not taken.
        but: id of the judged result.
    """
    found = run.rows(queries.last_good(_alike(run, where, but), before, but, count))
    ids = [row["result"] for row in found]
    systems = {row["result"]: row for row in run.rows(queries.of_systems("systems", ids, system))}
    boots: dict[str, dict[str, list[dict[str, Any]]]] = {one: {} for one in ids}
    for row in run.rows(queries.of_systems("boots", ids, system)):
        boots[row["result"]].setdefault(row["key"], []).append(row)
    return [
        Run(
            label=f"{row['name']} ({row['result'][:12]})",
            facts=SystemFacts.model_validate_json(systems[row["result"]]["facts_json"]),
            parameters=json.loads(systems[row["result"]]["parameters_json"]),
            rows={key: _series(rows) for key, rows in boots[row["result"]].items()},
        )
        for row in found
        if row["result"] in systems
    ]


def origins(
    run: Engine, where: str | None, count: int, *, before: str, but: str
) -> tuple[list[str], list[str]]:
    """The machines that measured the results of `last_good`, and their studies."""
    found = run.rows(queries.last_good(_alike(run, where, but), before, but, count))
    machines, studies = ({row[name] for row in found} for name in ("machine", "study"))
    return sorted(machines), sorted(studies)


def _alike(run: Engine, where: str | None, but: str) -> str:
    """The filter, and the study and machine of a result where the archive has it."""
    found = run.rows(queries.listed(f"r.result = {quoted(but)}"))
    if not found:
        return to_sql(where)
    own = " and ".join(f"{name} = {quoted(found[0][name])}" for name in ("study", "machine"))
    return f"({to_sql(where)}) and {own}"


def _series(rows: list[dict[str, Any]]) -> Series:
    """A row of one system, from its boots."""
    rows = sorted(rows, key=lambda one: one["block"])
    first = rows[0]
    lowest = [row["lowest"] for row in rows]
    natures = {(row["unit"], row["direction"]) for row in rows}
    smallest = math.nan if any(map(math.isnan, lowest)) else min(lowest)
    return Series(
        key=first["key"],
        system=first["system"],
        workload=first["workload"],
        metric=first["metric"],
        case_json=first["case_json"] or "",
        unit=first["unit"],
        direction=first["direction"],
        units=max(len(natures), *(row["units"] for row in rows)),
        checksums=frozenset(one for row in rows for one in row["checksums"].split(",") if one),
        lowest=smallest,
        summary=Summary(
            system=first["system"],
            samples=sum(row["n"] for row in rows),
            boots=len(rows),
            mean=sum(row["mean"] for row in rows) / len(rows),
            minimum=min(lowest),
            maximum=max(row["mean"] for row in rows),
            sd=None,
            boot_sd=None,
            deviation_percent=None,
            within_one_percent=None,
            boot_means=(),
        ),
        blocks={row["block"]: row["mean"] for row in rows},
    )
