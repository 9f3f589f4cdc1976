"""Forwarding: the figures of salah2010, and the rates that searches found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pentathlon.evaluate.derived import limits
from pentathlon.report.experiments.entry import Paragraph, Pictures, Shown
from pentathlon.report.html import overlays
from pentathlon.report.html.sweep import Words


def _paragraphs(words: Words) -> Iterator[Paragraph]:
    for system, curve, sentences in words:
        yield f"{system}, {curve}", sentences


FORWARDING: Final = Shown(
    "forwarding",
    {
        overlays.PICTURED: Pictures(figures=(("overlay", overlays.CAPTION),), words=overlays.words),
        limits.WORKLOAD: Pictures(
            words=overlays.limit_words, words_title="What the searches found"
        ),
    },
    {"overlays": lambda evaluation, _result, short, _rounded: overlays.payload(evaluation, short)},
    {
        "Forwarding beside a competitor for the CPU": lambda one: _paragraphs(overlays.words(one)),
        "Highest rates that are forwarded (RFC 2544)": lambda one: _paragraphs(
            overlays.limit_words(one)
        ),
    },
)
