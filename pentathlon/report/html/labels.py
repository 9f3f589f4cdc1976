"""Headings, column heads and names of facts that lead to their entry in the glossary."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup, escape

from pentathlon.report.html import terms

LABELS: Mapping[str, str] = {
    "area": "area",
    "arm": "arm",
    "arms": "arm",
    "blocks": "block",
    "block": "block",
    "boots": "boot",
    "cases": "case",
    "confidence": "confidence interval",
    "counter": "counter",
    "diagnostics": "diagnostics",
    "emulated links": "emulated link",
    "for all effects": "family of tests",
    "how to read the verdicts": "verdict",
    "interval": "confidence interval",
    "i²": "I²",
    "interval over machines": "fleet",
    "iterations": "iteration",
    "layer": "layer",
    "metric": "metric",
    "open": "open",
    "plan, sha-256": "plan hash",
    "post hoc": "post hoc",
    "plan": "plan hash",
    "process starts": "boot",
    "region of equivalence": "region of equivalence",
    "samples": "sample",
    "every sample": "sample",
    "seed": "seed",
    "sensitivity": "sensitivity",
    "slow boots": "mode",
    "speed %": "ratio of speeds",
    "speed-up": "ratio of speeds",
    "system": "system",
    "systems": "system",
    "timed batch": "batch",
    "together": "aggregate",
    "verdict": "verdict",
    "verdicts by area": "verdict",
    "τ": "heterogeneity",
    "warm-up": "warm-up",
    "weight": "weight",
    "workload": "workload",
}
"""Label in lower case -> term."""


class Labels:
    """Links the first mention of each term in a section of a page."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._linked: set[str] = set()

    def glossary(self) -> list[tuple[str, str, str]]:
        """The entries of all terms that were linked so far."""
        return terms.of(self._linked)

    def section(self) -> str:
        """Begin a section: its first mentions are links again."""
        self._seen.clear()
        return ""

    def __call__(self, text: str) -> Markup:
        """A label; a link if it names a term for the first time in this section."""
        shown = escape(text).replace(" %", "\N{NO-BREAK SPACE}%")
        term = LABELS.get(text.casefold())
        if term is None or term in self._seen:
            return shown
        self._seen.add(term)
        self._linked.add(term)
        return terms.link(shown, term)

    def text(self, text: str) -> Markup:
        """Running text, in which only technical terms are links."""
        shown = terms.marked(text, self._seen)
        self._linked |= self._seen & terms.TERMS.keys()
        return shown

    def verdict(self, value: str, words: str, meaning: str) -> Markup:
        """The words of a verdict; the first time a link to what it means."""
        if f"verdict {value}" in self._seen:
            return escape(words)
        self._seen.add(f"verdict {value}")
        return Markup('<a class="term" href="#verdict-{}" title="{}">{}</a>').format(
            value, meaning, words
        )
