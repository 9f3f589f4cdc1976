"""Forwarding: the figures of salah2010, and the rates that searches found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from pentathlon.evaluate.derived import limits
from pentathlon.evaluate.model import Evaluation
from pentathlon.report.experiments.entry import Paragraph, Pictures, Shown
from pentathlon.report.html import overlays
from pentathlon.report.html.sweep import Words


def _paragraphs(
    words: Callable[[Evaluation], Words],
) -> Callable[[Evaluation], Iterator[Paragraph]]:
    def each(evaluation: Evaluation) -> Iterator[Paragraph]:
        for system, curve, sentences in words(evaluation):
            yield f"{system}, {curve}", sentences

    return each


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
        "Forwarding beside a competitor for the CPU": _paragraphs(overlays.words),
        "Highest rates that are forwarded (RFC 2544)": _paragraphs(overlays.limit_words),
    },
)
