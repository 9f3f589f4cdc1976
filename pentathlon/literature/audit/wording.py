"""Words that contradict other words, lead nowhere, or announce what does not come."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from pentathlon.literature.audit.findings import UNLIKELY, Check, Finding, Place, in_text
from pentathlon.literature.claims import Statement
from pentathlon.literature.model import Study

CONTRADICTIONS = Check("contradictions", "text", "warning", UNLIKELY)
UNSHOWN_RESULTS = Check("unshown-results", "reference", "warning", UNLIKELY)
DANGLING_MENTIONS = Check("dangling-mentions", "reference", "warning")
IMPOSSIBLE_STREAMS = Check("impossible-streams", "source", "error", UNLIKELY)
_NAMED = re.compile(r"(Section|Figure|Fig\.|Table|Tab\.) ([0-9IVXLC]+(?:\.[0-9]+)*)")
_CITED = re.compile(r"\[([0-9]+)\]")
READS = ("r", "r+", "w+", "a+")
WRITES = ("w", "a", "r+", "w+", "a+")


def contradictions(study: Study) -> Iterator[Finding]:
    """Subjects of which the text states different things in different places."""
    subjects: dict[str, list[Statement]] = defaultdict(list)
    for one in study.statements:
        subjects[one.subject].append(one)
    for subject, parts in subjects.items():
        if len({one.says for one in parts}) < 2:
            continue
        first, *others = parts
        other = next(one for one in others if one.says != first.says)
        sections = ", ".join(dict.fromkeys(one.section for one in parts))
        yield CONTRADICTIONS.at(
            in_text(study.id, subject, sections),
            says="The text makes one statement about one subject.",
            printed=f"{first.says} (section {first.section})",
            allowed="; ".join(
                dict.fromkeys(
                    f"{one.says} (section {one.section})" for one in parts if one.says != first.says
                )
            ),
            note=first.note or other.note,
        )


def unshown_results(study: Study) -> Iterator[Finding]:
    """Results that the text announces and that nothing gives."""
    for one in study.announcements:
        if not one.shown:
            yield UNSHOWN_RESULTS.at(
                in_text(study.id, one.subject, one.section),
                says="What is announced as measured is shown.",
                printed=f"section {one.section} announces it",
                allowed="no section, table or figure gives it",
            )


def dangling_mentions(study: Study) -> Iterator[Finding]:
    """Sections, figures, tables and citations that the text names and the paper does not have."""
    for one in study.facts.mention:
        missing = _missing(study, one.printed)
        if missing is not None:
            yield DANGLING_MENTIONS.at(
                in_text(study.id, one.printed, one.section),
                says="What the text names exists.",
                printed=one.printed,
                allowed=missing,
                note=one.note,
            )


def _missing(study: Study, printed: str) -> str | None:
    """What the paper has instead of what is named; None if it has that."""
    cited = _CITED.fullmatch(printed)
    if cited is not None:
        return _uncited(study.facts.citations, int(cited[1]))
    named = _NAMED.fullmatch(printed)
    if named is None:
        return "it is neither a section, a figure, a table nor a citation"
    kind, number = named[1][:3], named[2]
    known = {
        "Sec": [section.number for section in study.facts.section],
        "Fig": [str(one) for one in range(1, study.facts.figures + 1)],
        "Tab": [table.printed_as.removeprefix("Table ") for table in study.tables],
    }[kind]
    return None if number in known else f"it has {', '.join(known) or 'none'}"


def _uncited(entries: int, number: int) -> str | None:
    """Why the references have no entry of that number; None if they have."""
    if entries == 0:
        return "the references have no numbers; they are cited by author and year"
    return None if 1 <= number <= entries else f"the references end with [{entries}]"


def impossible_streams(study: Study) -> Iterator[Finding]:
    """Listings that write to a stream opened for reading, or the reverse."""
    for listing in study.facts.listing:
        for stream in listing.stream:
            if stream.mode not in (READS if stream.does == "read" else WRITES):
                yield IMPOSSIBLE_STREAMS.at(
                    Place(study.id, listing.printed_as, listing.subject, listing.section),
                    says=f"A stream that the listing {stream.does}s is opened for it.",
                    printed=f'fopen(…, "{stream.mode}"), then {stream.does}',
                    allowed=(
                        f'ISO C, fopen: mode "{stream.mode}" does not allow to {stream.does}; '
                        "every call fails and returns 0"
                    ),
                )
