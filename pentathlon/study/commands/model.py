"""`[[workload]]` and `[[workload.metric]]` as typed data (docs/study-file.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from pentathlon.extraction.tools.registry import EXTRACTORS
from pentathlon.extraction.values import pattern_problem, pointer_problem
from pentathlon.study.table import Table

Measure: TypeAlias = Literal["wall", "cpu", "peak_memory", "exit_status", "last_number"]
"""What of a run is a value without a look into a text, and the last number of its output."""

KNOWN_UNITS: Final[dict[str, str]] = {
    "wall": "ns", "cpu": "ns", "peak_memory": "B", "exit_status": "status",
}  # fmt: skip
"""Units of what the system reports; in all of them less is better."""

TITLES: Final[dict[str, str]] = {
    "wall": "Wall time",
    "cpu": "CPU time",
    "peak_memory": "Peak memory",
    "exit_status": "Exit status",
}

PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")

Word: TypeAlias = Annotated[str, StringConstraints(max_length=4096)]
Id: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)+$", max_length=64)
]
MetricName: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$", max_length=64)
]
ParameterName: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)
]
ParameterValue: TypeAlias = (
    Annotated[int, Field(ge=-(2**53), le=2**53)]
    | Annotated[float, Field(allow_inf_nan=False)]
    | Annotated[str, StringConstraints(max_length=1024)]
)


def _no_nul(word: str) -> str:
    if "\0" in word:
        raise ValueError("holds the character NUL, which no word of a command can")
    return word


Words: TypeAlias = tuple[Annotated[Word, AfterValidator(_no_nul)], ...]
"""A program and its arguments; no shell reads them."""


def _checked_pattern(pattern: str) -> str:
    if problem := pattern_problem(pattern):
        raise ValueError(problem)
    return pattern


Pattern: TypeAlias = Annotated[Word, AfterValidator(_checked_pattern)]


class OwnMetric(Table):
    """One quantity of a command: where its value is, its unit, and which values are better."""

    name: MetricName
    title: str | None = None
    regex: Pattern | None = None
    """The value is what its group matches, the last time in the output."""
    json_pointer: str | None = Field(default=None, alias="json")
    """The value at this pointer (RFC 6901) of the output, which is JSON."""
    csv: Annotated[str, StringConstraints(min_length=1, max_length=256)] | None = None
    """The value in the last row of this column of the output, which is CSV."""
    measure: Measure | None = None
    """What the system reports of the run, or the last number of the output."""
    tool: str | None = None
    """The value that `pentathlon import TOOL` finds under the metric's name in the output."""
    unit: Annotated[str, StringConstraints(min_length=1, max_length=32)] | None = None
    better: Literal["higher", "lower"] | None = None
    zero_allowed: bool = False
    """Whether 0 is a value; of any other metric it is an error."""

    @field_validator("json_pointer")
    @classmethod
    def _pointer(cls, pointer: str | None) -> str | None:
        if pointer is not None and (problem := pointer_problem(pointer)):
            raise ValueError(problem)
        return pointer

    @field_validator("tool")
    @classmethod
    def _known_tool(cls, tool: str | None) -> str | None:
        if tool is not None and tool not in EXTRACTORS:
            raise ValueError(
                f'"{tool}" is no tool whose output is read; use {", ".join(EXTRACTORS)}'
            )
        return tool

    @model_validator(mode="before")
    @classmethod
    def _named_after_its_measure(cls, value: Any) -> Any:
        """A metric that says only that it is called "wall" is the wall time."""
        if not isinstance(value, dict) or value.get("name") not in KNOWN_UNITS:
            return value
        if {"regex", "json", "json_pointer", "csv", "measure", "tool"} & value.keys():
            return value
        return {**value, "measure": value["name"]}

    @model_validator(mode="after")
    def _whole(self) -> OwnMetric:
        given = (self.regex, self.json_pointer, self.csv, self.measure, self.tool)
        if sum(one is not None for one in given) != 1:
            raise ValueError(
                "a metric takes its value from one place; give one of regex, json, csv, measure "
                "or tool"
            )
        if self.measure in KNOWN_UNITS:
            unit = KNOWN_UNITS[self.measure]
            if self.unit not in (None, unit):
                raise ValueError(f'the unit of {self.measure} is "{unit}"; leave the key out')
            object.__setattr__(self, "unit", unit)
            object.__setattr__(self, "better", self.better or "lower")
            if self.measure in {"exit_status", "cpu"}:
                object.__setattr__(self, "zero_allowed", True)
        elif self.unit is None:
            raise ValueError('unit is missing; add unit = "frames/s", say')
        elif self.better is None:
            raise ValueError('better is missing; add better = "higher" or "lower"')
        return self


