"""How long a plan will take: measuring, and what comes before it, from the pilot's estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pentathlon.procedure.pilot import SystemEstimate
from pentathlon.study.plan import Plan
from pentathlon.study.preparation import LEARNED_TIMES, PlannedStep


@dataclass(frozen=True)
class Expected:
    """Seconds of a whole plan.

    Attributes:
        measuring_s: boots and workloads.
        training_s: the runs of `train`, each in a boot of its own; of systems that are asked
            whether they learn, as if they did.
        settling_s: the least that `settle` takes: everything is quiet at once.
        settling_most_s: the most: it waits in vain each time.
        cut: workloads that the pilot did not finish; they count with their limit.
        problems: systems that could not be tried; they count nothing.
    """

    measuring_s: float
    training_s: float
    settling_s: float
    settling_most_s: float
    cut: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def least_s(self) -> float:
        """The whole, if nothing has to be waited for."""
        return self.measuring_s + self.training_s + self.settling_s

    @property
    def most_s(self) -> float:
        """The whole, if every boot waits for quiet in vain."""
        return self.measuring_s + self.training_s + self.settling_most_s


def expected(plan: Plan, estimates: Mapping[str, SystemEstimate]) -> Expected:
    """The time of the whole plan; a step `fresh` or `record` takes what the system takes and is not
    in it, but for the boot of `record`."""
    boots = [boot.system for block in plan.blocks for boot in block]
    settling = {name: _settling(plan, name) for name in estimates}
    return Expected(
        measuring_s=sum(estimates[name].total_s for name in boots),
        training_s=plan.study.procedure.installs
        * sum(_once(plan, name, one) for name, one in estimates.items()),
        settling_s=sum(settling[name][0] for name in boots),
        settling_most_s=sum(settling[name][1] for name in boots),
        cut=tuple(dict.fromkeys(name for one in estimates.values() for name in one.cut)),
        problems=tuple(name for name, one in estimates.items() if one.problem),
    )


def _once(plan: Plan, name: str, estimate: SystemEstimate) -> float:
    """What is done once for an install: the boots of `record` and `train`."""
    total = 0.0
    for step in plan.preparation.get(name, ()):
        if step.do == "record":
            total += estimate.boot_s
        if step.do == "train" and not plan.study.system(name).kind.is_guest:
            times = step.options["times"]
            runs = LEARNED_TIMES if times is None else int(times)
            total += runs * sum(estimate.boot_s + one for one in estimate.steps_s.values())
    return total


def _settling(plan: Plan, name: str) -> tuple[float, float]:
    """Least and most of one boot's `settle`.

    The time after the boot counts from the boot of the system: a machine that is not restarted for
    the study has mostly been up for long enough.
    """
    step = next((one for one in plan.preparation.get(name, ()) if one.do == "settle"), None)
    if step is None:
        return 0.0, 0.0
    wait = float(step.options["after_boot_s"]) if _restarts(plan, name) else 0.0
    return wait + float(step.options["quiet_s"]), wait + _limit(step)


def _limit(step: PlannedStep) -> float:
    return float(step.options["limit_s"])


def _restarts(plan: Plan, name: str) -> bool:
    system = plan.study.system(name)
    return system.kind.is_guest or bool(system.ssh and system.ssh.reboot)
