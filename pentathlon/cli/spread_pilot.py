"""The short blocks of `run --limit` that show how much the rows vary, and what a block takes.

They are run as any study is, in a directory that is removed with what they measured.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rich.text import Text

from pentathlon.cli import session
from pentathlon.cli.exits import Interrupted
from pentathlon.cli.heartbeat import Heartbeat
from pentathlon.cli.screen import err, seconds
from pentathlon.cli.setup import Ready, replan
from pentathlon.machine.claims import Claims
from pentathlon.procedure import spread
from pentathlon.procedure.expected import expected
from pentathlon.procedure.records import BootEnd, BootStart, Record
from pentathlon.procedure.state import RunState
from pentathlon.store.journal import read_journal
from pentathlon.store.query import Result, load_result
from pentathlon.study.plan import Plan

if TYPE_CHECKING:
    from pentathlon.evaluate.planning.within_limit import Spread

SHARE = 0.25
"""The most that these blocks may take, of the time that the study has."""


@dataclass(frozen=True)
class SpreadPilot:
    """What the blocks showed.

    Attributes:
        rows: the spread of each row that was compared.
        correction: time of a block over that which the pilot of one boot leads to expect.
    """

    rows: list[Spread]
    correction: float


def measure(ready: Ready, most_s: float, claims: Claims) -> SpreadPilot | str:
    """Run the blocks, or state why not, as the end of a sentence.

    Args:
        ready: with the estimates of a pilot that did not fail.
        most_s: time of the study, in seconds.

    Raises:
        Interrupted: it was stopped.
    """
    study = ready.plan.study
    if len(study.systems) < 2:
        return "one system is not compared"
    if study.procedure.installs > 1:
        return "every install would be made for it"
    trial = replace(ready, notes=[])
    replan(trial, spread.procedure(study.procedure))
    trial.plan = spread.reduce(trial.plan, ready.catalog, study.procedure)
    estimated_s = _estimated_s(ready, trial.plan)
    if estimated_s > SHARE * most_s:
        return f"{spread.BLOCKS} short blocks, which would show it, take {seconds(estimated_s)}"
    with tempfile.TemporaryDirectory(prefix="pentathlon-") as place:
        now = (
            f"pilot: {spread.BLOCKS} short blocks show the spread, in about {seconds(estimated_s)}"
        )
        with err.status("") as status:
            status.update(Text(now))
            if not err.is_terminal:
                err.print(now)
            try:
                with Heartbeat(partial(_still, now)):
                    directory = session.start(
                        trial, Path(place) / "pilot", None, _Silent, calibrated=False, claims=claims
                    )
            except Interrupted as error:
                raise Interrupted("stopped in the pilot; nothing was measured") from error
            return _read(load_result(directory), ready, trial.plan, estimated_s / spread.BLOCKS)


def _estimated_s(ready: Ready, plan: Plan) -> float:
    """Time of these blocks by the estimates of one boot, in seconds."""
    assert ready.estimates is not None
    short = {
        name: replace(one, steps_s=dict(one.reduced_s)) for name, one in ready.estimates.items()
    }
    return expected(plan, short).least_s


def _read(result: Result, ready: Ready, plan: Plan, estimated_s: float) -> SpreadPilot | str:
    from pentathlon.evaluate import evaluate  # noqa: PLC0415  loads SciPy
    from pentathlon.evaluate.planning.within_limit import spreads  # noqa: PLC0415

    weights = {
        (name, step.workload): spread.stands_for(step, ready.catalog.workload(step.workload))
        for name, steps in ready.plan.steps.items()
        for step in steps
    }
    rows = spreads(result, evaluate(result).rows, weights)
    if not rows:
        return "no row has a spread in the pilot"
    taken_s = _block_s(result)
    return SpreadPilot(rows, taken_s / estimated_s if taken_s and estimated_s else 1.0)


def _block_s(result: Result) -> float | None:
    """Mean time of the blocks after the first, which sizes the batches for the others."""
    begun: dict[int, datetime] = {}
    ended: dict[int, datetime] = {}
    for record in read_journal(result.path):
        if isinstance(record, BootStart):
            begun.setdefault(record.block, datetime.fromisoformat(record.utc))
        elif isinstance(record, BootEnd):
            ended[record.block] = datetime.fromisoformat(record.utc)
    later = sorted(begun.keys() & ended.keys())[1:]
    if not later:
        return None
    return (ended[later[-1]] - begun[later[0]]).total_seconds() / len(later)


def _still(now: str) -> None:
    if not err.is_terminal:  # a terminal shows the status all the time
        err.print(f"{now}, which still run")


class _Silent:
    """Listens to the records and shows none."""

    def __init__(self, state: RunState) -> None:
        pass

    def __call__(self, record: Record, /) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass
