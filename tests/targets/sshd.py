"""A real sshd(8) of the test's own: on loopback, on a free port, with keys made for it."""

from __future__ import annotations

import contextlib
import getpass
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

# Post-quantum key exchange, the default of both sides, computes for most of a short connection.
CONFIGURATION = """
KexAlgorithms curve25519-sha256
Port {port}
ListenAddress 127.0.0.1
HostKey {directory}/host_key
AuthorizedKeysFile {directory}/authorized_keys
PidFile {directory}/sshd.pid
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
LogLevel ERROR
MaxSessions 10
"""

CLIENT = """
Host bench
    HostName 127.0.0.1
    Port {port}
    User {user}
    IdentityFile {directory}/key
    IdentitiesOnly yes
    UserKnownHostsFile {directory}/known_hosts
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
"""


def free_port() -> int:
    """A port that no outgoing connection takes while the server is stopped: those get one of
    net.ipv4.ip_local_port_range, from 32768 on by default."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port


class Sshd:
    """A server and the client's configuration for it, in which it is called `bench`.

    Where this is root, the server and all that it starts can see a boot id of their own and end
    together, so that a restart of the server can stand for a restart of a machine.
    """

    def __init__(self, directory: Path) -> None:
        program = shutil.which("sshd", path=f"{os.environ.get('PATH')}:/usr/sbin")
        if program is None or shutil.which("ssh") is None:
            pytest.skip("openssh-server is not installed")
        self.program = program
        self.directory = directory
        self.port = free_port()
        self.config = directory / "client.conf"
        self.boot_id = directory / "boot_id"
        self._process: subprocess.Popen[bytes] | None = None
        self._namespace = False
        directory.mkdir()
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        for name in ("host_key", "key"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name)]
            subprocess.run(command, check=True)
        shutil.copy(directory / "key.pub", directory / "authorized_keys")
        host_key = (directory / "host_key.pub").read_text().split()[:2]
        known = f"[127.0.0.1]:{self.port} {' '.join(host_key)}\n"
        (directory / "known_hosts").write_text(known)
        fields = {"port": self.port, "directory": directory, "user": getpass.getuser()}
        self.plain = CONFIGURATION.format(**fields)
        self.set_variables()
        self.config.write_text(CLIENT.format(**fields))

    def set_variables(self, **variables: str) -> None:
        """Of the environment of every session from the next start on; sshd reads one line of them.

        With SHLVL a session's bash(1) leaves out ~/.bashrc: no test depends on the start-up files
        of whoever runs it, and none waits for them.
        """
        words = " ".join(f"{key}={value}" for key, value in {"SHLVL": "1", **variables}.items())
        (self.directory / "sshd.conf").write_text(f"{self.plain}SetEnv {words}\n")

    def start(self, boot_id: str | None = None) -> None:
        if boot_id is None:
            self.start_in()
            return
        self.boot_id.write_text(boot_id + "\n")
        script = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"'
        self.start_machine(script, self.boot_id)

    def start_machine(self, script: str = 'exec "$@"', path: Path = Path("sh")) -> None:
        """Start it so that all of its processes end with it, as those of a machine do.

        Args:
            script: runs as the first of them, with `path` as `$0`, and executes "$@".
        """
        unshare = ["unshare", "--mount", "--mount-proc", "--pid", "--fork", "--kill-child"]
        self.start_in(*unshare, "sh", "-c", script, str(path))

    def start_in(self, *before: str) -> None:
        """Start it by the words of a command in front of its own."""
        self._namespace = "--pid" in before
        own = [*before, self.program, "-D", "-e", "-f", str(self.directory / "sshd.conf")]
        self._process = subprocess.Popen(own, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 10
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1) as one:
                    answers = one.recv(4) == b"SSH-"
            except OSError:
                answers = False
            if answers:
                return
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                pytest.skip("sshd does not start here")
            time.sleep(0.02)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def stop(self) -> None:
        if self._process is not None:
            if self._namespace:
                self._end_namespace()
            self._process.kill()
            self._process.wait()
            assert self._process.stderr is not None
            self._process.stderr.close()
            self._process = None

    def _end_namespace(self) -> None:
        """Kill the first process and wait for unshare(1), which ends when no other is left
        (pid_namespaces(7)): a connection that outlived its server would act on the next boot."""
        assert self._process is not None
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        for first in children.read_text().split():
            os.kill(int(first), signal.SIGKILL)
            self._process.wait(10)
