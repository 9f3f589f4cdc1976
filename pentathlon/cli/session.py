"""One run from its directory to its tables: lock, journal, runner, signals."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from pentathlon import __version__
from pentathlon.cli.exits import Interrupted, StopSignals
from pentathlon.cli.setup import Ready
from pentathlon.machine.claims import Claims
from pentathlon.machine.cpu_latency import CpuLatency
from pentathlon.machine.cpus import kept_off
from pentathlon.machine.undo_journal import default_state_dir
from pentathlon.procedure.records import Record, Resume, RunStart
from pentathlon.procedure.runner import Judge, Runner
from pentathlon.procedure.state import RunState
from pentathlon.store.calibration import copy_to_result, known
from pentathlon.store.directory import fill_directory, make_directory
from pentathlon.store.journal import JournalWriter, Lock, read_journal
from pentathlon.store.packets import PacketKeeper
from pentathlon.store.query import Result, load_result
from pentathlon.study.stopping import Stopping

if TYPE_CHECKING:
    from pentathlon.evaluate import Evaluation


class Listener(Protocol):
    """Hears every record while its context is open."""

    def __call__(self, record: Record, /) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...


Listen = Callable[[RunState], Listener]
"""Makes the listener of a run (the progress display) from the run's state."""


def start(
    ready: Ready,
    out: Path | None,
    blocks: int | None,
    listen: Listen,
    *,
    calibrated: bool = True,
    claims: Claims,
    also: Callable[[Path], Judge] | None = None,
) -> Path:
    """Make the result directory and run the plan in it.

    Args:
        claims: what the run holds, which then names the directory.
        calibrated: copy the calibrations of this machine into it.
        also: makes one more rule that ends the study before a block, from the directory.

    Raises:
        StoreError: the directory cannot be used.
        Interrupted: the run was stopped; what was measured is in the directory.
    """
    if calibrated:
        known(default_state_dir())  # What is damaged is reported before anything is made.
    directory = make_directory(out, ready.plan.study.name)
    claims.work_in(directory)
    with Lock(directory):
        fill(directory, ready, blocks)
        if calibrated:
            copy_to_result(default_state_dir(), directory)
        _run(directory, ready, listen, None if also is None else also(directory))
    return directory


def fill(directory: Path, ready: Ready, blocks: int | None) -> None:
    """Write what a run begins with; its lock is held.

    Raises:
        StoreError: the directory cannot be written.
    """
    first = RunStart(
        plan_hash=ready.plan.hash(),
        study_file=str(ready.loaded.file),
        study_sha256=ready.loaded.sha256,
        blocks=blocks,
        version=__version__,
        pid=os.getpid(),
        notes=ready.notes,
        cpu_latency_us=ready.cpu_latency_us,
    )
    fill_directory(directory, ready.loaded, ready.plan, ready.catalog, first)


def go_on(
    directory: Path, ready: Ready, listen: Listen, *, only: tuple[int, str] | None = None
) -> None:
    """Continue the run of a directory with the plan that it has.

    Args:
        only: block and system of the one boot to run.

    Raises:
        StoreError: the directory cannot be used, or another run writes it.
        Interrupted: the run was stopped again.
    """
    with Lock(directory):
        journal = JournalWriter(directory)
        journal.append(Resume(plan_hash=ready.plan.hash(), version=__version__, pid=os.getpid()))
        journal.close()
        _run(directory, ready, listen, only=only)


def _run(
    directory: Path,
    ready: Ready,
    listen: Listen,
    also: Judge | None = None,
    *,
    only: tuple[int, str] | None = None,
) -> None:
    state = RunState(ready.plan)
    for record in read_journal(directory):
        state.apply(record)
    journal = JournalWriter(directory)
    heard = listen(state)
    look = _Look(directory, ready.plan.study.procedure.stopping)
    try:
        measuring = {cpu for target in ready.targets.values() for cpu in target.cpus or ()}
        with StopSignals() as signals, kept_off(measuring), heard, _idling(ready) as cpu_latency:
            runner = Runner(
                ready.plan,
                ready.targets,
                PacketKeeper(directory, journal.append),
                catalog=ready.catalog,
                state=state,
                observer=heard,
                shield=signals.shield,
                stopping_rule=_either(also, look.enough),
                decided=look.decided if look.stopping.drop_decided else None,
                only=only,
                cpu_latency=cpu_latency,
            )
            runner.run()
    except Interrupted as error:
        raise Interrupted(
            f"{error}; everything measured is kept. Continue with: pentathlon run --resume "
            f"{directory}"
        ) from error
    finally:
        journal.close()


@contextmanager
def _idling(ready: Ready) -> Iterator[CpuLatency | None]:
    """Limit the idle states of this machine's CPUs; yields what does so for some cases."""
    if ready.cpu_latency_us is None:
        yield None
        return
    with CpuLatency() as request:
        if ready.plan.study.procedure.cpu_latency_us is None:
            yield request
            return
        request.limit(ready.cpu_latency_us)
        yield None


def _either(first: Judge | None, second: Judge | None) -> Judge | None:
    if first is None or second is None:
        return first or second
    return lambda blocks: first(blocks) or second(blocks)


class _Look:
    """What the runner asks at each look: the result so far, judged as it will be."""

    def __init__(self, directory: Path, stopping: Stopping) -> None:
        self.stopping = stopping
        self._directory = directory
        self._last: tuple[int, Evaluation] | None = None

    def _evaluation(self, blocks: int) -> Evaluation:
        # Commands that stop at no look need not load SciPy.
        from pentathlon.evaluate import evaluate  # noqa: PLC0415

        if self._last is None or self._last[0] != blocks:
            self._last = blocks, evaluate(load_result(self._directory))
        return self._last[1]

    def enough(self, blocks: int) -> str | None:
        """Why so many blocks are enough, or None."""
        from pentathlon.evaluate import stopping_rule  # noqa: PLC0415

        if not self.stopping.may_stop(blocks):
            return None
        return stopping_rule(self._evaluation(blocks), self.stopping, blocks)

    def decided(self, blocks: int) -> Sequence[str]:
        """Workloads of which no more is needed."""
        from pentathlon.evaluate import decided_workloads  # noqa: PLC0415

        if not self.stopping.may_stop(blocks):
            return ()
        return decided_workloads(self._evaluation(blocks))


def finished_result(directory: Path) -> Result:
    """The result with its tables made anew."""
    result = load_result(directory)
    result.refresh()
    from pentathlon.evaluate.results.digest import note  # noqa: PLC0415
    from pentathlon.evaluate.results.digesting import digest  # noqa: PLC0415  loads SciPy

    note(directory, digest(result))
    return result
