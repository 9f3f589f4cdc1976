"""From a result to an evaluation: the one entry of this package."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import polars as pl

from pentathlon.evaluate import comparability
from pentathlon.evaluate.aggregate.aggregate import find_absolutes, find_whole
from pentathlon.evaluate.aggregate.sensitivity import best_shares
from pentathlon.evaluate.cases import case_text
from pentathlon.evaluate.compare import Judge, Judgement, Pair, counts
from pentathlon.evaluate.derived.derive import derive
from pentathlon.evaluate.derived.regions import WORKLOAD as REGIONS
from pentathlon.evaluate.diagnostics.cold import find_cold
from pentathlon.evaluate.diagnostics.counters import find_why
from pentathlon.evaluate.diagnostics.exclude import exclude
from pentathlon.evaluate.diagnostics.latency import find_latencies
from pentathlon.evaluate.diagnostics.links import find_links
from pentathlon.evaluate.diagnostics.modes import find_modes
from pentathlon.evaluate.diagnostics.preparation import find_prepared
from pentathlon.evaluate.diagnostics.qualify import qualify
from pentathlon.evaluate.diagnostics.read_source import find_read_sources
from pentathlon.evaluate.diagnostics.share import cpu_steps, find_starved
from pentathlon.evaluate.diagnostics.steady import find_steady
from pentathlon.evaluate.estimate import Series, counted, place, series
from pentathlon.evaluate.estimators.max_t import adjust
from pentathlon.evaluate.estimators.resolution import clock_tick
from pentathlon.evaluate.factorial.judge import find_factorial
from pentathlon.evaluate.facts import (
    Inventory,
    ResultLike,
    case_of,
    inventories,
    measured_systems,
    study_facts,
    system_facts,
)
from pentathlon.evaluate.headlines import headlines
from pentathlon.evaluate.levels.curves import claimed_caches, find_levels
from pentathlon.evaluate.levels.scaling import find_scalings
from pentathlon.evaluate.model import (
    AreaCount,
    Comparison,
    Evaluation,
    Failure,
    InventoryLine,
    PairSummary,
    Row,
    SystemFacts,
)
from pentathlon.evaluate.model_aggregate import Guard
from pentathlon.evaluate.planning.calibration import Calibration, calibrations, fitting, refuse
from pentathlon.evaluate.planning.deciding import block_seconds, explain, explain_effects
from pentathlon.evaluate.posthoc import find_post_hoc
from pentathlon.evaluate.results.guard import guards
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.sameness import identical
from pentathlon.evaluate.sweeps import find_sweeps
from pentathlon.evaluate.titles import Titles
from pentathlon.evaluate.wording import CONTEXT, wording
from pentathlon.study.counting import count_text
from pentathlon.study.factorial.expand import design_of
from pentathlon.study.model import Study
from pentathlon.study.plan import Plan
from pentathlon.targets.descriptor import Kind

AllSeries = Mapping[tuple[str, str], Series]


def evaluate(result: ResultLike) -> Evaluation:
    """Judge a result: summaries, comparisons with the reference, curves, failures, differences.

    The study's δ and confidence hold. A result without any counted sample gives an evaluation
    without rows, with its failures.
    """
    plan = result.plan
    samples = result.samples()
    ordered = sorted((one.name for one in plan.study.systems), key=plan.study.reference.__ne__)
    inventories_of = inventories(result.inventory(), samples)
    used, excluded = exclude(
        counted(samples), plan.study.evaluation.exclusions(), ordered, cpu_steps(inventories_of)
    )
    facts = study_facts(
        plan, getattr(result, "enough", None), getattr(result, "unfinished", "")
    ).model_copy(
        update={
            "post_hoc": find_post_hoc(result),
            "decided": dict(getattr(result, "decided", {})),
            "cpu_latency_us": getattr(result, "cpu_latency_us", None),
        }
    )
    systems = system_facts(plan, measured_systems(used), inventories_of)
    titles = Titles(getattr(result, "catalog", None))
    failures = _failures(result.failures())
    everything = series(used)
    keys = _ordered(everything, titles)
    study = plan.study
    if study.evaluation.headlines:
        chosen = headlines(keys, everything, titles)
        rules = study.evaluation.model_copy(update={"declared": chosen})
        study = study.model_copy(update={"evaluation": rules})
        facts = facts.model_copy(update={"declared": chosen})
    rule = Rule.declared(study)
    judgements = {
        system.name: Judge(
            system, systems[0], failures, rule, facts.in_blocks, facts.decided
        ).judge(_pairs(keys, everything, system.name, study, titles, inventories_of=inventories_of))
        for system in systems[1:]
    }
    known = calibrations(getattr(result, "calibrations", None))
    held = {system.name: fitting(known, system, systems[0]) for system in systems[1:]}
    for name, calibration in held.items():
        if calibration is not None:
            judgements[name] = refuse(judgements[name], calibration, facts.delta_percent)
    compared = adjust(
        {name: one.comparisons for name, one in judgements.items()}, everything, facts.reference
    )
    rows = tuple(
        _row(key, everything, systems, compared, titles=titles, study=study) for key in keys
    )
    # What is no number makes its row invalid, and there is nothing else to find in it.
    samples = samples.filter(pl.col("value").is_finite())
    steady = find_steady(samples, rule.delta)
    modes = find_modes(_finite(rows), rule.confidence)
    read_sources = find_read_sources(result.answers())
    starved = find_starved(used, study, inventories_of)
    rows = qualify(
        rows,
        facts.reference,
        steady=steady,
        modes=modes,
        excluded=excluded,
        read_sources=read_sources,
        starved=starved,
    )
    design = find_factorial(design_of(study), _finite(rows), everything, rule)
    start = getattr(result, "start", None)
    if start is not None:
        # That of the plan as it was written, also where a later version would write it otherwise.
        facts = facts.model_copy(update={"plan_hash": start.plan_hash})
    if study.procedure.stopping.rule == "fixed" and facts.in_blocks and not facts.imported:
        file = getattr(start, "study_file", None) or "STUDY"
        took = block_seconds(samples)
        facts = facts.model_copy(update={"study_file": file, "block_seconds": took})
        if rule.moderated:
            rows = explain(rows, rule, file, took)
        if design is not None:
            design = explain_effects(design, rule, file, took)
    areas = tuple(dict.fromkeys(row.area for row in rows))
    names = [system.name for system in systems]
    suites = {step.workload: step.suite for steps in plan.steps.values() for step in steps}
    # A mean of rows is that of each block; without blocks there is nothing to take it in.
    aggregates = tuple(
        find_whole(
            rows,
            system.name,
            facts.reference,
            facts.weights,
            suites,
            rate=judgements[system.name].nominal_rate,
            delta=rule.delta,
            blocks=min(facts.decided.values(), default=None),
            floors=None
            if (known_floor := held[system.name]) is None
            else known_floor.block_ratios(),
        ).model_copy(update={"guards": _guards(plan, system, systems[0])})
        for system in systems[1:]
        if facts.in_blocks
    )
    claimed = {name: claimed_caches(inventories_of.get(name, Inventory())) for name in names}
    return Evaluation(
        study=facts,
        systems=systems,
        areas=areas,
        pairs=tuple(
            _pair(
                system, systems[0], judgements[system.name], rows, areas, in_blocks=facts.in_blocks
            ).model_copy(update={"calibrated": _calibrated(held[system.name])})
            for system in systems[1:]
        ),
        rows=rows,
        curves=find_levels(_finite(rows), names, claimed),
        scalings=find_scalings(_finite(rows), names, rule.rate),
        derived=derive(
            _finite(rows),
            names,
            inventories_of,
            rule.rate,
            _in_memory(plan),
            ends=_ends(plan, names),
        ),
        failures=failures,
        inventory_differences=_differences(inventories_of, systems),
        aggregates=aggregates,
        shares=best_shares(aggregates, facts.reference),
        prepared=find_prepared(plan, getattr(result, "state", None)),
        absolutes=find_absolutes(_finite(rows), names),
        excluded=excluded,
        steady=steady,
        cold=find_cold(samples, [row for row in rows if row.score], facts.reference, rule.rate),
        modes=modes,
        read_sources=read_sources,
        links=find_links(result.links()),
        identical=identical(study, inventories_of),
        starved=starved,
        sweeps=tuple(one for system in systems[1:] for one in find_sweeps(rows, system.name, rule)),
        whys=find_why(used, rows, facts.reference),
        factorial=design,
        latencies=find_latencies(
            result.histograms(), getattr(result, "catalog", None), names, rule.rate
        ),
    )


def _finite(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows whose means are all numbers."""
    return tuple(row for row in rows if all(math.isfinite(one.mean) for one in row.summaries))


