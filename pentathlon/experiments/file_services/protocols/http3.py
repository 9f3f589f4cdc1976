"""HTTP/3: server and client are small programs over aioquic."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar, Final

from pentathlon.experiments.file_services.programs import HERE
from pentathlon.experiments.file_services.protocols.base import Call, Family, Refused, Service
from pentathlon.experiments.file_services.protocols.http import PROPERTIES
from pentathlon.experiments.file_services.server import Server
from pentathlon.experiments.file_services.spec import Setup

PORT: Final = 8443
NAME: Final = "pentathlon"
"""The name in the server's certificate, as `fetch_http3.py` requests it."""
CONGESTION: Final = ("reno", "cubic")
"""What aioquic has."""

MODULE: Final = "aioquic"
INSTALL: Final = "{python} -m pip install aioquic"
PUBLIC: Final = "certificate.pem"
"""The server's certificate, at both ends."""

PROGRAMS: Final = Path(__file__).parent.parent
SERVER, CLIENT = PROGRAMS / "serve_http3.py", PROGRAMS / "fetch_http3.py"


class Http3(Family):
    """The tasks of `Http` over QUIC.

    TCP's settings do not reach QUIC, so the greatest receive buffer of the client's behaviour is
    its flow-control window (RFC 9000, section 4), and the server's congestion control is aioquic's
    own of the same name. A send buffer of the server is refused: QUIC has none in the kernel.
    """

    name: ClassVar[str] = "http3"
    protocols: ClassVar[tuple[str, ...]] = ("http3",)
    words: ClassVar[tuple[tuple[str, str], ...]] = (
        (r"returned error: 404", "the server does not have the file"),
        (r"[Ii]dle timeout", "the connection broke"),
    )

    def check(self) -> None:
        HERE.python(MODULE, INSTALL)

    def start(self, setup: Setup) -> Service:
        """Start the server with a certificate of its own; ready when its port is open.

        Raises:
            Refused: its behaviour requests what QUIC or aioquic does not have.
            TargetUnavailable: aioquic is not installed.
            TargetError: it does not start.
        """
        spec, place = setup.spec, setup.server
        python = place.programs.python(MODULE, INSTALL)
        if spec.server.buffer:
            raise Refused("QUIC has no send buffer in the server's kernel that could be set")
        congestion = spec.server.congestion
        if congestion not in {None, *CONGESTION}:
            raise Refused(f"aioquic has the congestion controls {', '.join(CONGESTION)} only")
        text, private = _certificate()
        certificate, key = place.write(PUBLIC, text), place.write("key.pem", private, secret=True)
        setup.client.write(PUBLIC, text)
        own = [setup.shared, PORT, certificate, key, congestion or ""]
        command = [python, "-I", str(place.program(SERVER)), *map(str, own)]
        server = Server.start(place, "http3", command, PORT, udp=True)
        return Service("aioquic", server)

    def call(self, setup: Setup, service: Service) -> Call:
        """The client's arguments; its requests go one after another over one connection."""
        name, spec = setup.held.names[0], setup.spec
        window = spec.client.receive_buffer[2] if spec.client.receive_buffer else 0
        certificate = setup.client.own / PUBLIC
        own = [setup.testbed.addresses[1], PORT, name, setup.into / name, certificate, window]
        before = ["OPTIONS /", "PROPFIND /"] if spec.task == "portal" else []
        python = setup.client.programs.python(MODULE, INSTALL)
        program = str(setup.client.program(CLIENT))
        return Call([python, "-I", program, *map(str, own), *before], input=PROPERTIES)


def _certificate() -> tuple[str, str]:
    """A certificate that signs itself, for a week, and its key (RFC 5280)."""
    # Part of what aioquic needs.
    from cryptography import x509  # noqa: PLC0415
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=7))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(
        encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(encoding).decode(), private.decode()
