"""One agent process, its pipes, its timeouts and its end."""

from __future__ import annotations

import collections
import os
import selectors
import subprocess
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pentathlon.machine import processes, restore
from pentathlon.machine.errors import TargetError
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.protocol.events import AGENT_KINDS, Done, JsonObject, Message, read
from pentathlon.protocol.requests.commands import Command, Fetch
from pentathlon.protocol.requests.session import Placement, Release, Request
from pentathlon.safeio.clipping import clip
from pentathlon.targets.contract import Session
from pentathlon.targets.lines import EventLines
from pentathlon.targets.run_delay import RunDelay

LOG_LINES = 2000
"""Lines of other text that are kept; a system that floods its console does not fill the memory."""

LOG_BYTES = 65536
"""Bytes that are kept of one such line."""

MOST_NS = float(2**62)
"""The longest run delay that is kept, whatever length a damaged event states."""

EXIT_GRACE_S = 5.0
"""Longest time between the agent's `done` and the end of its system, in seconds."""


class Log(collections.deque[str]):
    """The last lines that a system printed beside the events."""

    def __init__(self) -> None:
        super().__init__(maxlen=LOG_LINES)

    def tail(self, count: int = 3) -> str:
        """The last lines, for an error message."""
        return " | ".join(clip(line) for line in list(self)[-count:])


@dataclass
class Launch:
    """How to start a system.

    Attributes:
        command: the program and its arguments.
        pipes: whether requests and events have pipes of their own, beside stdin and stdout. Their
            numbers in the child stand in `command` as `{request}` and `{events}`.
        environment: variables to add.
        placement: the request's `placement`, where the request itself states nothing.
        scratch: the request's `scratch`, where the request itself states nothing.
        supplied: the request's `files`: where the files of commands lie on the system.
        files: descriptors that the system gets, by the same numbers.
        helpers: processes of the session that serve the system.
        guest: the system is a guest whose processes run here: what this machine's scheduler made
            them wait is added to the counters of each sample, as `run_delay_ns`.
        request_file: a file of this machine, and its path on the system: the request goes there,
            and the system is given its path. For a console, which loses what follows a line that
            is longer than its buffer.
    """

    command: Sequence[str]
    pipes: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    placement: Placement = field(default_factory=Placement)
    scratch: str | None = None
    supplied: str | None = None
    files: Sequence[int] = ()
    helpers: Sequence[subprocess.Popen[bytes]] = ()
    request_file: tuple[Path, str] | None = None
    guest: bool = False


