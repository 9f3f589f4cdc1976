"""Names that a reader may have meant, for the end of a sentence about one that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONGEST = 60
"""Characters of a key that are shown."""


def listing(words: Iterable[str], last: str = "or") -> str:
    """`"a", "b" or "c"`."""
    quoted = [f'"{word}"' for word in words]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


SURE, LIKE, DISTANT = 0.8, 0.6, 0.45
"""Likeness, from 0 to 1, of a name that must be meant, of one that may be, and of the nearest ones
that are named because all would be too many."""
FEW, NEAREST = 12, 3
"""So many names can be named in a sentence; so many near ones are."""


def did_you_mean(word: str, known: Iterable[str], lists: str = "") -> str:
    """`; did you mean "x"?`: the end of a sentence about a name that does not exist.

    Where no known name can be meant it names them all, or the nearest of many.

    Args:
        lists: the command or the page that lists them, named where they are too many.
    """
    words = list(known)
    word = word[:LONGEST]  # To compare takes the product of the lengths.
    many = bool(lists) and len(words) > FEW
    like = sorted(((likeness(word, one), one) for one in words), key=lambda pair: -pair[0])
    best = like[0][0] if like else 0.0
    if best >= SURE:
        return f"; did you mean {listing([one for much, one in like if much == best][:NEAREST])}?"
    if best >= LIKE and not many:
        return f'; did you mean "{like[0][1]}"?'
    if not many:
        return f"; known: {', '.join(words)}" if words else ""
    near = [one for much, one in like if much >= DISTANT][:NEAREST]
    if not near:
        return f"; {lists} lists them all"
    return f"; the nearest: {listing(near, 'and')}; {lists} lists them all"


def likeness(word: str, name: str) -> float:
    """How alike they are, from 0 to 1; what stands behind a dot of a name may be meant alone.

    >>> likeness("copy", "files.copy")
    0.8
    """
    whole = difflib.SequenceMatcher(None, word, name).ratio()
    last = name.rpartition(".")[2]
    part = difflib.SequenceMatcher(None, word, last).ratio() if "." in name else 0.0
    return max(whole, SURE * part)
