"""The journal of a campaign's jobs: what was meant to be submitted, and what was.

A job is noted before it is submitted and once its id is known. A program that is killed in between
finds the job again by its name, so that no boot gets two; if it did, the second would find nothing
left to measure, as each job takes the lock of the result and reads its journal first.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

from pentathlon.campaign.directory import Campaign
from pentathlon.procedure.records import utc_now
from pentathlon.safeio.checksum import SealError, sealed, unsealed
from pentathlon.store.files import open_regular
from pentathlon.store.problems import StoreError

FILE = "jobs.jsonl"


@dataclass(frozen=True)
class Submitted:
    """A job of one boot. `job` is None as long as nobody knows its id."""

    name: str
    machine: str
    block: int
    system: str
    job: str | None = None


class Jobs:
    """All jobs that were ever submitted.

    Raises:
        StoreError: the file cannot be read.
    """

    def __init__(self, campaign: Campaign) -> None:
        self._path = campaign.path / FILE
        self.prefix = f"pentathlon-{campaign.id}-"
        self.all: dict[str, Submitted] = {}
        try:
            with open(open_regular(self._path, os.O_RDONLY), "rb") as file:  # noqa: PTH123
                lines = file.read().splitlines(keepends=True)
        except FileNotFoundError:
            lines = []
        except OSError as error:
            raise StoreError(f"{self._path} cannot be read: {error.strerror}") from error
        for number, line in enumerate(lines, start=1):
            try:
                self._take(unsealed(line)[0])
            except (SealError, KeyError, TypeError) as error:
                if number == len(lines):
                    continue  # A torn last line; its job is found by its name.
                raise StoreError(f"{self._path}:{number}: this line is damaged") from error

    def _take(self, document: dict[str, Any]) -> None:
        one = Submitted(
            name=str(document["name"]),
            machine=str(document["machine"]),
            block=int(document["block"]),
            system=str(document["system"]),
            job=None if document.get("job") is None else str(document["job"]),
        )
        self.all[one.name] = one

    def note(self, one: Submitted) -> None:
        """Write a job down; when this returns, the end of this process cannot lose it.

        Raises:
            StoreError: the file system refuses.
        """
        document = {"utc": utc_now(), **asdict(one)}
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            with open(open_regular(self._path, flags), "r+b", buffering=0) as file:  # noqa: PTH123
                # A torn last line is of a job that its name finds; nobody else writes here.
                file.truncate(file.read().rfind(b"\n") + 1)
                file.seek(0, os.SEEK_END)
                file.write(sealed(document))
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"{self._path} cannot be written: {error.strerror}") from error
        self.all[one.name] = one

    def of(self, machine: str, block: int, system: str) -> list[Submitted]:
        """The jobs of one boot, in order."""
        key = (machine, block, system)
        return [one for one in self.all.values() if (one.machine, one.block, one.system) == key]

    def new_name(self, machine: str, block: int, system: str) -> str:
        """A name that no job has yet."""
        number = len(self.of(machine, block, system)) + 1
        return f"{self.prefix}{machine}-b{block + 1}-{system}-{number}"
