"""What emulated links were and did: `link` events as rows of the table `links`.

An event of a calibration has what was measured before the link's use, one of a trial what the
emulator counted during it (docs/link.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pentathlon.protocol.events import Calibration, Link, LinkUse, WayFigures
from pentathlon.protocol.lateness import quantile_ns
from pentathlon.study.link_profile import DIRECTIONS

UNABLE: Final = ("ring", "refused", "mtu")
"""Causes for which the emulator lost frames without being asked to: lack of time or room, and
frames that are too long."""


def rows(event: Link) -> Iterator[dict[str, Any]]:
    """A row for each direction of one event."""
    if event.calibration is not None:
        yield from _calibrated(event.calibration)
    if event.link is not None:
        yield from _in_use(event.link)


def _calibrated(found: Calibration) -> Iterator[dict[str, Any]]:
    late = found.lateness_us
    for direction in DIRECTIONS:
        # Of a link whose probes did not come there are no figures.
        figures = found.ways.get(direction, WayFigures())
        rate, delay, loss = figures.rate, figures.delay, figures.loss
        yield {
            "direction": direction, "stage": "calibration",
            "passed": bool(found.attempts) and not found.attempts[-1],
            "attempts": len(found.attempts),
            "rate_asked_kbit": rate.asked_kbit, "rate_kbit": rate.measured_kbit,
            "delay_asked_ms": delay.asked_ms, "delay_ms": delay.measured_ms,
            "loss_asked_percent": loss.asked_percent, "loss_percent": loss.measured_percent,
            "probes": loss.probes, "lost": loss.lost,
            "cpu_percent": found.cpu_percent,
            "late_p50_us": late.get("p50"), "late_p99_us": late.get("p99"),
        }  # fmt: skip


def _in_use(between: LinkUse) -> Iterator[dict[str, Any]]:
    cpu = between.cpu_ns
    for direction, way in (("up", between.up), ("down", between.down)):
        unable = [count for cause, count in way.drops.items() if cause in UNABLE]
        buckets = way.lateness_ns.buckets if way.lateness_ns else None
        yield {
            "direction": direction, "stage": "use",
            "cpu_percent": None if cpu is None else 100 * cpu / max(between.elapsed_ns, 1),
            "late_p50_us": quantile_ns(buckets, 0.5) / 1e3 if buckets else None,
            "late_p99_us": quantile_ns(buckets, 0.99) / 1e3 if buckets else None,
            "frames": way.frames_out, "bytes": way.bytes_out,
            "unable": sum(unable) if unable else None,
        }  # fmt: skip
