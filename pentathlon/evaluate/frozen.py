"""The base of everything that an evaluation consists of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A part of an evaluation; it never changes once made."""

    model_config = ConfigDict(frozen=True, extra="forbid")
