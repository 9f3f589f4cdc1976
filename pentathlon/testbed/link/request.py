"""A profile as the agent's emulator takes it (docs/protocol.md)."""

from __future__ import annotations

from typing import Any

from pentathlon.study.link_profile import DIRECTIONS, Loss, Profile, Way, jitter_model


def ways(profile: Profile) -> list[dict[str, Any]]:
    """Both directions, client to server first."""
    return [_way(profile.way(direction), profile.mtu_bytes) for direction in DIRECTIONS]


def _way(way: Way, mtu_bytes: int) -> dict[str, Any]:
    queue: dict[str, Any] = {"bytes": way.queue_bytes, "frames": way.queue_packets}
    if way.codel_target_ms is not None and way.codel_interval_ms is not None:
        queue["codel"] = {
            "target_ns": round(way.codel_target_ms * 1e6),
            "interval_ns": round(way.codel_interval_ms * 1e6),
        }
    return {
        "rate_bps": None if way.rate_kbit is None else way.rate_kbit * 1e3,
        "burst_bytes": way.burst_bytes,
        "overhead_bytes": way.overhead_bytes,
        "delay_ns": round(way.delay_ms * 1e6),
        "jitter": None if way.jitter_ms is None else jitter_model(way.jitter_ms),
        "keep_order": way.keep_order,
        "loss": _loss(way.loss),
        "reorder": way.reorder,
        "duplicate": way.duplicate,
        "queue": queue,
        "mtu_bytes": mtu_bytes,
    }


def _loss(loss: Loss) -> dict[str, Any]:
    if loss.chain is not None:
        p, r, bad, good = loss.chain
        return {"model": "gilbert", "p": p, "r": r, "loss_bad": bad, "loss_good": good}
    if loss.share:
        return {"model": "random", "share": loss.share}
    return {"model": "none"}
