"""How far the runs of a campaign are, from their journals while others write them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from pentathlon.procedure.records import Record, from_json
from pentathlon.procedure.state import RunState
from pentathlon.safeio.checksum import SealError, unsealed
from pentathlon.store.directory import PLAN, read_plan
from pentathlon.store.files import open_regular
from pentathlon.store.journal import JOURNAL
from pentathlon.store.problems import StoreError

PART = 4 << 20


class Follower:
    """Reads what is appended to the journal of a result.

    Args:
        directory: the result; it need not be there yet.
        heard: is called with each record once it is in the state.
    """

    def __init__(self, directory: Path, heard: Callable[[Record], None] | None = None) -> None:
        self.directory = directory
        self.heard = heard
        self.state: RunState | None = None
        self.time = time.time()
        """When the last record was written, by the experimenter's wall clock."""
        self._place = 0

    def poll(self) -> bool:
        """Read what is new; returns whether there was any.

        Raises:
            StoreError: the plan is none, or a record does not fit it.
        """
        if self.state is None:
            if not (self.directory / PLAN).is_file():
                return False
            self.state = RunState(read_plan(self.directory))
        before = self._place
        try:
            descriptor = open_regular(self.directory / JOURNAL, os.O_RDONLY)
        except OSError:
            return False
        with open(descriptor, "rb") as journal:  # noqa: PTH123  a descriptor
            while True:
                journal.seek(self._place)
                data = journal.read(PART)
                end = data.rfind(b"\n") + 1
                if not end:
                    break
                for line in data[:end].splitlines(keepends=True):
                    if not self._take(line):
                        return self._place > before
                    self._place += len(line)
        return self._place > before

    def _take(self, line: bytes) -> bool:
        assert self.state is not None
        try:
            record = from_json(unsealed(line)[0])
        except (SealError, ValueError):
            return False  # What a power cut left; the run that goes on takes it off.
        try:
            self.time = datetime.fromisoformat(record.utc).timestamp()
            self.state.apply(record)
        except (LookupError, TypeError, ValueError) as error:
            raise StoreError(
                f"{self.directory / JOURNAL}: a record does not fit the plan beside it: {error}"
            ) from error
        if self.heard is not None:
            self.heard(record)
        return True

    @property
    def done(self) -> bool:
        """Whether everything that the plan needs is measured or has failed for good."""
        return self.state is not None and self.state.ended and not self.state.pending()

    def steps(self) -> tuple[int, int]:
        """Steps that are done, well or not, and those that are needed."""
        if self.state is None:
            return 0, 0
        whole = self.state.plan.step_count() - self.state.steps_not_needed()
        left = sum(len(boot.pending()) for boot in self.state.pending())
        return whole - left, whole

    def block(self) -> tuple[int, int]:
        """The block that is being measured, from 1, and how many there are."""
        if self.state is None:
            return 0, 0
        whole = len(self.state.plan.blocks)
        pending = self.state.pending()
        return (pending[0].block + 1 if pending else whole), whole

    def failures(self) -> int:
        """Failures that nothing made good."""
        return 0 if self.state is None else len(self.state.unresolved())
