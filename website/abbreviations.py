"""Explanations under the mouse, from the glossary."""

from __future__ import annotations

import re

ENTRY = re.compile(r"^### (.+)\n(.+(?:\n.+)*)", re.M)
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def entries(glossary: str) -> dict[str, str]:
    """The terms of the glossary and the first sentence of each, as plain text."""
    found: dict[str, str] = {}
    for term, text in ENTRY.findall(glossary):
        plain = LINK.sub(r"\1", " ".join(text.split())).replace("*", "").replace("`", "")
        found[term] = re.split(r"(?<=\.) (?=[A-Z])", plain)[0]
    return found


def abbreviations(glossary: str) -> str:
    """The lines that MkDocs appends to each page.

    Only terms of several words, and those that are no words of everyday English: else every line of
    a page would be marked.
    """
    out = ""
    for term, sentence in entries(glossary).items():
        if " " in term or term.upper() == term:
            plural = f"{term[:-1]}ies" if term.endswith("y") else f"{term}s"
            for form in (term, plural, term[0].upper() + term[1:]):
                out += f"*[{form}]: {sentence}\n"
    return out
