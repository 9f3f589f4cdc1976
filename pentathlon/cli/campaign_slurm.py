"""`pentathlon campaign` with Slurm's jobs: submitting, following, and the one boot of a job."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from pentathlon.campaign.directory import CANCELLED, MACHINES, Campaign, load_campaign
from pentathlon.campaign.machines import LoadedMachines, Machine, Slurm, load_machines
from pentathlon.campaign.slurm import client, setup
from pentathlon.campaign.slurm.chain import Chain
from pentathlon.campaign.slurm.jobs import Jobs
from pentathlon.cli import session
from pentathlon.cli.campaign_view import CampaignView
from pentathlon.cli.exits import InputError, Interrupted, StopSignals
from pentathlon.cli.progress import listener
from pentathlon.cli.screen import caution, err, out
from pentathlon.cli.setup import Ready, claim, prepare, targets_of
from pentathlon.machine.claims import Claims
from pentathlon.protocol import agent
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.store.directory import STUDY, make_directory
from pentathlon.store.journal import Lock, is_locked
from pentathlon.store.query import load_result
from pentathlon.study.catalog import Catalog, parse_catalog
from pentathlon.study.commands.entries import extended
from pentathlon.study.load import load_study
from pentathlon.study.plan import make_plan
from pentathlon.study.traces import kept

LOOK_S = 0.25
LOCK_PATIENCE_S = 120.0
AWAY_S = 3600.0
"""How long a controller may be away before the campaign's program gives up; the jobs go on."""


def check(machines: LoadedMachines) -> None:
    """Refuse what Slurm cannot do.

    Raises:
        InputError: a machine is reached with ssh, or Slurm's commands are not installed.
    """
    if (name := client.missing()) is not None:
        raise InputError(
            f"Slurm's command {name} is not installed here; --engine slurm needs sbatch, squeue "
            "and scancel (package slurm-client)"
        )
    for one in machines.machines:
        if one.ssh is not None:
            raise InputError(
                f'machine "{one.name}" has ssh, but a job of Slurm measures the node that it runs '
                "on; leave ssh out, or use --engine ssh"
            )


def measure(campaign: Campaign) -> None:
    """Submit what is missing and follow it to the end of all chains.

    Raises:
        InputError: Slurm refuses a job.
        Interrupted: the program was stopped; the jobs go on.
    """
    machines = load_machines(campaign.path / MACHINES)
    check(machines)
    catalog = parse_catalog(agent.catalog(agent.locate()))
    for one in machines.machines:
        if not campaign.begun(one.name):
            _begin(campaign, one, machines.slurm, catalog)
    (campaign.path / CANCELLED).unlink(missing_ok=True)
    jobs = Jobs(campaign)
    chains = {one.name: Chain(campaign, one, machines.slurm, jobs) for one in machines.machines}
    try:
        with StopSignals(), CampaignView(campaign) as shown:
            for name in chains:
                shown.follow(name, campaign.result(name))
            _follow(chains, jobs, shown, machines.slurm.poll_s)
    except client.SlurmRefusal as error:
        raise InputError(
            f"Slurm refuses a job: {error}; what is measured is kept. Continue with: pentathlon "
            f"campaign resume {campaign.path}"
        ) from error
    except (Interrupted, KeyboardInterrupt) as error:
        raise Interrupted(
            f"{error or 'interrupted'}; the jobs go on without this program. Follow them with: "
            f"pentathlon campaign resume {campaign.path}; stop them with: pentathlon campaign "
            f"cancel {campaign.path}"
        ) from error


def _follow(chains: dict[str, Chain], jobs: Jobs, shown: CampaignView, poll_s: float) -> None:
    away_since: float | None = None
    path = next(iter(chains.values())).campaign.path
    while True:
        if (path / CANCELLED).exists():
            raise Interrupted("the campaign was cancelled")
        queue = None
        alive = True
        try:
            # The queue first: what ended before this look has written its journal before it.
            queue = client.queue(jobs.prefix)
            alive = _top_up(chains, queue, shown)
            away_since, shown.note = None, ""
        except client.ControllerAway as error:
            away_since = away_since or time.monotonic()
            shown.note = f"the controller is away: {error}"
            if time.monotonic() - away_since > AWAY_S:
                raise InputError(
                    f"the controller does not answer for an hour: {error}; the jobs may go on. "
                    f"Continue with: pentathlon campaign resume {path}"
                ) from error
        if queue is not None and not alive:
            return
        until = time.monotonic() + poll_s
        while time.monotonic() < until:
            for name, chain in chains.items():
                shown.look(name, chain.given_up, waits=chain.waits)
            time.sleep(min(LOOK_S, poll_s))


def _top_up(chains: dict[str, Chain], queue: dict[str, client.Job], shown: CampaignView) -> bool:
    """Submit what is missing on every machine; returns whether anything is still to come."""
    alive = False
    for name, chain in chains.items():
        shown.look(name, chain.given_up, waits=chain.waits)
        state = shown.state(name)
        assert state is not None
        alive |= chain.top_up(state, queue)
    return alive


