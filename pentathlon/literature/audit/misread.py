"""Other readings of a printed number: the documents are scanned text."""

from __future__ import annotations

from collections.abc import Iterator

CONFUSED = {
    "0": "689",
    "1": "47",
    "2": "7",
    "3": "58",
    "4": "19",
    "5": "36",
    "6": "058",
    "7": "12",
    "8": "0369",
    "9": "048",
}
"""Digits that text recognition takes for one another, by shape."""


def readings(text: str) -> Iterator[str]:
    """The text with one digit replaced by one that looks like it."""
    for place, character in enumerate(text):
        leads = not any(one.isdigit() for one in text[:place])
        if leads and character == "0":
            continue  # the zero before a decimal point
        for other in CONFUSED.get(character, ""):
            if other == "0" and leads and text[place + 1 : place + 2].isdigit():
                continue  # nobody prints 08.1 for 68.1
            yield text[:place] + other + text[place + 1 :]
