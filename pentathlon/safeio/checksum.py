"""Checksums of JSON lines: the last member of the object, `"crc32":"xxxxxxxx"`.

The checksum is the CRC-32 (ISO 3309, as in zlib) of the bytes of the line before `,"crc32":`. It
finds every single damaged place; it is no signature, and whoever wants to can make a new one.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any, Final

_SEAL: Final = re.compile(rb',"crc32":"([0-9a-f]{8})"\}\n?\Z')
# Made once: `json.dumps` makes one for each call that has options.
_TEXT: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
_ASCII: Final = json.JSONEncoder(separators=(",", ":"))
_LENGTH: Final = len(b',"crc32":"00000000"}\n')


class SealError(ValueError):
    """A line is not what was written; the text is a clause."""


def sealed(document: dict[str, Any]) -> bytes:
    """A JSON object as one line with its checksum; not empty."""
    try:
        text = _TEXT.encode(document).encode()
    except UnicodeEncodeError:  # A path with bytes that are no UTF-8 (PEP 383).
        text = _ASCII.encode(document).encode()
    body = text[:-1]
    return b'%s,"crc32":"%08x"}\n' % (body, zlib.crc32(body))


def parsed(line: bytes) -> dict[str, Any] | None:
    """The object of a line, whatever its checksum states; None if the line is no JSON object."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def unsealed(line: bytes) -> tuple[dict[str, Any], bool]:
    """The object of a line, without its checksum, and whether it has one.

    Raises:
        SealError: it is no JSON object, or not the one that was written.
    """
    found = _SEAL.search(line, max(len(line) - _LENGTH, 0))
    if found is not None and zlib.crc32(line[: found.start()]) != int(found[1], 16):
        raise SealError("its checksum does not fit")
    document = parsed(line)
    if document is None:
        raise SealError("it is no JSON object")
    if found is not None:
        document.pop("crc32", None)
    return document, found is not None
