"""What a client's last words mean."""

from __future__ import annotations

import re
from typing import Final

from pentathlon.experiments.file_services.protocols.base import Family
from pentathlon.testbed.replies.programs import Performed

COMMON: Final = (
    (r"Permission denied \(|[Pp]assword.*incorrect",
     "the server refused the user's name or password"),
    (r"No space left on device|Failure writing output|Write failed", "the client's disk is full"),
    (r"Connection (closed|reset|timed out)|Broken pipe|[Tt]imed out|[Cc]onnection lost"
     r"|transfer closed|No route to host|Could not connect|Failed to connect",
     "the connection broke"),
    (r"No such file", "the server does not have the file"),
)  # fmt: skip
"""Words of the system, which every client prints, and what they mean."""


def reason(done: Performed, family: Family) -> str | None:
    """The meaning of a client's message, with the word itself; None if it is unknown."""
    text = str(done["error"]) + str(done["output"])
    for pattern, meaning in (*family.words, *COMMON):
        if found := re.search(pattern, text):
            return f"{meaning} ({found.group(0).rstrip(' (')})"
    return None


def last_words(done: Performed) -> str:
    """The last line that a program printed."""
    lines = (str(done["output"]) + str(done["error"])).strip().splitlines()
    return lines[-1].strip() if lines else "it printed nothing"
