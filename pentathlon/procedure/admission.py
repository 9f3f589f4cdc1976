"""What the agent sends is checked before anything is recorded: an event that is not the answer to
the request fails its boot, and the study goes on.

`target.events` has checked by then that a line is JSON of a bounded size. Here its meaning is
checked: the session, the step that is going on, the catalog's unit and direction, the case, the
type and range of each value that somebody reads later, and that no sample comes twice or after its
step has ended.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pentathlon.machine.errors import TargetError
from pentathlon.safeio.clipping import clip
from pentathlon.safeio.clipping import said as _said
from pentathlon.study.catalog import Catalog, Workload
from pentathlon.study.plan import Step
from pentathlon.study.preparation import PlannedStep

WORDS: Final = 65_536
"""Longest text of one field, in characters."""
JPEG: Final = 4 << 20
"""Longest picture, in characters of Base64."""
NAME: Final = 4096
"""Longest value of a factor, in characters."""
SIZING: Final = 1000
"""Most batches of warm-up beyond those that were asked for, by which the agent sizes a batch."""
MOST_SIGNED: Final = (1 << 63) - 1
MOST_UNSIGNED: Final = (1 << 64) - 1
MOST_SMALL: Final = (1 << 31) - 1

KINDS: Final = ("unsupported", "failed", "timeout", "invalid", "request")
"""Kinds of an `error` event (docs/protocol.md)."""
PHASES: Final = ("warmup", "measure")
ALL: Final = "all"
"""The value that is announced for a factor whose values one round measures together."""
SERVED: Final = "disk.served"
"""The `counter` event whose value is read: who answered the reads of a case."""


class EventRefused(TargetError):
    """An event that is not the answer to the request; the text is one sentence."""


class _Wrong(Exception):
    """What is wrong with an event, as the end of a sentence."""


class _Expected:
    """What the catalog and the plan say of one step."""

    def __init__(self, step: Step, entry: Workload) -> None:
        self.id = step.workload
        self.two_hosts = entry.hosts > 1
        self.processes = step.processes
        self.iterations = {"measure": step.iterations, "warmup": step.warmup + SIZING}
        derived = {name for one in entry.histograms for name in one.quantiles}
        self.indicators = {
            one.id: (one.unit, one.direction) for one in entry.indicators if one.id not in derived
        }
        self.histograms = {one.id: (one.unit, one.direction) for one in entry.histograms}
        self.all = [*(one.id for one in entry.indicators), *self.histograms]
        self.factors = {one.name for one in entry.factors}


class Admission:
    """Checks the events of one boot, in their order.

    Args:
        steps: the steps of the request.
        catalog: the agent's catalog.
        session: id of the request's session.
        prepare: what the agent does before the first step, by the names of the actions.
    """

    def __init__(
        self, steps: Sequence[Step], catalog: Catalog, session: str, prepare: Sequence[str] = ()
    ) -> None:
        entries = {entry.id: entry for entry in catalog.workloads}
        self._steps = [_Expected(step, entries[step.workload]) for step in steps]
        self._session = session
        self._prepare = list(prepare)
        self._opened = False
        self._current: int | None = None
        self._ended: set[int] = set()
        self._announced: Mapping[str, Any] = {}
        self._started: set[tuple[int, int]] = set()
        self._cases: dict[tuple[Any, ...], int] = {}
        self._seen: set[tuple[Any, ...]] = set()
        self._count = 0
        self._checks: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "inventory": self._inventory,
            "progress": self._progress,
            "step": self._preparation,
            "sample": self._sample,
            "histogram": self._histogram,
            "picture": self._picture,
            "counter": self._counter,
            "log": _log,
            "error": self._error,
            "done": self._done,
            # What this program makes of the two hosts of a system.
            "link": self._between,
            "packets": self._between,
            "files": self._between,
        }

    def admit(self, events: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The events, each checked before it is yielded.

        Raises:
            EventRefused: one is not the answer to the request.
        """
        for event in events:
            self.check(event)
            yield event

    def check(self, event: Mapping[str, Any]) -> None:
        """Check the next event.

        Raises:
            EventRefused: it is not the answer to the request.
        """
        self._count += 1
        kind = event.get("event")
        try:
            check = self._checks.get(kind) if isinstance(kind, str) else None
            if check is None:
                raise _Wrong("the protocol has no event of that name")
            _whole(event, "t_ns", MOST_SIGNED)
            if not self._opened and kind not in ("inventory", "log", "error"):
                raise _Wrong('it comes before the session\'s "inventory"')
            check(event)
        except _Wrong as wrong:
            name = clip(kind, 40) if isinstance(kind, str) else kind
            raise EventRefused(
                f'event {self._count} of the agent, "{name}", is refused: {wrong}'
            ) from None

    def _inventory(self, event: Mapping[str, Any]) -> None:
        if event.get("system") is not None:
            _object(event, "system")
        if "agent" not in event and self._opened and self._running(None).two_hosts:
            return  # What was read of the hosts of a pair.
        _object(event, "agent")
        if event.get("session") != self._session:
            found = clip(repr(event.get("session")), 40)
            raise _Wrong(f"session is {found}, the request's is '{self._session}'")
        if self._opened:
            raise _Wrong("the session has opened already")
        self._opened = True

    def _progress(self, event: Mapping[str, Any]) -> None:
        index, state = self._index(event), event.get("state")
        step = self._steps[index]
        self._own(event, step)
        process = _whole(event, "process", step.processes - 1) if "process" in event else 0
        if state == "start":
            if index in self._ended:
                raise _Wrong(f"step {index} ({step.id}) has ended already")
            if self._current not in (None, index):
                raise _Wrong(f"step {index} ({step.id}) starts while {self._current} is going on")
            if (index, process) in self._started:
                raise _Wrong(f"process {process} of step {index} ({step.id}) has started already")
            self._started.add((index, process))
            self._current = index
            self._announced = {}
            return
        if state not in ("case", "end"):
            raise _Wrong(f'state is {_said(state)}, expected "start", "case" or "end"')
        self._going_on(index)
        if state == "case":
            self._announced = {}
            self._case(event, step)
            self._announced = event["case"]
            return
        self._ended.add(index)
        self._current = None
        self._announced = {}
        self._seen.clear()

    def _sample(self, event: Mapping[str, Any]) -> None:
        step = self._running(event)
        self._measured(event, step, step.indicators)
        value = event.get("value")
        if type(value) is not float and type(value) is not int:
            raise _Wrong(f"value is {_said(value)}, expected a number")
        # A number that no double can hold is none to count with.
        if not -1e308 <= value <= 1e308:
            raise _Wrong(f"value is {_said(value)}, expected a finite number")
        _whole(event, "batch", MOST_UNSIGNED)

    def _histogram(self, event: Mapping[str, Any]) -> None:
        step = self._running(event)
        self._measured(event, step, step.histograms)
        count = _whole(event, "count", MOST_UNSIGNED)
        lowest, highest = (_whole(event, name, MOST_UNSIGNED) for name in ("lowest", "highest"))
        _whole(event, "significant_digits", 9)
        buckets = event.get("buckets")
        if not isinstance(buckets, list) or not buckets:
            raise _Wrong("buckets are missing")
        total, before = 0, -1
        for bucket in buckets:
            if not isinstance(bucket, list) or len(bucket) != 2:
                raise _Wrong("a bucket is no pair of a value and a count")
            upper, held = bucket
            if type(upper) is not int or type(held) is not int or held < 0:
                raise _Wrong("a bucket holds something else than whole numbers")
            if not before < upper <= MOST_UNSIGNED:
                raise _Wrong("the buckets are not in ascending order")
            before = upper
            total += held
        if total != count or count < 1:
            raise _Wrong(f"{count} values are announced and {total} are in the buckets")
        if not lowest <= highest <= before:
            raise _Wrong(f"its values reach from {lowest} to {highest}, its buckets to {before}")

    def _measured(
        self, event: Mapping[str, Any], step: _Expected, known: Mapping[str, tuple[str, str]]
    ) -> None:
        """What a sample and a histogram have in common."""
        indicator = event.get("indicator")
        entry = known.get(indicator) if isinstance(indicator, str) else None
        if entry is None:
            raise _Wrong(f"{step.id} has no indicator {_said(indicator)}")
        unit, direction = entry
        if event.get("unit") != unit:
            raise _Wrong(f'unit is {_said(event.get("unit"))}, the catalog has "{unit}"')
        if event.get("direction") != direction:
            raise _Wrong(
                f'direction is {_said(event.get("direction"))}, the catalog has "{direction}"'
            )
        phase = event.get("phase")
        if phase not in PHASES:
            raise _Wrong(f'phase is {_said(phase)}, expected "warmup" or "measure"')
        process = _whole(event, "process", step.processes - 1)
        iteration = _whole(event, "iteration", step.iterations[phase] - 1)
        case = self._case(event, step)
        if not step.two_hosts:
            self._same_case(event["case"])
        place = (indicator, case, phase, process, iteration)
        if place in self._seen:
            raise _Wrong(f"iteration {iteration} of {step.id}.{indicator} ({phase}) comes twice")
        elapsed: Any = event.get("elapsed_ns")
        if type(elapsed) not in (int, float) or not 0 <= elapsed <= MOST_UNSIGNED:
            raise _Wrong(f"elapsed_ns is {_said(elapsed)}, expected a time")
        _text(event, "checksum", 128, optional=True)
        counters = event.get("counters")
        if type(counters) is not dict:
            raise _Wrong(f"counters is {_said(counters)}, expected an object")
        for name, moved in counters.items():
            if moved is not None and (type(moved) is not int or not 0 <= moved <= MOST_SIGNED):
                raise _Wrong(f"the counter {_said(name)} is {_said(moved)}, expected a count")
        self._seen.add(place)

    def _picture(self, event: Mapping[str, Any]) -> None:
        step = self._running(event)
        self._case(event, step)
        _whole(event, "width", MOST_SMALL)
        _whole(event, "height", MOST_SMALL)
        _text(event, "jpeg", JPEG)

    def _counter(self, event: Mapping[str, Any]) -> None:
        name = _text(event, "name", NAME)
        if "value" not in event:
            raise _Wrong("value is missing")
        if name != SERVED:
            return
        step, value = self._running(None), _object(event, "value")
        self._own(value, step)
        self._case(value, step)
        reads = value.get("reads")
        if not isinstance(reads, list):
            raise _Wrong(f"reads is {_said(reads)}, expected a list")
        for read in reads:
            if not isinstance(read, dict) or read.get("indicator") not in step.all:
                raise _Wrong(f"a read of {step.id} is {_said(read)}")
            _text(read, "served", 64)

    def _error(self, event: Mapping[str, Any]) -> None:
        if event.get("kind") not in KINDS:
            raise _Wrong(f"kind is {_said(event.get('kind'))}, expected one of {', '.join(KINDS)}")
        _text(event, "reason", WORDS)
        if event.get("index") is None:
            if event.get("workload") is not None:
                raise _Wrong("it names a workload and no step")
            if event.get("case") is not None or event.get("process") is not None:
                raise _Wrong("it names a case or a process and no step")
            return
        step = self._running(event)
        if event.get("process") is not None:
            _whole(event, "process", step.processes - 1)
        if event.get("case") is not None:
            self._case(event, step)

    def _preparation(self, event: Mapping[str, Any]) -> None:
        index = _whole(event, "index", MOST_SMALL)
        if index >= len(self._prepare) or event.get("do") != self._prepare[index]:
            raise _Wrong(f"step {index} of the preparation is no {_said(event.get('do'))}")
        if event.get("state") not in ("start", "waiting", "end"):
            raise _Wrong(
                f'state is {_said(event.get("state"))}, expected "start", "waiting" or "end"'
            )
        _text(event, "outcome", 64, optional=True)
        _text(event, "reason", WORDS, optional=True)
        seconds = event.get("seconds", 0.0)
        if type(seconds) not in (int, float) or not 0 <= seconds <= MOST_SIGNED:
            raise _Wrong(f"seconds is {_said(seconds)}, expected a time")
        if event.get("detail") is not None:
            _object(event, "detail")

    def _between(self, event: Mapping[str, Any]) -> None:
        if not self._running(event if "index" in event else None).two_hosts:
            raise _Wrong("the workload runs on one host")

    def _done(self, event: Mapping[str, Any]) -> None:
        _whole(event, "samples", MOST_SIGNED)
        _whole(event, "errors", MOST_SIGNED)

    def _index(self, event: Mapping[str, Any]) -> int:
        index = _whole(event, "index", MOST_SMALL)
        if index >= len(self._steps):
            raise _Wrong(f"there is no step {index}, the request has {len(self._steps)}")
        return index

    def _going_on(self, index: int) -> None:
        if index != self._current:
            now = "none" if self._current is None else self._current
            raise _Wrong(f"it is of step {index}, and the step that is going on is {now}")

    def _running(self, event: Mapping[str, Any] | None) -> _Expected:
        """The step that is going on; where an event is given, it must be of that step."""
        if self._current is None:
            raise _Wrong("no step is going on")
        step = self._steps[self._current]
        if event is not None:
            self._going_on(self._index(event))
            self._own(event, step)
        return step

    def _own(self, event: Mapping[str, Any], step: _Expected) -> None:
        if event.get("workload") != step.id:
            raise _Wrong(
                f'workload is {_said(event.get("workload"))}, that of the step is "{step.id}"'
            )

    def _same_case(self, case: Mapping[str, Any]) -> None:
        """A sample may have more factors than the case that was announced, and no others of it."""
        for name, value in self._announced.items():
            if value != ALL and case.get(name) != value:
                raise _Wrong(
                    f"the factor {name} is {_said(case.get(name))}, and {_said(value)} is measured"
                )

    def _case(self, event: Mapping[str, Any], step: _Expected) -> int:
        """A number for the case of an event; a study has few cases and many samples of each."""
        case = event.get("case")
        if type(case) is not dict:
            raise _Wrong(f"case is {_said(case)}, expected an object")
        try:
            key = (step.id, *sorted(case.items()), *(type(case[name]) for name in sorted(case)))
            known = self._cases.get(key)
        except TypeError:
            raise _Wrong(f"case is {_said(case)}, expected factors and their values") from None
        if known is None:
            _check_case(case, step)
            known = self._cases[key] = len(self._cases)
        return known


