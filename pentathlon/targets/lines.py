"""From the bytes of the agent's output to events, and the finding of torn output."""

from __future__ import annotations

from collections.abc import MutableSequence
from dataclasses import dataclass, field

from pentathlon.machine.errors import TargetError
from pentathlon.protocol.line import NoEvent, parse_event
from pentathlon.protocol.messages.base import JsonObject
from pentathlon.protocol.messages.course import Done
from pentathlon.safeio.clipping import clip

LONGEST_LINE = 16 * 1024 * 1024
"""Bytes; the largest event is the inventory, some 100 kB. More without a newline is no event."""

RECORDS = "records"
"""The event that is followed by as many bytes as its `bytes` states; they become its `data`."""

MOST_RECORDS = 1 << 30
"""Bytes of all such events of one answer: the records of some 60 million packets. They are held in
memory."""

EVENT_START = '{"event":'


@dataclass
class EventLines:
    """Splits the agent's output into events and other text.

    Text that is no event is kept in `log`: kernel messages before the first event, and what the
    kernel states between events. A line that starts as an event but does not parse is torn: bytes
    were lost or mixed, and no later line can be trusted. `records` states whether records have been
    requested; nobody else may announce bytes. `taken`: bytes that were announced since then.
    """

    log: MutableSequence[str]
    started: bool = False
    samples: int = 0
    records: bool = False
    taken: int = 0
    partial: bytearray = field(default_factory=bytearray)
    _announced: JsonObject | None = None

    def feed(self, data: bytes) -> list[JsonObject]:
        """The events that the new bytes complete.

        Raises:
            TargetError: a line is torn, or has no end.
        """
        # Only the new bytes can hold a newline: a long line is not searched again with every read.
        searched = len(self.partial)
        self.partial += data
        events: list[JsonObject] = []
        while True:
            if self._announced is not None:
                if len(self.partial) < self._announced["bytes"]:
                    return events
                events.append(self._announced | {"data": self._take(self._announced["bytes"])})
                self._announced = None
                searched = 0
            end = self.partial.find(b"\n", searched)
            if end < 0:
                break
            event = self._line(self._take(end + 1)[:end])
            searched = 0
            if event is not None and event["event"] == RECORDS:
                self._check_records(event)
                self._announced = event
            elif event is not None:
                events.append(event)
        if len(self.partial) > LONGEST_LINE:
            raise TargetError(
                f"the agent's output is torn: {len(self.partial)} bytes came without a newline"
            )
        return events

    def _take(self, count: int) -> bytes:
        with memoryview(self.partial) as whole:
            taken = bytes(whole[:count])
        del self.partial[:count]
        return taken

    def _line(self, raw: bytes) -> JsonObject | None:
        text = raw.decode("utf-8", errors="replace").strip("\r\0 ")
        if not text:
            return None
        if not self.started:
            # A console may hold the rest of a kernel message in front of the first event.
            start = text.find(EVENT_START)
            if start > 0:
                self.log.append(text[:start].rstrip())
                text = text[start:]
        if not text.startswith("{"):
            if self.started and EVENT_START in text:
                raise TargetError(
                    f"the agent's output is torn: other text runs into an event: {clip(text)}"
                )
            self.log.append(text)
            return None
        event = self._parse(text)
        if event is None:
            self.log.append(text)
            return None
        self.started = True
        self.samples += event["event"] in ("sample", "histogram", "execution")
        return event

    def _parse(self, text: str) -> JsonObject | None:
        try:
            event = parse_event(text)
        except NoEvent as error:
            if not self.started and not text.startswith(EVENT_START):
                return None
            raise TargetError(
                f"the agent sent no event that can be recorded, {error}: {clip(text)}"
            ) from error
        except ValueError as error:
            if not self.started and not text.startswith(EVENT_START):
                return None
            raise TargetError(
                f"the agent's output is torn: this line is no JSON ({error}): {clip(text)}"
            ) from error
        return event

    def _check_records(self, event: JsonObject) -> None:
        if not self.records:
            raise TargetError("the agent announced records, and none were requested")
        size = event.get("bytes")
        if type(size) is not int or not 0 <= size <= MOST_RECORDS:
            raise TargetError(
                f"the agent announced records of {clip(repr(size), 40)} bytes; "
                f"0 to {MOST_RECORDS} can be taken"
            )
        self.taken += size
        if self.taken > MOST_RECORDS:
            raise TargetError(
                f"the agent announced records of {self.taken} bytes in one answer; "
                f"{MOST_RECORDS} can be taken"
            )
        if type(event.get("flow")) is not int or not isinstance(event.get("kind"), str):
            raise TargetError("the agent announced records without their flow and kind")

    def check_done(self, done: Done) -> None:
        """Compare the agent's own count of samples with what arrived.

        Raises:
            TargetError: whole lines were lost on the way.
        """
        if done.samples != self.samples:
            raise TargetError(
                f"the agent's output is torn: it sent {done.samples} samples and {self.samples} "
                "arrived"
            )

    def rest(self) -> str:
        """The bytes after the last newline, as text."""
        return self.partial.decode("utf-8", errors="replace").strip()
