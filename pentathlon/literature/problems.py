"""The error of this package: one sentence that states what is wrong, where, and what is right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class PublishedError(Exception):
    """Data, or a question about it, that cannot be used; the text is one clear sentence."""


FEW = 12
"""So many names can be named in a sentence."""


def unknown(what: str, word: str, known: Iterable[str]) -> PublishedError:
    """The error for a name that does not exist, with the nearest one that does."""
    words = list(known)
    close = difflib.get_close_matches(word, words, n=1, cutoff=0.5)
    if close:
        return PublishedError(f'there is no {what} "{word}"; did you mean "{close[0]}"?')
    if len(words) > FEW:
        some = ", ".join(difflib.get_close_matches(word, words, n=3, cutoff=0.0))
        return PublishedError(
            f'there is no {what} "{word}"; there are {len(words)}, such as {some}'
        )
    return PublishedError(f'there is no {what} "{word}"; known: {", ".join(words)}')
