"""HTTP, SFTP and NFS over an emulated link; what their packets say is what tshark says."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pentathlon.exchange import pcapng
from pentathlon.experiments.file_services import content, open_smb, trial
from pentathlon.experiments.file_services.behaviours import behaviour
from pentathlon.experiments.file_services.capture.exchanges import Exchange
from pentathlon.experiments.file_services.capture.summary import summarise
from pentathlon.experiments.file_services.content import DOCUMENT
from pentathlon.experiments.file_services.protocols.base import Service
from pentathlon.experiments.file_services.protocols.sftp import Sftp
from pentathlon.experiments.file_services.server import Server
from pentathlon.experiments.file_services.spec import Setup, TaskSpec
from pentathlon.experiments.file_services.workdir import LocalPlace
from tests.experiments.file_services.conftest import (
    LAN,
    WAN,
    Bench,
    Benches,
    Event,
    after,
    capture,
    failure,
    lacking,
    samples,
)

PORTAL = {"OPTIONS": 1, "PROPFIND": 1, "GET": 1}
FILES = 12


@pytest.fixture
def lan(benches: Benches) -> Bench:
    return benches(LAN)


def ran(bench: Bench, workload: str, protocol: str, **more: Any) -> list[Event]:
    """The events of one trial, which has no error."""
    events = bench.run(workload, protocols=[protocol], **more)
    for error in (event for event in events if event["event"] == "error"):
        raise AssertionError(error["reason"])
    return events


def exchanges(bench: Bench, events: list[Event], family: str) -> list[Exchange]:
    found = summarise(pcapng.read(capture(events)), *bench.testbed.addresses, family).exchanges
    assert found and [one.failed for one in found if one.failed] == []
    return found


def tshark(events: list[Event], place: Path, *words: str) -> str:
    """What tshark states of the trial's packets."""
    file = place / "trial.pcapng"
    file.write_bytes(capture(events))
    command = ["tshark", "-n", "-r", str(file), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("tshark is not installed")
    return done.stdout


@pytest.mark.parametrize(
    ("workload", "how", "expected"),
    [("files.copy", {}, {"GET": 1}), ("files.portal", {"states": ["warm"]}, PORTAL),
     ("files.portal", {"ends": ("own", "server-2003")}, PORTAL)],
)  # fmt: skip
def test_http_1_1_as_tshark_sees_it(
    lan: Bench, tmp_path: Path, workload: str, how: dict[str, Any], expected: dict[str, int]
) -> None:
    events = ran(lan, workload, "http1.1", **how)
    found, own = samples(events), exchanges(lan, events, "http")
    assert Counter(one.name for one in own) == expected
    assert found["turns"] == found["exchanges"] == len(own)
    assert found["metadata"] == len(own) - 1
    assert 0 < found["least_time"] < found["task_time"]
    as_http = ("-d", "tcp.port==8080,http")
    tree = tshark(events, tmp_path, *as_http, "-q", "-z", "http,tree")
    assert {k: int(n) for k, n in re.findall(r"^ +([A-Z]{3,}) +(\d+)", tree, re.M)} == expected
    # Its time of a response is that of the packet in which it is shown: of the first one if bodies
    # are not put together, else of the last.
    for together, which in (("FALSE", "began_ns"), ("TRUE", "ended_ns")):
        decoded = tshark(
            events, tmp_path, *as_http, "-o", f"http.desegment_body:{together}",
            "-Y", "http.response", "-T", "fields", "-e", "http.time",
        )  # fmt: skip
        theirs = [round(float(word) * 1e9) for word in decoded.split()]
        assert theirs == [getattr(one, which) - one.requested_ns for one in own]


@pytest.mark.parametrize(
    ("workload", "expected"), [("files.copy", {"GET": 1}), ("files.portal", PORTAL)]
)
def test_http_2_as_tshark_sees_it(
    lan: Bench, tmp_path: Path, workload: str, expected: dict[str, int]
) -> None:
    events = ran(lan, workload, "http2")
    own = exchanges(lan, events, "http")
    assert Counter(one.name for one in own) == expected
    (decoded,) = (event for event in events if event["event"] == "files")
    assert decoded["connections"] == 1 and decoded["server"] == "nginx"
    as_http2 = ("-d", "tcp.port==8080,http2")
    lines = tshark(
        events, tmp_path, *as_http2, "-Y", "http2.type == 1", "-T", "fields", "-e", "_ws.col.Info"
    )
    assert Counter(re.findall(r"HEADERS\[\d+\]: ([A-Z]{3,}) ", lines)) == expected
    # Each request and each response is one frame of headers.
    tree = tshark(events, tmp_path, *as_http2, "-q", "-z", "http2,tree")
    (headers,) = re.findall(r"^ +HEADERS +(\d+)", tree, re.M)
    assert int(headers) == 2 * sum(expected.values())
    # tshark has no response time of HTTP/2, but reports the time of each frame of a stream.
    fields = ("frame.time_epoch", "ip.src", "http2.streamid", "http2.type")
    decoded = tshark(
        events, tmp_path, *as_http2, "-Y", "http2", "-T", "fields",
        *(word for name in fields for word in ("-e", name)),
    )  # fmt: skip
    requests: dict[str, int] = {}
    answered: dict[str, list[int]] = {}
    for epoch, source, streams, kinds in (line.split("\t") for line in decoded.splitlines()):
        whole, _, part = epoch.partition(".")
        time = int(whole) * 10**9 + int(part.ljust(9, "0"))
        for stream, kind in zip(streams.split(","), kinds.split(","), strict=True):
            if kind not in {"0", "1"}:  # DATA and HEADERS (RFC 9113, 6.1 and 6.2)
                continue
            if source == lan.testbed.addresses[0]:
                requests[stream] = time
            else:
                answered.setdefault(stream, []).append(time)
    theirs = sorted(
        (times[0] - requests[s], times[-1] - requests[s]) for s, times in answered.items()
    )
    assert theirs == sorted((o.began_ns - o.requested_ns, o.ended_ns - o.requested_ns) for o in own)


@pytest.mark.parametrize(
    ("workload", "reads"),
    [("files.copy", 2), ("files.roaming", FILES), ("files.open", len(open_smb.reads(100_000)))],
)
def test_nfs_as_tshark_sees_it(lan: Bench, tmp_path: Path, workload: str, reads: int) -> None:
    # An end like Windows Server 2003 serves READs of 60 KB.
    server = "server-2003" if workload == "files.copy" else "own"
    events = ran(lan, workload, "nfs", ends=("own", server), files=FILES)
    own = exchanges(lan, events, "nfs")
    found = Counter(one.name for one in own)
    assert found["READ"] == reads and (found["READDIR"] > 0) == (workload == "files.roaming")
    assert found["OPEN"] == found["CLOSE"] == (FILES if workload == "files.roaming" else 1)
    as_rpc = ("-d", "tcp.port==2049,rpc")
    replies = ("-Y", "rpc.msgtyp == 1", "-T", "fields", "-e", "rpc.time")
    decoded = tshark(events, tmp_path, *as_rpc, *replies)
    # A packet that ends several replies has several times.
    theirs = sorted(round(float(word) * 1e9) for word in re.split(r"[,\s]+", decoded.strip()))
    assert theirs == sorted(one.ended_ns - one.requested_ns for one in own)
    table = tshark(events, tmp_path, *as_rpc, "-q", "-z", "rpc,srt,100003,4")
    (calls,) = re.findall(r"COMPOUND +(\d+)", table)
    assert int(calls) == found.total() - found["NULL"]


@pytest.mark.parametrize(("workload", "when"), [("files.copy", "warm"), ("files.roaming", "cold")])
def test_sftp_tells_what_its_packets_do_not_hide(lan: Bench, workload: str, when: str) -> None:
    found = samples(ran(lan, workload, "sftp", states=[when]))
    assert not {"exchanges", "turns", "metadata", "response_time"} & set(found)
    assert found["task_time"] > found["least_time"] and found["wire_bytes"] > 100_000
    # Banners, keys, log-on, subsystem, versions, open and close each wait for the other end.
    assert found["round_trips"] >= 8


@pytest.mark.parametrize("workload", ["files.copy", "files.portal"])
def test_http_3_is_measured_in_its_datagrams(lan: Bench, workload: str) -> None:
    found = samples(ran(lan, workload, "http3", states=["warm"]))
    assert not {"exchanges", "round_trips", "retransmitted", "window"} & set(found)
    assert found["task_time"] > 0 and found["wire_bytes"] > 100_000 and found["packets"] > 70


def test_a_server_that_sends_little_at_once_costs_round_trips(benches: Benches) -> None:
    events = ran(
        benches(WAN), "files.portal", "http1.1", buffer_bytes=[8192, 0], document_bytes=[1_000_000]
    )
    trips = {
        event["case"]["buffer_bytes"]: event["value"]
        for event in events
        if event["event"] == "sample" and event["metric"] == "round_trips"
    }
    assert trips[8192] > trips[0]


def test_a_client_of_nfs_has_as_many_reads_in_flight_as_it_may(lan: Bench) -> None:
    # READs of 60 KB.
    events = ran(
        lan, "files.copy", "nfs", ends=("own", "server-2003"), outstanding=[1, 16],
        document_bytes=[800_000],
    )  # fmt: skip
    turns = {
        event["case"]["outstanding"]: event["value"]
        for event in events
        if event["event"] == "sample" and event["metric"] == "turns"
    }
    reads = -(-800_000 // 61_440)
    assert turns[1] - turns[16] >= reads - 3


def test_a_client_of_sftp_is_told_how_to_read(lan: Bench, tmp_path: Path) -> None:
    if reason := lacking("files.copy", ["sftp"]):
        pytest.skip(reason)
    spec = TaskSpec("copy", "sftp", behaviour("own"), behaviour("server-2003"), 7, False)
    places = (
        LocalPlace(lan.testbed.server, tmp_path, "server"),
        LocalPlace(lan.testbed.client, tmp_path, "client"),
    )
    setup = Setup(lan.testbed, spec, content.document(tmp_path, 10, seed=1), *places)
    words = " ".join(Sftp().call(setup, Service("sshd", Server(lan.testbed.server, "", 0))).command)
    assert " -R 7 " in words and " -B 61440 " in words


def test_a_buffer_that_the_kernel_would_cut_is_refused(lan: Bench) -> None:
    events = lan.run("files.portal", protocols=["http1.1"], buffer_bytes=[1_000_000_000])
    (error,) = (event for event in events if event["event"] == "error")
    assert error["kind"] == "unsupported"
    assert "net.core.wmem_max" in error["reason"] and "1,000,000,000" in error["reason"]


def failed(bench: Bench, protocol: str, size: int, server: str) -> str:
    ends = ("own", server)
    return failure(bench.run("files.copy", ends, protocols=[protocol], document_bytes=[size]))


@pytest.mark.parametrize("protocol", ["http1.1", "http2", "http3", "sftp", "nfs"])
def test_a_full_disk_costs_one_sentence(
    lan: Bench, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = trial.directories

    @contextmanager
    def full(parent: Path) -> Iterator[Path]:
        with made(parent) as place:
            # Writing to it fails as on a full disk (full(4)).
            (place / "into" / DOCUMENT).symlink_to("/dev/full")
            yield place

    monkeypatch.setattr(trial, "directories", full)
    assert failed(lan, protocol, 100_000, "own").startswith("the client's disk is full (")


@pytest.mark.parametrize(
    ("protocol", "job", "server"),
    [
        ("http1.1", "nginx", "nginx"), ("http2", "nginx", "nginx"), ("http3", "http3", "aioquic"),
        ("sftp", "sshd", "sshd"), ("nfs", "nfs-ganesha", "nfs-ganesha"),
    ],
)  # fmt: skip
def test_a_server_that_is_killed_in_mid_copy(
    benches: Benches, monkeypatch: pytest.MonkeyPatch, protocol: str, job: str, server: str
) -> None:
    wan = benches(WAN)
    ran(wan, "files.copy", protocol, document_bytes=[2000])
    # Nothing reports a client of QUIC that its server is gone.
    monkeypatch.setattr(trial, "limit_s", lambda testbed, held: 3.0)
    # With a small send buffer, so that not all is on its way by then; QUIC has none.
    like = "own" if protocol == "http3" else "server-2003"
    with after(wan, 200_000, lambda: wan.testbed.server.finish_job(job)):
        message = failed(wan, protocol, 8_000_000, like)
    assert message.startswith(f"the server {server} ended in mid-task; ")
