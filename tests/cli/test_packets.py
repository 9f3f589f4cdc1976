"""The list of `pentathlon packets`: what is unknown is called so, each distance has its place."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from pentathlon.cli.packets import _listed
from pentathlon.protocol.events import Packets, read
from pentathlon.store.packets import KeptTrial

FLOW = {
    "name": "1", "sent": 150, "received": None, "foreign": 7, "lateness_p99_s": 0.002,
    "gap_distance": 0.125, "size_distance": 0.375, "clocks": {"bound_ns": 100.0}, "jitter": None,
}  # fmt: skip


def packets(case: dict[str, str], flows: list[dict[str, object]]) -> Packets:
    """The event of a trial with these flows."""
    event, _ = read(
        {"event": "packets", "workload": "network.traffic", "index": 0, "case": case,
         "phase": "measure", "iteration": 0, "flows": flows, "hosts": [{}, {}], "t_ns": 1}
    )  # fmt: skip
    assert isinstance(event, Packets)
    return event


def test_each_distance_stands_below_its_title() -> None:
    event = packets({"protocol": "udp"}, [FLOW, FLOW | {"gap_distance": None}])
    table = _listed([KeptTrial(1, Path("none"), "host", 0, 0, event)])
    rows = {str(column.header): [str(cell) for cell in column.cells] for column in table.columns}
    assert rows["gaps off"] == ["0.125", "unknown"]
    assert rows["sizes off"] == ["0.375"] * 2
    assert rows["came"] == ["unknown"] * 2
    assert rows["bound"] == ["0.100 us"] * 2
    console = Console(width=200, record=True)
    console.print(table)
    assert "sizes off" in console.export_text()


def test_a_flow_that_sent_less_than_was_due_has_both_numbers() -> None:
    event = packets({}, [FLOW | {"due": due} for due in (None, 150, 35_000)])
    table = _listed([KeptTrial(1, Path("none"), "host", 0, 0, event)])
    [cells] = [list(column.cells) for column in table.columns if column.header == "sent"]
    assert cells == ["150", "150", "150 of 35000"]
