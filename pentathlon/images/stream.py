"""Bytes of archives that others made: decompressed, counted and hashed while they are read."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, cast

from pentathlon.machine.errors import TargetUnavailable

MOST_READ: Final = 1 << 20
"""Bytes of one read: an extended header of an archive is read at once, whatever size it claims."""
MOST_MEMORY: Final = 1 << 28
"""Bytes that a decompressor may take, which the compressed data request."""

MAGIC: Final = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
}


class DamagedError(Exception):
    """Compressed data are not what they should be, or too large; the text is a clause."""


def decompressed(file: IO[bytes]) -> IO[bytes]:
    """The data of a file that is at its beginning, by the compression that its first bytes show.

    Raises:
        TargetUnavailable: there is no library for it.
    """
    first = file.read(6)
    file.seek(0)
    kind = next((kind for magic, kind in MAGIC.items() if first.startswith(magic)), None)
    if kind == "gzip":
        return gzip.GzipFile(fileobj=file, mode="rb")  # type: ignore[return-value]
    if kind == "bzip2":
        return bz2.BZ2File(file)
    if kind == "xz":
        return io.BufferedReader(_Xz(file), MOST_READ)
    return _zstd(file) if kind == "zstd" else file


def _zstd(file: IO[bytes]) -> IO[bytes]:
    try:
        import zstandard  # noqa: PLC0415  only where data are compressed so
    except ImportError as error:
        raise TargetUnavailable(
            "the Python package zstandard is not installed, which reads this compression",
            "pip install zstandard",
        ) from error
    decompressor = zstandard.ZstdDecompressor(max_window_size=MOST_MEMORY)
    return decompressor.stream_reader(file, read_across_frames=True)


class _Xz(io.RawIOBase):
    """What lzma.LZMAFile reads, with a bound of the memory that the data may request."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._inner = lzma.LZMADecompressor(memlimit=MOST_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while True:
            if self._inner.eof:
                more = self._inner.unused_data or self._file.read(MOST_READ)
                # Streams may be padded with zeros, and one may follow another (xz(1)).
                more = more.lstrip(b"\0")
                if not more:
                    return 0
                self._inner = lzma.LZMADecompressor(memlimit=MOST_MEMORY)
            else:
                more = self._file.read(MOST_READ) if self._inner.needs_input else b""
                if self._inner.needs_input and not more:
                    raise EOFError
            data = self._inner.decompress(more, len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)


def entries(file: object, kind: str) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Each entry of a tar archive, with the archive.

    Args:
        file: what tarfile reads of a file it has.
        kind: what the file is not, where it is no archive.

    Raises:
        DamagedError: the archive is damaged.
    """
    try:
        archive = tarfile.open(fileobj=cast("IO[bytes]", file), mode="r:")  # noqa: SIM115
        while entry := archive.next():
            # It would keep them all.
            archive.members.clear()  # type: ignore[attr-defined]
            yield archive, entry
    except tarfile.TarError as error:
        raise DamagedError(f"is {kind}: {error}") from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise DamagedError(f"has a damaged header: {error}") from error


class Stream:
    """A file that is read forwards, as tarfile reads one: each byte is counted and hashed.

    Attributes:
        last: what the last read returned.

    Args:
        source: the data.
        most: bytes at most.
        algorithm: of the digest.
    """

    def __init__(self, source: IO[bytes], most: int, algorithm: str = "sha256") -> None:
        self._source = source
        self._most = most
        self._at = 0
        self._hash = hashlib.new(algorithm)
        self.last = b""

    def read(self, size: int = -1) -> bytes:
        """So many bytes; fewer at the end.

        Raises:
            DamagedError: the data are damaged, or these are more than an archive has at once.
        """
        if not 0 <= size <= MOST_READ:
            raise DamagedError(f"has a header of {size:,} bytes, and the most is {MOST_READ:,}")
        parts = []
        while size:
            part = self._some(size)
            if not part:
                break
            parts.append(part)
            size -= len(part)
        self.last = b"".join(parts)
        return self.last

    def _some(self, size: int) -> bytes:
        try:
            part = self._source.read(size)
        except EOFError as error:
            raise DamagedError("ends too early: its compressed data are cut off") from error
        except (OSError, zlib.error, lzma.LZMAError, ValueError) as error:
            raise DamagedError(f"cannot be decompressed or read: {error}") from error
        except Exception as error:
            # zstandard.ZstdError has no other base class, and the package may be absent.
            if type(error).__name__ != "ZstdError":
                raise
            raise DamagedError(f"cannot be decompressed: {error}") from error
        self._at += len(part)
        if self._at > self._most:
            raise DamagedError(f"has more than {self._most:,} bytes when it is decompressed")
        self._hash.update(part)
        return part

    def tell(self) -> int:
        """Bytes that were read."""
        return self._at

    def seek(self, place: int, _whence: int = 0) -> int:
        """Read up to a place, which lies ahead."""
        if place < self._at:
            raise DamagedError("has its parts in an order that cannot be read")
        while self._at < place:
            if not self._some(min(MOST_READ, place - self._at)):
                break
        return self._at

    def finish(self) -> str:
        """Read the rest, and return the digest of everything, as "sha256:..."."""
        while self._some(MOST_READ):
            pass
        return f"{self._hash.name}:{self._hash.hexdigest()}"


def opened(path: Path) -> IO[bytes]:
    """A regular file.

    Raises:
        TargetUnavailable: it is none, or cannot be read.
    """
    try:
        # A pipe would wait for its writer.
        if not path.is_file():
            raise TargetUnavailable(f"the image {path} is no file of this machine")
        return path.open("rb")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TargetUnavailable(f"the image {path} cannot be read: {reason}") from error
