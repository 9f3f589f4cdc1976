"""Questions of a client and the server's answers to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Exchange:
    """One question and its answer.

    Attributes:
        name: what was requested, such as "READ" or "GET".
        asked_ns: when the last byte of the question left the client.
        began_ns, ended_ns: when the first and the last byte of the answer were there.
        data: it carries the content of a file, rather than what is stated about it.
        failed: the answer was a refusal, in the protocol's own words; None if it was not.
    """

    name: str
    requested_ns: int
    began_ns: int
    ended_ns: int
    data: bool = False
    failed: str | None = None


def turns(exchanges: Iterable[Exchange]) -> int:
    """How many exchanges lie one after another: each was asked when the one before was answered."""
    count, free = 0, -1
    for exchange in sorted(exchanges, key=lambda one: one.requested_ns):
        if exchange.requested_ns >= free:
            count += 1
            free = exchange.ended_ns
    return count


def mean_response_ns(exchanges: Sequence[Exchange]) -> float | None:
    """Mean time from a question's last byte to its answer's first, a round trip included; ns."""
    if not exchanges:
        return None
    return sum(one.began_ns - one.requested_ns for one in exchanges) / len(exchanges)
