"""NFS 4.0: nfs-ganesha as the server, and a program over libnfs as the client."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final

from pentathlon.experiments.file_services.content import PROFILE
from pentathlon.experiments.file_services.fetch_nfs import NAMES
from pentathlon.experiments.file_services.programs import HERE, Programs
from pentathlon.experiments.file_services.protocols.base import Call, Family, Service
from pentathlon.experiments.file_services.server import Server
from pentathlon.experiments.file_services.spec import Setup
from pentathlon.machine.errors import TargetUnavailable

PORT: Final = 2049
EXPORT: Final = "/office"
PLUGINS: Final = "libfsalvfs.so"
PLACES: Final = ("/usr/lib/*/ganesha", "/usr/lib/ganesha", "/usr/lib64/ganesha")

LIBRARY: Final = "libnfs13"
"""Debian's package of the client's library."""

IN_MEMORY: Final = Path("/run/office")
TO_MEMORY: Final = 'rm -rf "$0" && cp -R "$1" "$0" && shift && exec "$@"'
"""A guest sees this machine's files without handles, by which the server opens them, so there it
hands out a copy in the guest's memory."""

CLIENT: Final = Path(__file__).parent.with_name("fetch_nfs.py")
TRACE: Final = CLIENT.with_name("open_smb.py")
READ_BYTES: Final = 1 << 20
"""Bytes of a READ where no behaviour limits them: what Linux's own client and server agree on."""
OUTSTANDING: Final = 1
"""READs in flight where nothing else is requested: libnfs's own way."""


class Nfs(Family):
    """A document or a tree from an export, in programs of user space on both ends.

    The client looks up, opens, reads and closes by libnfs; `outstanding` is its READs in flight,
    the server's `read_bytes` their length.
    """

    name: ClassVar[str] = "nfs"
    protocols: ClassVar[tuple[str, ...]] = ("nfs",)
    programs: ClassVar[tuple[tuple[str, str], ...]] = (
        ("ganesha.nfsd", "nfs-ganesha nfs-ganesha-vfs"),
    )
    words: ClassVar[tuple[tuple[str, str], ...]] = (
        (r"NFS4ERR_(ACCESS|PERM)|NFS3ERR_ACCES", "the server denied access"),
        (r"NFS4ERR_NOENT", "the server does not have the file"),
        (r"No space left on device", "the client's disk is full"),
        (r"libnfs: .*(socket|connect|disconnected|timed out)|Connection refused|Command timed out",
         "the connection broke"),
    )  # fmt: skip

    def check(self) -> None:
        super().check()
        _plugins(HERE)
        HERE.library(NAMES, LIBRARY)

    def start(self, setup: Setup) -> Service:
        """Start nfs-ganesha with one export; ready when it listens.

        Raises:
            TargetUnavailable: it, its module for files or the client's library is not installed.
            TargetError: it does not start.
        """
        place = setup.server
        ganesha, plugins = place.programs.need(*self.programs[0]), _plugins(place.programs)
        setup.client.programs.library(NAMES, LIBRARY)
        place.make("recovery")
        shared, log = IN_MEMORY if place.borrowed else setup.shared, "ganesha.log"
        file = place.write("ganesha.conf", configuration(place.own, shared, plugins))
        command = [ganesha, "-F", "-f", str(file), "-L", str(place.own / log), "-N", "WARN"]
        command += ["-p", str(place.own / "ganesha.pid")]
        if place.borrowed:
            shell = ["/bin/sh", "-c", TO_MEMORY, str(IN_MEMORY), str(setup.shared)]
            command = [*shell, *command]
        server = Server.start(place, "nfs-ganesha", command, PORT, log=log)
        return Service("nfs-ganesha", server)

    def call(self, setup: Setup, service: Service) -> Call:
        """The arguments of the client's program (`fetch_nfs.py`)."""
        spec = setup.spec
        name = PROFILE if spec.task == "roaming" else setup.held.names[0]
        words = [
            spec.task, f"nfs://{setup.testbed.addresses[1]}{EXPORT}?version=4&nfsport={PORT}",
            name, str(setup.into), str(spec.server.read_bytes or READ_BYTES),
            str(spec.outstanding or OUTSTANDING),
        ]  # fmt: skip
        python = setup.client.programs.python("ctypes", "sudo apt-get install python3")
        program = str(setup.client.program(CLIENT, TRACE))
        return Call([python, "-I", program], input="\n".join(words) + "\n")


def configuration(directory: Path, shared: Path, plugins: Path) -> str:
    """ganesha.conf: version 4.0 alone, no port mapper, nothing outside of `directory`.

    The user's numbers are taken as they are, because both ends are this machine's.
    """
    return (
        "NFS_CORE_PARAM {\n"
        f"    Protocols = 4; NFS_Port = {PORT}; Enable_UDP = false;\n"
        "    Enable_NLM = false; Enable_RQUOTA = false;\n"
        f'    Plugins_Dir = "{plugins}";\n}}\n'
        "NFS_KRB5 { Active_krb5 = false; }\n"
        "NFSv4 {\n"
        "    Graceless = true; Minor_Versions = 0; Only_Numeric_Owners = true;\n"
        f'    RecoveryBackend = fs; RecoveryRoot = "{directory}/recovery";\n}}\n'
        "EXPORT {\n"
        f'    Export_Id = 1; Path = "{shared}"; Pseudo = "{EXPORT}"; Protocols = 4;\n'
        "    Access_Type = RW; Squash = No_Root_Squash; SecType = sys; Transports = TCP;\n"
        "    FSAL { Name = VFS; }\n}\n"
    )


def _plugins(programs: Programs) -> Path:
    if found := programs.find([f"{pattern}/{PLUGINS}" for pattern in PLACES]):
        return found.parent
    raise TargetUnavailable(
        f"nfs-ganesha's module {PLUGINS} is not installed", "sudo apt-get install nfs-ganesha-vfs"
    )
