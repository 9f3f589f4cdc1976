"""Many results at once: a batch in this process, or several in processes of their own."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pentathlon.archive.batch import Added, add
from pentathlon.archive.compact import MANY_COMMITS, compact
from pentathlon.archive.log import Archive, make_archive, open_archive
from pentathlon.store.problems import StoreError

FEW = 16
"""Results that one process adds faster than several, which take a second to start."""
MOST_PROCESSES = 8
THREADS = "POLARS_MAX_THREADS"


def add_all(
    text: str,
    paths: Sequence[Path],
    machine: str,
    *,
    strict: bool,
    branch: str = "",
    processes: int | None = None,
) -> Added:
    """Add results to an archive, which is made where there is none.

    Args:
        text: the archive.
        strict: end at the first result that cannot be added.
        processes: how many; None for as many as help.

    Raises:
        StoreError: a result cannot be added, with `strict`, or the archive cannot be used.
        OSError: the archive cannot be written.
    """
    archive = make_archive(text)
    most = min(len(os.sched_getaffinity(0)), MOST_PROCESSES) if processes is None else processes
    # What lies in the memory of this process is no place for others.
    if len(paths) <= FEW or most < 2 or text.startswith("memory:"):
        done = add(archive, paths, machine, strict=strict, branch=branch)
    else:
        done = _parallel(text, paths, machine, most, strict=strict, branch=branch)
    _tidy(archive, done)
    return done


def _parallel(
    text: str,
    paths: Sequence[Path],
    machine: str,
    processes: int,
    *,
    strict: bool,
    branch: str,
) -> Added:
    done = Added()
    context = multiprocessing.get_context("spawn")  # A fork has the threads' locks of polars.
    _share(context.Value("q", 0))
    with (
        _one_thread(),
        ProcessPoolExecutor(
            processes - 1, mp_context=context, initializer=_share, initargs=(_taken,)
        ) as pool,
    ):
        part = (text, paths, machine, strict, branch)
        try:
            others = [pool.submit(_part, *part) for _ in range(processes - 1)]
            # A part of it here: a process that is started first imports for most of a second.
            done.take(_part(*part))
            for found in others:
                done.take(found.result())
        except BrokenExecutor as error:
            raise StoreError(
                "a process that added results was killed, as happens where memory is short; what "
                f"was added before is in {text}: add the same again, and the rest follows"
            ) from error
    return done


_taken: Any = None
"""How many results have been taken by the processes of an addition."""


def _share(taken: Any) -> None:
    global _taken  # noqa: PLW0603  what processes share is handed over when they start
    _taken = taken


def _each(paths: Sequence[Path]) -> Iterator[Path]:
    """Results that no other process takes: none waits for one that started late or is slow."""
    while True:
        with _taken.get_lock():
            place = _taken.value
            _taken.value += 1
        if place >= len(paths):
            return
        yield paths[place]


@contextmanager
def _one_thread() -> Iterator[None]:
    """Have processes that start meanwhile use one thread of polars each: they are many already."""
    before = os.environ.get(THREADS)
    os.environ[THREADS] = before or "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[THREADS]


def _part(text: str, paths: Sequence[Path], machine: str, strict: bool, branch: str) -> Added:
    try:
        return add(open_archive(text), _each(paths), machine, strict=strict, branch=branch)
    except BaseException:
        with _taken.get_lock():  # Nothing is left for the others.
            _taken.value = len(paths)
        raise


def _tidy(archive: Archive, done: Added) -> None:
    """Compact what has many commits. Nobody asked for that: it fails without the addition."""
    if len(archive.contents().commits) >= MANY_COMMITS:
        try:
            compact(archive, unasked=True)
        except StoreError as error:
            done.remarks.append(str(error))
