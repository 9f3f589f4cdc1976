"""Files of a Windows machine by SFTP, over the connection that ssh(1) holds.

ssh(1) starts the server's SFTP subsystem and paramiko speaks the protocol through it, so host
keys, agents, jump hosts and the rest of ssh_config(5) hold as for every other connection, and the
session's commands share this one. paramiko's own connections would read a part of that
configuration only.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import select
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import paramiko

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.tools import last_line
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.targets.ssh.client import BROKEN, Address

COPY_S = 300.0
"""Longest time for one file, in seconds."""

CHUNK = 1 << 20


class _Stream:
    """What paramiko takes for a channel: the socket that ssh(1) has as its standard files."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def send(self, data: bytes) -> int:
        return self._connection.send(data)

    def recv(self, count: int) -> bytes:
        return self._connection.recv(count)

    def recv_ready(self) -> bool:
        return bool(select.select([self._connection], [], [], 0)[0])

    def get_name(self) -> str:
        return "sftp"

    def close(self) -> None:
        self._connection.close()


class Files:
    """The session's first connection and the files over there.

    Raises:
        TargetUnavailable: the machine cannot be reached, or its server has no SFTP.
    """

    def __init__(
        self, address: Address, local: Path, journal: UndoJournal, timeout_s: float
    ) -> None:
        self._host = address.host
        ours, theirs = socket.socketpair()
        command = launch.wrap(address.over(local, "sftp", master=True, subsystem=True))
        self._process, _ = launch.start(
            command, journal, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE
        )
        theirs.close()
        self._socket = ours
        try:
            with self._within(timeout_s, "start its SFTP server"):
                self._client = paramiko.SFTPClient(_Stream(ours))  # type: ignore[arg-type]
        except TargetError as error:
            self.close()
            raise TargetUnavailable(
                f"{self._host} cannot be reached with ssh, or its server has no SFTP: {error}",
                f"sftp {self._host}",
            ) from error

    @property
    def broken(self) -> bool:
        """Whether the connection has ended without being closed."""
        ended = self._process.poll()
        return ended is not None and ended == BROKEN

    def home(self) -> str:
        """The directory that the login begins in, as Windows writes it."""
        with self._within(30.0, "name the home directory"):
            return windows_path(self._client.normalize("."))

    def make_directory(self, path: str) -> None:
        """Make a directory that must not be there yet."""
        with self._within(30.0, f"make {path}"):
            self._client.mkdir(sftp_path(path))

    def put(self, source: Path, path: str) -> None:
        """Copy a file of this machine there."""
        with self._within(COPY_S, f"take {source.name}"):
            # The size is compared by the caller's digest, which proves more.
            self._client.put(str(source), sftp_path(path), confirm=False)

    def append(self, path: str, text: str) -> None:
        """Add a text to a file, and wait until the server has taken it."""
        with self._within(30.0, f"write {path}"), self._client.open(sftp_path(path), "a") as file:
            file.write(text.encode())
            file.flush()

    def read(self, path: str, limit: int) -> bytes:
        """The first bytes of a file."""
        with self._within(30.0, f"read {path}"), self._client.open(sftp_path(path), "rb") as file:
            return file.read(limit)

    def sha256(self, path: str) -> str:
        """The digest of a file, computed here of what is read back."""
        digest = hashlib.sha256()
        with self._within(COPY_S, f"read {path}"), self._client.open(sftp_path(path), "rb") as file:
            file.prefetch()
            while chunk := file.read(CHUNK):
                digest.update(chunk)
        return digest.hexdigest()

    def exists(self, path: str) -> bool:
        """Whether a file or directory is there."""
        with self._within(30.0, f"look for {path}"):
            try:
                self._client.stat(sftp_path(path))
            except FileNotFoundError:
                return False
            return True

    def remove_tree(self, path: str) -> None:
        """Remove a directory with everything in it."""
        with self._within(60.0, f"remove {path}"):
            self._remove(sftp_path(path))

    def _remove(self, path: str) -> None:
        for one in self._client.listdir_attr(path):
            inner = f"{path}/{one.filename}"
            # A link is removed and not followed.
            if one.st_mode is not None and one.st_mode & 0o170000 == 0o040000:
                self._remove(inner)
            else:
                self._client.remove(inner)
        self._client.rmdir(path)

    @contextlib.contextmanager
    def _within(self, seconds: float, what: str) -> Iterator[None]:
        """Do something over the connection in a limited time, and name what failed."""
        late = threading.Event()

        def end() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            yield
        except (OSError, EOFError, paramiko.SSHException) as error:
            if late.is_set():
                reason = f"it did not within {seconds:g} s"
            elif self._process.poll() is not None and self._process.stderr is not None:
                reason = last_line(self._process.stderr.read(), "the connection broke")
            else:
                reason = str(error) or "the connection broke"
            raise TargetError(f"{self._host} does not {what}: {reason}") from error
        finally:
            timer.cancel()
            timer.join()

    def close(self) -> None:
        """End the connection, and with it every command over it; may be called again."""
        with contextlib.suppress(OSError):
            self._socket.close()
        try:
            self._process.wait(5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()


def sftp_path(path: str) -> str:
    r"""A path as OpenSSH's SFTP server for Windows names it.

    >>> sftp_path("C:\\Users\\a b\\x")
    '/C:/Users/a b/x'
    """
    return "/" + path.replace("\\", "/")


def windows_path(path: str) -> str:
    r"""The other way round.

    >>> windows_path("/C:/Users/a b")
    'C:\\Users\\a b'
    """
    plain = path.removeprefix("/") if re.match(r"/[A-Za-z]:", path) else path
    return plain.replace("/", "\\")
