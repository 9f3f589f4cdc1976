"""Messages as the JSON objects that a journal keeps of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pentathlon.protocol.events import Message


def documents(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """All of them, in their order."""
    return [message.document for message in messages]
