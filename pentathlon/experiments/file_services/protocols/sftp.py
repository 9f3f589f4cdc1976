"""SFTP: sshd(8) of OpenSSH with keys made for the trial, and sftp(1) as the client."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Final

from pentathlon.experiments.file_services.content import PROFILE
from pentathlon.experiments.file_services.protocols.base import Call, Family, Service
from pentathlon.experiments.file_services.server import Server
from pentathlon.experiments.file_services.spec import Setup
from pentathlon.experiments.file_services.workdir import Place
from pentathlon.machine.errors import TargetError

PORT: Final = 2222
SERVER_PACKAGE, CLIENT_PACKAGE = "openssh-server", "openssh-client"

APART: Final = ("--mount", "--pid", "--fork", "--kill-child")
"""sshd begins a new session for each connection (setsid(2)). In a space of process numbers of its
own, all of them end with it (pid_namespaces(7))."""

START: Final = 'mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/sshd && exec "$0" "$@"'
"""sshd that runs as root wants an empty directory in /run, so it gets a /run of its own."""


class Sftp(Family):
    """A document, or a tree, by the SSH file transfer protocol, version 3.

    The packets hide what is asked. `outstanding` is the client's requests in flight (sftp -R), 64
    if left alone; `read_bytes` their length (-B), or as much as both ends allow.
    """

    name: ClassVar[str] = "sftp"
    protocols: ClassVar[tuple[str, ...]] = ("sftp",)
    programs: ClassVar[tuple[tuple[str, str], ...]] = (
        ("sshd", SERVER_PACKAGE), ("sftp", CLIENT_PACKAGE), ("ssh-keygen", CLIENT_PACKAGE),
        ("unshare", "util-linux"),
    )  # fmt: skip
    words: ClassVar[tuple[tuple[str, str], ...]] = (
        (r"Permission denied \(|Too many authentication failures",
         "the server refused the user's key"),
        (r"Host key verification failed", "the server showed another key than expected"),
        (r"File \".*\" not found", "the server does not have the file"),
        (r"write .*: No space left|[Cc]ouldn't write", "the client's disk is full"),
    )  # fmt: skip

    def start(self, setup: Setup) -> Service:
        """Start sshd with one user, who may log on with one key and do nothing but SFTP.

        Raises:
            TargetUnavailable: it is not installed.
            TargetError: a key cannot be made, or it does not start.
        """
        server, client = setup.server, setup.client
        sshd = server.programs.need("sshd", SERVER_PACKAGE)
        server.write("authorized_keys", _key(client, "key"))
        kind, key = _key(server, "host_key").split()[:2]
        address = setup.testbed.addresses[1]
        client.write("known_hosts", f"[{address}]:{PORT} {kind} {key}\n")
        file, log = server.write("sshd.conf", configuration(server.own, setup.shared)), "log"
        own = [sshd, "-D", "-f", str(file), "-E", str(server.own / log)]
        unshare = server.programs.need("unshare", "util-linux")
        command = [unshare, *APART, "--", "/bin/sh", "-c", START, *own]
        return Service("sshd", Server.start(server, "sshd", command, PORT, log=log))

    def call(self, setup: Setup, service: Service) -> Call:
        """The input of sftp: a batch of one command."""
        client = setup.client
        command = [client.programs.need("sftp", CLIENT_PACKAGE), "-b", "-", "-P", str(PORT)]
        command += ["-F", "none", "-i", str(client.own / "key")]
        if setup.spec.outstanding is not None:
            command += ["-R", str(setup.spec.outstanding)]
        if setup.spec.server.read_bytes is not None:
            command += ["-B", str(setup.spec.server.read_bytes)]
        for option, value in (
            ("IdentitiesOnly", "yes"), ("BatchMode", "yes"), ("StrictHostKeyChecking", "yes"),
            ("UserKnownHostsFile", str(client.own / "known_hosts")),
            ("GlobalKnownHostsFile", "/dev/null"),
        ):  # fmt: skip
            command += ["-o", f"{option}={value}"]
        tree = setup.spec.task == "roaming"
        name = PROFILE if tree else setup.held.names[0]
        batch = f'lcd "{setup.into}"\nget {"-r " if tree else ""}"{name}"\n'
        server = f"{setup.server.programs.user}@{setup.testbed.addresses[1]}"
        return Call([*command, server], input=batch)


def configuration(directory: Path, shared: Path) -> str:
    """sshd_config(5): nothing of it lies outside of `directory`."""
    lines: dict[str, Any] = {
        "Port": PORT,
        "HostKey": directory / "host_key",
        "AuthorizedKeysFile": directory / "authorized_keys",
        "PidFile": "none",
        "AuthenticationMethods": "publickey",
        "PermitRootLogin": "prohibit-password",
        "UsePAM": "no",
        "UseDNS": "no",
        # The files lie in a directory of this session, not in the user's home.
        "StrictModes": "no",
        "LogLevel": "ERROR",
        "Subsystem": "sftp internal-sftp",
        "ForceCommand": f"internal-sftp -d {shared}",
    }
    return "".join(f"{key} {value}\n" for key, value in lines.items())


def _key(place: Place, name: str) -> str:
    """Make a pair of keys of an end; the public one."""
    keygen, file = place.programs.need("ssh-keygen", CLIENT_PACKAGE), str(place.own / name)
    done = place.host.perform([keygen, "-q", "-t", "ed25519", "-N", "", "-f", file], 30.0)
    if done["status"] != 0:
        raise TargetError(f"ssh-keygen makes no key: {(done['error'] or done['output']).strip()}")
    return place.read(f"{name}.pub")
