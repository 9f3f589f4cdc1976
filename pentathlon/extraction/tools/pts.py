"""Phoronix Test Suite: `composite.xml`, as its `pts_result_file_writer` writes it.

An element Result has Identifier (the test profile with its version), Title, AppVersion, Arguments,
Description, Scale (the unit), Proportion (HIB, LIB: higher or lower is better), DisplayFormat, and
in Data an Entry for each system with Identifier, Value and RawString (its runs, joined by `:`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from pentathlon.extraction.tools.rows import (
    CaseValue,
    Direction,
    Extracted,
    ExtractError,
    Extractor,
    Metric,
    Options,
    Row,
    metric_id,
)
from pentathlon.safeio.clipping import described

WANTED = "a composite.xml of the Phoronix Test Suite"
BETTER: dict[str, Direction] = {"HIB": "higher", "LIB": "lower"}
BARS = ("BAR_GRAPH", "")
"""Formats of one number; the others are courses, pictures and tests that only pass or fail."""
_PROFILE = re.compile(
    r"(?:(?P<vendor>[\w.-]+)/)?(?P<test>[\w.-]+?)(?:-(?P<version>\d+(?:\.\d+)*))?"
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?")


def read(text: str, options: Options) -> Extracted:
    """The results of one system of the file.

    Raises:
        ExtractError: it is no such file, or has several systems and none of them was named.
    """
    top = _parse(text)
    results = top.findall("Result")
    names = list(dict.fromkeys(
        _text(entry, "Identifier") for one in results for entry in one.findall("Data/Entry")
    ))  # fmt: skip
    chosen = options.part
    if not chosen and len(names) > 1:
        raise ExtractError(
            f"holds {len(names)} systems ({', '.join(map(described, names[:5]))}); name one with "
            f"--entry"
        )
    if chosen and chosen not in names:
        known = ", ".join(map(described, names[:5])) or "none"
        raise ExtractError(f"holds no system {described(chosen)}; it has {known}")
    rows: list[Row] = []
    left_out: list[str] = []
    for number, one in enumerate(results, start=1):
        rows += _result(one, number, chosen, left_out)
    version = _client(_text(top, "Generated/TestClient")) or _text(top, "System/TestClientVersion")
    return Extracted(version or None, tuple(rows), tuple(left_out), chosen)


MOST_ELEMENTS = 200_000
DEEPEST = 32


class _Bounded(ElementTree.TreeBuilder):
    """A tree of a bounded size and depth, which is built without recursion."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = self._count = 0

    def start(self, tag: Any, attrs: Any, /) -> Any:
        self._depth += 1
        self._count += 1
        if self._depth > DEEPEST or self._count > MOST_ELEMENTS:
            raise ExtractError(
                f"has more than {MOST_ELEMENTS} elements, or more than {DEEPEST} within each other"
            )
        return super().start(tag, attrs)

    def end(self, tag: Any, /) -> Any:
        self._depth -= 1
        return super().end(tag)


def _parse(text: str) -> ElementTree.Element:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        at = min(place for one in ("<!DOCTYPE", "<!ENTITY") if (place := text.find(one)) >= 0)
        line = text.count("\n", 0, at) + 1
        raise ExtractError("has a document type, which no composite.xml has; it is not read", line)
    parser = ElementTree.XMLParser(target=_Bounded())
    try:
        parser.feed(text)
        root = parser.close()
    except ElementTree.ParseError as error:
        line = error.position[0]
        raise ExtractError(f"is no XML ({error.msg}); expected {WANTED}", line) from error
    assert isinstance(root, ElementTree.Element)
    if root.tag != "PhoronixTestSuite":
        raise ExtractError(f"holds the element {described(root.tag)}; expected {WANTED}")
    return root


def _client(text: str) -> str:
    found = re.search(r"(?:Phoronix Test Suite|PTS)\s+v?(\S+)", text)
    return found[1] if found else ""


def _text(element: ElementTree.Element, path: str) -> str:
    return (element.findtext(path) or "").strip()


def _result(
    one: ElementTree.Element, number: int, chosen: str, left_out: list[str]
) -> Iterator[Row]:
    place = f"Result {number}"
    identifier, title = _text(one, "Identifier"), _text(one, "Title")
    name = title or identifier or place
    shown = _text(one, "DisplayFormat")
    if shown not in BARS:
        left_out.append(f"{described(name)} is shown as {described(shown)}, not as one number")
        return
    if not identifier:
        # What the suite's own monitors add beside a test has no profile.
        left_out.append(f"{described(name)} has no test profile")
        return
    profile = _PROFILE.fullmatch(identifier)
    if profile is None:
        raise ExtractError(
            f"has the test profile {described(identifier)} at {place}, which is none"
        )
    scale, proportion = _text(one, "Scale"), _text(one, "Proportion")
    if proportion not in BETTER:
        raise ExtractError(
            f"has the proportion {described(proportion)} at {place}; "
            "HIB or LIB says which is better"
        )
    if not scale:
        raise ExtractError(f"has no scale at {place}: the unit is not known")
    metric = Metric(metric_id(scale) or "result", f"{name}, {scale}", scale, BETTER[proportion])
    case: dict[str, CaseValue] = {}
    for factor, path in (("description", "Description"), ("arguments", "Arguments")):
        if (value := _text(one, path)) and "description" not in case:
            case[factor] = value
    versions = (profile["version"] or "", _text(one, "AppVersion"))
    if any(versions):
        case["version"] = " ".join(part for part in versions if part)
    for entry in one.findall("Data/Entry"):
        if chosen and _text(entry, "Identifier") != chosen:
            continue
        values = tuple(_values(entry, place))
        if not values:
            left_out.append(f"{described(name)} has no value")
            continue
        yield Row(f"pts.{profile['test'].replace('.', '_')}", name, metric, case, values, place)


def _values(entry: ElementTree.Element, place: str) -> Iterator[float]:
    """The runs where the file has them, else their mean."""
    value = _text(entry, "Value")
    runs = [one for one in _text(entry, "RawString").split(":") if one] or [value]
    if not value:
        return
    for one in runs:
        if not _NUMBER.fullmatch(one):
            raise ExtractError(f"has {described(one)} at {place}, expected a number")
        yield float(one)


EXTRACTOR = Extractor("pts", "composite.xml of the Phoronix Test Suite", read, frozenset({"part"}))
