"""An SSH server on loopback that is as near to OpenSSH for Windows as Wine comes.

Its sessions are Wine's `cmd.exe /c "COMMAND"`, its SFTP shows the prefix's C: drive as `/C:`. As
with the real one the end of a connection ends a session's input and kills nothing. `shutdown /r`
stops the server and Wine's own, and starts both anew a moment later.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paramiko
import pytest

from pentathlon.machine.cache import locked
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.targets import windows_build
from pentathlon.targets.wine import prefix, program
from tests.targets.sshd import CLIENT, free_port

MINGW = "x86_64-w64-mingw32-gcc"
RUN = "PENTATHLON_TEST_RUN"
OFF_S = 0.5
"""How long the machine is off in a restart."""


class Handle(paramiko.SFTPHandle):
    """An open file."""

    def stat(self) -> Any:
        number = self.readfile.fileno()  # type: ignore[attr-defined]
        return paramiko.SFTPAttributes.from_stat(os.fstat(number))


class Drive(paramiko.SFTPServerInterface):
    """The C: drive of a prefix."""

    root: Path
    home = "/C:/users/" + getpass.getuser()

    def _real(self, path: str) -> Path:
        path = self.canonicalize(path)
        if path[:3].upper() != "/C:":
            raise FileNotFoundError(2, path)
        return self.root / path[3:].lstrip("/")

    def canonicalize(self, path: str) -> str:
        whole = path if path.startswith("/") else f"{self.home}/{path}"
        return os.path.normpath(whole)

    def stat(self, path: str) -> Any:
        return _answer(lambda: _attributes(self._real(path)))

    lstat = stat

    def list_folder(self, path: str) -> Any:
        return _answer(lambda: [_attributes(one) for one in self._real(path).iterdir()])

    def mkdir(self, path: str, attr: Any) -> Any:
        return _answer(lambda: self._real(path).mkdir())

    def rmdir(self, path: str) -> Any:
        return _answer(lambda: self._real(path).rmdir())

    def remove(self, path: str) -> Any:
        return _answer(lambda: self._real(path).unlink())

    def open(self, path: str, flags: int, attr: Any) -> Any:
        def opened() -> paramiko.SFTPHandle:
            number = os.open(self._real(path), flags, 0o755)
            mode = {0: "rb", 1: "ab" if flags & os.O_APPEND else "wb"}.get(flags & 3, "r+b")
            handle = Handle(flags)
            file = os.fdopen(number, mode)
            handle.readfile = handle.writefile = file  # type: ignore[attr-defined]
            return handle

        return _answer(opened)


def _answer(work: Callable[[], Any]) -> Any:
    try:
        found = work()
    except OSError as error:
        return paramiko.SFTPServer.convert_errno(error.errno or 0)
    return paramiko.SFTP_OK if found is None else found


def _attributes(path: Path) -> paramiko.SFTPAttributes:
    return paramiko.SFTPAttributes.from_stat(path.lstat(), path.name)


class Login(paramiko.ServerInterface):
    """One connection: whoever has the key may run commands."""

    def __init__(self, server: WineSshd) -> None:
        self._server = server

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        same = key.get_base64() == self._server.public
        return paramiko.AUTH_SUCCESSFUL if same else paramiko.AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        wanted = kind == "session"
        return paramiko.OPEN_SUCCEEDED if wanted else paramiko.OPEN_FAILED_UNKNOWN_CHANNEL_TYPE

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        self._server.execute(channel, command.decode())
        return True


class WineSshd:
    """The server, and a client's configuration in which it is called `pc`.

    Attributes:
        drive: the C: drive as this machine sees it.
        commands: the command lines that came.
    """

    def __init__(self, directory: Path, agent: Path) -> None:
        try:
            self.wine = program.find()
            self.agent = windows_build.agent(None, agent)
            shim = program.shim(self.wine, self.agent)
        except TargetUnavailable as error:
            pytest.skip(str(error))
        if shutil.which(MINGW) is None or shutil.which("ssh") is None:
            pytest.skip(f"{MINGW} or ssh is not installed")
        self.directory = directory
        directory.mkdir()
        made = prefix.make(self.wine, lambda line: None)
        # Beside the one that it is linked to: links do not reach other file systems.
        self.prefix = prefix.directory() / f"test-{os.getpid()}"
        shutil.rmtree(self.prefix, ignore_errors=True)
        with locked(prefix.directory()):
            prefix.copy(made, self.prefix)
        self.drive = self.prefix / "drive_c"
        if shim is not None:
            shutil.copy(shim, self.drive / "windows" / "system32" / program.SHIM)
        source = Path(__file__).with_name("raw_command.c")
        raw = self.drive / "raw.exe"
        subprocess.run([MINGW, "-O1", "-s", "-o", str(raw), str(source)], check=True)
        self.port = free_port()
        self.config = directory / "client.conf"
        self.commands: list[str] = []
        self.closed = threading.Event()
        self._transports: list[paramiko.Transport] = []
        self._listener: socket.socket | None = None
        self._system: subprocess.Popen[bytes] | None = None
        self._threads: list[threading.Thread] = []
        self._make_keys()
        self.environment = {k: v for k, v in os.environ.items() if k != RUN} | prefix.environment(
            self.prefix, directory
        )
        # With an empty search path of its own cmd.exe takes every program for found.
        del self.environment["WINEPATH"]

    def _make_keys(self) -> None:
        for name in ("host_key", "key"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f"]
            subprocess.run([*command, str(self.directory / name)], check=True)
        self._host_key = paramiko.Ed25519Key.from_private_key_file(str(self.directory / "host_key"))
        self.public = (self.directory / "key.pub").read_text().split()[1]
        kind, text = (self.directory / "host_key.pub").read_text().split()[:2]
        known = f"[127.0.0.1]:{self.port} {kind} {text}\n"
        (self.directory / "known_hosts").write_text(known)
        fields = {"port": self.port, "directory": self.directory, "user": getpass.getuser()}
        self.config.write_text(CLIENT.format(**fields).replace("Host bench", "Host pc"))

    def start(self) -> None:
        # What runs as long as the machine does: without a program Wine's server ends after a while.
        self._system = subprocess.Popen(
            self.wine.command("cmd.exe"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=self.environment, start_new_session=True,
        )  # fmt: skip
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(20)
        self._listener = listener
        self._go(self._accept, listener)

    def _go(self, work: Callable[..., None], *given: Any) -> None:
        thread = threading.Thread(target=work, args=given, daemon=True)
        self._threads = [one for one in self._threads if one.is_alive()] + [thread]
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self._go(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        transport = paramiko.Transport(connection)
        transport.add_server_key(self._host_key)
        drive = type("OwnDrive", (Drive,), {"root": self.drive})
        transport.set_subsystem_handler("sftp", paramiko.SFTPServer, drive)
        self._transports = [one for one in self._transports if one.is_active()] + [transport]
        with contextlib.suppress(paramiko.SSHException, EOFError, OSError):
            transport.start_server(server=Login(self))

    def execute(self, channel: paramiko.Channel, command: str) -> None:
        self.commands.append(command)
        if command.startswith("shutdown.exe /r"):
            self._go(self.restart)
        process = subprocess.Popen(
            self.wine.command(r"C:\raw.exe"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.environment | {"RAW_COMMAND": f'cmd.exe /c "{command}"'},
            start_new_session=True, bufsize=0,
        )  # fmt: skip
        self._go(self._feed, channel, process)
        outputs = [
            threading.Thread(target=self._pass_on, args=pair, daemon=True)
            for pair in (
                (process.stdout, channel.sendall),
                (process.stderr, channel.sendall_stderr),
            )
        ]
        for one in outputs:
            one.start()
        self._go(self._finish, channel, process, outputs)

    def _feed(self, channel: paramiko.Channel, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        with contextlib.suppress(OSError, EOFError):
            while data := channel.recv(65536):
                process.stdin.write(data)
        with contextlib.suppress(OSError):
            process.stdin.close()

    def _pass_on(self, output: Any, send: Callable[[bytes], None]) -> None:
        """Read to the end, also where nobody takes it any more."""
        while data := output.read(65536):
            with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
                send(data)

    def _finish(
        self,
        channel: paramiko.Channel,
        process: subprocess.Popen[bytes],
        outputs: list[threading.Thread],
    ) -> None:
        status = process.wait()
        for one in outputs:
            # What the session started, such as a service of Wine, may hold its output for ever.
            one.join(1.0)
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            channel.send_exit_status(status & 0xFF)
            channel.close()

    def cut(self) -> None:
        """End all connections without a word."""
        for transport in self._transports:
            with contextlib.suppress(OSError):
                transport.sock.shutdown(socket.SHUT_RDWR)
            transport.close()
        self._transports = []

    def restart(self) -> None:
        """What a restart of the machine is here: another start of Wine's server."""
        time.sleep(0.3)
        self._stop_listening()
        self.cut()
        self.end_wine()
        time.sleep(OFF_S)
        self.start()

    def _stop_listening(self) -> None:
        if self._listener is not None:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None

    def end_wine(self) -> None:
        """End Wine's server and with it everything of this prefix."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.02)
        if self._system is not None:
            assert self._system.stdin is not None
            self._system.stdin.close()
            self._system.wait()
            self._system = None

    def processes(self) -> list[int]:
        """Everything that lives of this prefix."""
        mark = f"WINEPREFIX={self.prefix}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
        return found

    def running(self, name: str) -> list[int]:
        """Processes of this prefix whose command line names a program."""
        found = []
        for pid in self.processes():
            with contextlib.suppress(OSError):
                if name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(pid)
        return found

    @property
    def temp(self) -> Path:
        """The user's temporary directory."""
        return self.drive / "users" / getpass.getuser() / "Temp"

    def there(self) -> list[Path]:
        """Directories of sessions that are there."""
        return list(self.temp.glob("pentathlon-*"))

    def stop_serving(self) -> None:
        self._stop_listening()
        self.cut()
        self.end_wine()

    def stop(self) -> None:
        self.stop_serving()
        shutil.rmtree(self.prefix, ignore_errors=True)
