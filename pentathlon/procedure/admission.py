"""What the agent sends is checked before anything is recorded: an event that is not the answer to
the request fails its boot, and the study goes on.

`protocol.line` has checked by then that a line is JSON of a bounded size, `protocol.events` has
given the event its type, which fixes the type and range of each value. Here is checked what depends
on the request: the session, the step that is going on, the catalog's unit and direction, the case,
and that no sample comes twice or after its step has ended.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pentathlon.machine.errors import TargetError
from pentathlon.protocol import events
from pentathlon.protocol.events import AnyEvent, Case, Message, WrongEvent
from pentathlon.protocol.messages.base import MOST_UNSIGNED, NAME
from pentathlon.safeio.clipping import clip, described
from pentathlon.study.catalog import Catalog, Workload
from pentathlon.study.plan import Step

SIZING: Final = 1000
"""Most batches of warm-up beyond those that were requested, by which the agent sizes a batch."""
ALL: Final = "all"
"""The value that is announced for a factor whose values one round measures together."""


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
        self.metrics = {
            one.id: (one.unit, one.direction) for one in entry.metrics if one.id not in derived
        }
        self.histograms = {one.id: (one.unit, one.direction) for one in entry.histograms}
        self.all = [*(one.id for one in entry.metrics), *self.histograms]
        self.factors = {one.name for one in entry.factors}


class Admission:
    """Checks the events of one boot, in their order.

    Args:
        steps: the steps of the request.
        catalog: the agent's catalog.
        session: id of the request's session.
        prepare: what the agent does before the first step, by the names of the actions.
        commands: ids of the workloads that are commands of the user's own.
        gate: whether each step waits to be released.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        catalog: Catalog,
        session: str,
        prepare: Sequence[str] = (),
        commands: Collection[str] = (),
        *,
        gate: bool = False,
    ) -> None:
        entries = {entry.id: entry for entry in catalog.workloads}
        self._steps = [_Expected(step, entries[step.workload]) for step in steps]
        self._session = session
        self._prepare = list(prepare)
        self._commands = frozenset(commands)
        self._gate = gate
        self._released = -1
        self._opened = False
        self._current: int | None = None
        self._ended: set[int] = set()
        self._announced: Case = {}
        self._started: set[tuple[int, int]] = set()
        self._cases: dict[tuple[Any, ...], int] = {}
        self._seen: set[tuple[Any, ...]] = set()

    def admit(self, messages: Iterable[Message]) -> Iterator[Message]:
        """The events of a session, each checked before it is yielded.

        Raises:
            EventRefused: one is not the answer to the request.
        """
        count, message = 0, None
        try:
            for message in messages:
                self._check(message.event)
                yield message
                count += 1
        except (WrongEvent, _Wrong) as wrong:
            if isinstance(wrong, WrongEvent):
                name = wrong.event  # The session could not read it.
            else:
                name = str(message.document["event"]) if message else ""
            raise EventRefused(
                f'event {count + 1} of the agent, "{clip(name, 40)}", is refused: {wrong}'
            ) from None

    def _check(self, event: AnyEvent) -> None:  # noqa: PLR0912  one for each kind of event
        """Check the next event."""
        if isinstance(event, events.Unknown):
            raise _Wrong("the protocol has no event of that name")
        if not self._opened and not isinstance(event, events.Inventory | events.Log | events.Error):
            raise _Wrong('it comes before the session\'s "inventory"')
        match event:
            case events.Sample():
                step = self._running(event.index, event.workload)
                self._measured(event, step, step.metrics)
            case events.Histogram():
                step = self._running(event.index, event.workload)
                self._measured(event, step, step.histograms)
            case events.Execution():
                self._execution(event, self._running(event.index, event.workload))
            case events.Progress():
                self._progress(event)
            case events.Ready():
                self._ready(event)
            case events.Inventory():
                self._inventory(event)
            case events.Step():
                self._preparation(event)
            case events.Picture():
                self._case(event.case, self._running(event.index, event.workload))
            case events.Counter() if event.name == events.SERVED:
                self._served(events.read_served(event))
            case events.Error():
                self._error(event)
            case events.Link() | events.Packets() | events.Files():
                step = (
                    self._now()
                    if event.index is None
                    else self._running(event.index, event.workload)
                )
                if not step.two_hosts:
                    raise _Wrong("the workload runs on one host")

    def _inventory(self, event: events.Inventory) -> None:
        if event.agent is None:
            if self._opened and self._now().two_hosts:
                return  # What was read of the hosts of a pair.
            raise _Wrong("agent is missing, expected an object")
        if event.session != self._session:
            raise _Wrong(
                f"session is {described(event.session)}, the request's is '{self._session}'"
            )
        if self._opened:
            raise _Wrong("the session has opened already")
        self._opened = True

    def _progress(self, event: events.Progress) -> None:
        index = self._index(event.index)
        step = self._steps[index]
        self._own(event.workload, step)
        _within("process", event.process, step.processes - 1)
        if event.state == "start":
            if self._gate and index > self._released:
                raise _Wrong(f"step {index} ({step.id}) starts before its release")
            if index in self._ended:
                raise _Wrong(f"step {index} ({step.id}) has ended already")
            if self._current not in (None, index):
                raise _Wrong(f"step {index} ({step.id}) starts while {self._current} is going on")
            if (index, event.process) in self._started:
                raise _Wrong(
                    f"process {event.process} of step {index} ({step.id}) has started already"
                )
            self._started.add((index, event.process))
            self._current = index
            self._announced = {}
            return
        self._going_on(index)
        self._announced = {}
        if event.state == "case":
            if event.case is None:
                raise _Wrong("case is missing, expected an object")
            self._case(event.case, step)
            self._announced = event.case
            return
        self._ended.add(index)
        self._current = None
        self._seen.clear()

    def _ready(self, event: events.Ready) -> None:
        if not self._gate:
            raise _Wrong("the request has no gate")
        if event.case is not None:
            step = self._running(event.index, event.workload)
            _within("process", event.process, step.processes - 1)
            self._case(event.case, step)
            return
        index = self._index(event.index)
        self._own(event.workload, self._steps[index])
        if self._current is not None:
            raise _Wrong(f"step {self._current} is going on")
        if index != self._released + 1:
            raise _Wrong(f"step {index} is not the next one, which is {self._released + 1}")
        self._released = index

    def _measured(
        self, event: events.Measured, step: _Expected, known: Mapping[str, tuple[str, str]]
    ) -> None:
        """What a sample and a histogram have in common."""
        entry = known.get(event.metric)
        if entry is None:
            raise _Wrong(f"{step.id} has no metric {described(event.metric)}")
        unit, direction = entry
        if event.unit != unit:
            raise _Wrong(f'unit is {described(event.unit)}, the catalog has "{unit}"')
        if event.direction != direction:
            raise _Wrong(
                f'direction is {described(event.direction)}, the catalog has "{direction}"'
            )
        _within("process", event.process, step.processes - 1)
        _within("iteration", event.iteration, step.iterations[event.phase] - 1)
        case = self._case(event.case, step)
        if not step.two_hosts:
            self._same_case(event.case)
        place = (event.metric, case, event.phase, event.process, event.iteration)
        if place in self._seen:
            raise _Wrong(
                f"iteration {event.iteration} of {step.id}.{event.metric} ({event.phase}) "
                "comes twice"
            )
        self._seen.add(place)

    def _execution(self, event: events.Execution, step: _Expected) -> None:
        if step.id not in self._commands:
            raise _Wrong(f"{step.id} is no command")
        _within("process", event.process, step.processes - 1)
        _within("iteration", event.iteration, step.iterations[event.phase] - 1)
        self._case(event.case, step)
        self._same_case(event.case)

    def _served(self, value: events.Served) -> None:
        step = self._now()
        self._own(value.workload, step)
        self._case(value.case, step)
        for read in value.reads:
            if read.metric not in step.all:
                raise _Wrong(f"a read of {step.id} is of {described(read.metric)}")

    def _error(self, event: events.Error) -> None:
        if event.index is None:
            if event.workload is not None:
                raise _Wrong("it names a workload and no step")
            if event.case is not None or event.process is not None:
                raise _Wrong("it names a case or a process and no step")
            return
        step = self._running(event.index, event.workload)
        if event.process is not None:
            _within("process", event.process, step.processes - 1)
        if event.case is not None:
            self._case(event.case, step)

    def _preparation(self, event: events.Step) -> None:
        if event.index >= len(self._prepare) or event.do != self._prepare[event.index]:
            raise _Wrong(f"step {event.index} of the preparation is no {described(event.do)}")

    def _index(self, index: int) -> int:
        if index >= len(self._steps):
            raise _Wrong(f"there is no step {index}, the request has {len(self._steps)}")
        return index

    def _going_on(self, index: int) -> None:
        if index != self._current:
            now = "none" if self._current is None else self._current
            raise _Wrong(f"it is of step {index}, and the step that is going on is {now}")

    def _now(self) -> _Expected:
        """The step that is going on."""
        if self._current is None:
            raise _Wrong("no step is going on")
        return self._steps[self._current]

    def _running(self, index: int, workload: str | None) -> _Expected:
        """The step that is going on, which an event has to be of."""
        step = self._now()
        self._going_on(self._index(index))
        self._own(workload, step)
        return step

    def _own(self, workload: str | None, step: _Expected) -> None:
        if workload != step.id:
            raise _Wrong(f'workload is {described(workload)}, that of the step is "{step.id}"')

    def _same_case(self, case: Case) -> None:
        """A sample may have more factors than the case that was announced, and no others of it."""
        for name, value in self._announced.items():
            if value != ALL and case.get(name) != value:
                raise _Wrong(
                    f"the factor {name} is {described(case.get(name))}, and "
                    f"{described(value)} is measured"
                )

    def _case(self, case: Case, step: _Expected) -> int:
        """A number for the case of an event; a study has few cases and many samples of each."""
        key = (step.id, *sorted(case.items()), *(type(case[name]) for name in sorted(case)))
        known = self._cases.get(key)
        if known is None:
            _check_case(case, step)
            known = self._cases[key] = len(self._cases)
        return known


def _check_case(case: Case, step: _Expected) -> None:
    for name, value in case.items():
        if name not in step.factors:
            raise _Wrong(f"{step.id} has no factor {described(name)}")
        if isinstance(value, float) and not math.isfinite(value):
            raise _Wrong(f"the factor {name} is {described(value)}, expected a number or a text")
        if len(value) > NAME if isinstance(value, str) else abs(value) > MOST_UNSIGNED:
            raise _Wrong(f"the factor {name} is {described(value)}, which is too large")


def _within(name: str, value: int, most: int) -> None:
    if value > most:
        raise _Wrong(f"{name} is {value}, expected 0 to {most}")
