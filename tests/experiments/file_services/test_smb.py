"""Copies, opens and profiles from a real Samba over an emulated link, read from their packets."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from pentathlon.exchange import pcapng
from pentathlon.experiments.file_services import open_smb, trial
from pentathlon.experiments.file_services.capture.smb import SMB1_COMMANDS, SMB2_COMMANDS
from pentathlon.experiments.file_services.capture.summary import summarise
from pentathlon.experiments.file_services.spec import Setup
from tests.experiments.file_services.conftest import LAN, WAN, Bench, Benches, capture, samples


@pytest.fixture
def lan(benches: Benches) -> Bench:
    return benches(LAN)


GENERATIONS = pytest.mark.parametrize(
    ("protocol", "dialect"), [("smb1", "NT LM 0.12"), ("smb2.1", "2.1"), ("smb3.1.1", "3.1.1")]
)


def in_memory(folder: Path) -> int:
    """Bytes of the files in a folder that the page cache holds (fincore(1))."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    output = subprocess.run(
        ["fincore", "--bytes", "--noheadings", "--output", "RES", *files],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return sum(map(int, output.stdout.split()))


@GENERATIONS
def test_a_copy_has_its_bytes_its_dialect_and_its_times(
    lan: Bench, protocol: str, dialect: str
) -> None:
    events = lan.run("files.copy", protocols=[protocol])
    found = samples(events)
    (text,) = (event for event in events if event["event"] == "files")
    assert text["dialect"] == dialect and text["server"] == "smbd"
    # The task is a part of the program's time; the file is a part of the bytes on the link.
    assert 0 < found["least_time"] < found["task_time"] < found["program_time"]
    assert 100_000 < found["wire_bytes"] < 130_000
    assert found["throughput"] == pytest.approx(0.8 / found["task_time"])
    assert found["exchanges"] >= found["turns"] >= 2 and found["round_trips"] >= found["turns"]
    assert any(event["event"] == "link" and "link" in event for event in events)


@GENERATIONS
def test_an_open_asks_once_for_every_piece_of_its_trace(
    lan: Bench, protocol: str, dialect: str
) -> None:
    events = lan.run("files.open", protocols=[protocol])
    found = samples(events)
    assert [event["dialect"] for event in events if event["event"] == "files"] == [dialect]
    pieces = len(open_smb.reads(100_000))
    # One after another, which is what an open is: look up, create, every piece, close.
    assert found["exchanges"] >= pieces + 3
    assert found["turns"] >= pieces + 2
    assert found["round_trips"] >= pieces + 2


def test_a_profile_needs_questions_for_every_file(lan: Bench) -> None:
    whole = samples(lan.run("files.roaming"))
    one = samples(lan.run("files.copy"))
    assert whole["metadata"] >= 2 * 12 > one["metadata"]


@pytest.mark.parametrize("workload", ["files.copy", "files.open", "files.roaming"])
def test_a_warm_task_is_captured_alone(
    lan: Bench, monkeypatch: pytest.MonkeyPatch, workload: str
) -> None:
    """And the server reads a cold document from its disk, a warm one from memory."""
    perform = trial._perform
    resident: list[int] = []

    def looked(setup: Setup, *rest: Any) -> Any:
        resident.append(in_memory(setup.shared))
        return perform(setup, *rest)

    monkeypatch.setattr(trial, "_perform", looked)
    cold = samples(lan.run(workload, states=["cold"]))
    first = resident.pop()
    warm = samples(lan.run(workload, states=["warm"]))
    assert warm["wire_bytes"] == pytest.approx(cold["wire_bytes"], rel=0.1)
    if subprocess.check_output(["stat", "-f", "-c", "%T", lan.scratch]).strip() != b"tmpfs":
        assert first == resident[0] == 0 < resident[1]


def test_one_end_that_is_older_makes_both_speak_the_older_protocol(lan: Bench) -> None:
    events = lan.run("files.copy", ("xp", "server-2008"))
    assert [e["dialect"] for e in events if e["event"] == "files"] == ["NT LM 0.12"]
    (refused,) = (
        event
        for event in lan.run("files.copy", ("xp", "server-2008"), protocols=["smb2.0"])
        if event["event"] == "error"
    )
    assert refused["kind"] == "unsupported"
    assert "xp" in refused["reason"] and "SMB up to 1 and not 2.0" in refused["reason"]


