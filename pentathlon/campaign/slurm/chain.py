"""The chain of one node: a job for each boot that is left, in the plan's order.

Each job waits for the end of the one before, whatever end that is (`afterany`): a boot that fails
costs no other one. Jobs are requeued where their node fails or they are preempted; the id stays,
and with it the chain.
"""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace

from pentathlon.campaign.directory import Campaign
from pentathlon.campaign.machines import Machine, Slurm
from pentathlon.campaign.slurm import client
from pentathlon.campaign.slurm.jobs import Jobs, Submitted
from pentathlon.procedure.attempt import limits
from pentathlon.procedure.state import BootState, RunState
from pentathlon.study.plan import Plan

WINDOW = 50
"""Jobs of a node that are in the queue at once; Slurm's default is 10,000 for a cluster."""
BOOT_MINUTES = 10
"""Of a job's time limit, for what the job does besides its steps."""


class Chain:
    """The jobs of one machine.

    Attributes:
        given_up: why nothing more is submitted; "" while it may be.
        waits: what the first of its jobs waits for.
    """

    def __init__(self, campaign: Campaign, machine: Machine, slurm: Slurm, jobs: Jobs) -> None:
        self.campaign, self.machine, self.slurm, self.jobs = campaign, machine, slurm, jobs
        self.given_up = ""
        self.waits = ""
        self._useless: dict[tuple[int, str], tuple[int, int]] = {}

    def live(self, queue: Mapping[str, client.Job]) -> list[Submitted]:
        """Its jobs in the queue, in the order of their ids; what is known by its name alone gets
        its id."""
        found = []
        by_name = {job.name: job.id for job in queue.values()}
        for one in self.jobs.all.values():
            if one.machine != self.machine.name:
                continue
            if one.job is None and one.name in by_name:
                known = replace(one, job=by_name[one.name])
                found.append(known)
            elif one.job is not None and one.job in queue:
                found.append(one)
        for one in found:
            if self.jobs.all[one.name].job is None:
                self.jobs.note(one)
        return sorted(found, key=lambda one: int(one.job or 0))

    def top_up(self, state: RunState, queue: Mapping[str, client.Job]) -> bool:
        """Submit what is missing; returns whether jobs of it are in the queue now.

        Raises:
            ControllerAway, SlurmRefusal.
        """
        live = self.live(queue)
        first = next((queue[one.job] for one in live if one.job is not None), None)
        self.waits = "" if first is None or first.state != "PENDING" else first.reason
        if self.given_up:
            return bool(live)
        covered = {(one.block, one.system) for one in live}
        last = live[-1].job if live else None
        count = len(live)
        for boot in state.pending():
            if count >= WINDOW:
                break
            if (boot.block, boot.system) in covered:
                continue
            if not self._worth_it(boot):
                return bool(live)
            last = self._submit(state.plan, boot, last)
            count += 1
        return count > 0

    def _worth_it(self, boot: BootState) -> bool:
        """Whether one more job may measure what the ones before did not."""
        key = (boot.block, boot.system)
        done = len(boot.finished) + len(boot.failed)
        before, tries = self._useless.get(key, (-1, 0))
        # Of this program alone: what ended before it began may have been cancelled or refused.
        tries = tries + 1 if done == before else 1
        self._useless[key] = (done, tries)
        if tries > self.slurm.rounds:
            self.given_up = (
                f"{self.slurm.rounds} jobs for {boot.system} in block {boot.block + 1} ended "
                f"without any new step; see {self.campaign.path}/logs; resume tries again"
            )
        return not self.given_up

    def _submit(self, plan: Plan, boot: BootState, after: str | None) -> str:
        name = self.jobs.new_name(self.machine.name, boot.block, boot.system)
        one = Submitted(name, self.machine.name, boot.block, boot.system)
        self.jobs.note(one)
        job = client.submit(self.words(plan, boot, name, after))
        self.jobs.note(replace(one, job=job))
        return job

    def words(self, plan: Plan, boot: BootState, name: str, after: str | None) -> list[str]:
        """The options of sbatch, and the job itself."""
        slurm, machine = self.slurm, self.machine
        options = [
            f"--job-name={name}",
            f"--nodelist={machine.node_name}",
            "--nodes=1",
            "--ntasks=1",
            "--exclusive",
            f"--constraint={slurm.feature(boot.system)}",
            "--requeue",
            "--open-mode=append",
            f"--time={slurm.time_minutes or minutes(plan, boot)}",
            f"--output={self.campaign.path.absolute()}/logs/{machine.name}.log",
            f"--chdir={self.campaign.path.absolute()}",
            f"--comment=block {boot.block + 1} of {boot.system}",
        ]
        if slurm.boot == "reboot":
            options.append("--reboot")
        if after is not None:
            options.append(f"--dependency=afterany:{after}")
        for key in ("partition", "account", "qos", "reservation"):
            if (value := getattr(slurm, key)) is not None:
                options.append(f"--{key}={value}")
        return [*options, f"--wrap={self.script(boot)}"]

    def script(self, boot: BootState) -> str:
        """What the job runs on the node."""
        program = self.slurm.program or f"{shlex.quote(sys.executable)} -m pentathlon"
        path = shlex.quote(str(self.campaign.path.absolute()))
        own = f"{program} campaign slurm-step {path} {self.machine.name} {boot.block} {boot.system}"
        if self.slurm.command is None:
            # exec: the signals of scancel and of the time limit reach the program itself.
            return f"exec {own}"
        command = self.slurm.command.replace("{node}", self.machine.node_name)
        # The signal waits for the program, whose end of the boot is orderly.
        return f"trap : TERM; {own} & wait $!; wait $!; s=$?; {command}; exit $s"


def minutes(plan: Plan, boot: BootState) -> int:
    """A time limit that no boot reaches that keeps to the limits of its steps."""
    steps = [plan.steps[boot.system][number] for number in boot.steps]
    prepare = list(plan.preparation.get(boot.system, ()))
    _, total = limits(steps, [step for step in prepare if not step.once])
    attempts = plan.study.procedure.retries + 1
    whole = (total + plan.study.procedure.boot_timeout_s) * attempts
    return math.ceil(whole / 60.0) + BOOT_MINUTES
