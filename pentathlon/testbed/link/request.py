"""A profile as the agent's emulator takes it (docs/protocol.md)."""

from __future__ import annotations

from pentathlon.protocol.requests import emulation
from pentathlon.protocol.requests.emulation import CodelTarget, GilbertLoss, NoLoss, RandomLoss
from pentathlon.study.link_profile import DIRECTIONS, Loss, Profile, Way, jitter_model


def ways(profile: Profile) -> list[emulation.Way]:
    """Both directions, client to server first."""
    return [_way(profile.way(direction), profile.mtu_bytes) for direction in DIRECTIONS]


def _way(way: Way, mtu_bytes: int) -> emulation.Way:
    codel = None
    if way.codel_target_ms is not None and way.codel_interval_ms is not None:
        codel = CodelTarget(
            target_ns=round(way.codel_target_ms * 1e6),
            interval_ns=round(way.codel_interval_ms * 1e6),
        )
    return emulation.Way(
        rate_bps=None if way.rate_kbit is None else way.rate_kbit * 1e3,
        burst_bytes=way.burst_bytes,
        overhead_bytes=way.overhead_bytes,
        delay_ns=round(way.delay_ms * 1e6),
        jitter=None if way.jitter_ms is None else jitter_model(way.jitter_ms),
        keep_order=way.keep_order,
        loss=_loss(way.loss),
        reorder=way.reorder,
        duplicate=way.duplicate,
        queue=emulation.Queue(bytes=way.queue_bytes, frames=way.queue_packets, codel=codel),
        mtu_bytes=mtu_bytes,
    )


def _loss(loss: Loss) -> emulation.Loss:
    if loss.chain is not None:
        p, r, bad, good = loss.chain
        return GilbertLoss(p=p, r=r, loss_bad=bad, loss_good=good)
    return RandomLoss(share=loss.share) if loss.share else NoLoss()
