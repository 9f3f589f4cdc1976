"""How far a run is: bars in a terminal, plain lines elsewhere."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from pentathlon.cli.screen import err
from pentathlon.procedure.records import AgentEvent, BootEnd, BootStart, Record
from pentathlon.procedure.state import RunState


class PlainLines:
    """One line when a boot begins, one when it ends, one for each failure."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.blocks = len(state.plan.blocks)

    def running(self) -> AbstractContextManager[None]:
        return nullcontext()

    def __call__(self, record: Record) -> None:
        if isinstance(record, BootStart):
            again = f", attempt {record.attempt + 1}" if record.attempt else ""
            self.say(record.block, f"{record.system} boots for {len(record.steps)} steps{again}")
        elif isinstance(record, BootEnd):
            why = f": {record.reason}" if record.reason else ""
            self.say(record.block, f"{record.system} {record.outcome}{why}")
        elif isinstance(record, AgentEvent) and record.event.get("event") == "error":
            workload = record.event.get("workload") or "the request"
            text = f"{record.event.get('kind')}: {record.event.get('reason')}"
            self.say(record.block, f"{record.system} {workload} {text}")

    def say(self, block: int, text: str) -> None:
        err.print(f"block {block + 1}/{self.blocks}: {text}", markup=False, soft_wrap=True)
