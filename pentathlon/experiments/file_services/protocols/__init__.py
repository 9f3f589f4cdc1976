"""The protocols of file services, one small file for each family."""

from __future__ import annotations

from typing import Final

from pentathlon.experiments.file_services.protocols.base import Family, Refused
from pentathlon.experiments.file_services.protocols.http import Http
from pentathlon.experiments.file_services.protocols.http3 import Http3
from pentathlon.experiments.file_services.protocols.nfs import Nfs
from pentathlon.experiments.file_services.protocols.sftp import Sftp
from pentathlon.experiments.file_services.protocols.smb import Smb

FAMILIES: Final[tuple[Family, ...]] = (Smb(), Http(), Http3(), Sftp(), Nfs())


def family(protocol: str) -> Family:
    """The family that speaks a protocol.

    Raises:
        Refused: none does.
    """
    for one in FAMILIES:
        if protocol in one.protocols:
            return one
    raise Refused(f"this version has no server that speaks {protocol}")
