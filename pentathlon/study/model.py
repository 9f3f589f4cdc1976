"""The study file as typed data.

Every class of the model mirrors one table of the TOML file (docs/study-file.md): `system`,
`settings`, `procedure`, `rules`, `suite`. They hold only what can be said without a catalog and
without a machine; `pentathlon.study.check` compares a study with the agent's catalog.
"""

from __future__ import annotations

from typing import Any, Literal, TypeGuard

from pydantic import Field, field_validator, model_validator

from pentathlon.study.commands.model import OwnWorkload
from pentathlon.study.factorial.model import Factor, Fraction
from pentathlon.study.later import Later
from pentathlon.study.names import OWN_SUITE, Name, SystemName, Weight
from pentathlon.study.procedure import Procedure
from pentathlon.study.rules import Evaluation
from pentathlon.study.suite import Suite
from pentathlon.study.system import System
from pentathlon.study.table import Table


class Study(Later, Table):
    """A whole study file: systems x suites x procedure."""

    LATER = ("include", "workloads", "factors", "fraction", "design")

    name: Name
    title: str = ""
    question: str = ""
    reference: SystemName
    """Name of the system that the others are compared with."""
    seed: int = Field(default=1, ge=0, lt=2**63)
    """Seed of every random order of the plan."""
    fallback: str | None = None
    """Study file, relative to this one, that runs instead when a target cannot be prepared."""
    design: Literal["comparison", "factorial"] = "comparison"
    """What is asked: how systems compare with the reference, or which settings of one system
    matter."""
    factors: tuple[Factor, ...] = Field(alias="factor", default=())
    """Settings of the one system of a factorial design; when it is loaded, each combination of
    their levels becomes a system."""
    fraction: Fraction | None = None
    """Which part of all combinations is measured; None: all of them."""
    procedure: Procedure = Procedure()
    evaluation: Evaluation = Evaluation()
    weights: dict[str, Weight] = Field(default_factory=dict)
    """Area or workload id -> its weight in the answer; what is not named has 1."""
    systems: tuple[System, ...] = Field(alias="system")
    suites: tuple[Suite, ...] = Field(alias="suite")
    include: tuple[str, ...] = ()
    """Files, relative to this one, whose `[[workload]]` tables belong to the study."""
    workloads: tuple[OwnWorkload, ...] = Field(alias="workload", default=())
    """Commands of the user's own, those of included files too."""

    @model_validator(mode="before")
    @classmethod
    def _suite_of_own(cls, value: Any) -> Any:
        """A study that names no suite measures every command that it has."""
        if not isinstance(value, dict) or "suite" in value or "suites" in value:
            return value
        own = value.get("workload")
        ids = [one.get("id") for one in own if isinstance(one, dict)] if _is_list(own) else []
        if not ids or not all(isinstance(one, str) for one in ids):
            return value
        return {**value, "suite": [{"name": OWN_SUITE, "workloads": list(dict.fromkeys(ids))}]}

    @field_validator("include", "workloads", "factors", mode="before")
    @classmethod
    def _tuples(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("systems", "suites", mode="before")
    @classmethod
    def _not_empty(cls, value: Any) -> Any:
        if isinstance(value, list | tuple) and not value:
            raise ValueError("the list is empty; at least one is needed")
        return tuple(value) if isinstance(value, list) else value

    @property
    def imported(self) -> bool:
        """Whether its systems were measured by other tools; nothing of it is a procedure then."""
        return all(system.imported for system in self.systems)

    def command(self, workload: str) -> OwnWorkload | None:
        """The command of that id; None: the workload is the agent's."""
        return next((one for one in self.workloads if one.id == workload), None)

    def system(self, name: str) -> System:
        """The system of that name.

        Raises:
            KeyError: no system has the name.
        """
        for system in self.systems:
            if system.name == name:
                return system
        raise KeyError(name)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
