"""The protocols of file services, one small file for each family."""

from __future__ import annotations

from typing import Final

from pentathlon.target.files.protocols.base import Family, Refused
from pentathlon.target.files.protocols.http import Http
from pentathlon.target.files.protocols.http3 import Http3
from pentathlon.target.files.protocols.nfs import Nfs
from pentathlon.target.files.protocols.sftp import Sftp
from pentathlon.target.files.protocols.smb import Smb

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
