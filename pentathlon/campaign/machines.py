"""The file that names the machines of a campaign (docs/campaigns.md)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator

from pentathlon.safeio.reading import ReadError, parse_toml, read_text
from pentathlon.study.locate import Locator
from pentathlon.study.messages import translate
from pentathlon.study.problems import Problem, StudyError
from pentathlon.study.reach import Ssh
from pentathlon.study.table import Table

MOST_BYTES = 4 << 20

MachineName: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)
]
Word: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._:+-]*$")]
"""Names of Slurm's: they are parts of options, and of lists with commas."""


class Machine(Table):
    """One machine (`[[machine]]`). Without `ssh` and `target` the systems are reached as the study
    states it."""

    name: MachineName
    ssh: Ssh | None = None
    """How it is reached; the study's systems then have the target `ssh`."""
    target: str | None = None
    """Kind of target of the study's systems on it, such as `local` or `netns`."""
    cpus: tuple[int, ...] | None = None
    """CPUs of every system on it."""
    node: Word | None = None
    """Its name as a node of Slurm; `name` if None."""
    systems: dict[str, dict[str, Any]] = Field(alias="system", default_factory=dict)
    """System -> keys that differ on this machine, such as the entry that is booted."""

    @field_validator("cpus", mode="before")
    @classmethod
    def _cpus(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _one_way(self) -> Machine:
        if self.ssh is not None and self.target is not None:
            raise ValueError("has both ssh and target; a machine is reached in one way, name one")
        return self

    @property
    def node_name(self) -> str:
        """Its name as a node of Slurm."""
        return self.node or self.name


class SlurmSystem(Table):
    """What a system is to Slurm (`[slurm.system.NAME]`)."""

    feature: Word | None = None
    """The node feature that boots it; the system's name if None."""
    entry: str | None = None
    """Entry of the boot loader, for `slurm-setup`."""
    release: str | None = None
    """Its kernel's release, by which the helper recognises it, for `slurm-setup`."""


class Slurm(Table):
    """How Slurm runs the jobs (`[slurm]`)."""

    partition: Word | None = None
    account: Word | None = None
    qos: Word | None = None
    reservation: Word | None = None
    time_minutes: int | None = Field(default=None, ge=1, le=100_000)
    """Time limit of the job of one boot; made from the limits of its steps if None."""
    boot: Literal["reboot", "command", "feature"] = "reboot"
    """How each boot becomes a fresh one: `sbatch --reboot`; `command` at the end of the job
    before; or only where the feature changes."""
    command: str | None = Field(default=None, min_length=1)
    """Shell command that each job ends with, on its node; `{node}` is the node's name."""
    program: str = Field(default="", max_length=4096)
    """The program on the nodes; the one that submits if empty."""
    poll_s: float = Field(default=10.0, gt=0, le=3600)
    """Seconds between two looks at the queue."""
    rounds: int = Field(default=3, ge=1, le=100)
    """Jobs for one boot that end without any new step, after which a machine is given up."""
    loader: Literal["grub", "bootctl"] = "grub"
    """Boot loader of the nodes, for `slurm-setup`."""
    systems: dict[str, SlurmSystem] = Field(alias="system", default_factory=dict)

    @model_validator(mode="after")
    def _command_for_boot(self) -> Slurm:
        if (self.boot == "command") != (self.command is not None):
            raise ValueError('command and boot = "command" need each other; add the other one')
        return self

    def feature(self, system: str) -> str:
        """The node feature of a system."""
        own = self.systems.get(system)
        return system if own is None or own.feature is None else own.feature


class Machines(Table):
    """The whole file."""

    machines: tuple[Machine, ...] = Field(alias="machine")
    slurm: Slurm = Slurm()

    @field_validator("machines", mode="before")
    @classmethod
    def _tuple(cls, value: Any) -> Any:
        # A least length would count entries that are wrong as none.
        if isinstance(value, list | tuple) and not value:
            raise ValueError("has 0 entries; give at least 1")
        return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class LoadedMachines:
    """The machines with the file that names them."""

    file: Path
    text: str
    machines: tuple[Machine, ...]
    slurm: Slurm


def load_machines(file: Path) -> LoadedMachines:
    """Read and check a file of machines.

    Raises:
        StudyError: it cannot be read or is wrong; every problem is listed, with its line.
    """
    try:
        text = read_text(file, MOST_BYTES)
        found = Machines.model_validate(parse_toml(text))
    except ReadError as error:
        raise StudyError(file, [Problem((), str(error), error.line)]) from error
    except ValidationError as error:
        problems = [translate(detail) for detail in error.errors()]
        raise StudyError(file, _located(problems, text)) from error
    problems = _twice(found.machines)
    if problems:
        raise StudyError(file, _located(problems, text))
    return LoadedMachines(file.resolve(), text, found.machines, found.slurm)


def _twice(machines: tuple[Machine, ...]) -> list[Problem]:
    seen: Counter[str] = Counter()
    problems = []
    for place, one in enumerate(machines):
        if seen[one.name.lower()]:
            text = f'"{one.name}" is used twice; every machine needs its own name'
            problems.append(Problem(("machine", place, "name"), text))
        seen[one.name.lower()] += 1
    return problems


def _located(problems: list[Problem], text: str) -> list[Problem]:
    locator = Locator(text)
    return [Problem(one.path, one.text, locator.line(one.path)) for one in problems]
