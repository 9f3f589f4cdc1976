"""The version of the protocol between experimenter and agent (docs/protocol.md)."""

from typing import Final

PROTOCOL: Final = 2
