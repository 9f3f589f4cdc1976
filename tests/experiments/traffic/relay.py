"""A relay of UDP packets that plants faults by sequence, and states what it did."""

from __future__ import annotations

import heapq
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterable

Plan = Callable[[int], Iterable[float]]
"""Sequence -> the delays of its copies in seconds; none: it is dropped."""

IMPATIENT_S = 0.005


class Relay:
    """Takes packets at `port` and sends them to `target`, as the plan states.

    A packet of `late` leaves right after the packet that follows it, whenever that is.

    Attributes:
        held_ns: sequence -> how long the first copy was kept here.
    """

    def __init__(self, target: tuple[str, int], plan: Plan, late: Collection[int] = ()) -> None:
        self.held_ns: dict[int, int] = {}
        self._target = target
        self._plan = plan
        self._late = late
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(IMPATIENT_S)
        self.port = self._socket.getsockname()[1]
        self._over = False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def stop(self) -> None:
        self._over = True
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        waiting: list[tuple[int, int, int, bytes]] = []
        number = 0
        kept = b""
        while not self._over or waiting:
            try:
                packet = self._socket.recv(65536)
                now = time.monotonic_ns()
                sequence = int.from_bytes(packet[8:16], "big")
                if sequence in self._late:
                    kept = packet
                    continue
                for delay in self._plan(sequence):
                    number += 1
                    due = now + int(delay * 1e9)
                    heapq.heappush(waiting, (due, number, now, packet))
                if kept:
                    number += 1
                    heapq.heappush(waiting, (now, number, now, kept))
                    kept = b""
            except TimeoutError:
                pass
            while waiting and waiting[0][0] <= time.monotonic_ns():
                _, _, came, packet = heapq.heappop(waiting)
                sequence = int.from_bytes(packet[8:16], "big")
                self.held_ns.setdefault(sequence, time.monotonic_ns() - came)
                self._socket.sendto(packet, self._target)
            left = waiting[0][0] - time.monotonic_ns() if waiting else 0
            patience = max(1e-4, min(IMPATIENT_S, left * 1e-9)) if waiting else IMPATIENT_S
            self._socket.settimeout(patience)
