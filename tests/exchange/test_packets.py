"""What is exported is read back by others: Wireshark's tools, the HDR library, a CSV reader."""

from __future__ import annotations

import csv
import functools
import io
import operator
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hdrh.histogram import HdrHistogram

from pentathlon.exchange import packets as export
from pentathlon.exchange.packet_headers import Packet, frame
from pentathlon.packets import clocks, join
from pentathlon.packets import table as packets
from pentathlon.packets.records import Packets

COUNT = 200
LOST = (7, 199)


def flow(address: int) -> dict[str, Any]:
    ends = {4: ("198.18.0.1", "198.18.0.2"), 6: ("2001:db8::1", "2001:db8::2")}[address]
    return {
        "flow": 0, "name": "1", "protocol": "udp", "from": ends[0], "to": ends[1], "port": 40000,
    }  # fmt: skip


def table() -> pl.DataFrame:
    """200 packets of which two are lost and one comes twice; the clocks are 5 s apart."""
    zeros = np.zeros(COUNT, np.int64)
    times = 10**12 + np.arange(COUNT) * 1_000_000
    sent = Packets(np.arange(COUNT), times, zeros + 250, zeros + 100, zeros, 0)
    kept = np.array([n for n in range(COUNT) if n not in LOST] + [11])
    none = np.zeros(len(kept), np.int64)
    arrival = 10**12 + kept * 1_000_000 + 250 + 40_000 + 5 * 10**9
    arrival[-1] += 10_000
    got = Packets(kept, arrival, none, none + 100, none, 0)
    line = clocks.ClockDifference(10**12, 5e9, 0.0, 20.0, 9)
    return packets.table(0, join.join(sent, got), None, line)


def test_the_table_has_every_packet_and_copy() -> None:
    found = table()
    assert dict(found.schema) == packets.PACKETS
    assert len(found) == COUNT + 1
    lost = found.filter(pl.col("arrival_ns").is_null())
    assert lost["sequence"].to_list() == list(LOST)
    assert lost["delay_ns"].null_count() == len(lost)
    assert found.filter(pl.col("copy") == 1)["sequence"].to_list() == [11]
    assert set(found["delay_ns"].drop_nulls().round().to_list()) == {40_000.0, 50_000.0}
    assert found["echo_ns"].null_count() == len(found)


def test_csv_leaves_the_unknown_empty() -> None:
    rows = list(csv.DictReader(io.StringIO(export.csv(table()), newline="")))
    assert len(rows) == COUNT + 1
    assert [row["sequence"] for row in rows if not row["arrival_ns"]] == [str(n) for n in LOST]
    assert int(rows[3]["sent_ns"]) - int(rows[3]["intended_ns"]) == 250


def test_histograms_are_read_back_by_the_library() -> None:
    made = export.histograms(table())
    assert list(made) == ["delay-0"]
    read = HdrHistogram.decode(made["delay-0"].encode())
    assert read.get_total_count() == COUNT - len(LOST) + 1
    assert read.get_value_at_percentile(50) == pytest.approx(40_000, rel=1e-3)
    assert read.get_max_value() == pytest.approx(50_000, rel=1e-3)


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("protocol", ["udp", "tcp"])
def test_wireshark_reads_the_capture(tmp_path: Path, version: int, protocol: str) -> None:
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not installed")
    path = tmp_path / "packets.pcapng"
    blocks = export.pcapng_blocks(table(), [flow(version) | {"protocol": protocol}], "a test")
    path.write_bytes(b"".join(blocks))
    fields = ["frame.interface_id", "frame.time_epoch", "frame.len", f"{protocol}.dstport",
              f"ip{'v6' if version == 6 else ''}.dst", f"{protocol}.payload"]  # fmt: skip
    words = [word for name in fields for word in ("-e", name)]
    done = subprocess.run(
        [tshark, "-n", "-r", str(path), "-o", "ip.check_checksum:TRUE", "-T", "fields", *words],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [sum(row[0] == end for row in rows) for end in ("0", "1")] == [COUNT, COUNT - 1]
    headers = (20 if version == 4 else 40) + (8 if protocol == "udp" else 20)
    assert {row[2] for row in rows} == {str(headers + 100)}
    assert {row[3] for row in rows} == {"40000"}
    assert {row[4] for row in rows} == {flow(version)["to"]}
    sent = [row for row in rows if row[0] == "0"]
    times = [float(row[1]) for row in sent]
    assert times == sorted(times)
    assert times[1] - times[0] == pytest.approx(1e-3)
    if protocol == "udp":
        payloads = [row[5].replace(":", "") for row in sent]
        assert [int(text[16:32], 16) for text in payloads] == list(range(COUNT))


def test_a_short_packet_is_made_again_with_its_compact_header() -> None:
    packet = Packet(
        time_ns=9, received=False, protocol="udp", source="198.18.0.1", target="198.18.0.2",
        port=5000, flow=77, sequence=0x0102030405, intended_ns=0xBA9876543210, late_ns=0x10,
        length=18,
    )  # fmt: skip
    made = frame(packet)
    assert len(made.data) == made.length == 20 + 8 + 18
    # As agent/crates/packets/src/packet.rs has it, of session 0.
    ours = made.data[28:]
    assert ours[:17] == bytes.fromhex("000000 0102030405 004d ba9876543220 80")
    assert functools.reduce(operator.xor, ours) == 0xA5