class OwnWorkload(Table):
    """A command of the user's own (`[[workload]]`)."""

    id: Id
    title: str | None = None
    files: tuple[Annotated[str, StringConstraints(min_length=1, max_length=4096)], ...] = ()
    """Files and directories that every run finds in its directory, by their last names; relative
    to the study file."""
    setup: Words = ()
    """Once in each boot, before the first run; what it leaves running stays until the last."""
    prepare: Words = ()
    """Before each run, outside of its time."""
    command: Words
    cleanup: Words = ()
    """After each run, outside of its time."""
    parameters: dict[ParameterName, tuple[ParameterValue, ...]] = Field(default_factory=dict)
    """Name -> its values; `{NAME}` in the words stands for one. Each combination is a case."""
    same: Pattern | None = None
    """What this matches in the output must be the same in every run on every system."""
    timeout_s: float = Field(default=60.0, gt=0, le=86_400)
    """Longest time of one run, and of each of the programs around it, in seconds."""
    install: Annotated[str, StringConstraints(max_length=256)] | None = None
    """The command that installs what it needs, for the reason where a program is missing."""
    largest_file: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*[KMG]$")] = "1G"
    """Largest file that it may write."""
    metrics: tuple[OwnMetric, ...] = Field(default=(), alias="metric")
    """None: the wall time."""

    @field_validator("files", "setup", "prepare", "command", "cleanup", "metrics", mode="before")
    @classmethod
    def _lists(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("parameters", mode="before")
    @classmethod
    def _values(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {
            name: tuple(one) if isinstance(one, list) else one if isinstance(one, tuple) else (one,)
            for name, one in value.items()
        }

    @field_validator("parameters")
    @classmethod
    def _some_value(
        cls, value: dict[str, tuple[ParameterValue, ...]]
    ) -> dict[str, tuple[ParameterValue, ...]]:
        for name, values in value.items():
            if not values:
                raise ValueError(f"the list of {name} is empty; name at least one value")
            if len({str(one) for one in values}) != len(values):
                raise ValueError(f"a value of {name} is named twice; each makes one case")
            if len({isinstance(one, str) for one in values}) > 1:
                raise ValueError(f"the values of {name} are numbers and texts; give one kind")
        return value

    @field_validator("command")
    @classmethod
    def _program(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        if not words or not words[0]:
            raise ValueError('names no program; write it as ["./render", "--size", "{size}"]')
        return words

    @model_validator(mode="after")
    def _placeholders(self) -> OwnWorkload:
        used = {
            name
            for word in (*self.prepare, *self.command, *self.cleanup)
            for name in PLACEHOLDER.findall(word)
        }
        for name in self.parameters:
            if name not in used:
                raise ValueError(
                    f'the parameter "{name}" changes nothing: no word of prepare, command or '
                    f"cleanup holds {{{name}}}"
                )
        names = [one.name for one in self.metrics]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f'the metric "{name}" is there twice; give each its own name')
        if any(name in names for name in self.parameters):
            raise ValueError("a parameter and a metric have one name; give each its own")
        return self

    @property
    def area(self) -> str:
        """What its id begins with."""
        return self.id.partition(".")[0]

    def declared(self) -> tuple[OwnMetric, ...]:
        """The metrics that the study is about: the wall time where it names none."""
        return self.metrics or (OwnMetric(name="wall", measure="wall"),)

    def beside(self) -> tuple[OwnMetric, ...]:
        """What is reported beside them as context: what a run took."""
        known = {one.measure for one in self.declared()}
        names = {one.name for one in self.declared()}
        took: Sequence[Measure] = ("wall", "cpu", "peak_memory")
        return tuple(
            OwnMetric(name=one, measure=one)
            for one in took
            if one not in known and one not in names
        )

    @property
    def name(self) -> str:
        """What its id ends with."""
        return self.id.partition(".")[2]

    @property
    def any_status(self) -> bool:
        """Whether its exit status is a value."""
        return any(one.measure == "exit_status" for one in self.metrics)

    @property
    def largest_file_bytes(self) -> int:
        """`largest_file` in bytes."""
        return int(self.largest_file[:-1]) << {"K": 10, "M": 20, "G": 30}[self.largest_file[-1]]
