"""What is done to a system before it is measured: the steps of the published process, as data.

The names are those of Fig. 4 of martinovic2012 (Sec. 5.3) and Fig. 1 of vdovjak2021 (Sec. 4.2):
format the disk (`fresh`), list updates, drivers and third-party software (`record`), train
(`train`), process idle tasks (`idle`), wait after the boot (`settle`), and then measure.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pentathlon.protocol.requests.session import PrepareStep, prepare_step
from pentathlon.study.table import Table
from pentathlon.targets.descriptor import Kind
from pentathlon.targets.registry import kind_of

Do: TypeAlias = Literal["fresh", "record", "train", "idle", "settle"]
IdleTask: TypeAlias = Literal["sync", "fstrim", "drop_caches", "process_idle_tasks"]

PUBLISHED: tuple[Do, ...] = ("fresh", "record", "train", "idle", "settle")
"""The whole of the published process."""

ONCE: frozenset[str] = frozenset({"fresh", "record", "train"})
"""Steps that are done once for each system, before its first boot that is measured."""

LEARNED_TIMES = 5
"""How often each workload is run for training (martinovic2012, Sec. 5.3)."""

AFTER_BOOT_S = 600.0
"""Time after the boot in which nothing is measured (martinovic2012, Sec. 5.3), in seconds."""

SETTLE: dict[str, tuple[float, float]] = {
    # A guest holds nothing but the agent: what the ten minutes are for is not there.
    "after_boot_s": (AFTER_BOOT_S, 0.0),
    "quiet_s": (30.0, 1.0),
    "limit_s": (600.0, 30.0),
    "cpu_percent": (5.0, 20.0),
    "disk_kb_per_s": (500.0, 500.0),
    "network_packets_per_s": (100.0, 100.0),
    "temperature_c": (3.0, 3.0),
    "frequency_percent": (10.0, 10.0),
    "users": (1, 0),
}
"""Key of the step `settle` -> its default for a machine, and for a guest."""

_KEYS: dict[str, set[str]] = {
    "fresh": {"command"}, "record": set(), "train": {"times"}, "idle": {"tasks"},
    "settle": set(SETTLE),
}  # fmt: skip


class PreparationStep(Table):
    """One step; what is left out has a default that fits the kind of system (`planned`)."""

    do: Do
    command: str | None = Field(default=None, min_length=1)
    """`fresh`: shell command that makes the system anew, on the system itself."""
    times: int | None = Field(default=None, ge=0, le=1000)
    """`train`: how often each workload is run; None asks the system whether it learns from use."""
    tasks: tuple[IdleTask, ...] | None = None
    """`idle`: which tasks."""
    after_boot_s: float | None = Field(default=None, ge=0, le=86_400)
    """`settle`: least time since the boot, in seconds."""
    quiet_s: float | None = Field(default=None, ge=0.1, le=3_600)
    """`settle`: how long it has to be quiet without a break, in seconds."""
    limit_s: float | None = Field(default=None, ge=0.1, le=86_400)
    """`settle`: longest wait for quiet, in seconds."""
    cpu_percent: float | None = Field(default=None, ge=0, le=100)
    """`settle`: most CPU time of all CPUs, in percent."""
    disk_kb_per_s: float | None = Field(default=None, ge=0)
    network_packets_per_s: float | None = Field(default=None, ge=0)
    temperature_c: float | None = Field(default=None, ge=0)
    """`settle`: most change of the hottest sensor, in °C."""
    frequency_percent: float | None = Field(default=None, ge=0)
    """`settle`: most change of the mean frequency, in percent."""
    users: int | None = Field(default=None, ge=0)
    """`settle`: most people logged in."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"do": value}
        if isinstance(value, dict) and isinstance(value.get("tasks"), list):
            return value | {"tasks": tuple(value["tasks"])}
        return value

    @model_validator(mode="after")
    def _own_keys(self) -> PreparationStep:
        # A plan that is read back names every key; what has no value was not named in the file.
        named = set(self.model_dump(exclude={"do"}, exclude_none=True))
        for key in sorted(named - _KEYS[self.do]):
            owner = next(do for do, keys in _KEYS.items() if key in keys)
            raise ValueError(f'"{key}" is for the step "{owner}", not for "{self.do}"')
        if self.quiet_s is not None and self.limit_s is not None and self.limit_s < self.quiet_s:
            raise ValueError("limit_s is shorter than quiet_s; quiet could never be found")
        if self.tasks is not None and not self.tasks:
            raise ValueError("the list of tasks is empty; leave the step out")
        return self


