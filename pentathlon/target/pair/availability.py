"""What the CPUs of both hosts have left for programs while packets go between them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pentathlon.target.pair.endpoint import Endpoint

CALIBRATION_S = 0.5
"""How long the soakers run with nothing beside them, before each trial, in seconds."""

JOB = "soak"


@contextmanager
def soaking(policy: str, hosts: tuple[Endpoint, Endpoint]) -> Iterator[list[float]]:
    """Run a soaker on every CPU of both hosts for as long as the context lasts.

    Yields a list that has the percentages of both hosts when the context is left: units of
    computation a second, against those of the time just before, when both soakers ran and nothing
    else did. Hosts on one machine share its CPUs in both, so that the percentages still hold.
    It stays empty where the study asks for no soaker.

    Args:
        policy: "none", or how the soaker is scheduled: "idle" (sched(7)) takes what nobody wants,
            "other" is an ordinary program that competes with what it measures.
    """
    available: list[float] = []
    if policy == "none":
        yield available
        return
    before = [units_per_second(one) for one in _soak(policy, hosts, CALIBRATION_S)]
    _start(policy, hosts)
    try:
        yield available
    finally:
        during = [units_per_second(host.finish_job(JOB)) for host in hosts]
    available += [100 * now / then for now, then in zip(during, before, strict=True) if then]


def units_per_second(stopped: dict[str, Any]) -> float:
    """Of all threads of a soaker together."""
    return float(sum(one["units"] / (one["elapsed_ns"] * 1e-9) for one in stopped["yields"]))


def _start(policy: str, hosts: tuple[Endpoint, Endpoint]) -> None:
    placement = {} if policy == "other" else {"policy": policy}
    for host in hosts:
        host.start(JOB, {"work": "soak", "placement": placement})


def _soak(policy: str, hosts: tuple[Endpoint, Endpoint], seconds: float) -> list[dict[str, Any]]:
    _start(policy, hosts)
    time.sleep(seconds)
    return [host.finish_job(JOB) for host in hosts]
