"""The trace format that the agent's workload `disk.trace` replays (docs/disk-traces.md)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field

FORMAT = "pentathlon-disk-trace"
VERSION = 1

EXTENT_OPERATIONS = ("read", "write")


@dataclass(frozen=True)
class Step:
    """One operation on one file."""

    time_us: int
    """Since the beginning of the recording."""
    operation: str
    """open, create, close, read, write, fsync, stat or unlink."""
    file: int
    position: int = 0
    """First byte; of read and write only."""
    size: int = 0
    """Bytes moved; of read and write only."""

    def line(self) -> str:
        """The line of the format."""
        parts: list[object] = [self.time_us, self.operation, self.file]
        if self.operation in EXTENT_OPERATIONS:
            parts += [self.position, self.size]
        return json.dumps(parts, separators=(",", ":"))


@dataclass
class Trace:
    """Operations on numbered files."""

    name: str
    files: list[int | None] = field(default_factory=list)
    """Bytes of each file before the first operation; none if it is not there."""
    steps: list[Step] = field(default_factory=list)

    def text(self) -> str:
        """The whole trace as text."""
        header = {"format": FORMAT, "version": VERSION, "name": self.name, "files": self.files}
        lines = [json.dumps(header, separators=(",", ":")), *(step.line() for step in self.steps)]
        return "\n".join(lines) + "\n"

    def counts(self) -> Counter[str]:
        """How often each operation is there."""
        return Counter(step.operation for step in self.steps)

    def moved(self, operation: str) -> int:
        """Bytes that `operation` (read or write) moves."""
        return sum(step.size for step in self.steps if step.operation == operation)

    def files_bytes(self) -> list[int]:
        """Bytes of the files that are there before the first operation."""
        return [size for size in self.files if size is not None]