@pytest.mark.parametrize(
    ("server", "read_bytes"), [("server-2003", 61_440), ("server-2008", 64_512), ("own", 64_512)]
)
def test_a_server_of_2003_is_read_in_pieces_of_60_kb(
    lan: Bench, server: str, read_bytes: int
) -> None:
    size = 22 * 61_440
    events = lan.run("files.copy", ("xp", server), document_bytes=[size])
    (text,) = (event for event in events if event["event"] == "files")
    reads = {name: n for name, n in text["exchanges"].items() if name.startswith("READ")}
    assert list(reads.values()) == [-(-size // read_bytes)], text["exchanges"]


def test_a_small_window_costs_round_trips_as_in_the_paper(benches: Benches) -> None:
    wan = benches(WAN)
    old = samples(wan.run("files.copy", ("xp", "server-2003"), document_bytes=[1_000_000]))
    new = samples(wan.run("files.copy", ("vista", "server-2008"), document_bytes=[1_000_000]))
    # Direction and reason: fewer bytes in flight, so more round trips, so more time.
    assert old["window"] < 20_000 < new["window"]
    assert old["round_trips"] > 1.5 * new["round_trips"]
    assert old["task_time"] > new["task_time"]
    # What the round trips cost is the time: 50 ms each, and never less than the link's own.
    assert old["task_time"] > 0.045 * old["round_trips"]
    assert new["task_time"] > new["least_time"]


def test_a_factor_holds_for_its_case_alone(lan: Bench) -> None:
    events = lan.run("files.copy", window_bytes=[16_384, 0])
    seen = {
        event["case"]["window_bytes"]: event["value"]
        for event in events
        if event["event"] == "sample" and event["metric"] == "window"
    }
    assert seen[16_384] < 20_000 < seen[0]


def test_any_congestion_control_of_the_kernel_can_be_had(lan: Bench) -> None:
    # Also one that the machine does not allow as a namespace's default.
    known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    events = lan.run("files.copy", congestion=["own", *known, "own"], document_bytes=[5000])
    assert not [event for event in events if event["event"] in {"log", "error"}]
    events = lan.run("files.copy", congestion=["nothing"], document_bytes=[5000])
    refused = [event["message"] for event in events if event["event"] == "log"]
    assert [sentences.partition(":")[0] for sentences in refused] == ["client", "server"]
    assert all("tcp_congestion_control" in sentences for sentences in refused)


@pytest.mark.parametrize(
    ("more", "unseen"),
    [("reorder = 0.02", 0), ('jitter_ms = "uniform 0 3"', 0), ('loss = "random 0.02"', 2)],
    ids=["reordered", "jittered", "lost"],
)
def test_what_was_sent_again_is_what_the_servers_kernel_has_sent_again(
    benches: Benches, more: str, unseen: int
) -> None:
    bench = benches(f"{LAN}{more}\n")
    found = summarise(
        pcapng.read(capture(bench.run("files.copy", document_bytes=[500_000]))),
        *bench.testbed.addresses, "smb",
    )  # fmt: skip
    # The namespace has served this task alone (RFC 4022: tcpRetransSegs).
    counters = Path(f"/proc/{bench.testbed.server.session.pid}/net/snmp").read_text().splitlines()
    names, values = (line.split() for line in counters if line.startswith("Tcp:"))
    kernel = int(values[names.index("RetransSegs")])
    # What was sent again and lost again never came to the client.
    assert 0 <= kernel - found.retransmitted <= unseen
    assert found.retransmitted or "loss" not in more


def tshark(file: Path, *words: str) -> list[str]:
    done = subprocess.run(
        ["tshark", "-n", "-r", str(file), *words],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return done.stdout.split("\n")[:-1]


ENDS = {"smb": ("0x75", "0x71"), "smb2": ("3", "4")}
"""tshark's name of the protocol -> commands that connect a share and leave it."""

PENDING = "0x00000103"
"""An answer that reports it is followed by the one proper ([MS-SMB2] 3.3.4.2)."""


def answers(file: Path, name: str) -> list[tuple[int, float]]:
    """Command and time of each answer that tshark sees between the share's connection and end."""
    status = "smb.nt_status" if name == "smb" else "smb2.nt_status"
    wanted = (word for field in (f"{name}.cmd", f"{name}.time", status) for word in ("-e", field))
    decoded = tshark(file, "-Y", f"{name}.flags.response == 1", "-T", "fields", *wanted)
    # A batch of commands in one SMB 1 message ends with 0xff, "no further one".
    lines = [line.replace(",0xff", "").split("\t") for line in decoded]
    found = [
        (command, float(time))
        for commands, times, states in lines
        if times
        for command, time, state in zip(
            commands.split(","), times.split(","), states.split(","), strict=True
        )
        if state != PENDING
    ]
    connects, leaves = ENDS[name]
    begin = max(n for n, (command, _) in enumerate(found) if command == connects) + 1
    task = found[begin:]
    end = next(n for n, (command, _) in enumerate(task) if command == leaves)
    return sorted((int(command, 0), time) for command, time in task[:end])


@pytest.mark.parametrize("workload", ["files.copy", "files.open"])
@pytest.mark.parametrize("protocol", ["smb1", "smb2.0", "smb2.1", "smb3.1.1"])
def test_tshark_finds_the_same_exchanges(
    lan: Bench, tmp_path: Path, protocol: str, workload: str
) -> None:
    file = tmp_path / "capture.pcapng"
    data = capture(lan.run(workload, protocols=[protocol]))
    file.write_bytes(data)
    try:
        packets = tshark(file, "-Y", "tcp", "-T", "fields", "-e", "frame.len")
    except FileNotFoundError:
        pytest.skip("tshark is not installed")
    captured = pcapng.read(data)
    addresses = lan.testbed.addresses
    found = summarise(captured, *addresses, "smb")
    whole = [segment for talk in found.talks for segment in talk.segments]
    assert sum(map(int, packets)) == sum(segment.length for segment in whole)
    names = {name: number for number, name in SMB1_COMMANDS.items()}
    if protocol != "smb1":
        names = {name: number for number, name in enumerate(SMB2_COMMANDS)}
    # tshark's time of an answer is that of the packet that ends it, as ours is; the logon and the
    # end of the session are not part of the task. As many of each command, neither more nor fewer.
    theirs = answers(file, "smb" if protocol == "smb1" else "smb2")
    ours = sorted(
        (names[one.name], (one.ended_ns - one.requested_ns) / 1e9) for one in found.exchanges or []
    )
    assert [command for command, _ in ours] == [command for command, _ in theirs]
    assert [time for _, time in ours] == pytest.approx([time for _, time in theirs], abs=1e-6)


@pytest.mark.parametrize("protocol", ["smb1", "smb2.1"])
def test_as_many_requests_are_in_flight_as_the_case_allows(lan: Bench, protocol: str) -> None:
    events = lan.run(
        "files.copy", protocols=[protocol], outstanding=[1, 64], document_bytes=[2_000_000]
    )
    found = {
        (event["case"]["outstanding"], event["metric"]): event["value"]
        for event in events
        if event["event"] == "sample"
    }
    # `max mux` and `smb2 max credits` of 1: each READ, of 64 KiB at most, waits for the one before.
    assert found[1, "turns"] == found[1, "exchanges"] >= 2_000_000 / 65536
    # With many they are asked together; SMB 2.1 spends several credits on one longer READ.
    assert found[64, "turns"] <= 6


def test_the_window_and_not_the_dialect_costs_the_round_trips(benches: Benches) -> None:
    events = benches(WAN).run(
        "files.copy", protocols=["smb1", "smb2.1", "smb3.1.1"], window_bytes=[32_768, 0],
        document_bytes=[600_000],
    )  # fmt: skip
    trips = {
        (event["case"]["protocol"], event["case"]["window_bytes"]): event["value"]
        for event in events
        if event["event"] == "sample" and event["metric"] == "round_trips"
    }
    small, tuned = ([trips[p, w] for p in ("smb1", "smb2.1", "smb3.1.1")] for w in (32_768, 0))
    # Every dialect with a small window waits more often than any with an auto-tuned one.
    assert min(small) > 1.5 * max(tuned)
    assert max(small) < 1.3 * min(small)
