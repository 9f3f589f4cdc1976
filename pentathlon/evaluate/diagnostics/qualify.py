"""What lies beneath a row says something about it: cautions that are found after the verdicts.

They qualify a verdict and never change it: the verdict's rule was fixed before.
"""

from __future__ import annotations

from collections.abc import Sequence

from pentathlon.evaluate.diagnostics.exclude import cautions
from pentathlon.evaluate.diagnostics.read_source import read_source_cautions
from pentathlon.evaluate.diagnostics.share import starved_caution
from pentathlon.evaluate.diagnostics.steady import steady_caution
from pentathlon.evaluate.model import Row, Starved
from pentathlon.evaluate.model_series import Excluded, Mode, ReadSource, Steady
from pentathlon.study.counting import count_text


def qualify(
    rows: Sequence[Row],
    reference: str,
    *,
    steady: Sequence[Steady],
    modes: Sequence[Mode],
    excluded: Sequence[Excluded],
    read_sources: Sequence[ReadSource],
    starved: Sequence[Starved] = (),
) -> tuple[Row, ...]:
    """The rows with the cautions that warm-up, modes, exclusions and reads bring, and CPU time
    that was missing.
    """
    courses = {(one.key, one.system): one for one in steady}
    slow = {(one.key, one.system): one for one in modes}
    shares = {(one.key, one.system): one for one in starved}
    reads = {(one.key, one.system): one for one in read_sources}
    found = []
    for row in rows:
        comparisons = []
        for one in row.comparisons:
            sentences = list(cautions(excluded, one.system))
            sentences += read_source_cautions(
                reads.get((row.key, reference)), reads.get((row.key, one.system))
            )
            for name in (reference, one.system):
                course, mode = courses.get((row.key, name)), slow.get((row.key, name))
                if course is not None and (text := steady_caution(course)) is not None:
                    sentences.append(text)
                if mode is not None:
                    sentences.append(mode_words(mode))
                if (share := shares.get((row.key, name))) is not None:
                    sentences.append(starved_caution(share))
            comparisons.append(
                one.model_copy(update={"cautions": (*one.cautions, *sentences)})
                if sentences
                else one
            )
        found.append(row.model_copy(update={"comparisons": tuple(comparisons)}))
    return tuple(found)


def mode_words(mode: Mode) -> str:
    """A mode in words, such as "3 of 20 boots of a are slow, by 8.1 %"."""
    times = mode.percent >= 100
    size = f"{mode.percent / 100 + 1:.2g}×" if times else f"{mode.percent:.1f}\N{NO-BREAK SPACE}%"
    also = f", in the same blocks as on {', '.join(mode.also)}" if mode.also else ""
    boots = count_text(mode.boots, "boot")
    return f"{mode.slow} of {boots} of {mode.system} are slow, by {size}{also}"
