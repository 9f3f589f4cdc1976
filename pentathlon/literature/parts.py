"""What all models of the data have in common: names, formulas, strictness."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pentathlon.literature.expression import Formula
from pentathlon.literature.problems import PublishedError

Id = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Relation = Literal["equals", "at-least", "at-most", "more-than", "less-than", "about"]
Severity = Literal["error", "warning", "note"]


class Part(BaseModel):
    """A part of the data; unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _formula(text: str) -> str:
    """Check a formula; pydantic passes on ValueError only."""
    try:
        Formula(text)
    except PublishedError as error:
        raise ValueError(str(error)) from error
    return text


FormulaText = Annotated[str, AfterValidator(_formula)]
