"""The glossary of the report: what a term means, under the mouse and in a section of its own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Set
from importlib import resources

from markupsafe import Markup, escape

TERMS: Mapping[str, str] = tomllib.loads(
    resources.files("pentathlon.report.html").joinpath("assets", "terms.toml").read_text("utf-8")
)
"""Term -> what it means."""

ALIASES = {"MDE": "minimum detectable effect", "Holm": "Holm's procedure"}
"""Other words for terms."""

MARKED = frozenset(
    {
        "confidence interval",
        "declared metric",
        "exploratory",
        "inconclusive",
        "minimum detectable effect",
        "noise floor",
        "paired boots",
        "post hoc",
        "region of equivalence",
        "weighted geometric mean",
    }
)
"""Terms that are marked in running text; everyday English only where it heads a column."""

_WORDS = sorted((*MARKED, *ALIASES), key=len, reverse=True)
_FORM = re.compile(rf"\b({'|'.join(map(re.escape, _WORDS))})(s?)\b")


def anchor(term: str) -> str:
    """The id of a term's entry."""
    return f"term-{re.sub('[^a-z]+', '-', term.lower())}"


FACTORIAL = frozenset({"arm", "factor", "interaction"})
"""Terms of a factorial design."""


FLEET = frozenset({"fleet", "heterogeneity", "I²"})
"""Terms of a campaign."""


def entries(*, post_hoc: bool, factorial: bool) -> list[tuple[str, str, str]]:
    """(term, what it means, anchor) of every entry.

    A report without a choice after the measurement, or without a factorial design, does not have
    the words for one; the report of one machine has none for fleets.
    """
    unused = (frozenset() if post_hoc else {"post hoc"}) | (frozenset() if factorial else FACTORIAL)
    unused |= FLEET
    return of(TERMS.keys() - unused)


def of(used: Set[str]) -> list[tuple[str, str, str]]:
    """The entries of some terms."""
    return [(term, text, anchor(term)) for term, text in TERMS.items() if term in used]


def link(text: str, term: str) -> Markup:
    """A text that explains a term under the mouse and leads to its entry."""
    return Markup('<a class="term" href="#{}" title="{}">{}</a>').format(
        anchor(term), TERMS[term], text
    )


def marked(text: str, seen: set[str]) -> Markup:
    """A text with each term that is not in `seen` linked once; everything else is escaped.

    The terms are added to `seen`.
    """
    out, last = Markup(""), 0
    for found in _FORM.finditer(text):
        term = ALIASES.get(found[1], found[1])
        if term in seen:
            continue
        seen.add(term)
        out += escape(text[last : found.start()]) + link(found[0], term)
        last = found.end()
    return out + escape(text[last:])
