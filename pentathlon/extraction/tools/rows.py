"""What an extractor yields: rows with their metric, unit and direction, whatever tool wrote them.

Extractors take a text, so that they serve for a file and for what a command printed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from pentathlon.safeio.clipping import described
from pentathlon.safeio.escaping import one_line

Direction: TypeAlias = Literal["higher", "lower"]
CaseValue: TypeAlias = str | int

MOST_BYTES = 16 << 20
"""Bytes of a file that is read; the longest known, a log of pgbench, is cut into shorter ones."""
MOST_VALUES = 100_000
MOST_ROWS = 10_000
LONGEST = 256
"""Characters of a name, a unit or a value of a case."""
LONGEST_ID = 64
"""Characters of a metric's id."""

_NOT_IN_ID = re.compile(r"[^A-Za-z0-9_-]+")


class ExtractError(Exception):
    """A text that cannot be used; the text is the end of a sentence that begins with its name.

    Attributes:
        line: where in it, from 1; None for the whole.
    """

    def __init__(self, text: str, line: int | None = None) -> None:
        super().__init__(text)
        self.line = line


@dataclass(frozen=True)
class Metric:
    """One quantity, as the tool's documentation has it.

    Attributes:
        role: `context` is no score: what the work took, or how it was spread.
    """

    id: str
    title: str
    unit: str
    direction: Direction
    role: Literal["performance", "context"] = "performance"
    zero_allowed: bool = False


@dataclass(frozen=True)
class Row:
    """The values of one metric and case.

    Attributes:
        workload: what ran, such as "fio" or "sysbench.cpu"; its area is what is before the dot.
        values: in the metric's unit; several are repetitions within one boot.
        place: where in the text they are, for the reader of the journal.
        boot: the boot or block that the text itself names, from 1; None: it names none.
    """

    workload: str
    workload_title: str
    metric: Metric
    case: dict[str, CaseValue]
    values: tuple[float, ...]
    place: str
    boot: int | None = None


@dataclass(frozen=True)
class Extracted:
    """Everything that one text holds.

    Attributes:
        version: of the tool; None where the text does not name it.
        left_out: what is in the text and not in the rows, one clause each.
        part: which part of the text was requested, such as one system of several; "" for all.
    """

    version: str | None
    rows: tuple[Row, ...]
    left_out: tuple[str, ...] = ()
    part: str = ""


@dataclass(frozen=True)
class Measure:
    """Unit and direction that the user gave for a quantity, as its file has none."""

    unit: str
    direction: Direction


@dataclass(frozen=True)
class Options:
    """What the user says of a text that does not say it itself.

    Attributes:
        measures: column or measure -> unit and direction (CSV, BMF).
        cases: columns that tell cases apart (CSV).
        boots: the column that numbers the boots or blocks, from 1 (CSV); "" for none.
        given: factors that the user adds to every case.
        part: the system that is taken of a text with several (PTS); "" where there is one.
    """

    measures: Mapping[str, Measure] = field(default_factory=dict)
    cases: tuple[str, ...] = ()
    boots: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    part: str = ""


@dataclass(frozen=True)
class Extractor:
    """One tool.

    Attributes:
        name: as the user names it.
        what: what is read, for the help.
        extract: makes the rows; raises ExtractError.
        takes: options that mean something to it, by their attribute of `Options`.
    """

    name: str
    what: str
    extract: Callable[[str, Options], Extracted]
    takes: frozenset[str] = frozenset()

    def read(self, text: str, options: Options | None = None) -> Extracted:
        """The rows of a text, of a bounded number.

        Raises:
            ExtractError: the text cannot be used.
        """
        wanted = options or Options()
        return checked(with_given(shown(self.extract(text, wanted)), wanted.given))


def shown(found: Extracted) -> Extracted:
    """The same without characters that act instead of being shown, in whatever view."""
    return replace(
        found,
        rows=tuple(
            replace(
                row,
                workload_title=one_line(row.workload_title),
                metric=replace(
                    row.metric, title=one_line(row.metric.title), unit=one_line(row.metric.unit)
                ),
                case={
                    one_line(name): one_line(value) if isinstance(value, str) else value
                    for name, value in row.case.items()
                },
            )
            for row in found.rows
        ),
    )


def with_given(found: Extracted, given: Mapping[str, str]) -> Extracted:
    """The same with the user's factors in every case.

    Raises:
        ExtractError: the text has one of them itself.
    """
    if not given:
        return found
    for row in found.rows:
        if both := given.keys() & row.case.keys():
            raise ExtractError(f"has the factor {described(min(both))} itself ({row.place})")
    rows = (replace(row, case={**row.case, **given}) for row in found.rows)
    return replace(found, rows=tuple(rows))


def metric_id(name: str) -> str:
    """A name as the id of a metric: letters, digits, `_` and `-`.

    >>> metric_id("Files / sec (warm)")
    'files_sec_warm'
    """
    return _NOT_IN_ID.sub("_", name).strip("_").lower()[:LONGEST_ID]


LARGEST = 1e308
"""The largest number that is taken: means of larger ones need not be numbers."""


def finite(value: float, what: str) -> float:
    """The value, if it is a number that can be recorded.

    Raises:
        ExtractError: it is not.
    """
    if not math.isfinite(value):
        raise ExtractError(f"has {what} {value}, which is no finite number")
    if abs(value) > LARGEST:
        raise ExtractError(f"has {what} {value}; numbers up to {LARGEST:g} can be recorded")
    return value


def checked(found: Extracted) -> Extracted:
    """What an extractor made, if it is something and not too much of it.

    Raises:
        ExtractError: it is not; or a metric has several units, or a case is there twice.
    """
    if not found.rows:
        why = f": {'; '.join(found.left_out)}" if found.left_out else ""
        raise ExtractError(f"holds no value that is read{why}")
    if len(found.rows) > MOST_ROWS or sum(len(row.values) for row in found.rows) > MOST_VALUES:
        raise ExtractError(
            f"holds more than {MOST_ROWS} rows or {MOST_VALUES} values; import it in parts"
        )
    known: dict[tuple[str, str], Metric] = {}
    places: dict[object, str] = {}
    for row in found.rows:
        _check_texts(row)
        for value in row.values:
            finite(value, row.place)
        metric = known.setdefault((row.workload, row.metric.id), row.metric)
        if (clash := mixed(metric, row.metric)) is not None:
            raise ExtractError(f"{clash} ({row.place})")
        key = (row.workload, row.metric.id, row.boot, *sorted(row.case.items()))
        if key in places:
            case = ", ".join(f"{name} {value}" for name, value in row.case.items())
            raise ExtractError(
                f"has {row.metric.id} of {row.workload}{f' ({case})' if case else ''} twice, at "
                f"{places[key]} and at {row.place}; what tells the two apart must be in the case"
            )
        places[key] = row.place
    return found


def mixed(one: Metric, other: Metric) -> str | None:
    """Why two values cannot be of one metric, or None."""
    if one.unit != other.unit:
        return f'mixes units under "{one.id}": {one.unit} and {other.unit}'
    if one.direction != other.direction:
        return f'has "{one.id}" once with higher and once with lower values as the better ones'
    return None


def _check_texts(row: Row) -> None:
    texts = {"the metric": row.metric.title, "the unit": row.metric.unit}
    texts |= {f"the case's {described(name)}": str(value) for name, value in row.case.items()}
    for what, text in texts.items():
        if len(text) > LONGEST:
            raise ExtractError(f"has {what} longer than {LONGEST} characters at {row.place}")
    if not row.metric.id or not row.metric.unit:
        raise ExtractError(f"has a metric without a name or a unit at {row.place}")
