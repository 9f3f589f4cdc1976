"""How far a run is: bars in a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import Self

from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from pentathlon.cli.clock import TimeLeft
from pentathlon.cli.heartbeat import QUIET_S, Heartbeat
from pentathlon.cli.leaving import activity_text
from pentathlon.cli.screen import err, seconds
from pentathlon.cli.session import Listen, Listener
from pentathlon.procedure.pilot import SystemEstimate
from pentathlon.procedure.records import (
    AgentEvent,
    BootEnd,
    BootStart,
    Decided,
    Preparation,
    Record,
    RunEnd,
    StoppedEarly,
)
from pentathlon.procedure.state import RunState
from pentathlon.protocol import events
from pentathlon.safeio.escaping import one_line
from pentathlon.study.counting import count_text

SHOWN_BLOCKS = 8
"""Bars of blocks on the screen at once; a study of many blocks shows the latest ones."""


def listener(estimates: Mapping[str, SystemEstimate] | None) -> Listen:
    """The display that fits where stderr goes."""

    def listen(state: RunState) -> Listener:
        left = TimeLeft(state, estimates)
        return Bars(state, left) if err.is_terminal else PlainLines(state, left)

    return listen


class PlainLines:
    """One line when a boot begins, one for each failure, and what goes on where none came.

    Args:
        quiet_s: seconds without a line after which the workload that runs is reported.
    """

    def __init__(self, state: RunState, left: TimeLeft, quiet_s: float = QUIET_S) -> None:
        self._state = state
        self._left = left
        self._problems = Problems()
        self._blocks = len(state.plan.blocks)
        self._now: tuple[int, str] | None = None
        """The block and the words for what goes on; None between two boots."""
        self._boot = ("", 0)
        self._booting: float | None = None
        """When the boot began that has not measured yet; a machine's takes minutes."""
        self._heartbeat = Heartbeat(self._beat, quiet_s)

    def __enter__(self) -> Self:
        self._heartbeat.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._heartbeat.__exit__()

    def __call__(self, record: Record) -> None:
        self._left.take(record)
        self._follow(record)
        if isinstance(record, BootStart):
            again = f", attempt {record.attempt + 1}" if record.attempt else ""
            left = self._left.seconds()
            time = "" if left is None else f", about {seconds(left)} left"
            steps = count_text(len(record.steps), "workload")
            self._say(record.block, f"{record.system}: {steps}{again}{time}")
        elif isinstance(record, StoppedEarly):
            self._say(record.blocks - 1, stopped_early_text(record, self._blocks))
        elif isinstance(record, Decided):
            self._say(record.blocks - 1, decided_text(record))
        elif (text := self._problems.text(record)) is not None:
            if isinstance(record, BootEnd | AgentEvent):
                self._say(record.block, text)
            else:
                err.print(text, soft_wrap=True)
                self._heartbeat.heard()

    def _follow(self, record: Record) -> None:
        """Note what goes on, for the heartbeat."""
        if isinstance(record, BootStart):
            self._boot = (record.system, len(record.steps))
            self._booting = monotonic()
            self._now = record.block, f"{record.system}: boots"
        elif isinstance(record, BootEnd):
            self._now = None
        elif isinstance(record, AgentEvent) and isinstance(record.message, events.Progress):
            system, steps = self._boot
            done, note = progress_note(record)
            text = f"{system}: {done} of {count_text(steps, 'workload')} done"
            self._now = record.block, f"{text}, {note}" if note else text
            self._booting = None

    def _beat(self) -> None:
        now, booting, doing = self._now, self._booting, activity_text()
        if now is not None:
            block, text = now
            since = "" if booting is None else f" for {seconds(monotonic() - booting)}"
            self._say(block, f"{text}{since}" + ("" if doing is None else f" ({doing})"))
        elif doing is not None:
            # Before the first boot, and after the last one, when machines are led back.
            err.print(one_line(doing), soft_wrap=True)

    def _say(self, block: int, text: str) -> None:
        line = one_line(f"block {block + 1}/{self._blocks}  {text}")
        err.print(line, soft_wrap=True)
        self._heartbeat.heard()


class _Left(ProgressColumn):
    """The time left of the whole run, beside the bar of the current boot."""

    def __init__(self, left: TimeLeft, table_column: Column) -> None:
        super().__init__(table_column)
        self._left = left

    def render(self, task: Task) -> Text:
        if not task.fields.get("now"):
            return Text("")
        value = self._left.seconds()
        return Text("" if value is None else f"{seconds(value)} left", style="cyan")


