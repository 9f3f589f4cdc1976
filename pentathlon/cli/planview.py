"""The plan on the screen: what will be done, how long it takes, what it needs and changes."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pentathlon.cli.screen import seconds, size
from pentathlon.cli.setup import Ready
from pentathlon.procedure.expected import expected
from pentathlon.procedure.pilot import SystemEstimate
from pentathlon.study.catalog import Catalog
from pentathlon.study.code import rights
from pentathlon.study.counting import count_text, plural
from pentathlon.study.factorial.design import Design
from pentathlon.study.factorial.expand import design_of
from pentathlon.study.plan import Plan
from pentathlon.study.preparation import PUBLISHED
from pentathlon.study.starts import noun
from pentathlon.study.turns import step_by_step
from pentathlon.tables.sheet import Sheet
from pentathlon.targets import userland
from pentathlon.targets.contract import Target

Estimates = Mapping[str, SystemEstimate]
SHOWN_BLOCKS = 8


def show(console: Console, ready: Ready) -> None:
    """Print the plan, with times if there was a pilot."""
    plan, estimates = ready.plan, ready.estimates
    study = plan.study
    console.print(Text(study.title or study.name, style="bold"))
    if study.question:
        console.print(Text(study.question, style="italic"))
    for note in ready.notes:
        console.print(Text(note, style="yellow"))
    console.print()
    console.print(_systems(plan, ready.targets, estimates))
    console.print(_workloads(plan, estimates))
    if plan.preparation:
        console.print(_preparation(plan))
    if (design := design_of(study)) is not None:
        console.print(_design(design))
    console.print(_order(plan, ready.catalog, ready.apart))
    console.print(_facts(ready, estimates))


def _table(title: str, *, show_header: bool = True) -> Sheet:
    return Sheet(title=title, title_style="bold", show_header=show_header, header_style="dim")


def _systems(plan: Plan, targets: Mapping[str, Target], estimates: Estimates | None) -> Table:
    table = _table("Systems")
    table.add_columns("system", "target", "layer", "CPUs", "settings", overflow="fold")
    if estimates is not None:
        table.add_column(noun(plan.study.systems), justify="right")
        table.add_column("workloads", justify="right")
    for system in plan.study.systems:
        mark = " (reference)" if system.name == plan.study.reference else ""
        settings = ", ".join(f"{k} = {v}" for k, v in system.settings.plain().items())
        own = ", ".join(sorted(system.parameters))
        target = targets[system.name]
        land = userland.in_words(plan.targets[system.name])
        row = [
            f"{system.name}{mark}",
            system.target,
            target.layer,
            "any" if target.cpus is None else ",".join(map(str, target.cpus)),
            "; ".join(
                filter(
                    None,
                    [
                        settings,
                        f"own parameters: {own}" if own else "",
                        f"user land: {land}" if land else "",
                    ],
                )
            )
            or "–",
        ]
        if estimates is not None:
            estimate = estimates[system.name]
            row += (
                ["failed", "–"]
                if estimate.problem
                else [seconds(estimate.boot_s), seconds(sum(estimate.steps_s.values()))]
            )
        table.add_row(*row)
    return table


def _workloads(plan: Plan, estimates: Estimates | None) -> RenderableType:
    start = noun(plan.study.systems)
    table = Sheet(title=f"Workloads in every {start}", title_style="bold")
    table.add_columns("workload", "suite", "repeats", "batch")
    if estimates is not None:
        table.add_column(f"time in one {start}", justify="right")
    steps = next(iter(plan.steps.values()))
    for number, step in enumerate(steps):
        if step.visit:  # Its first visit has the row.
            continue
        visits = [number]
        while number + len(visits) < len(steps) and steps[number + len(visits)].visit:
            visits.append(number + len(visits))
        processes = f"{step.processes} processes x " if step.processes > 1 else ""
        iterations = sum(steps[one].iterations for one in visits)
        apart = f" in {len(visits)} visits, each" if len(visits) > 1 else ""
        row = [
            step.workload,
            step.suite,
            f"{processes}{iterations}{apart} + {step.warmup} warm-up",
            "one run" if step.workload in plan.commands else f"{step.sample_ms:g} ms",
        ]
        if estimates is not None:
            times = [
                sum(e.steps_s[one] for one in visits)
                for e in estimates.values()
                if e.problem is None
            ]
            row.append(_range(times))
        table.add_row(*row)
    return Padding(table, (1, 0, 0, 0))


def _range(times: list[float]) -> str:
    if not times:
        return "–"
    low, high = seconds(min(times)), seconds(max(times))
    return low if low == high else f"{low} to {high}"


def _preparation(plan: Plan) -> RenderableType:
    table = _table("Before a system is measured")
    table.add_columns("step", "when", "systems", overflow="fold")
    rows: dict[tuple[str, str], list[str]] = {}
    kinds = {system.name: system.target for system in plan.study.systems}
    installs = plan.study.procedure.installs
    for do in PUBLISHED:
        for system, steps in plan.preparation.items():
            for step in steps:
                if step.do == do:
                    first = "for each install" if installs > 1 else "once"
                    when = first if step.once else f"in each {noun(plan.study.systems)}"
                    words = step.words(kinds[system], installs)
                    rows.setdefault((words, when), []).append(system)
    for (words, when), systems in rows.items():
        table.add_row(words, when, ", ".join(systems))
    return Padding(table, (1, 0, 0, 0))


def _design(design: Design) -> RenderableType:
    table = _table("Design", show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("kind", design.words)
    for name, levels in zip(design.factors, design.levels, strict=True):
        table.add_row(name, " or ".join(levels))
    if design.generator_words:
        table.add_row("generators", "; ".join(design.generator_words))
    for term, others in design.terms:
        if others:
            words = " and ".join(design.alias_words(others))
            table.add_row("aliases", f"{design.name(term)} cannot be distinguished from {words}")
    return Padding(table, (1, 0, 0, 0))


def _order(plan: Plan, catalog: Catalog, apart: str | None) -> RenderableType:
    table = _table(f"Order (seed {plan.study.seed})", show_header=False)
    table.add_column(style="dim")
    table.add_column()
    installs = plan.study.procedure.installs
    for number, block in enumerate(plan.blocks[:SHOWN_BLOCKS]):
        install = f", install {plan.install_of(number) + 1}" if installs > 1 else ""
        order = " → ".join(boot.system for boot in block)
        table.add_row(f"block {number + 1}{install}", order)
    if len(plan.blocks) > SHOWN_BLOCKS:
        table.add_row("", f"and {len(plan.blocks) - SHOWN_BLOCKS} more blocks")
    if plan.pairing != "none":
        table.add_row("pairs", _pairs(plan, catalog))
    elif apart is not None:
        table.add_row("no pairs", apart)
    return Padding(table, (1, 0, 0, 0))


def _pairs(plan: Plan, catalog: Catalog) -> str:
    if plan.pairing == "steps":
        return "the systems of a block are alive at once and take each case in turn"
    most = (plan.turns_up_to_bytes or 0) >> 10
    text = (
        f"the systems of a block are alive at once and take each batch in turn, of working sets up "
        f"to {most:,} KiB; larger ones take each case in turn"
    )
    others = step_by_step(plan, catalog)
    return f"{text}, and so do {', '.join(others)}" if others else text


def _facts(ready: Ready, estimates: Estimates | None) -> RenderableType:
    plan = ready.plan
    boots = sum(len(block) for block in plan.blocks)
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    installs = plan.study.procedure.installs
    made = f", {installs} installs of each system" if installs > 1 else ""
    grid.add_row(
        plural(noun(plan.study.systems)),
        f"{boots} ({count_text(len(plan.blocks), 'block')}{made}), "
        f"{count_text(plan.step_count(), 'step')}",
    )
    grid.add_row("stopping", plan.study.procedure.stopping.words(len(plan.blocks)))
    grid.add_row("expected time", _time(plan, estimates))
    grid.add_row("written", _written(ready, estimates))
    if ready.named:
        grid.add_row("starts", Text("\n".join(one.text for one in ready.named), style="yellow"))
    grid.add_row("privileges", _privileges(ready))
    grid.add_row("settings changed", "\n".join(changes(ready.targets)) or "none")
    grid.add_row(
        "judged with",
        f"±{plan.study.evaluation.delta_percent:g} % counts as equal, "
        f"confidence {plan.study.evaluation.confidence:g}",
    )
    if plan.study.evaluation.headlines:
        grid.add_row("declared", "one metric of each workload; everything else is exploratory")
    if plan.study.evaluation.declared is not None:
        declared = ", ".join(plan.study.evaluation.declared)
        grid.add_row("declared", f"{declared}; everything else is exploratory")
    grid.add_row("agent", f"{plan.agent['version']} (build {plan.agent['build']})")
    unseen = f"not known before {', '.join(ready.unseen)} has been looked for, which a run does"
    # Its 64 characters fit into 80 columns only without the column of names.
    last = Text("plan hash  ", style="dim").append(ready.hash or unseen, style="default not dim")
    problems = [
        Text(f'The pilot of "{name}" failed: {estimate.problem}', style="yellow")
        for name, estimate in (estimates or {}).items()
        if estimate.problem
    ]
    return Padding(Group(grid, last, *problems), (1, 0, 1, 0))


def _time(plan: Plan, estimates: Estimates | None) -> str:
    if estimates is None:
        return "not estimated (no pilot was run)"
    found = expected(plan, estimates)
    low, high = seconds(found.least_s), seconds(found.most_s)
    most = "at most" if plan.study.procedure.stopping.rule != "fixed" else "about"
    sentences = [f"{most} {low}" if low == high else f"{most} {low} to {high}"]
    if found.training_s:
        sentences.append(f"{seconds(found.training_s)} of it before the first measured boots")
    if found.settling_most_s:
        least, longest = seconds(found.settling_s), seconds(found.settling_most_s)
        sentences.append(f"{least} to {longest} of it settling")
    if found.cut:
        sentences.append(
            f"with the whole limit for {', '.join(found.cut)}, which took longer than the pilot has"
        )
    if found.problems:
        sentences.append(f"not counting {', '.join(found.problems)}")
    return ", ".join(sentences)


def _written(ready: Ready, estimates: Estimates | None) -> str:
    own = {name: target.bytes_written() for name, target in ready.targets.items()}
    boots = [boot.system for block in ready.plan.blocks for boot in block]
    unknown = [name for name, count in own.items() if count is None]
    by_boots = sum(own[name] or 0 for name in boots)
    parts = []
    if estimates is None:
        parts.append("the result directory (size not estimated, no pilot was run)")
    else:
        journal = sum(estimates[name].journal_bytes for name in boots)
        parts.append(f"about {size(journal)} in the result directory")
    if by_boots:
        parts.append(f"{size(by_boots)} by booting")
    if unknown:
        parts.append(f"an unknown amount by booting {', '.join(unknown)}")
    scratch = sorted({s.scratch for s in ready.plan.study.systems if s.scratch})
    parts.append(f"the workloads' own files in {', '.join(scratch) or 'the temporary directory'}")
    return "; ".join(parts)


def _privileges(ready: Ready) -> str:
    needs = {need: None for target in ready.targets.values() for need in target.privileges()}
    if ready.named:
        needs[f"every right of {rights()}, for what the study names and starts"] = None
    return "\n".join(needs) or "none beyond an ordinary user"


def changes(targets: Mapping[str, Target]) -> list[str]:
    """What is changed on the machine and put back, one line each."""
    return [
        f"{name}: {change['what']}: {change['from']} → {change['to']}, put back afterwards"
        for name, target in targets.items()
        for change in target.settings_to_change()
    ]
