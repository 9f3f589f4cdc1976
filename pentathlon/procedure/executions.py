"""From the runs of a user's own command to samples: what the agent reports as it was becomes values
of the metrics that the study declares.

A value is taken out of the whole output; the journal keeps only its end. Where there is no value,
an error reports it once for each case, with the pattern and the last lines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from pentathlon.extraction import values
from pentathlon.extraction.tools.registry import EXTRACTORS
from pentathlon.extraction.tools.rows import ExtractError
from pentathlon.extraction.values import NoValue
from pentathlon.protocol import events
from pentathlon.protocol.events import AnyEvent, Execution, JsonObject, Message
from pentathlon.protocol.messages.execution import KEPT_OUTPUT
from pentathlon.study.commands.model import Measure, OwnMetric, OwnWorkload
from pentathlon.study.model import Study
from pentathlon.study.plan import Step

KEPT: Final = 2048
"""Characters of the end of an output that the journal keeps, of each stream."""

LONGEST_CHECKSUM: Final = 120


class _Missing(Exception):
    """A system does not report what a metric is; one sentence."""


class Executions:
    """Adds samples to the events of one boot.

    Args:
        study: whose commands they are.
        steps: the steps of the request.
    """

    def __init__(self, study: Study, steps: Sequence[Step]) -> None:
        self._own = [study.command(step.workload) for step in steps]
        self._said: set[tuple[Any, ...]] = set()

    def expanded(self, messages: Iterable[Message]) -> Iterator[Message]:
        """The events, each run of a command followed by its samples."""
        for message in messages:
            run = message.event
            own = self._of(run) if isinstance(run, Execution) else None
            if not isinstance(run, Execution) or own is None:
                # A run of no command is refused where every event is checked.
                yield self._with_remedy(message)
                continue
            kept = {"output": run.output[-KEPT:], "error": run.error[-KEPT:]}
            yield Message(run.model_copy(update=kept), message.document | kept)
            yield from map(events.read, self._samples(run, own, message.document))

    def _with_remedy(self, message: Message) -> Message:
        """An error for want of a program, with the command that installs it."""
        event: AnyEvent = message.event
        if not isinstance(event, events.Error) or event.kind != "unsupported":
            return message
        if event.index is None or event.index >= len(self._own):
            return message
        own = self._own[event.index]
        if own is None or own.install is None or own.install in event.reason:
            return message
        reason = f"{event.reason}; {own.install}"
        return Message(
            event.model_copy(update={"reason": reason}), message.document | {"reason": reason}
        )

    def _of(self, run: Execution) -> OwnWorkload | None:
        return self._own[run.index] if run.index < len(self._own) else None

    def _samples(
        self, run: Execution, own: OwnWorkload, document: JsonObject
    ) -> Iterator[JsonObject]:
        try:
            checksum = _checksum(run, own)
        except NoValue as error:
            yield from self._error(run, "same", "failed", f"same: {error}")
            return
        for metric in own.declared():
            try:
                value = _value(run, metric)
            except NoValue as error:
                yield from self._error(
                    run, metric.name, "failed", f'the metric "{metric.name}": {error}'
                )
            except _Missing as error:
                yield from self._error(run, metric.name, "unsupported", str(error))
            else:
                yield _sample(run, metric, value, checksum, document)
        for metric in own.beside():
            try:
                value = _value(run, metric)
            except _Missing:
                continue  # Context; it is left out where a system does not report it.
            if value or metric.zero_allowed:
                yield _sample(run, metric, value, checksum, document)

    def _error(self, run: Execution, what: str, kind: str, reason: str) -> Iterator[JsonObject]:
        key = (run.index, run.process, json.dumps(run.case, sort_keys=True), what)
        if key in self._said:
            return
        self._said.add(key)
        yield {
            "event": "error",
            "workload": run.workload,
            "index": run.index,
            "process": run.process,
            "kind": kind,
            "reason": reason,
            "case": run.case,
            "t_ns": run.t_ns,
        }


def _text(run: Execution) -> str:
    """What a pattern looks through: the standard output, then the standard error."""
    return f"{run.output}\n{run.error}" if run.error else run.output


def _checksum(run: Execution, own: OwnWorkload) -> str | None:
    """What has to be the same in every run, as the samples' checksum.

    Raises:
        NoValue: the output does not hold it.
    """
    if own.same is None:
        return None
    text = _text(run)
    found = values.matched(own.same, text)
    if found is None:
        raise NoValue(
            f"the pattern {values.shown(own.same)} matches nothing of the output{values.tail(text)}"
        )
    quoted = json.dumps(found, ensure_ascii=True)
    if len(quoted) > LONGEST_CHECKSUM:
        return f"sha256:{hashlib.sha256(found.encode(errors='surrogatepass')).hexdigest()}"
    return quoted


def _value(run: Execution, metric: OwnMetric) -> float:
    """The value of a metric, out of the output or of what the system reports.

    Raises:
        NoValue: the output does not hold it.
        _Missing: the system does not report it.
    """
    if metric.regex is not None:
        return values.by_regex(metric.regex, _text(run))
    if metric.json_pointer is not None:
        return values.by_pointer(metric.json_pointer, _whole(run))
    if metric.csv is not None:
        return values.by_column(metric.csv, _whole(run))
    if metric.tool is not None:
        return _of_tool(metric.tool, metric, _whole(run))
    return _measured(run, metric.measure)


def _of_tool(tool: str, metric: OwnMetric, text: str) -> float:
    """The value that the tool's extractor finds; the mean where it printed repetitions.

    Raises:
        NoValue: the text is not of the tool, holds no such metric or several of it, or has another
            unit or direction for it.
    """
    try:
        rows = EXTRACTORS[tool].read(text).rows
    except ExtractError as error:
        raise NoValue(f"the output, read as that of {tool}, {error}{values.tail(text)}") from error
    found = [row for row in rows if row.metric.id == metric.name]
    if len(found) != 1:
        known = ", ".join(sorted({row.metric.id for row in rows}))
        raise NoValue(
            f'the output of {tool} has {len(found)} values of "{metric.name}", expected 1; it has '
            f"{known}"
        )
    [row] = found
    if (row.metric.unit, row.metric.direction) != (metric.unit, metric.better):
        raise NoValue(
            f"{tool} prints it in {row.metric.unit}, {row.metric.direction} is better; the study "
            f"states {metric.unit}, {metric.better}"
        )
    return sum(row.values) / len(row.values)


def _measured(run: Execution, measure: Measure | None) -> float:
    """What a run took, or how it ended.

    Raises:
        NoValue: the output holds no number.
        _Missing: the system does not report it.
    """
    if measure == "last_number":
        return values.last_number(run.output)
    times = [run.counters.get(name) for name in ("cpu_user_ns", "cpu_system_ns")]
    known = {
        "wall": run.wall_ns,
        "exit_status": run.status,
        "cpu": None if None in times else sum(time for time in times if time is not None),
        "peak_memory": run.peak_memory_bytes,
    }
    value = known.get(measure or "")
    if value is None:
        raise _Missing(f"this system does not report {measure} of a program")
    return float(value)


def _whole(run: Execution) -> str:
    """The whole standard output.

    Raises:
        NoValue: only its end was kept.
    """
    if run.output_bytes > KEPT_OUTPUT:
        raise NoValue(
            f"the output of {run.output_bytes:,} bytes is longer than {KEPT_OUTPUT >> 20} MiB, of "
            "which only the end is kept; a regex can look through that"
        )
    return run.output


def _sample(
    run: Execution, metric: OwnMetric, value: float, checksum: str | None, document: JsonObject
) -> JsonObject:
    return {
        "event": "sample",
        "workload": run.workload,
        "index": run.index,
        "metric": metric.name,
        "case": document["case"],
        "unit": metric.unit,
        "direction": metric.better,
        "phase": run.phase,
        "process": run.process,
        "iteration": run.iteration,
        "value": value,
        "batch": 1,
        "elapsed_ns": run.wall_ns,
        "checksum": checksum,
        "counters": document["counters"],
        "t_ns": run.t_ns,
    }
