"""The cells as Markdown tables, put between the marks of docs/calibration.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from .cells import BOOT_SECONDS, DESIGNS, EFFECTS, Cell
from .noise import NOISES
from .peers import PEERS

ALARM_LIMITS = {0.05: 0.06, 0.01: 0.015}
COVERAGE_LIMIT = 0.94


def write_tables(found: Sequence[Cell], page: Path) -> None:
    """Put every table into the page, between `<!-- NAME -->` and `<!-- end -->`."""
    put(page, {name: make(found) for name, make in TABLES.items()})


def put(page: Path, tables: Mapping[str, str]) -> None:
    """Put tables between their marks."""
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        start = text.index(f"<!-- {name} -->") + len(f"<!-- {name} -->")
        end = text.index("<!-- end -->", start)
        text = f"{text[:start]}\n{table}\n{text[end:]}"
    page.write_text(text, encoding="utf-8")


def alarms(found: Sequence[Cell]) -> str:
    """False alarms of our designs."""
    designs = [design.name for design in DESIGNS]
    lines = []
    for rate, limit in ALARM_LIMITS.items():
        for noise in _two_sided():
            cells = [_pick(found, "false alarms", name, noise, rate, 0.0) for name in designs]
            lines.append(
                [f"{rate * 100:.0f} %", noise, *(_share(one, one.share > limit) for one in cells)]
            )
    return _table(["level", "noise", *designs], lines)


def coverage(found: Sequence[Cell]) -> str:
    """Coverage of our designs, at a true difference of 0 and, with looks, of 2 %."""
    designs = [(design.name, effect) for design in DESIGNS for effect in (0.0, 0.02)]
    # A shift moves the intervals of all designs but that with looks.
    designs = [one for one in designs if one[1] == 0.0 or one[0] == "four looks"]
    lines = []
    for noise in NOISES:
        cells = [_pick(found, "coverage", name, noise, 0.05, effect) for name, effect in designs]
        lines.append([noise, *(_share(one, one.share < COVERAGE_LIMIT) for one in cells)])
    return _table(["noise", *(f"{n}{', 2 %' if e else ''}" for n, e in designs)], lines)


def peers(found: Sequence[Cell]) -> str:
    """False alarms of the peers' rules, and of ours beside them."""
    lines = []
    for name in ("four looks", *PEERS):
        cells = [_pick(found, "false alarms", name, noise, 0.05, 0.0) for noise in _two_sided()]
        lines.append([name, *(f"{one.share * 100:.0f}" for one in cells)])
    return _table(["rule", *_two_sided()], lines)


def power(found: Sequence[Cell]) -> str:
    """Power and machine time on normal noise."""
    lines = []
    for name in [design.name for design in DESIGNS]:
        row = [name]
        for effect in EFFECTS:
            one = _pick(found, "power", name, "normal", 0.05, effect)
            hours = one.blocks * 2 * BOOT_SECONDS / 3600
            row += [f"{one.share * 100:.1f}", f"{one.blocks:.1f}", f"{one.share / hours:.2f}"]
        lines.append(row)
    head = [
        text
        for effect in EFFECTS
        for text in (f"{effect * 100:.0f} %: power", "mean blocks", "power (1) per machine-hour")
    ]
    return _table(["design", *head], lines)


def power_by_noise(found: Sequence[Cell]) -> str:
    """Power of the four looks on every noise."""
    lines = []
    for noise in _two_sided():
        row = [noise]
        for effect in EFFECTS:
            one = _pick(found, "power", "four looks", noise, 0.05, effect)
            row.append(f"{one.share * 100:.1f} ({one.blocks:.1f} blocks)")
        lines.append(row)
    return _table(["noise", *(f"{effect * 100:.0f} %" for effect in EFFECTS)], lines)


TABLES: dict[str, Callable[[Sequence[Cell]], str]] = {
    "alarms": alarms,
    "coverage": coverage,
    "peers": peers,
    "power": power,
    "power by noise": power_by_noise,
}


def _two_sided() -> list[str]:
    return [name for name, noise in NOISES.items() if not noise.one_sided]


def _pick(found: Iterable[Cell], *wanted: str | float) -> Cell:
    """The cell of (what, design, noise, rate, effect)."""
    return next(
        one for one in found if (one.what, one.design, one.noise, one.rate, one.effect) == wanted
    )


def _share(one: Cell, misses: bool) -> str:
    text = f"{one.share * 100:.1f} ({one.low * 100:.1f}–{one.high * 100:.1f})"
    return f"**{text}**" if misses else text


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [f"| {' | '.join(row)} |" for row in (head, *lines)]
    return "\n".join([rows[0], "|" + "---|" * len(head), *rows[1:]])
