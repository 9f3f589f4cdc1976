"""Names that study files take: of systems, kinds of targets, sizes and weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import (
    Field,
    StringConstraints,
    ValidationInfo,
)
from pydantic_core import PydanticKnownError

from pentathlon.safeio.suggestion import listing
from pentathlon.targets import registry


@dataclass(frozen=True)
class OneOf:
    """Names that are known only when a study is read, beside the type of a field.

    Attributes:
        names: gives them.
    """

    names: Callable[[], list[str]]

    def check(self, value: Any) -> Any:
        """The value itself; the complaint about another one is that of a `Literal`."""
        names = self.names()
        if value not in names:
            raise PydanticKnownError("literal_error", {"expected": listing(names)})
        return value


KINDS = OneOf(registry.names)
"""The kinds of target that a system can name."""

IMPORTED = {"imported": True}
"""The context in which a plan is read whose systems were measured by another tool; no study file is
read in it."""


IMPORTED_TARGET = registry.IMPORTED.name
"""The kind of these systems, and their layer."""


def target_kind(value: Any, info: ValidationInfo) -> Any:
    """The name of a kind."""
    if value == IMPORTED_TARGET and info.context == IMPORTED:
        return value
    return KINDS.check(value)


JOINABLE = OneOf(lambda: registry.names(lambda kind: kind.joinable))
"""Those whose hosts can be of two kinds, and can have an emulated link between them."""

Value: TypeAlias = bool | int | float | str | list[int] | list[float] | list[str]
"""A value of a workload parameter, as TOML and JSON can write it."""

Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
SystemName: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=64)
]
Weight: TypeAlias = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Size: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*[KMG]$")]

OWN_SUITE = "commands"
"""The suite of a study that has commands and names no suite."""
