"""What a page of lines shows of the results themselves: a table of them with links to their files,
and what their environments differ in where a level changes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from urllib.parse import quote

from pentathlon.archive.log import Archive
from pentathlon.archive.reading import SHOWN, Held, take
from pentathlon.archive.stores import Folder
from pentathlon.evaluate.facts import Inventory, inventories
from pentathlon.evaluate.results.timeline import Timeline
from pentathlon.safeio.clipping import clip
from pentathlon.safeio.escaping import one_line
from pentathlon.store.problems import StoreError
from pentathlon.store.query import load_result

FIRST = ("kernel", "os", "cpu", "agent", "memory")
"""Sections of an inventory that stand before the others."""
MOST_ROWS = 60
LONGEST = 120
"""Characters of a value that are shown."""

Difference = tuple[str, str, str]
"""Path, value before, value from the change on."""


@dataclass
class Shown:
    """The results of a page.

    Attributes:
        held: first digits of an id -> the result.
        environments: place of a change in the line -> what differs there, or why it is not known.
    """

    held: Mapping[str, Held] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    environments: Mapping[int, Sequence[Difference] | str] = field(default_factory=dict)


def digits(label: str) -> str:
    """The digits of an id that a label ends with."""
    return label.rpartition("(")[2].rstrip(")")


def anchor(label: str) -> str:
    """Where the page names a result."""
    return f"r-{digits(label)}"


def shown(archive: Archive, line: Timeline, held: Iterable[Held], out: Path) -> Shown:
    """What a page shows of the results of a line.

    Args:
        out: directory of the page, from which links to files begin.
    """
    own = {one.result[:SHOWN]: one for one in held}
    found = {key: own[key] for point in line.points if (key := digits(point.label)) in own}
    links = {key: _link(archive, one, out) for key, one in found.items()}
    places = sorted({change.at for course in line.courses for change in course.changes})
    known: dict[str, Inventory | str] = {}
    environments: dict[int, Sequence[Difference] | str] = {}
    for at in places:
        sides = [digits(line.points[place].label) for place in (at - 1, at)]
        for key in sides:
            if key not in known:
                known[key] = _inventory(archive, found.get(key), line.system)
        before, after = (known[key] for key in sides)
        if isinstance(before, str) or isinstance(after, str):
            environments[at] = before if isinstance(before, str) else str(after)
        else:
            environments[at] = differences(before, after)
    return Shown(found, links, environments)


def _link(archive: Archive, one: Held, out: Path) -> str:
    """The file of the result as it was; relative where the archive is a directory."""
    name = str(one.row["original"])
    if isinstance(archive.place, Folder):
        file = archive.place.path.absolute() / name
        return quote(Path(os.path.relpath(file, out.absolute())).as_posix())
    return archive.place.url(name)


def _inventory(archive: Archive, one: Held | None, system: str) -> Inventory | str:
    """The inventory of a system in a result, or why it is not known."""
    if one is None:
        return "the result is not in the index"
    with tempfile.TemporaryDirectory(prefix="pentathlon-") as scratch:
        try:
            take(archive, one, Path(scratch) / "result")
            result = load_result(Path(scratch) / "result")
            return inventories(result.inventory(), result.samples()).get(system, Inventory())
        except (StoreError, OSError) as error:
            return one_line(str(error))


def differences(before: Inventory, after: Inventory) -> list[Difference]:
    """What differs between two inventories, without what varies between boots of one of them."""
    varying = before.varying | after.varying
    paths = {*before.values, *after.values} - varying
    found = [
        (path, _text(before, path), _text(after, path))
        for path in paths
        if before.values.get(path) != after.values.get(path)
    ]
    order = {name: place for place, name in enumerate(FIRST)}
    return sorted(found, key=lambda one: (order.get(one[0].partition(".")[0], len(order)), one[0]))


def _text(side: Inventory, path: str) -> str:
    return str(side.values[path]) if path in side.values else "not reported"


def environment(found: Sequence[Difference] | str | None) -> str:
    """The differences at a change, folded."""
    if found is None:
        return ""
    if isinstance(found, str):
        return f"<p>Differences of the environment are not known: {escape(found)}</p>"
    if not found:
        return "<p>No difference of the environment is reported.</p>"
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(clip(one_line(text), LONGEST))}</td>" for text in one)
        + "</tr>"
        for one in found[:MOST_ROWS]
    )  # fmt: skip
    more = f"<p>and {len(found) - MOST_ROWS} more</p>" if len(found) > MOST_ROWS else ""
    count = f"{len(found)} difference{'' if len(found) == 1 else 's'}"
    return (
        f"<details><summary>{count} of the environment</summary><div class=wide><table><tr>"
        f"<th>what</th><th>before</th><th>since</th></tr>{rows}</table></div>{more}</details>"
    )


def table(line: Timeline, found: Shown) -> str:
    """The results of a page, the newest first."""
    if not found.held:
        return ""
    rows = []
    for point in reversed(line.points):
        one = found.held.get(digits(point.label))
        if one is None:
            continue
        name = escape(one_line(one.name))
        cells = (
            escape(one.started[:19].replace("T", " ")),
            f'<a href="{escape(found.links[digits(point.label)])}">{name}</a>',
            escape(one_line(point.found.kernel)),
            escape(point.build[:12]),
            str(one.failures),
            f"<code>{one.result[:SHOWN]}</code>",
        )
        row = "".join(f"<td>{cell}</td>" for cell in cells)
        rows.append(f'<tr id="{anchor(point.label)}">{row}</tr>')
    names = ("started (UTC)", "result", "kernel", "agent", "failures", "id")
    head = "".join(f"<th>{name}</th>" for name in names)
    return (
        "<h2>Results</h2><p>A link leads to the result as it was, a tar in Zstandard; "
        "<code>pentathlon archive take ID OUT</code> makes its directory again.</p>"
        f"<div class=wide><table><tr>{head}</tr>{''.join(rows)}</table></div>"
    )
