"""What emulated links were and did: `link` events as rows of the table `links`.

An event of a calibration has what was measured before the link's use, one of a trial what the
emulator counted during it (docs/link.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pentathlon.protocol.lateness import quantile_ns
from pentathlon.study.link_profile import DIRECTIONS

EVENT: Final = "link"
UNABLE: Final = ("ring", "refused", "mtu")
"""Causes for which the emulator lost frames without being asked to: want of time or room, and
frames that are too long."""


def profile(event: Mapping[str, Any]) -> str:
    """The link's name."""
    told = event["profile"]
    return str(told["name"] if isinstance(told, Mapping) else told)


def rows(event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each direction of one event."""
    found = event.get("calibration")
    return _in_use(event) if found is None else _calibrated(found)


def _calibrated(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    late = found["lateness_us"]
    for direction in DIRECTIONS:
        # Of a link whose probes did not come there are no figures.
        figures = found["ways"].get(direction, {})
        rate, delay, loss = (figures.get(name, {}) for name in ("rate", "delay", "loss"))
        yield {
            "direction": direction, "stage": "calibration",
            "passed": bool(found["attempts"]) and not found["attempts"][-1],
            "attempts": len(found["attempts"]),
            "rate_asked_kbit": rate.get("asked_kbit"), "rate_kbit": rate.get("measured_kbit"),
            "delay_asked_ms": delay.get("asked_ms"), "delay_ms": delay.get("measured_ms"),
            "loss_asked_percent": loss.get("asked_percent"),
            "loss_percent": loss.get("measured_percent"),
            "probes": loss.get("probes"), "lost": loss.get("lost"),
            "cpu_percent": found["cpu_percent"],
            "late_p50_us": late.get("p50"), "late_p99_us": late.get("p99"),
        }  # fmt: skip


def _in_use(event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    between = event["link"]
    cpu = between["cpu_ns"]
    for direction in DIRECTIONS:
        way = between[direction]
        unable = [count for cause, count in way["drops"].items() if cause in UNABLE]
        buckets = way.get("lateness_ns", {}).get("buckets")
        yield {
            "direction": direction, "stage": "use",
            "cpu_percent": None if cpu is None else 100 * cpu / max(between["elapsed_ns"], 1),
            "late_p50_us": quantile_ns(buckets, 0.5) / 1e3 if buckets else None,
            "late_p99_us": quantile_ns(buckets, 0.99) / 1e3 if buckets else None,
            "frames": way["frames_out"], "bytes": way["bytes_out"],
            "unable": sum(unable) if unable else None,
        }  # fmt: skip
