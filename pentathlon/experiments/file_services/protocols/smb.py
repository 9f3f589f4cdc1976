"""SMB: Samba's smbd(8), and smbclient(1) or a program over the same library."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pentathlon.experiments.file_services import samba
from pentathlon.experiments.file_services.behaviours import GENERATIONS, newest
from pentathlon.experiments.file_services.content import PROFILE
from pentathlon.experiments.file_services.programs import Programs
from pentathlon.experiments.file_services.protocols.base import Call, Family, Refused, Service
from pentathlon.experiments.file_services.samba import Login
from pentathlon.experiments.file_services.spec import Setup, TaskSpec
from pentathlon.experiments.file_services.workdir import Place

MODULE: Final = "samba.samba3.libsmb_samba_internal"
OPENER: Final = Path(__file__).parent.parent / "open_smb.py"
LEAST_PATIENCE_S: Final = 20


@dataclass
class SmbService(Service):
    """A running smbd.

    Attributes:
        login: its only user.
        generation: of the protocol, the newest that it speaks.
    """

    login: Login
    generation: str


class Smb(Family):
    """The generations of SMB, and "smb" for the newest that both ends speak."""

    name = "smb"
    protocols = ("smb", *GENERATIONS)
    programs = (("smbd", "samba"), ("pdbedit", "samba"), ("smbclient", "smbclient"))
    words = (
        (r"NT_STATUS_LOGON_FAILURE|NT_STATUS_WRONG_PASSWORD",
         "the server refused the user's name or password"),
        (r"NT_STATUS_DISK_FULL", "the client's disk is full"),
        (r"NT_STATUS_(IO_TIMEOUT|CONNECTION_\w+|NETWORK_\w+|HOST_UNREACHABLE"
         r"|UNEXPECTED_NETWORK\w+)", "the connection broke"),
        (r"NT_STATUS_ACCESS_DENIED", "the server denied access"),
        (r"NT_STATUS_(OBJECT_NAME_NOT_FOUND|NO_SUCH_FILE)", "the server does not have the file"),
        (r"NT_STATUS_SHARING_VIOLATION", "the file is locked by another client"),
    )  # fmt: skip

    def start(self, setup: Setup) -> SmbService:
        spec = setup.spec
        spoken = generation(spec)
        login = Login(setup.server.programs.user, secrets.token_urlsafe(12))
        server = samba.start(setup, spoken, login)
        return SmbService("smbd", server, login, spoken)

    def call(self, setup: Setup, service: Service) -> Call:
        assert isinstance(service, SmbService)
        dialect = samba.DIALECTS[service.generation]
        place = setup.client
        file = _configuration(place, dialect)
        address, login = setup.testbed.addresses[1], service.login
        if setup.spec.task == "open":
            name = setup.held.names[0]
            return Call(
                [interpreter(place.programs), "-I", str(place.program(OPENER))],
                input="\n".join(
                    [str(file), address, samba.SHARE, name, str(setup.into / name),
                     login.user, login.password]
                ) + "\n",
            )  # fmt: skip
        text = f"username = {login.user}\npassword = {login.password}\n"
        secret = place.write("authentication", text, secret=True)
        smbclient = place.programs.need("smbclient", "smbclient")
        whole = setup.spec.task == "roaming"
        fetch = f'mget "{PROFILE}"' if whole else f'get "{setup.held.names[0]}"'
        return Call(
            [
                *[smbclient, f"--configfile={file}", "-E"],
                *[f"//{address}/{samba.SHARE}", "-p", str(service.server.port), "-A", str(secret)],
                *["-m", dialect, "-t", str(_patience_s(setup))],
                *["-c", f'prompt off; recurse on; lcd "{setup.into}"; {fetch}'],
            ]
        )


def _patience_s(setup: Setup) -> int:
    """How long the client waits for an answer: a request can wait for all that was asked before it.

    Samba's own 20 s end a copy whose window holds more than the link carries in that time.
    """
    rate = setup.testbed.rate_bit_s
    behind = 0.0 if rate is None else 2 * 8 * setup.held.total / rate
    return math.ceil(LEAST_PATIENCE_S + behind)


def interpreter(programs: Programs) -> str:
    """The interpreter that has Samba's own modules.

    Raises:
        TargetUnavailable: there is none.
    """
    return programs.python(MODULE, "sudo apt-get install python3-samba")


def generation(spec: TaskSpec) -> str:
    """The SMB generation of a trial.

    Raises:
        Refused: an end does not speak it.
    """
    most = newest(spec.client, spec.server)
    if spec.protocol == "smb":
        return most
    if GENERATIONS.index(spec.protocol) > GENERATIONS.index(most):
        raise Refused(
            f"client ({spec.client.name}) and server ({spec.server.name}) together speak SMB up "
            f"to {most[3:]} and not {spec.protocol[3:]}"
        )
    return spec.protocol


def _configuration(place: Place, dialect: str) -> Path:
    """The client's smb.conf(5): nothing of the machine's own is read or written."""
    names = ("private dir", "lock directory", "state directory", "cache directory")
    place.make(*(name.split()[0] for name in names))
    return place.write(
        "client.conf",
        "[global]\n"
        + "".join(f"\t{name} = {place.own}/{name.split()[0]}\n" for name in names)
        + f"\tclient min protocol = NT1\n\tclient max protocol = {dialect}\n"
        + f"\tsmb ports = {samba.PORT}\n\tdisable netbios = yes\n\tname resolve order = host\n"
        + "\tclient use kerberos = off\n\tsocket options = TCP_NODELAY\n",
    )
