"""What must be the same before a run that was cut off may go on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pentathlon.cli.exits import InputError
from pentathlon.cli.setup import Allow, Ready, UnavailableSystem, plan_of, prepare, targets_of
from pentathlon.machine.cpu_latency import lack
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.procedure.pairing import choose
from pentathlon.protocol import agent
from pentathlon.store.directory import STUDY
from pentathlon.store.query import Result
from pentathlon.study.catalog import parse_catalog
from pentathlon.study.code import named
from pentathlon.study.commands.entries import extended
from pentathlon.study.load import load_study
from pentathlon.study.plan import Plan
from pentathlon.study.traces import kept


def get_ready_again(result: Result, allow: Allow) -> Ready:
    """Make the plan again from the study file, the agent and the targets as they are now.

    The study file is read where it lay; if it is no longer there, the copy in the result is used.

    Args:
        allow: lets what the study names be started.

    Raises:
        InputError: the plan would not be the same; the sentence names what changed.
        StudyError, AgentError, CatalogError, TargetUnavailable.
    """
    start = result.start
    if result.finished:
        raise InputError(
            f"{result.path} is finished; there is nothing to resume. "
            f"Its report is written by: pentathlon report {result.path}"
        )
    agent_path = agent.locate()
    catalog = parse_catalog(agent.catalog(agent_path))
    old = result.plan
    build = catalog.agent.get("build")
    if build != old.agent.get("build"):
        raise InputError(
            f"the agent is another build ({build}) than that of {result.path} "
            f"({old.agent.get('build')}); its numbers must not be mixed. "
            f"Point PENTATHLON_AGENT at the old agent, or start the study anew"
        )
    file = Path(start.study_file)
    moved = not file.is_file()
    source = result.path / STUDY if moved else file
    loaded = load_study(source, catalog, alone=moved, traces=kept(old.study))
    if not old.study.evaluation.moderated:
        # A file without the key means another rule to this version than to the one that planned it.
        rules = loaded.study.evaluation.model_copy(update={"moderated": False})
        loaded = replace(loaded, study=loaded.study.model_copy(update={"evaluation": rules}))
    if not old.study.procedure.stopping.drop_decided:
        stopping = loaded.study.procedure.stopping.model_copy(update={"drop_decided": False})
        procedure = loaded.study.procedure.model_copy(update={"stopping": stopping})
        loaded = replace(loaded, study=loaded.study.model_copy(update={"procedure": procedure}))
    catalog = extended(catalog, loaded.study.workloads)
    targets = targets_of(loaded.study, agent_path, loaded.supplies)
    starts = named(loaded.study, loaded.supplies)
    allow(starts, targets)
    try:
        prepare(targets)
    except UnavailableSystem as error:
        raise TargetUnavailable(error.text, error.cause.remedy) from error
    descriptions = {name: target.describe() for name, target in targets.items()}
    chosen = choose(loaded.study.procedure.pairing, targets)
    plan = plan_of(loaded, catalog, descriptions, start.blocks, chosen)
    if plan.hash() != old.hash():
        raise InputError(_difference(old, plan, file, result.path))
    limit = start.cpu_latency_us
    if limit is not None and (reason := lack()) is not None:
        raise InputError(
            f"the run limits the idle states of the CPUs to {limit} µs, and {reason}; resume it as "
            "the user who began it"
        )
    return Ready(loaded, catalog, old, targets, [], named=starts, cpu_latency_us=limit)


def _difference(old: Plan, new: Plan, file: Path, directory: Path) -> str:
    """Why two plans differ, as one sentence."""
    ending = f"; put it back, or start the study anew (the old content is in {directory / STUDY})"
    if changed := [name for name, text in kept(old.study).items()
                   if kept(new.study).get(name, text) != text]:  # fmt: skip
        return f"the trace file {changed[0]} has changed since the run began{ending}"
    if old.study != new.study:
        before, after = old.study.model_dump(), new.study.model_dump()
        keys = ", ".join(key for key in before if before[key] != after[key])
        return f"the study file {file} has changed since the run began (in: {keys}){ending}"
    if changed := [name for name, own in old.commands.items() if new.commands.get(name) != own]:
        return f"a file of the command {changed[0]} has changed since the run began{ending}"
    for name, description in old.targets.items():
        now = new.targets.get(name, {})
        if description != now:
            keys = ", ".join(
                sorted(k for k in {*description, *now} if description.get(k) != now.get(k))
            )
            return (
                f'the target of system "{name}" has changed since the run began (in: {keys}); '
                "its numbers must not be mixed. Put it back, or start the study anew"
            )
    return "the plan would not be the same as that of the run; start the study anew"
