"""The table "Emulated links": what each link was asked to be, what it was, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pentathlon.evaluate.display import significant
from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.model_links import Achieved, LinkUsed, Spread
from pentathlon.tables.grid import Grid, plain

TITLE: Final = "Emulated links"

HEADINGS: Final = (
    "Link", "Engine", "Direction", "Rate, kbit/s", "Delay, ms", "Loss, %", "Late, µs: 50 %",
    "99 %", "Lost unasked", "CPU, %: calibrations", "trials",
)  # fmt: skip
LEFT: Final = 3
"""So many columns are texts, the others numbers."""

UNLIMITED: Final = "no limit"

CAPTION: Final = (
    "Rate, delay (the probes' median) and loss: what the profile asks for, then the median of the "
    "boots' calibrations, in brackets the one furthest off. Late: how long after their time the "
    "emulator handed frames over in the trials, by half and by 99 % of them; lost unasked: frames "
    "it had no room or time for; CPU: share of one CPU that it took. Of these the median, in "
    "brackets the greatest. Empty: the engine does not count it."
)


@dataclass(frozen=True)
class Line:
    """One direction of a link; texts."""

    link: str
    engine: str
    direction: str
    rate: str
    delay: str
    loss: str
    late: str
    latest: str
    unable: str
    calibration_cpu: str
    trial_cpu: str

    def cells(self) -> list[str]:
        """In the order of the headings."""
        return [getattr(self, name) for name in self.__dataclass_fields__]


def table(evaluation: Evaluation, title: str = TITLE) -> Grid:
    """The lines as a table."""
    numeric = [number >= LEFT for number in range(len(HEADINGS))]
    return plain(title, HEADINGS, numeric, (line.cells() for line in lines(evaluation)))


def lines(evaluation: Evaluation) -> list[Line]:
    """Two lines for each link: to the server, to the client."""
    return [line for link in evaluation.links for line in _lines(link)]


def way(line: Line) -> str:
    """One direction in words, for a terminal: a table would be too wide."""
    rate = line.rate if line.rate == UNLIMITED else f"{line.rate} kbit/s"
    text = f"{line.direction}: rate {rate}, delay {line.delay} ms, loss {line.loss} %"
    if line.late:
        text += f", late {line.late} µs, 99 %: {line.latest} µs"
    return f"{text}, {line.unable} lost unasked" if line.unable else text


def cost(line: Line) -> str:
    """What the emulator took, in words; "" where its engine does not count it."""
    spent = ((line.calibration_cpu, "calibrations"), (line.trial_cpu, "trials"))
    parts = [f"{percent} % in {when}" for percent, when in spent if percent]
    return f"; CPU: {', '.join(parts)}" if parts else ""


def _lines(link: LinkUsed) -> Iterator[Line]:
    for number, way in enumerate(link.ways):
        first = number == 0
        yield Line(
            link=link.profile if first else "",
            engine=_engine(link) if first else "",
            direction="to the server" if way.direction == "up" else "to the client",
            rate=_achieved(way.rate_kbit, 5) if way.rate_kbit else UNLIMITED,
            delay=_achieved(way.delay_ms, 4),
            loss=_achieved(way.loss_percent, 3),
            late=_spread(way.late_p50_us),
            latest=_spread(way.late_p99_us),
            unable="" if way.unable is None else f"{way.unable:,}",
            calibration_cpu=_spread(link.calibration_cpu_percent) if first else "",
            trial_cpu=_spread(link.trial_cpu_percent) if first else "",
        )


def _engine(link: LinkUsed) -> str:
    times = f"{link.calibrations} time{'' if link.calibrations == 1 else 's'}"
    text = f"{link.engine}, measured {times}"
    return f"{text}, refused {link.refused}" if link.refused else text


def _achieved(found: Achieved | None, digits: int) -> str:
    return "" if found is None else f"{found.requested:,.10g}: {_two(found, digits)}"


def _spread(found: Spread | None) -> str:
    return "" if found is None else _two(found, 3)


def _two(found: Spread, digits: int) -> str:
    """The median and, where there are others, the worst."""
    median, worst = significant(found.median, digits), significant(found.worst, digits)
    return median if median == worst else f"{median} ({worst})"