def _in_memory(plan: Plan) -> set[str]:
    """Systems on which `memory.regions` was kept from swapping."""
    return {
        name
        for name, steps in plan.steps.items()
        for step in steps
        if step.workload == REGIONS and not step.parameters.get("swap", True)
    }


def _ends(plan: Plan, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """What client and server of each system with two hosts are, in the order of the names."""
    known = {system.name: system for system in plan.study.systems}
    found = {}
    for name in names:
        own = known[name]
        if (peer := own.peer) is not None:
            client = plan.targets.get(name, {})
            # A server that is described apart has another kernel than the client, or another kind.
            server = client.get("server", client)
            found[name] = (
                _end(own.kind, client, own.kernel, own.behaves),
                _end(own.peer_kind, server, peer.kernel or own.kernel, peer.behaves),
            )
    return found


def _end(kind: Kind, described: Mapping[str, Any], wanted: str | None, behaves: str) -> str:
    """One end: how it behaves, which kernel it has if it is a guest, and which machine it is.

    Args:
        described: what its target said of itself when the study was planned.
        wanted: the kernel as the study has it, such as "newest".
    """
    behaviour = _stem(behaves)
    if not kind.takes("kernel") and not kind.elsewhere:
        return behaviour
    release = str(described.get("kernel") or "")
    # In brackets: nobody has asked the machine.
    words = [kind.name, _machine(described), "" if release.startswith("(") else release]
    if kind.elsewhere:
        pass
    elif wanted and "/" in wanted:
        # Two files may hold kernels of one version.
        words.append(f"({PurePath(wanted).parent.name})")
    elif not release:
        words.append(str(wanted))
    whole = " ".join(word for word in words if word)
    return whole if behaviour == "own" else f"{whole}, {behaviour}"


def _machine(described: Mapping[str, Any]) -> str:
    """Another machine's name, with its port where one host name stands for several machines."""
    options = described.get("options") or {}
    host, port = options.get("host"), options.get("port")
    return f"{host}:{port}" if host and port else str(host or "")


def _stem(behaviour: str) -> str:
    """The name of a behaviour, without the folders and the suffix of its file."""
    return PurePath(behaviour).stem if behaviour.startswith("/") else behaviour


def _guards(plan: Plan, system: SystemFacts, reference: SystemFacts) -> tuple[Guard, ...]:
    parameters = {
        one.name: {step.workload: step.parameters for step in plan.steps.get(one.name, ())}
        for one in (system, reference)
    }
    return guards(
        system,
        reference,
        (parameters[system.name], parameters[reference.name]),
        (plan.hash(), plan.hash()),
    )


def _ordered(everything: AllSeries, titles: Titles) -> list[str]:
    """Keys in the catalog's order, cases with categories before numbers."""
    first: dict[str, Series] = {}
    for (key, _), one in everything.items():
        first.setdefault(key, one)
    return sorted(first, key=lambda key: place(first[key], titles))


def _pairs(
    keys: Sequence[str],
    everything: AllSeries,
    system: str,
    study: Study,
    titles: Titles,
    *,
    inventories_of: Mapping[str, Inventory],
) -> list[Pair]:
    pairs = []
    for key in keys:
        sides = [everything.get((key, name)) for name in (system, study.reference)]
        known = sides[0] or sides[1]
        if known is None:
            continue
        name = (known.workload, known.metric)
        role = titles.role(*name)
        kind = wording(role, known.unit)
        if role == CONTEXT:
            # It has no better end: its log-ratio is that of the values, positive for more.
            sides = [one and replace(one, direction="higher") for one in sides]
        # What the clocks can resolve; context is counted and not timed.
        tick = clock_tick(
            (_resolution(inventories_of.get(one.system)), one.elapsed_ns)
            for one in sides
            if one is not None and kind.score
        )
        pairs.append(
            Pair(
                key,
                known.workload,
                sides[0],
                sides[1],
                declared=study.evaluation.declares(*name, key=key, context=role == CONTEXT),
                zero_allowed=titles.zero_allowed(*name),
                kind=kind,
                area=titles.area(known.workload),
                tick=tick,
            )
        )
    return pairs


def _resolution(inventory: Inventory | None) -> float:
    """Resolution of a system's clock in nanoseconds; 0 where it does not report one."""
    found = None if inventory is None else inventory.values.get("clock.resolution_ns")
    return float(found) if isinstance(found, int | float) else 0.0


def _row(
    key: str,
    everything: AllSeries,
    systems: Sequence[SystemFacts],
    compared: Mapping[str, Mapping[str, Comparison]],
    *,
    titles: Titles,
    study: Study,
) -> Row:
    present = [everything[key, one.name] for one in systems if (key, one.name) in everything]
    one = present[0]
    case = case_of(one.case_json)
    role = titles.role(one.workload, one.metric)
    return Row(
        key=key,
        area=titles.area(one.workload),
        workload=one.workload,
        metric=one.metric,
        case=case,
        workload_title=titles.workload(one.workload),
        title=titles.title(one.workload, one.metric),
        case_text=case_text(case),
        unit=one.unit,
        direction=one.direction,
        role=role,
        summaries=tuple(measured.summary for measured in present),
        declared=study.evaluation.declares(
            one.workload, one.metric, key=key, context=role == CONTEXT
        ),
        comparisons=tuple(own[key] for own in compared.values() if key in own),
    )


def _pair(
    system: SystemFacts,
    reference: SystemFacts,
    result: Judgement,
    rows: Sequence[Row],
    areas: Sequence[str],
    *,
    in_blocks: bool,
) -> PairSummary:
    of_areas: dict[str, list[str]] = {area: [] for area in areas}
    for row in rows:
        of_areas[row.area].append(row.key)
    return PairSummary(
        system=system.name,
        rows=result.tested,
        selected=result.selected,
        exploratory_rows=result.exploratory_tested,
        exploratory_selected=result.exploratory_selected,
        areas=tuple(
            AreaCount(
                area=area,
                verdicts=counts(result.comparisons, of_areas[area]),
            )
            for area in areas
        ),
        cautions=(
            *comparability.pair_cautions(system, reference, in_blocks=in_blocks),
            *result.cautions,
        ),
    )


def _calibrated(one: Calibration | None) -> str:
    """How the machine was calibrated, for the reader of a comparison; "" if it was not."""
    if one is None:
        return ""
    return (
        f"noise floors of {one.made[:10]} hold ({count_text(one.blocks, 'block')} of one system "
        f"under two names, {count_text(one.alarms, 'false alarm')} in "
        f"{count_text(one.trials, 'trial')})"
    )


def _failures(table: pl.DataFrame) -> tuple[Failure, ...]:
    """Failures of one kind and reason, counted, in the order of systems and workloads."""
    grouped = (
        table.with_columns(pl.col("workload", "case", "reason").fill_null(""))
        .group_by("system", "workload", "case", "kind", "reason", "resolved")
        .agg(pl.len().alias("count"), pl.col("block").drop_nulls().unique().sort().alias("blocks"))
        .sort("system", "workload", "case", "kind", "reason", "resolved")
    )
    return tuple(
        Failure(**row | {"resolved": bool(row["resolved"]), "blocks": tuple(row["blocks"])})
        for row in grouped.iter_rows(named=True)
    )


def _differences(
    inventories_of: dict[str, Inventory], systems: tuple[SystemFacts, ...]
) -> tuple[InventoryLine, ...]:
    return tuple(
        InventoryLine(
            path=path,
            values={
                name: inventories_of[name].unsupported.get(path) and "unsupported"
                if path not in inventories_of[name].values
                else _text(value)
                for name, value in values.items()
            },
        )
        for path, values in comparability.machine_differences(inventories_of, systems)
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