def of_request(
    steps: Sequence[Step], catalog: Catalog, session: str, prepare: Sequence[PlannedStep] = ()
) -> Admission:
    """The check of the events that answer a request with these steps."""
    return Admission(steps, catalog, session, [step.do for step in prepare])


def _check_case(case: Mapping[str, Any], step: _Expected) -> None:
    for name, value in case.items():
        if name not in step.factors:
            raise _Wrong(f"{step.id} has no factor {_said(name)}")
        if not isinstance(value, str | int | float) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            raise _Wrong(f"the factor {name} is {_said(value)}, expected a number or a text")
        if len(value) > NAME if isinstance(value, str) else abs(value) > MOST_UNSIGNED:
            raise _Wrong(f"the factor {name} is {_said(value)}, which is too large")


def _log(event: Mapping[str, Any]) -> None:
    _text(event, "level", 64)
    _text(event, "message", WORDS)


def _whole(event: Mapping[str, Any], name: str, most: int) -> int:
    """A whole number of 0 to `most`."""
    value = event.get(name)
    if type(value) is not int:
        raise _Wrong(f"{name} is {_said(value)}, expected a whole number")
    if not 0 <= value <= most:
        raise _Wrong(f"{name} is {_said(value)}, expected 0 to {most}")
    return value


def _text(
    event: Mapping[str, Any], name: str, longest: int, *, optional: bool = False
) -> str | None:
    value = event.get(name)
    if optional and value is None:
        return None
    if not isinstance(value, str):
        raise _Wrong(f"{name} is {_said(value)}, expected a text")
    if len(value) > longest:
        raise _Wrong(f"{name} has {len(value)} characters, at most {longest} are taken")
    return value


def _object(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = event.get(name)
    if not isinstance(value, dict):
        raise _Wrong(f"{name} is {_said(value)}, expected an object")
    return value