def _begin(campaign: Campaign, machine: Machine, slurm: Slurm, catalog: Catalog) -> None:
    """Make the result of a machine with its plan; nothing is booted for it."""
    loaded = load_study(campaign.study(machine.name), catalog)
    whole = extended(catalog, loaded.study.workloads)
    descriptions = {
        system.name: {
            "kind": system.target,
            "layer": system.kind.layers[0],
            "kernel": f"(node feature {slurm.feature(system.name)})",
            "options": {
                "node": machine.node_name,
                "feature": slurm.feature(system.name),
                "boot": slurm.boot,
                "settings": system.settings.changed(),
            },
            "notes": ["a node of Slurm; each boot is a job, in the order of the plan"],
        }
        for system in loaded.study.systems
    }
    plan = make_plan(
        loaded.study, whole, descriptions, campaign.blocks, loaded.supplies, pairing="none"
    )
    directory = make_directory(campaign.result(machine.name), loaded.study.name)
    limit = loaded.study.procedure.cpu_latency_us
    latency_us = limit if isinstance(limit, int) else None
    with Lock(directory):
        ready = Ready(loaded, whole, plan, {}, cpu_latency_us=latency_us)
        session.fill(directory, ready, campaign.blocks)


def cancel(campaign: Campaign) -> int:
    """Cancel all jobs of a campaign; returns how many there were."""
    (campaign.path / CANCELLED).touch()
    try:
        found = client.queue(Jobs(campaign).prefix)
        client.cancel(list(found))
    except (client.ControllerAway, client.SlurmRefusal) as error:
        raise InputError(f"the jobs cannot be cancelled: {error}; try again") from error
    return len(found)


def slurm_step(campaign: Path, machine: str, block: int, system: str) -> None:
    """Measure what is left of one boot, on the node that runs this."""
    with Claims(waiting=caution) as claims:
        found = load_campaign(campaign)
        if machine not in found.machines:
            text = f'"{machine}" is no machine of {campaign}'
            raise InputError(text + did_you_mean(machine, found.machines))
        directory = found.result(machine)
        _wait_for_lock(directory)
        result = load_result(directory)
        boot = result.state.boots.get((block, system))
        if boot is None:
            raise InputError(f"{directory} has no boot of {system} in block {block + 1}")
        if not boot.pending():
            err.print(f"block {block + 1}, {system}: nothing is left to measure")
            return
        ready = _ready(found, directory, system)
        for note in claim(claims, ready):
            caution(note)
        claims.work_in(directory)
        session.go_on(directory, ready, listener(None), only=(block, system))


def _ready(campaign: Campaign, directory: Path, system: str) -> Ready:
    result = load_result(directory)
    plan = result.plan
    agent_path = agent.locate()
    catalog = parse_catalog(agent.catalog(agent_path))
    build = catalog.agent.get("build")
    if build != plan.agent.get("build"):
        raise InputError(
            f"the agent on this node is another build ({build}) than that of the campaign "
            f"({plan.agent.get('build')}); its numbers must not be mixed. Install the same on all"
        )
    loaded = load_study(directory / STUDY, catalog, alone=True, traces=kept(plan.study))
    own = plan.study.system(system)
    slurm = load_machines(campaign.path / MACHINES).slurm
    [target] = targets_of(
        plan.study.model_copy(update={"systems": (own,)}),
        agent_path,
        loaded.supplies,
        scheduled=slurm.boot != "feature",
    ).values()
    prepare({system: target})
    return Ready(replace(loaded, study=plan.study), result.catalog, plan, {system: target})


def _wait_for_lock(directory: Path) -> None:
    """The job before may still write: Slurm ends a job before the last of its processes."""
    deadline = time.monotonic() + LOCK_PATIENCE_S
    while is_locked(directory) and time.monotonic() < deadline:
        time.sleep(0.2)


def slurm_setup(on: Path, system: list[str] | None, directory: Path | None) -> None:
    machines = load_machines(on)
    names = list(dict.fromkeys([*(system or ()), *machines.slurm.systems]))
    if not names:
        raise InputError(
            f"{on} names no system; add [slurm.system.NAME] tables, or name them with --system"
        )
    found = setup.files(machines, names)
    for name in setup.unrecognised(machines, names):
        caution(
            f'! the helper cannot recognise the system "{name}" when it runs; state its '
            f"kernel's release (uname -r) in [slurm.system.{name}]"
        )
    if directory is None:
        for name, text in found.items():
            out.print(f"### {name}\n{text}", soft_wrap=True)
        return
    directory.mkdir(parents=True, exist_ok=True)
    for name in found:
        if (directory / name).exists():
            raise InputError(f"{directory / name} exists; name another directory with --out")
    for name, text in found.items():
        file = directory / name
        file.write_text(text, encoding="utf-8")
        if not name.endswith(".conf"):
            file.chmod(0o755)
        out.print(str(file), soft_wrap=True)
