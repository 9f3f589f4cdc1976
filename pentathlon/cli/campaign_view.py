"""All machines of a campaign on one screen: bars in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pentathlon.campaign.directory import Campaign
from pentathlon.campaign.follow import Follower
from pentathlon.campaign.slurm.gaps import Gaps
from pentathlon.cli.clock import TimeLeft
from pentathlon.cli.progress import Problems, progress_note
from pentathlon.cli.screen import err, seconds
from pentathlon.procedure.records import AgentEvent, BootEnd, BootStart, Record
from pentathlon.procedure.state import RunState
from pentathlon.protocol.events import Progress
from pentathlon.safeio.escaping import one_line
from pentathlon.study.counting import count_text
from pentathlon.tables.sheet import Sheet

QUIET_S = 15.0
QUIET_REASONS = ("", "None", "Dependency", "Priority", "Resources")
"""What a job waits for in the ordinary course of things."""


@dataclass(frozen=True)
class Line:
    """How far one machine is."""

    machine: str
    state: str
    """"done", "running", "waiting" (nothing begun) or "stopped"."""
    block: int
    blocks: int
    done_steps: int
    steps: int
    failures: int
    words: str

    @property
    def done(self) -> bool:
        return self.state == "done"

    @classmethod
    def of(cls, machine: str, follower: Follower, *, running: bool, words: str) -> Line:
        """From what its journal has."""
        done_steps, steps = follower.steps()
        block, blocks = follower.block()
        state = "running" if running else "stopped" if steps else "waiting"
        if follower.done:
            state = "done"
        return cls(machine, state, block, blocks, done_steps, steps, follower.failures(), words)


def show_lines(lines: list[Line], console: Console) -> None:
    """One line for each machine."""
    table = Sheet(header_style="bold dim")
    for name in ("machine", "state", "block", "steps", "failures", ""):
        table.add_column(name, overflow="fold", justify="left" if name != "failures" else "right")
    for line in lines:
        table.add_row(
            line.machine,
            line.state,
            f"{line.block}/{line.blocks}",
            f"{line.done_steps}/{line.steps}",
            str(line.failures),
            Text(one_line(line.words), style="yellow"),
        )
    console.print(table)


class Machine:
    """One machine on the screen.

    Args:
        gaps: learns what passes between its boots, where they are jobs of Slurm.
    """

    def __init__(self, name: str, directory: Path, say: Any, gaps: Gaps | None = None) -> None:
        self.name = name
        self._gaps = gaps
        self.follower = Follower(directory, self._heard)
        self.now = ""
        self.state = ""
        self.waits = ""
        self._say = say
        self._problems = Problems()
        self._left: TimeLeft | None = None
        self._live = False

    def look(self, state: str) -> None:
        """Take in what is new."""
        self.follower.poll()
        self._live = True
        if state and state not in (self.state, "ended"):
            self._say(f"{self.name}: {state}")
        self.state = state

    def seconds(self) -> float | None:
        """Seconds that are left; None while nothing is known."""
        if self.follower.done or self.state:
            return 0.0
        return self._seconds()

    def _seconds(self) -> float | None:
        boots = None if self._left is None else self._left.seconds()
        if boots is None or self._gaps is None or self.follower.state is None:
            return boots
        between = self._gaps.left(self.follower.state, time.time())
        return None if between is None else boots + between

    def _heard(self, record: Record) -> None:
        state = self.follower.state
        assert state is not None
        if self._left is None:
            # While it catches up, the clock is that of the records.
            self._left = TimeLeft(
                state, None, lambda: time.time() if self._live else self.follower.time
            )
        self._left.take(record)
        if self._gaps is not None:
            self._gaps.take(record, self.follower.time)
        if isinstance(record, BootStart):
            again = f", attempt {record.attempt + 1}" if record.attempt else ""
            self.now = f"{record.system}{again}"
            if self._live:
                left = self._seconds()
                place = f"{self.name}: block {record.block + 1}/{len(state.plan.blocks)}"
                note = "" if left is None else f", about {seconds(left)} left"
                self._say(f"{place}  {self.now}{note}", quiet=True)
        elif isinstance(record, AgentEvent) and isinstance(record.message, Progress):
            _, note = progress_note(record)
            self.now = f"{record.system}: {note}" if note else record.system
        elif isinstance(record, BootEnd):
            self.now = ""
        if self._live and (text := self._problems.text(record)) is not None:
            self._say(f"{self.name}: {text}")


class CampaignView:
    """The screen of a campaign while its context is open."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._machines: dict[str, Machine] = {}
        self._live = Live(console=err, refresh_per_second=4) if err.is_terminal else None
        self._heard = time.monotonic()
        self.note = ""
        """A sentence about all of them."""

    def follow(self, name: str, directory: Path) -> Follower:
        """Show a machine."""
        made = self._machines[name] = Machine(name, directory, self._say, self._gaps())
        made.follower.poll()
        return made.follower

    def _gaps(self) -> Gaps | None:
        return Gaps() if self._campaign.engine == "slurm" else None

    def state(self, name: str) -> RunState | None:
        """Where the run of a machine stands; None before it has begun."""
        return self._machines[name].follower.state

    def look(self, name: str, state: str, *, waits: str = "") -> None:
        """Take in what a machine did.

        Args:
            state: why nothing more comes from it; "" while it may.
            waits: what it waits for, as Slurm names it.
        """
        self._machines[name].waits = waits
        self._machines[name].look(state)
        if self._live is not None:
            self._live.update(self._table())
        elif time.monotonic() - self._heard > QUIET_S:
            self._say(self._summary())

    def _say(self, sentence: str, *, quiet: bool = False) -> None:
        self._heard = time.monotonic()
        if self._live is None:
            err.print(one_line(sentence), soft_wrap=True)
        elif not quiet:
            self._live.console.print(Text(one_line(sentence), style="yellow"), soft_wrap=True)

    def left(self) -> float | None:
        """Seconds until the last machine is done; None while one of them is not known."""
        values = [one.seconds() for one in self._machines.values()]
        known = [value for value in values if value is not None]
        return max(known, default=0.0) if len(known) == len(values) else None

    def _summary(self) -> str:
        done = sum(one.follower.done for one in self._machines.values())
        left = self.left()
        note = "" if not left else f", about {seconds(left)} left"
        whole = count_text(len(self._machines), "machine")
        waiting = [
            f"{one.name} waits: {one.waits}"
            for one in self._machines.values()
            if one.waits not in QUIET_REASONS
        ]
        note += "".join(f"; {text}" for text in waiting[:3])
        return f"{done} of {whole} done{note}" + (f"; {self.note}" if self.note else "")

    def _table(self) -> Group:
        table = Table.grid(padding=(0, 1), expand=True)
        for ratio in (None, None, None, None, None, 1):
            table.add_column(no_wrap=True, overflow="ellipsis", ratio=ratio)
        for one in self._machines.values():
            done, whole = one.follower.steps()
            block, blocks = one.follower.block()
            left = one.seconds()
            mark = "✓" if one.follower.done else "×" if one.state else "·"
            table.add_row(
                mark,
                one.name,
                f"{block}/{blocks}" if blocks else "",
                ProgressBar(total=max(whole, 1), completed=done, width=20),
                "" if not left else f"{seconds(left)} left",
                Text(one_line("" if one.state else one.now or one.waits), style="dim"),
            )
        return Group(table, Text(self._summary(), style="bold"))

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
