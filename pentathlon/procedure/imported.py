"""What a record `imported` may hold: values of another tool, checked like an agent's events."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pentathlon.protocol.messages.base import Better, Number, Small

_Name = Annotated[str, Field(min_length=1, max_length=4096)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _Value(_Part):
    workload: _Name
    workload_title: str
    metric: _Name
    title: str
    unit: _Name
    direction: Better
    role: Literal["performance", "context"]
    zero_allowed: bool
    case: dict[str, str | int]
    values: Annotated[list[Number], Field(min_length=1)]
    place: str


class _Record(_Part):
    block: Small
    system: _Name
    tool: _Name
    tool_version: str | None
    file: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    part: str
    in_blocks: bool
    values: Annotated[list[_Value], Field(min_length=1)]


def check(members: dict[str, Any]) -> None:
    """Refuse members of a record that no import wrote.

    Raises:
        ValueError: the text names the first that is wrong.
    """
    try:
        _Record.model_validate(members)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ValueError(f'record "imported" is wrong at {place}: {first["msg"]}') from error
