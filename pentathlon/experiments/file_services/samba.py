"""A private Samba server: its own configuration, directories, user and port."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pentathlon.experiments.file_services.server import Server
from pentathlon.experiments.file_services.spec import Setup
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.testbed.replies.programs import Performed

PORT: Final = 445
SHARE: Final = "office"
DIALECTS: Final = {"smb1": "NT1", "smb2.0": "SMB2_02", "smb2.1": "SMB2_10", "smb3.1.1": "SMB3_11"}
"""Generation -> Samba's name of it (smb.conf(5), `server max protocol`)."""

KEPT: Final = ("private", "lock", "state", "cache", "pid", "ncalrpc")
"""Directories of the server's state."""
IN_MEMORY: Final = Path("/run/samba-state")
LONGEST_SOCKET: Final = "lock/msg.sock/4194304"
"""Of those that each of its processes makes: it has the process's number, of 7 digits at most."""
SOCKET_PATH: Final = 108
"""Room for the path of a socket and the zero behind it, bytes (unix(7))."""

SMB1_LARGE_READ: Final = 64512
"""What libsmbclient reads at a time by SMB 1 where the server lets it: 63 KiB."""
SMB1_HEADER: Final = 60
"""Bytes of a READ_ANDX answer before its data ([MS-CIFS] 2.2.3.1, 2.2.4.42.2): header, 12 words and
their count, the count of the bytes, one byte of padding."""


@dataclass(frozen=True)
class Login:
    """A user of the server."""

    user: str
    password: str


def configuration(setup: Setup, generation: str) -> str:
    """smb.conf(5) of the server: nothing of it lies outside of its directories."""
    directory, spec = _state(setup), setup.spec
    dialect = DIALECTS[generation]
    lines = {
        "workgroup": "PENTATHLON",
        "server role": "standalone server",
        "smb ports": str(PORT),
        "disable netbios": "yes",
        "private dir": f"{directory}/private",
        "passdb backend": f"tdbsam:{directory}/private/passdb.tdb",
        "lock directory": f"{directory}/lock",
        "state directory": f"{directory}/state",
        "cache directory": f"{directory}/cache",
        "pid directory": f"{directory}/pid",
        "ncalrpc dir": f"{directory}/ncalrpc",
        "log file": f"{setup.server.own}/log.smbd",
        "usershare max shares": "0",
        "load printers": "no",
        "printcap name": "/dev/null",
        "disable spoolss": "yes",
        "server min protocol": "NT1",
        "server max protocol": dialect,
        "ntlm auth": "ntlmv2-only",
        "server signing": "disabled" if generation == "smb1" else "auto",
        "smb encrypt": "off",
        # The window of TCP is tuned by the kernel; a size given here would fix it.
        "socket options": "TCP_NODELAY",
    }
    if spec.outstanding is not None:
        lines["max mux"] = str(spec.outstanding)
        lines["smb2 max credits"] = str(spec.outstanding)
    if spec.server.read_bytes is not None:
        # SMB 2 has no shorter limit than 64 KiB ([MS-SMB2] 3.3.5.4).
        lines["smb2 max read"] = str(max(65536, spec.server.read_bytes))
        if spec.server.read_bytes < SMB1_LARGE_READ:
            # Without CAP_LARGE_READX a whole answer has to fit into the server's MaxBufferSize
            # ([MS-SMB] 2.2.4.2.1), of which the client takes whole KiB.
            lines["large readwrite"] = "no"
            lines["max xmit"] = str(max(2048, spec.server.read_bytes + SMB1_HEADER))
    text = "[global]\n" + "".join(f"\t{key} = {value}\n" for key, value in lines.items())
    return text + f"[{SHARE}]\n\tpath = {setup.shared}\n\tread only = no\n\tguest ok = no\n"


def start(setup: Setup, generation: str, login: Login) -> Server:
    """Start smbd on the server with one share and one user; ready when it listens.

    Raises:
        TargetUnavailable: a program is missing, or the paths of its sockets would be too long.
        TargetError: it does not start.
    """
    place = setup.server
    host, programs = place.host, place.programs
    state = _state(setup)
    check_length(state)
    kept = [str(state / name) for name in KEPT]
    host.perform(["rm", "-rf", *kept], 30.0 * host.slow)
    made = host.perform(["mkdir", "-p", "-m", "755", *kept], 30.0 * host.slow)
    if made["status"] != 0:
        raise TargetError(f"the file server's directories cannot be made: {_errors(made)}")
    file = place.write("smb.conf", configuration(setup, generation))
    added = host.perform(
        [programs.need("pdbedit", "samba"), f"--configfile={file}", "-a", "-t", "-u", login.user],
        30.0 * host.slow, input=f"{login.password}\n{login.password}\n",
    )  # fmt: skip
    if added["status"] != 0:
        raise TargetError(f"the user of the file server cannot be made: {_errors(added)}")
    smbd = programs.need("smbd", "samba")
    command = [smbd, "--foreground", "--no-process-group", f"--configfile={file}"]
    return Server.start(place, "smbd", command, PORT, log="log.smbd")


def check_length(state: Path) -> None:
    """That the sockets of a server with this directory have paths that are short enough.

    Raises:
        TargetUnavailable: they have not.
    """
    longest = os.fsencode(state / LONGEST_SOCKET)
    if len(longest) >= SOCKET_PATH:
        raise TargetUnavailable(
            f"the sockets of smbd would have paths of {len(longest)} bytes, and the system allows "
            f"{SOCKET_PATH - 1} (unix(7)); set TMPDIR to a shorter directory than "
            f"{tempfile.gettempdir()}"
        )


def _state(setup: Setup) -> Path:
    """Where the server keeps its state: its directory, or a guest's memory.

    Its databases are written as mapped memory, which the hostfs of Linux 5.10 loses.
    """
    return IN_MEMORY if setup.server.borrowed else setup.server.own


def _errors(performed: Performed) -> str:
    lines = (performed["error"] or performed["output"]).strip().splitlines()
    return lines[-1] if lines else "no reason given"