class Bars:
    """One bar per block and one for the current boot, with its workload and the time left.

    Args:
        every_s: seconds between two looks at what a machine is waited for.
    """

    def __init__(self, state: RunState, left: TimeLeft, every_s: float = 1.0) -> None:
        self._state = state
        self._left = left
        self._problems = Problems()
        self._progress = Progress(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.completed:.0f}/{task.total:.0f}", style="dim"),
            _Left(left, table_column=Column(no_wrap=True)),
            # The only part that may be cut where the terminal is narrow.
            TextColumn(
                "{task.fields[note]}",
                markup=False,
                table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1),
            ),
            console=err,
            expand=True,
            refresh_per_second=4,
        )
        self._blocks = [
            self._progress.add_task(
                f"block {number + 1}/{len(state.plan.blocks)}",
                total=sum(len(boot.steps) for boot in block),
                visible=False,
                note="",
            )
            for number, block in enumerate(state.plan.blocks)
        ]
        self._boot = self._progress.add_task("", total=1, visible=False, note="", now=True)
        self._heartbeat = Heartbeat(self._beat, every_s)
        for number in range(len(self._blocks)):
            self._update_block(number)

    def __enter__(self) -> Self:
        self._progress.start()
        self._heartbeat.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._heartbeat.__exit__()
        self._progress.update(self._boot, visible=False)
        self._progress.stop()

    def __call__(self, record: Record) -> None:
        self._left.take(record)
        if isinstance(record, BootStart):
            self._boot_start(record)
        elif isinstance(record, AgentEvent):
            self._event(record)
        elif isinstance(record, StoppedEarly):
            reason = stopped_early_text(record, len(self._blocks))
            self._progress.console.print(reason, soft_wrap=True)
        elif isinstance(record, Decided):
            self._progress.console.print(decided_text(record), soft_wrap=True)
        elif isinstance(record, RunEnd):
            self._progress.update(self._boot, visible=False)
        if (text := self._problems.text(record)) is not None:
            self._progress.console.print(text, style="yellow", soft_wrap=True)
        if isinstance(record, BootEnd):
            self._update_block(record.block)

    def _boot_start(self, record: BootStart) -> None:
        first = max(0, min(record.block - SHOWN_BLOCKS // 2, len(self._blocks) - SHOWN_BLOCKS))
        for number, task in enumerate(self._blocks):
            shown = first <= number < first + SHOWN_BLOCKS
            self._progress.update(task, visible=shown)
        again = f" (attempt {record.attempt + 1})" if record.attempt else ""
        self._progress.reset(
            self._boot,
            total=len(record.steps),
            description=one_line(f"{record.system}{again}"),
            visible=True,
        )
        self._progress.update(self._boot, note="boots")

    def _event(self, record: AgentEvent) -> None:
        event = record.message
        if not isinstance(event, events.Progress):
            return
        done, note = progress_note(record)
        if event.state == "end":
            self._progress.update(self._boot, completed=done)
            self._update_block(record.block, done)
        else:
            self._progress.update(self._boot, completed=done, note=one_line(note))

    def _beat(self) -> None:
        """What a machine is waited for, in the line of the boot, also when the last one is over."""
        if (doing := activity_text()) is not None:
            self._progress.update(self._boot, note=one_line(doing))

    def _update_block(self, block: int, going_on: int = 0) -> None:
        """Steps of the block that are done; those of the boot going on are given."""
        done = sum(
            len(boot.steps) - len(boot.pending())
            for (number, _), boot in self._state.boots.items()
            if number == block and boot.attempt is None
        )
        earlier = sum(
            len(boot.steps) - len(boot.attempt.steps)
            for (number, _), boot in self._state.boots.items()
            if number == block and boot.attempt is not None
        )
        self._progress.update(self._blocks[block], completed=done + earlier + going_on)


def progress_note(record: AgentEvent) -> tuple[int, str]:
    """Workloads of the boot that are done, and the one that runs with its case; "" at its end."""
    event = record.message
    assert isinstance(event, events.Progress)
    if event.state == "end":
        return event.index + 1, ""
    text = ", ".join(f"{value}" for value in (event.case or {}).values())
    return event.index, event.workload + (f" ({text})" if text else "")


class Problems:
    """What is reported at once; the same sentence is reported once."""

    def __init__(self) -> None:
        self._printed: set[str] = set()

    def text(self, record: Record) -> str | None:
        """The sentence for a record, or None."""
        text = problem_text(record)
        if text is None or text in self._printed:
            return None
        self._printed.add(text)
        return text


def _preparation_text(system: str, do: str, outcome: str | None, reason: str | None) -> str | None:
    bad = outcome in ("unsupported", "failed", "again", "not settled")
    return f"{system}: {do}: {outcome}: {reason}" if bad else None


def problem_text(record: Record) -> str | None:
    """The problem that a record reports, or None."""
    if isinstance(record, Preparation):
        return _preparation_text(record.system, record.do, record.outcome, record.reason)
    if isinstance(record, AgentEvent) and isinstance(record.message, events.Step):
        event = record.message
        return _preparation_text(record.system, event.do, event.outcome, event.reason)
    if isinstance(record, BootEnd) and record.outcome != "ok":
        verb = "failed" if record.outcome == "failed" else "was interrupted"
        return f"{record.system}: the boot {verb}: {record.reason}"
    if isinstance(record, BootEnd) and record.reason:
        return f"{record.system}: {record.reason}"
    if isinstance(record, AgentEvent) and isinstance(record.message, events.Error):
        error = record.message
        what = error.workload or "the request"
        # What cannot be done mostly cannot in many cases.
        if error.case and error.kind != "unsupported":
            what += f" ({', '.join(str(value) for value in error.case.values())})"
        return f"{record.system}: {what}: {error.kind}: {error.reason}"
    return None


def stopped_early_text(record: StoppedEarly, blocks: int) -> str:
    """What a met stopping rule means for the blocks that are left."""
    spared = count_text(blocks - record.blocks, "block")
    return f"enough: {record.reason}; {spared} not needed"


def decided_text(record: Decided) -> str:
    """Which workloads are no longer measured."""
    after = count_text(record.blocks, "block")
    return f"decided after {after}, no longer measured: {', '.join(record.workloads)}"
