"""What all requests have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class RequestPart(BaseModel):
    """A part of a request. What is None is left out, so that the agent's own default holds."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    def line(self) -> bytes:
        """It as one line of JSON."""
        return self.model_dump_json(exclude_none=True).encode() + b"\n"
