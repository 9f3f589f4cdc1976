"""The digest of a result out of its samples."""

from __future__ import annotations

import math

import numpy as np

from pentathlon.evaluate.diagnostics.exclude import exclude
from pentathlon.evaluate.estimate import Series, counted, series
from pentathlon.evaluate.facts import ResultLike, inventories, measured_systems, system_facts
from pentathlon.evaluate.results.digest import Digest, Level, SystemDigest
from pentathlon.evaluate.titles import Titles
from pentathlon.store.query import Result


def _level(one: Series, titles: Titles) -> Level:
    values = np.array(list(one.blocks.values()), dtype=np.float64)
    positive = one.lowest > 0 and (values > 0).all()
    return Level(
        workload=one.workload,
        metric=one.metric,
        area=titles.area(one.workload),
        role=titles.role(one.workload, one.metric),
        unit=one.unit,
        direction=one.direction,
        lowest=one.lowest,
        log_mean=float(np.mean(np.log(values))) if positive else math.nan,
    )


def systems_of(result: ResultLike) -> dict[str, SystemDigest]:
    """Every system of a result, with the rules of its own study."""
    plan = result.plan
    names = [one.name for one in plan.study.systems]
    samples = result.samples()
    used, _ = exclude(counted(samples), plan.study.evaluation.exclusions(), names)
    facts = system_facts(plan, measured_systems(used), inventories(result.inventory(), samples))
    titles = Titles(getattr(result, "catalog", None))
    rows: dict[str, dict[str, Series]] = {name: {} for name in names}
    for (key, name), one in series(used).items():
        rows[name][key] = one
    return {
        one.name: SystemDigest(
            name=one.name,
            layer=one.layer,
            cpu=one.cpu,
            kernel=one.kernel,
            catalog_version=one.catalog_version,
            builds=one.agent_builds,
            parameters={step.workload: step.parameters for step in plan.steps.get(one.name, ())},
            levels={key: _level(row, titles) for key, row in rows[one.name].items()},
        )
        for one in facts
    }


def digest(result: Result) -> Digest:
    """A result that is open."""
    settings = result.study.evaluation
    return Digest(
        study=result.study.name,
        reference=result.study.reference,
        started=result.summary().started,
        confidence=settings.confidence,
        weights=dict(result.study.weights),
        unfinished=result.unfinished,
        systems=systems_of(result),
    )
