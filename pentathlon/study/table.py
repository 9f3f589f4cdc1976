"""The base of every table of a study file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Table(BaseModel):
    """A TOML table: unknown keys are errors, values are never converted silently."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)
