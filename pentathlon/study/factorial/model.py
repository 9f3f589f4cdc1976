"""Factors and fraction as tables of a study file (`[[factor]]`, `[fraction]`)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints, field_validator, model_validator

from pentathlon.study.table import Table

Scalar = bool | int | float | str
FactorName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=32)
]


class Factor(Table):
    """One setting of the base system, with the values that the arms give it."""

    setting: str | None = Field(default=None, min_length=1)
    """Key of the system's settings, such as "scheduler"; "sysctl.NAME" for one of sysctl(8)."""
    key: str | None = Field(default=None, min_length=1)
    """Another key of the system instead, such as "memory" or "kernel"."""
    name: FactorName | None = None
    """Its name in reports; the setting's or key's if it is missing."""
    levels: tuple[Any, ...] = Field(min_length=2, max_length=16)
    """Its values; the first is the one that the others are compared with."""
    labels: tuple[FactorName, ...] | None = None
    """What the values are called, in the same order; None: as they are written."""

    @field_validator("levels", "labels", mode="before")
    @classmethod
    def _levels(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("levels")
    @classmethod
    def _values(cls, levels: tuple[Any, ...]) -> tuple[Any, ...]:
        for number, level in enumerate(levels):
            parts = level if isinstance(level, list | tuple) else [level]
            if not all(isinstance(one, Scalar) for one in parts):
                raise ValueError("a level must be a value or a list of values")
            # 1 and true are equal in Python, and two values of a setting.
            if any(level == one and type(level) is type(one) for one in levels[:number]):
                raise ValueError(f"the level {level_text(level)} is named twice")
        return tuple(list(one) if isinstance(one, tuple) else one for one in levels)

    @model_validator(mode="after")
    def _one_of_both(self) -> Factor:
        if (self.setting is None) == (self.key is None):
            raise ValueError('a factor is either a "setting" or a "key" of the system; name one')
        if self.labels is not None and len({*self.labels}) != len(self.levels):
            raise ValueError(f"labels must name each of the {len(self.levels)} levels differently")
        return self

    @property
    def title(self) -> str:
        """What it is called."""
        return self.name or (self.setting or self.key or "").removeprefix("sysctl.")

    @property
    def texts(self) -> tuple[str, ...]:
        """Its levels as they are called."""
        return self.labels or tuple(level_text(one) for one in self.levels)


class Fraction(Table):
    """Which part of all combinations is measured; the whole without this table."""

    resolution: int | None = Field(default=None, ge=3, le=15)
    """The least resolution: the smallest fraction that has it is taken."""
    arms: int | None = Field(default=None, ge=4, le=64)
    """How many arms there are: the fraction of minimum aberration of that size is taken."""

    @model_validator(mode="after")
    def _something(self) -> Fraction:
        if self.resolution is None and self.arms is None:
            raise ValueError("name its resolution, such as resolution = 4, or its arms")
        if self.arms is not None and self.arms & (self.arms - 1):
            raise ValueError("a two-level fraction has 4, 8, 16, 32 or 64 arms")
        return self


def level_text(level: Any) -> str:
    """A level as it is called: "on" and "off" for truth values."""
    if isinstance(level, bool):
        return "on" if level else "off"
    if isinstance(level, list | tuple):
        return ",".join(level_text(one) for one in level)
    return f"{level:g}" if isinstance(level, float) else str(level)
