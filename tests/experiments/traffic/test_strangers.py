"""Connections of others at the port of a flow."""

from __future__ import annotations

import socket
import struct

import pytest

from pentathlon.experiments.traffic.flow_analysis import judge
from pentathlon.experiments.traffic.trials import run_trial
from pentathlon.study import flows
from tests.experiments.traffic.conftest import Pair, behind, task

CASE = {"protocol": "tcp", "ip_version": 4, "size_bytes": 200}
RESET = struct.pack("ii", 1, 0)
"""struct linger: closing breaks the connection off (RST)."""


@pytest.mark.parametrize("spinning", [False, True])
def test_connections_of_strangers_hold_nobody_up(pair: Pair, spinning: bool) -> None:
    strangers: list[socket.socket] = []

    def between(port: int) -> int:
        for number in range(18):
            one = socket.create_connection(("127.0.0.1", port), timeout=5)
            strangers.append(one)
            match number % 4:
                case 1:
                    one.sendall(b"GET / HTTP/1.0\r\n")  # Less than a header.
                case 2:
                    one.sendall(bytes(1000))
                case 3:
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    one.close()
        return port

    work = task(
        protocols=["tcp"], packet_rate="constant 500",
        receiver="spinning" if spinning else "blocking",
    )  # fmt: skip
    flow = flows.flows(work.parameters, CASE)
    try:
        trial = run_trial(work, CASE, flow, pair[0], behind(pair[1], between))
    finally:
        for one in strangers:
            one.close()
    result = judge(trial)[0]
    assert result.found.sent > 50
    assert (result.found.received, result.found.lost_ratio) == (result.found.sent, 0)
    assert 0 < result.foreign <= 4
