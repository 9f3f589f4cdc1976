"""The packets of trials between two hosts: kept beside the journal, one Parquet file a trial."""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from pentathlon.procedure.records import AgentEvent, BootEnd, BootStart, Record, Sink
from pentathlon.protocol.events import JsonObject, Packets, read
from pentathlon.safeio.clipping import clip
from pentathlon.store.files import read_bytes, write_whole
from pentathlon.store.journal import StoreError, read_journal
from pentathlon.store.problems import writing

PACKETS = "packets"
"""The directory of the files, in that of the result."""

MOST_BYTES: Final = 1 << 30
"""Bytes of the packets of one trial."""


@dataclass(frozen=True)
class _Kept:
    """Which bytes of an event go into a file of their own: its field, the folder, the suffix."""

    field: str
    folder: str
    suffix: str


KEPT: Final = {
    "packets": _Kept("table", PACKETS, ".parquet"),
    "files": _Kept("capture", "captures", ".pcapng"),
}
"""Event -> what of it lies beside the journal."""


class PacketKeeper:
    """A sink that puts the table of a `packets` event and the capture of a `files` event into a
    file, whose name the journal gets.

    The files of a boot that fails are removed when it has ended: it is tried again, and its trials
    count for nothing.

    Args:
        directory: of the result.
        sink: takes every record, without tables.
    """

    def __init__(self, directory: Path, sink: Sink) -> None:
        self._directory = directory
        self._sink = sink
        self._last: dict[str, int] = {}
        self._of_boot: list[Path] = []

    def __call__(self, record: Record) -> None:
        if isinstance(record, AgentEvent) and (kept := KEPT.get(record.message.event)):
            document = self._without(record.event.document, kept)
            record = dataclasses.replace(record, event=read(document))
        self._sink(record)
        if isinstance(record, BootStart):
            self._of_boot = []
        elif isinstance(record, BootEnd) and record.outcome != "ok":
            for path in self._of_boot:
                path.unlink(missing_ok=True)

    def _without(self, event: JsonObject, kept: _Kept) -> JsonObject:
        rest = {name: value for name, value in event.items() if name != kept.field}
        data = event.get(kept.field)
        if data is None:
            return rest
        folder = self._directory / kept.folder
        with writing(folder):
            folder.mkdir(exist_ok=True)
            if folder.is_symlink():
                raise StoreError(f"{folder} is a symbolic link, which is not followed")
            # A run that goes on finds the files of the first one; none is written twice.
            names = (path.stem for path in folder.glob(f"*{kept.suffix}"))
            here = (int(name) for name in names if name.isdigit())
            last = max(self._last.get(kept.folder, 0), *here, 0) + 1
            self._last[kept.folder] = last
            path = folder / f"{last:06d}{kept.suffix}"
            write_whole(path, data)
        self._of_boot.append(path)
        return rest | {"file": f"{kept.folder}/{path.name}"}


_OWN_NAME: Final = re.compile(r"(packets)/([0-9]{1,12}\.parquet)", re.ASCII)


def _place(directory: Path, name: Any) -> Path:
    """Where the packets of a trial lie; a result names only files of its own.

    Raises:
        StoreError: it names a file elsewhere, or a symbolic link lies in its place.
    """
    own = _OWN_NAME.fullmatch(name) if isinstance(name, str) else None
    if own is None:
        raise StoreError(
            f"the journal of {directory} names {clip(repr(name), 80)} as a file of packets; they "
            f"lie in the result's own directory, such as {PACKETS}/000001.parquet"
        )
    folder = directory / own[1]
    for path in (folder, folder / own[2]):
        if path.is_symlink():
            raise StoreError(f"{path} is a symbolic link, which is not followed")
    return folder / own[2]


@dataclass(frozen=True)
class KeptTrial:
    """One trial between two hosts, as the journal has it.

    Attributes:
        number: its place in the journal, from 1.
        event: the `packets` event (docs/results.md).
    """

    number: int
    directory: Path
    system: str
    block: int
    attempt: int
    event: Packets

    @property
    def kept(self) -> bool:
        """Whether its packets are there; those of a boot that failed are not."""
        return self.path is not None and self.path.exists()

    @property
    def path(self) -> Path | None:
        """The file of its packets; None if they were not kept.

        Raises:
            StoreError: it is none of this result's own.
        """
        return None if self.event.file is None else _place(self.directory, self.event.file)

    def packets(self) -> pl.DataFrame:
        """Its packets, with the columns that docs/results.md lists.

        Raises:
            StoreError: they were not kept, or the file is damaged.
        """
        path = self.path
        if path is None or not path.exists():
            raise StoreError(
                f'the packets of trial {self.number} were not kept; set keep = "always" for '
                f"{self.event.workload} in the study"
            )
        try:
            # From bytes: Polars takes `[`, `*` and `?` in a path for wildcards.
            return pl.read_parquet(io.BytesIO(read_bytes(path, MOST_BYTES)))
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            first = (str(error).splitlines() or [""])[0]
            raise StoreError(f"{path} cannot be read: {first}") from error


def kept_trials(directory: Path) -> Iterator[KeptTrial]:
    """Every trial between two hosts, in the order of the journal.

    Raises:
        StoreError: the directory holds no result, or its journal names a file elsewhere.
    """
    found = [
        (record, record.message)
        for record in read_journal(directory)
        if isinstance(record, AgentEvent) and isinstance(record.message, Packets)
    ]
    # A run that goes on may give the number of a removed file to another: the last one has it.
    for _, event in found:
        if event.file is not None:
            _place(directory, event.file)
    owner = {event.file: place for place, (_, event) in enumerate(found)}
    for place, (record, event) in enumerate(found):
        own = event if owner[event.file] == place else event.model_copy(update={"file": None})
        yield KeptTrial(place + 1, directory, record.system, record.block, record.attempt, own)
