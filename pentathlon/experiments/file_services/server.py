"""A server program on a host: started, waited for, ended."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from pentathlon.experiments.file_services.workdir import Place
from pentathlon.machine.errors import TargetError
from pentathlon.machine.on_error import on_error
from pentathlon.protocol.requests.works import RunProgram
from pentathlon.testbed.endpoint import Endpoint
from pentathlon.testbed.replies.programs import Ended

FAULT = re.compile("(?i)fail|error|unable|cannot|denied|too long|in use")
"""What the line of a log has that reports why its program did not start."""

STATE = 3
"""Column of a socket's state in its table."""

PATIENCE_S, PATIENCE_APART_S = 20.0, 60.0
"""Longest time until a server listens, in seconds, on this machine's kernel and on a guest's."""


@dataclass
class Server:
    """A running server.

    Attributes:
        host: where it runs; its end is the end of the server.
        job: its name on that host.
        port: where it listens.
        read_log: reads its own log, if it has one.
        udp: the port is one of UDP.
        ended: what it left, once it was stopped.
    """

    host: Endpoint
    job: str
    port: int
    read_log: Callable[[], str] | None = None
    udp: bool = False
    ended: Ended | None = None

    @classmethod
    def start(
        cls,
        place: Place,
        job: str,
        command: list[str],
        port: int,
        *,
        log: str | None = None,
        udp: bool = False,
    ) -> Self:
        """Start it and wait until it listens.

        Args:
            place: of the host where it runs.
            log: its own log, by its name there.

        Raises:
            TargetError: it ended at once, or does not listen in time; its own words.
        """
        host = place.host
        host.start(job, RunProgram(command=command))
        server = cls(host, job, port, partial(place.read, log) if log else None, udp)
        with on_error(server.stop):
            patience_s = (PATIENCE_APART_S if host.apart else PATIENCE_S) * host.slow
            deadline = time.monotonic() + patience_s
            while not server.alive():
                if time.monotonic() > deadline:
                    raise TargetError(f"{job} does not listen at port {port}: {server.words()}")
                time.sleep(0.02)
        return server

    def stop(self) -> Ended:
        """End it, with all that it started; what it left (docs/protocol.md, `program`)."""
        if self.ended is None:
            try:
                self.ended = self.host.finish_job(self.job)["yields"][0]
            except TargetError as error:
                # It has failed, or is gone with its host.
                self.ended = Ended(ended_before=True, status=None, error=str(error), output="")
        return self.ended

    def alive(self) -> bool:
        """Whether it still listens."""
        return listens(self.host, self.port, self.udp)

    def words(self) -> str:
        """The last line that it printed; ends it."""
        left = self.stop()
        text = left["error"] or left["output"]
        if self.read_log is not None:
            with contextlib.suppress(OSError, TargetError):
                text = self.read_log() + text
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        faults = [line for line in lines if FAULT.search(line)]
        return (faults or lines or ["it printed nothing"])[-1]


def listens(host: Endpoint, port: int, udp: bool = False) -> bool:
    """Whether a port of TCP or UDP is open on a host (proc(5))."""
    wanted = f":{port:04X}"
    names, state = (("udp", "udp6"), "07") if udp else (("tcp", "tcp6"), "0A")
    for line in _sockets(host, names):
        fields = line.split()
        if len(fields) > STATE and fields[1].endswith(wanted) and fields[STATE] == state:
            return True
    return False


def _sockets(host: Endpoint, names: tuple[str, ...]) -> list[str]:
    """The lines of a host's tables of sockets, without their titles."""
    if host.apart:
        # One of them may not be there: a kernel can lack IPv6.
        files = [f"/proc/net/{name}" for name in names]
        output_lines = host.perform(["cat", *files], PATIENCE_S * host.slow)
        lines = output_lines["output"].splitlines()
    else:
        lines = []
        for name in names:
            with contextlib.suppress(OSError):
                lines += Path(f"/proc/{host.session.pid}/net/{name}").read_text().splitlines()
    return [line for line in lines if line.strip()[:1].isdigit()]
