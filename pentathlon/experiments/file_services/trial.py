"""One trial: a server is started, a client does its task, and the packets tell how it went."""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pentathlon.exchange import pcapng
from pentathlon.experiments.file_services import client_errors, protocols
from pentathlon.experiments.file_services.capture.summary import Summary, summarise
from pentathlon.experiments.file_services.content import Content
from pentathlon.experiments.file_services.protocols.base import Family, Service
from pentathlon.experiments.file_services.spec import Setup, TaskSpec
from pentathlon.experiments.file_services.testbed import Testbed
from pentathlon.machine.errors import TargetError
from pentathlon.testbed.endpoint import CommandError
from pentathlon.testbed.replies.programs import Performed

PATIENCE_S = 60.0
"""Time that a task gets beyond four times what its link should need, in seconds."""
SLOWEST_WINDOW = 8192
"""A client that waits a round trip for each of these bytes is still in time."""
FILE_TRIPS = 100
"""And one that waits so many for each file beside; an open has 70 small reads."""
LOOK_S = 30.0
"""Longest time for a look at the client's disk, in seconds."""


@dataclass
class Done:
    """A finished trial.

    Attributes:
        program_s: time of the client's program by its host's clock, in seconds.
        capture: the packets, as pcapng.
    """

    summary: Summary
    program_s: float
    capture: bytes
    content: Content
    service: str


class TaskFailed(Exception):
    """The task was not done; one sentence."""


@contextlib.contextmanager
def directories(parent: Path) -> Iterator[Path]:
    """A private directory for one trial; removed with all that is in it."""
    path = parent / f"files-{secrets.token_hex(4)}"
    path.mkdir(mode=0o755)
    try:
        for name in ("shared", "server", "client", "into"):
            (path / name).mkdir()
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def set_up(testbed: Testbed, spec: TaskSpec) -> list[str]:
    """Let the ends behave as asked; what they refuse, one sentence each."""
    return [
        *testbed.behave("client", spec.client.settings()),
        *testbed.behave("server", spec.server.settings()),
    ]


def run(setup: Setup) -> Done:
    """Run one trial.

    Raises:
        Refused: an end cannot do it.
        TaskFailed: the client did not get the files, or other bytes.
        TargetError: a program is missing, or a server does not start.
        CaptureError: the packets could not be captured.
        OSError: a file of this machine could not be written or read.
    """
    spec, testbed = setup.spec, setup.testbed
    family = protocols.family(spec.protocol)
    setup.server.forget()
    service = family.start(setup)
    try:
        if spec.warm:
            _check(_perform(setup, family, service), setup, family, service)
            setup.client.empty()
        trial = secrets.token_hex(4)
        tap, interface = testbed.tap
        tap.capture(trial, interface)
        try:
            done = _perform(setup, family, service)
        except (TargetError, TaskFailed, OSError):
            # The next capture begins with an empty ring. Whoever stops the study does not wait.
            with contextlib.suppress(TargetError):
                tap.captured(trial)
            raise
        captured = tap.captured(trial)
        # Nobody looks at the files before: that would be work beside what is measured.
        _check(done, setup, family, service)
        found = summarise(pcapng.read(captured), *testbed.addresses, family.name)
        return Done(found, float(done["elapsed_ns"]) / 1e9, captured, setup.held, service.name)
    finally:
        service.server.stop()


def limit_s(testbed: Testbed, held: Content) -> float:
    """The longest time that a task may take, in seconds."""
    patience_s = PATIENCE_S * max(testbed.client.slow, testbed.server.slow)
    if testbed.rate_bit_s is None or testbed.round_trip_s is None:
        return patience_s
    trips = held.total / SLOWEST_WINDOW + FILE_TRIPS * len(held.names)
    return patience_s + 4 * (8 * held.total / testbed.rate_bit_s + trips * testbed.round_trip_s)


def _limit_s(setup: Setup) -> float:
    """What the link needs with patience, or less where the study allows less."""
    return min(limit_s(setup.testbed, setup.held), setup.spec.timeout_s)


def _perform(setup: Setup, family: Family, service: Service) -> Performed:
    """Let the client do its task once; how its program ended.

    Raises:
        TaskFailed: the client itself is gone.
    """
    call = family.call(setup, service)
    try:
        return setup.testbed.client.perform(
            call.command,
            _limit_s(setup),
            input=call.input,
            environment=call.environment,
        )
    except CommandError:
        raise
    except TargetError as error:
        raise TaskFailed(f"the client was lost in mid-task ({error}){_so_far(setup)}") from error


def _check(done: Performed, setup: Setup, family: Family, service: Service) -> None:
    """Look whether the client has the files.

    Raises:
        TaskFailed: it does not.
    """
    if done["status"] != 0 or not setup.client.has(setup.held):
        raise TaskFailed(_why(done, setup, family, service))


def _why(done: Performed, setup: Setup, family: Family, service: Service) -> str:
    """One sentence for a task that was not done."""
    so_far = _so_far(setup)
    try:
        alive = service.server.alive()
    except TargetError as error:
        return f"the server was lost in mid-task ({error}){so_far}"
    if not alive:
        return f"the server {service.name} ended in mid-task{so_far}"
    if setup.testbed.was_cut():
        return f"the link was cut in mid-task{so_far}"
    if done["timed_out"]:
        return f"the client was not done after {_limit_s(setup):.0f} s{so_far}"
    message = client_errors.reason(done, family)
    if message is None and done["status"] == 0:
        # A write that was cut short by the end of the disk is no error to every client (write(2)).
        other = "the client got other files than the server holds"
        message = "the client's disk is full" if _full(setup) else other
    if message is not None:
        return f"{message}{so_far}"
    return f"the client ended with {done['status']}: {client_errors.last_words(done)}{so_far}"


def _so_far(setup: Setup) -> str:
    """How much had come, for the end of a sentence; nothing if the client cannot be asked."""
    try:
        return f"; {setup.client.came():,} of {setup.held.total:,} bytes had come"
    except TargetError:
        return ""


def _full(setup: Setup) -> bool:
    """Whether nothing more can be written where the client puts its files (stat(1))."""
    client = setup.testbed.client
    free = client.perform(["stat", "-f", "-c", "%a", str(setup.into)], LOOK_S * client.slow)
    return bool(free["status"] == 0) and str(free["output"]).strip() == "0"
