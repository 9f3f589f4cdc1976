"""One line of the agent as an event: JSON that is bounded in depth and holds only what can be
written again.

Of what type an event is says `events.read`; whether it answers the request, `procedure.admission`.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

from pentathlon.protocol.messages.base import JsonObject

DEEPEST: Final = 32
"""Levels of objects and lists in one event; an inventory has about six."""


class NoEvent(ValueError):
    """A JSON object that is no event; the text is the end of a sentence."""


def parse_event(text: str) -> JsonObject:
    """The event of one line.

    Raises:
        NoEvent: it is JSON and no event that can be recorded.
        ValueError: it is no JSON.
    """
    try:
        event = _DECODER.decode(text)
    except RecursionError as error:
        raise NoEvent(f"it is nested deeper than {DEEPEST} levels") from error
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise NoEvent('it is JSON without "event"')
    # A sample has two levels; only lines with many brackets can be deep, and only those with
    # escapes can hold half of a surrogate pair.
    if text.count("{") + text.count("[") > DEEPEST and _deep(event):
        raise NoEvent(f"it is nested deeper than {DEEPEST} levels")
    if "\\u" in text:
        try:
            json.dumps(event, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise NoEvent("it holds half of a surrogate pair, which is no character") from error
    return event


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise NoEvent(f"the number {text[:20]} is larger than any that can be recorded")
    return value


def _refuse(text: str) -> float:
    raise NoEvent(f"{text} is no number")


_DECODER: Final = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)
"""Made once: `json.loads` makes one for each call that has options."""


def _deep(event: JsonObject) -> bool:
    level: list[Any] = [event]
    for _ in range(DEEPEST):
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True