class ProcessSession(Session):
    """A session whose system is a process of this machine.

    The journal of the session is put back by `stop`, after the last process has ended. One thread
    may stop a session while another one waits for its events.
    """

    def __init__(self, name: str, launch: Launch, journal: UndoJournal) -> None:
        self.name = name
        self.boot_log: Log = Log()
        self.boot_seconds = 0.0
        self._launch = launch
        self._journal = journal
        self._lines = EventLines(self.boot_log)
        self._noise: dict[int, bytearray] = {}
        self._used = False
        self._to_send = b""
        self._ended = False
        self._lost = "it was stopped"
        self._stopping = threading.RLock()
        self._reader: threading.Thread | None = None
        self._unread = threading.Event()
        self._unread.set()
        self._started = time.monotonic()
        self._start()
        self.boot_seconds = time.monotonic() - self._started

    def _start(self) -> None:
        own = self._launch.pipes
        request, self._request = os.pipe() if own else (-1, -1)
        self._events, events = os.pipe() if own else (-1, -1)
        fields = {"request": str(request), "events": str(events)}
        command = (
            [_fill(word, fields) for word in self._launch.command]
            if own
            else (list(self._launch.command))
        )
        environment = os.environ | self._launch.environment
        environment[processes.TOKEN] = self._journal.token
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL if own else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(*((request, events) if own else ()), *self._launch.files),
                env=environment,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            _close(request, self._request, self._events, events)
            raise TargetError(
                f'system "{self.name}" does not start: {command[0]}: {error.strerror}'
            ) from error
        _close(request, events)
        process = self._process
        assert process.stdout is not None and process.stderr is not None
        if own:
            self._noise = {process.stdout.fileno(): bytearray()}
        else:
            assert process.stdin is not None
            self._request = os.dup(process.stdin.fileno())
            self._events = os.dup(process.stdout.fileno())
            process.stdin.close()
            process.stdout.close()
        self._noise[process.stderr.fileno()] = bytearray()
        try:
            self._exit = os.pidfd_open(process.pid)
        except OSError:  # Before Linux 5.3; the end of the output has to do then.
            self._exit = -1
        self._run_delay = RunDelay(process.pid) if self._launch.guest else None
        started = processes.stat(process.pid)
        self._leader_start = started.start if started else 0
        self._journal.note(restore.process(process.pid, self._leader_start))
        for file in (self._request, self._events, *self._noise):
            os.set_blocking(file, False)

    @property
    def pid(self) -> int:
        """Id of the session's first process."""
        return self._process.pid

    def wait_ready(self, timeout_s: float) -> None:
        """Wait for the first event: an agent that is the first process of its system reports it.

        Raises:
            TargetError: it does not come within `timeout_s` seconds of the start.
        """
        deadline = self._started + timeout_s
        for event in self._pump(b"", timeout_s, deadline):
            self.boot_log.append(f"{event.get('message', event['event'])}")
            break
        self.boot_seconds = time.monotonic() - self._started

    def run(
        self, request: Request, idle_timeout_s: float, total_timeout_s: float
    ) -> Iterator[Message]:
        if self._used:
            raise TargetError(
                f'system "{self.name}" has served its one request; boot it anew for the next'
            )
        self._used = True
        text = self._handed_over(self._completed(request)).line()
        deadline = time.monotonic() + total_timeout_s
        try:
            for document in self._pump(text, idle_timeout_s, deadline):
                if document["event"] not in AGENT_KINDS:
                    raise TargetError(
                        f'the agent sent "{clip(document["event"], 40)}", '
                        "which is no event that answers a request"
                    )
                message = read(document)
                if isinstance(message.event, Done):
                    self._lines.check_done(message.event)
                    self._wait_end()
                    yield message
                    return
                yield message
        except TargetError as error:
            self.stop()
            raise TargetError(f'system "{self.name}": {error}') from error

    def release(self, release: Release) -> None:
        self._to_send += release.line()
        # At once: the system goes on while the caller still records what came before.
        if self._request >= 0:
            self._send()

    def ask(
        self, command: Command | None, answers: Collection[str], timeout_s: float
    ) -> Iterator[JsonObject]:
        """Tell an endpoint something and yield its events, up to the first of these `answers`.

        Args:
            command: None sends nothing.
            answers: the names of the events that end the answer; `error` always does.
            timeout_s: longest time for the answer, in seconds.

        Raises:
            TargetError: a timeout, the end of the agent, or output that is torn. The session is
                stopped by then.
        """
        if self._events < 0:
            raise TargetError(f'system "{self.name}" is not there any more: {self._lost}')
        text = command.line() if command else b""
        self._lines.records, self._lines.taken = isinstance(command, Fetch), 0
        try:
            for event in self._pump(text, timeout_s, time.monotonic() + timeout_s):
                yield event
                if event["event"] in answers or event["event"] == "error":
                    return
        except TargetError as error:
            self._lost = str(error)
            self.stop()
            raise TargetError(f'system "{self.name}": {error}') from error

    def _handed_over(self, request: Request) -> Request:
        """What the system is sent: the request, or where it lies."""
        if self._launch.request_file is None:
            return request
        file, place = self._launch.request_file
        try:
            file.write_bytes(request.line())
        except OSError as error:
            raise TargetError(f"the request cannot be written to {file}: {error}") from error
        return Request(at=place, workloads=[])

    def _completed(self, request: Request) -> Request:
        requested = request.placement.model_dump(exclude_none=True) if request.placement else {}
        placement = self._launch.placement.model_copy(update=requested)
        own = {
            "placement": None if placement == Placement() else placement,
            "scratch": request.scratch or self._launch.scratch,
            "files": request.files or self._launch.supplied,
        }
        return request.model_copy(update=own)

    def _pump(self, to_send: bytes, idle_s: float, deadline: float) -> Iterator[JsonObject]:
        """Write the request, read events, and keep an eye on the clock."""
        self._reader = threading.current_thread()
        self._unread.clear()
        try:
            yield from self._exchange(to_send, idle_s, deadline)
        finally:
            self._unread.set()

    def _exchange(self, to_send: bytes, idle_s: float, deadline: float) -> Iterator[JsonObject]:
        self._to_send = to_send
        heard = time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(self._events, selectors.EVENT_READ)
            for file in self._noise:
                selector.register(file, selectors.EVENT_READ)
            if self._exit >= 0:
                selector.register(self._exit, selectors.EVENT_READ)
            while True:
                if self._to_send and self._request not in selector.get_map():
                    selector.register(self._request, selectors.EVENT_WRITE)
                now = time.monotonic()
                if now >= deadline:
                    raise TargetError(f"the time limit is over{self._last_words()}")
                if now >= heard + idle_s:
                    raise TargetError(f"no event came for {idle_s:g} s{self._last_words()}")
                for key, _ in selector.select(min(deadline, heard + idle_s) - now):
                    if events := self._serve(key.fd, selector):
                        yield from events
                        # The consumer's own time is not the agent's silence.
                        heard = time.monotonic()
                if self._ended:
                    raise TargetError(self._how_it_ended())

    def _serve(self, file: int, selector: selectors.BaseSelector) -> list[JsonObject]:
        """Do what one ready file requests; the events that came with it."""
        if file == self._events:
            return self._receive()
        if file == self._exit:
            # A process that outlives its system may hold the pipe open for ever, so the end of
            # the system counts, and not the end of the pipe.
            events: list[JsonObject] = []
            while not self._ended and _available(self._events):
                events += self._receive()
            self._ended = True
            return events
        if not (self._send() if file == self._request else self._hear(file)):
            selector.unregister(file)
        return []

    def _receive(self) -> list[JsonObject]:
        data = _read(self._events)
        if data is None:
            return []
        if not data:
            self._ended = True
        return self._beside(self._lines.feed(data))

    def _beside(self, events: list[JsonObject]) -> list[JsonObject]:
        """The events, samples of a guest with what this machine knows of their time."""
        if self._run_delay is None or not events:
            return events
        share = self._run_delay.share()
        for event in events:
            counters, elapsed = event.get("counters"), event.get("elapsed_ns")
            if isinstance(counters, dict) and isinstance(elapsed, int | float):
                waited = None if share is None else round(min(share * elapsed, MOST_NS))
                counters["run_delay_ns"] = waited
        return events

    def _send(self) -> bool:
        """Write a part of the request; False when nothing is left to write."""
        try:
            self._to_send = self._to_send[os.write(self._request, self._to_send) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            self._to_send = b""
            return False  # The end of the output follows and is reported with its reason.
        return bool(self._to_send)

    def _hear(self, file: int) -> bool:
        """Keep other output; False at its end."""
        data = _read(file)
        held = self._noise[file]
        if data is None:
            return True
        held += data
        *lines, rest = bytes(held).split(b"\n")
        if not data and rest:
            lines, rest = [*lines, rest], b""
        held[:] = rest[:LOG_BYTES]
        for line in lines:
            if text := line.decode("utf-8", errors="replace").strip("\r\0 "):
                self.boot_log.append(text)
        return bool(data)

    def _how_it_ended(self) -> str:
        status = self._wait(EXIT_GRACE_S)
        self._drain()
        torn = self._lines.rest()
        if status is None:
            how = "closed its output and went on running"
        elif status < 0:
            how = f"was ended by signal {-status}"
        else:
            how = f"ended with exit status {status}"
        middle = f" in the middle of the line {clip(torn)}" if torn else ""
        return f'the agent {how} before "done"{middle}{self._last_words()}'

    def _last_words(self) -> str:
        tail = self.boot_log.tail()
        return f"; its last lines: {tail}" if tail else ""

    def _wait(self, patience_s: float) -> int | None:
        try:
            return self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return None

    def _wait_end(self) -> None:
        """After `done` the system ends by itself; one that does not is ended by `stop`."""
        deadline = time.monotonic() + EXIT_GRACE_S
        while self._process.poll() is None and time.monotonic() < deadline:
            # A system that powers off still prints, and must not block on a full pipe.
            self._drain()
            time.sleep(0.002)
        self._drain()
        status = self._process.poll()
        if status:
            self.boot_log.append(f"after its last event the agent ended with status {status}")

    def _drain(self) -> None:
        """Keep what has been printed so far; more than a flood's worth is not waited for."""
        for file in self._noise:
            for _ in range(64):
                if not (_available(file) and self._hear(file)):
                    break

    def stop(self) -> None:
        # Whoever waits in another thread sees the end of the agent, and stops the session too.
        with self._stopping:
            self._stop()

    def _stop(self) -> None:
        if self._events >= 0:
            request, self._request = self._request, -1
            _close(request)
            left = processes.end_session(self._journal.token, self._process.pid, self._leader_start)
            if self._reader is not threading.current_thread():
                # What is closed under a reader may be another file by the time it is read.
                self._unread.wait(EXIT_GRACE_S)
            if self._run_delay is not None:
                self._run_delay.close()
            files = self._events, self._exit
            self._events = self._exit = -1
            _close(*files)
            if self._process.stderr is not None:
                self._process.stderr.close()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._wait(EXIT_GRACE_S)
            for server in self._launch.helpers:
                # They have ended; the kernel keeps their places until somebody asks.
                server.poll()
            if left:
                raise TargetError(
                    f'system "{self.name}": processes {left} do not end even after SIGKILL'
                )
        self.boot_log.extend(self._journal.undo())


def _fill(word: str, fields: dict[str, str]) -> str:
    for name, value in fields.items():
        word = word.replace("{" + name + "}", value)
    return word


def _close(*files: int) -> None:
    for file in files:
        if file >= 0:
            os.close(file)


def _read(file: int) -> bytes | None:
    """What can be read now; None if nothing can, empty at the end."""
    try:
        return os.read(file, 65536)
    except BlockingIOError:
        return None


def _available(file: int) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(file, selectors.EVENT_READ)
        return bool(selector.select(0))
