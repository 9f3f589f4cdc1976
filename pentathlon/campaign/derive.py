"""The study of one machine, made from the campaign's.

It is the same study with the machine's way to reach its systems, with names of files that hold from
everywhere, and with an order of its own: what the order of the boots does to them is then not the
same on every machine.
"""

from __future__ import annotations

import copy
import hashlib
from pathlib import Path
from typing import Any

from pentathlon.campaign.machines import Machine
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.study.absolute import absolute
from pentathlon.study.problems import Problem
from pentathlon.study.write import to_toml
from pentathlon.targets import registry

REACH = ("host", "user", "port", "key", "jump", "config")


class Unfit(Exception):
    """A study that a machine cannot measure.

    Attributes:
        problem: what is wrong, with its place in the study.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.text)
        self.problem = problem


def derive(document: dict[str, Any], directory: Path, machine: Machine) -> str:
    """The study of a machine as TOML.

    Args:
        document: the campaign's study, as TOML has it.
        directory: where its relative names of files begin.

    Raises:
        Unfit: the machine cannot measure one of its systems, or names one that it lacks.
    """
    found = copy.deepcopy(document)
    # Another study would run in its place on some of the machines.
    found.pop("fallback", None)
    seed = found.get("seed", 1)
    if isinstance(seed, int):
        found["seed"] = own_seed(seed, machine.name)
    absolute(found, directory)
    systems = found.get("system")
    rows = systems if isinstance(systems, list) else []
    names = [str(one.get("name")) for one in rows if isinstance(one, dict)]
    for name in machine.systems:
        if name not in names:
            text = f'machine "{machine.name}" names the system "{name}", which the study lacks'
            raise Unfit(Problem(("system",), text + did_you_mean(name, names)))
    for place, system in enumerate(rows):
        if isinstance(system, dict):
            _lay_over(system, machine, place)
    return to_toml(found)


def own_seed(seed: int, machine: str) -> int:
    """The seed of a machine's order."""
    digest = hashlib.sha256(f"{seed}/machine/{machine}".encode()).digest()
    return int.from_bytes(digest[:7])


def _lay_over(system: dict[str, Any], machine: Machine, place: int) -> None:
    target = system.get("target")
    if machine.ssh is not None:
        _movable(target, machine, place, "ssh")
        own = system.get("ssh")
        kept = {k: v for k, v in own.items() if k not in REACH} if isinstance(own, dict) else {}
        reach = machine.ssh.model_dump(exclude_unset=True)
        system["target"], system["ssh"] = "ssh", {**kept, **reach}
    elif machine.target is not None:
        _movable(target, machine, place, machine.target)
        system.pop("ssh", None)
        system["target"] = machine.target
    if machine.cpus is not None:
        system["cpus"] = list(machine.cpus)
    for key, value in machine.systems.get(str(system.get("name")), {}).items():
        own = system.get(key)
        both = isinstance(own, dict) and isinstance(value, dict)
        system[key] = {**own, **value} if isinstance(own, dict) and both else value


def _movable(target: Any, machine: Machine, place: int, wanted: str) -> None:
    kind = registry.find(target) if isinstance(target, str) else None
    # An unknown one is refused with the study.
    if kind is not None and not kind.movable and target != wanted:
        raise Unfit(
            Problem(
                ("system", place, "target"),
                f'"{target}" brings its own machine along, and machine "{machine.name}" is reached '
                f"with {wanted}; use local in the study, or a machine without ssh and target",
            )
        )