def from_file(value: Any) -> Any:
    """`steps` as a file has it: "fast", "published", or a list of steps.

    Raises:
        ValueError: another text, or a step that is named twice.
    """
    if value == "fast":
        return ()
    if value == "published":
        return tuple({"do": do} for do in PUBLISHED)
    if isinstance(value, str):
        raise ValueError(f'"{value}" is no procedure; use "fast", "published", or a list of steps')
    if not isinstance(value, list | tuple):
        return value
    names = [one.get("do") if isinstance(one, dict) else one for one in value]
    for name in names:
        if isinstance(name, str) and names.count(name) > 1:
            raise ValueError(f'the step "{name}" is named twice')
    return tuple(value)


class PlannedStep(BaseModel):
    """A step of the plan, every option filled in.

    Attributes:
        options: the step's own keys; those of `idle` and `settle` go to the agent as they are.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    do: Do
    options: dict[str, Any]

    @property
    def once(self) -> bool:
        """Whether it is done once for the system, and not in each boot."""
        return self.do in ONCE

    def task(self) -> PrepareStep:
        """The step as an entry of the agent's request."""
        return prepare_step(self.do, self.options)

    def most_s(self) -> float:
        """Longest time that the agent may take for it, in seconds, without what the system does."""
        if self.do != "settle":
            return 120.0
        return float(self.options["after_boot_s"]) + float(self.options["limit_s"])

    def words(self, target: str, installs: int = 1) -> str:
        """The step for a reader of the plan.

        Args:
            target: kind of the system that it is for; what that cannot do is stated with the
                reason.
            installs: how many the study has.
        """
        why = self.impossible(target, installs)
        if why is None:
            return self._words()
        return f"{self._words().partition(':')[0]}: unsupported, {why}"

    def impossible(self, target: str, installs: int = 1) -> str | None:
        """Why the step cannot be done for a kind of target; None if nothing is known against it."""
        kind = kind_of(target)
        if self.do == "fresh" and self.options["command"] is None and not kind.is_guest:
            return f'"{target}" cannot make its system anew by itself; give the step a command'
        if self.do == "train" and self.options["times"] != 0:
            if kind.is_guest and kind.forgets:
                return f'nothing that a system of "{target}" learns survives its boot'
            if kind.is_guest and installs < 2:
                return "the guest's files are new in each boot; 2 installs or more keep them"
        return None

    def _words(self) -> str:
        o = self.options
        match self.do:
            case "fresh":
                return f"fresh system: {o['command'] or 'as the target makes it'}"
            case "record":
                return "record updates, drivers and software"
            case "train":
                times = o["times"]
                if times is None:
                    return f"train: each workload {LEARNED_TIMES} times if the system learns"
                return f"train: each workload {times} times, with a new boot after each"
            case "idle":
                return f"idle tasks: {', '.join(o['tasks'])}"
            case _:
                after = f"{o['after_boot_s']:g} s after boot, then " if o["after_boot_s"] else ""
                return (
                    f"settle: {after}quiet for {o['quiet_s']:g} s, wait at most {o['limit_s']:g} s"
                )


def _idle_tasks(kind: Kind) -> list[str]:
    if kind.idle_tasks is not None:
        return list(kind.idle_tasks)
    return ["sync"] if kind.is_guest else ["sync", "fstrim", "drop_caches"]


def planned(step: PreparationStep, target: str) -> PlannedStep:
    """The step with the defaults for a kind of target."""
    kind = kind_of(target)
    known: dict[str, dict[str, Any]] = {
        "fresh": {"command": None},
        "record": {},
        "train": {"times": None},
        "idle": {"tasks": _idle_tasks(kind)},
        "settle": {key: default[kind.is_guest] for key, default in SETTLE.items()},
    }
    named = step.model_dump(exclude={"do"}, exclude_none=True)
    options = known[step.do] | {
        key: list(v) if isinstance(v, tuple) else v for key, v in named.items()
    }
    if step.do == "settle":
        # A longer quiet than the default limit moves the limit, unless the study names one.
        if step.limit_s is None:
            options["limit_s"] = max(options["limit_s"], 2 * options["quiet_s"])
        else:
            options["quiet_s"] = min(options["quiet_s"], options["limit_s"])
    return PlannedStep(do=step.do, options=options)
