"""Numbers and names of things in words: "1 boot", "2 processes", "a, b and c"."""

from __future__ import annotations

from collections.abc import Sequence


def count_text(number: int, noun: str) -> str:
    """A number of things with its noun, such as "1 boot", "5,000 boots" or "2 processes"."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def mean_of(boots: int) -> str:
    """Where a mean comes from; one boot has no mean."""
    return f"mean of {boots:,} boots" if boots != 1 else "1 boot"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names as a sentence has them: "a, b and c"."""
    return f" {last} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def plural(noun: str) -> str:
    """The plural of a noun: that of its last word."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def singular(words: str) -> str:
    """One of what a plural names: of "processes" a process, of "entries" an entry."""
    if words.endswith(("sses", "xes", "ches", "shes")):
        return words[:-2]
    if words.endswith("ies"):
        return f"{words[:-3]}y"
    return words[:-1] if words.endswith("s") and not words.endswith("ss") else words
