"""What a relay between two endpoints plants comes back exactly."""

from __future__ import annotations

import io
import socket
import threading
import zlib
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from pentathlon.experiments.traffic.driver import lateness_limit, run_traffic
from pentathlon.experiments.traffic.flow_analysis import FlowResult, judge
from pentathlon.experiments.traffic.trials import Trial, run_trial
from pentathlon.packets import records
from pentathlon.study import flows
from pentathlon.study.distributions import ModelError
from tests.experiments.traffic.conftest import PARAMETERS, Pair, Relay, behind, task
from tests.fakes.messages import documents

CASE = {"protocol": "udp", "ip_version": 4, "size_bytes": 64, "transmit_backend": "send"}


def measured(
    pair: Pair, plan: Callable[[int], list[float]], late: tuple[int, ...] = (), **more: Any
) -> tuple[FlowResult, Relay]:
    relays: list[Relay] = []

    def between(port: int) -> int:
        relays.append(Relay(("127.0.0.1", port), plan, late))
        return relays[0].port

    work = task(echo=False, packet_rate="constant 500", **more)
    try:
        trial = run_trial(
            work, CASE, flows.flows(work.parameters, CASE),
            pair[0], behind(pair[1], between),
        )  # fmt: skip
    finally:
        for relay in relays:
            relay.stop()
    return judge(trial)[0], relays[0]


def test_loss_in_the_middle_and_at_the_end(pair: Pair) -> None:
    result, _ = measured(pair, lambda n: [] if n % 10 == 3 or n >= 100 else [0.0])
    sent = result.found.sent
    assert sent > 100
    assert result.found.received == 90
    assert result.found.lost_ratio == pytest.approx(1 - 90 / sent)
    assert result.found.duplicate_ratio == 0


def test_duplicates_and_reordering(pair: Pair) -> None:
    late = (20, 40, 60)
    result, _ = measured(pair, lambda n: [0.0] * (3 if n in (5, 50) else 1), late)
    assert result.both is not None
    assert result.found.lost_ratio == 0
    assert result.both.duplicates == 4
    assert result.found.reordered_ratio == pytest.approx(3 / result.found.sent)


def test_planted_delay_and_jitter(pair: Pair) -> None:
    planted = np.random.default_rng(3).uniform(0.0, 0.05, 100_000)
    result, relay = measured(pair, lambda n: [float(planted[n])])
    assert result.both is not None and result.clocks is not None
    assert result.found.delay is not None and result.found.delay_bound is not None
    held = np.array([relay.held_ns[n] for n in range(result.found.sent)])
    arrivals = result.both.arrival_ns[result.both.first_arrival]
    delay = arrivals - result.both.sent_ns - result.clocks.at(result.both.sent_ns)
    # No packet can be faster than the relay kept it, within the clocks' bound.
    assert (delay >= held - result.clocks.bound_ns - 1).all()
    assert result.found.delay.mean >= held.mean() * 1e-9 - result.found.delay_bound
    # And none is slower than that but for the ways to the relay and from it. These wait for a CPU
    # as the relay itself does, whose longest wait is known: half of them take no longer.
    ways = delay - held
    waits = held - planted[: len(held)] * 1e9
    assert np.median(ways) <= waits.max() + result.clocks.bound_ns
    # Variations differ from those of the planted series by no more than those of the ways.
    ipdv, planted_ipdv = result.found.ipdv_mean_abs, np.abs(np.diff(held)).mean() * 1e-9
    assert ipdv == pytest.approx(planted_ipdv, abs=np.abs(np.diff(ways)).mean() * 1e-9 + 1e-9)
    order = result.both.arrival_sequence
    jitter = smoothed(held[order])
    room = smoothed(ways[order])
    assert result.found.jitter_mean == pytest.approx(jitter.mean(), abs=room.mean() + 1e-9)
    assert result.found.ditg_jitter == pytest.approx(
        np.abs(np.diff(held[order])).mean() * 1e-9,
        abs=np.abs(np.diff(ways[order])).mean() * 1e-9 + 1e-9,
    )


def smoothed(transits_ns: np.ndarray) -> np.ndarray:
    """J += (|D| - J) / 16 over arrivals (RFC 3550, section 6.4.1), s."""
    found, last = [], 0.0
    for step in np.abs(np.diff(transits_ns)) * 1e-9:
        last += (step - last) / 16
        found.append(last)
    return np.array(found)


@contextmanager
def flood(port: int) -> Any:
    """Packets of others at a port, while the context is open; few enough for a receiver that a busy
    machine keeps waiting."""
    over = threading.Event()

    def send() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as foreign:
            while not over.wait(0.02):
                for junk in (b"", b"x" * 20, b"y" * 64, bytes(1000)):
                    foreign.sendto(junk, ("127.0.0.1", port))

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_foreign_flood_changes_nothing_but_a_counter(pair: Pair) -> None:
    contexts: list[Any] = []

    def between(port: int) -> int:
        contexts.append(flood(port))
        contexts[0].__enter__()
        return port

    work = task(echo=False, packet_rate="constant 500")
    flow = flows.flows(work.parameters, CASE)
    try:
        trial = run_trial(work, CASE, flow, pair[0], behind(pair[1], between))
    finally:
        for context in contexts:
            context.__exit__(None, None, None)
    result = judge(trial)[0]
    assert result.foreign > 0
    assert (result.found.received, result.found.lost_ratio) == (result.found.sent, 0)
    assert result.both is not None and result.both.unsent == result.both.duplicates == 0


def plain(pair: Pair) -> Trial:
    work = task()
    return run_trial(work, CASE, flows.flows(work.parameters, CASE), *pair)


def cut(data: bytes, share: float) -> bytes:
    """The first records of a file, as blocks with right checksums."""
    whole = records.blocks(data)
    total = round(sum(len(body) for _, body in whole) * share)
    out = b""
    for head, body in whole:
        kept, total = body[:total], total - min(total, len(body))
        if len(kept):
            out += block(head, kept)
    return out


def block(head: np.void, body: Any) -> bytes:
    fields = np.array(head, records.HEADER)
    fields["count"] = len(body)
    first = fields.tobytes()[:-4]
    crc = zlib.crc32(body.tobytes(), zlib.crc32(first))
    return first + crc.to_bytes(4, "little") + body.tobytes()


def test_a_receivers_log_cut_to_60_percent_shows_40_percent_loss(pair: Pair) -> None:
    trial = plain(pair)
    before = judge(trial)[0]
    trial.files[1, "received", 0] = cut(trial.files[1, "received", 0], 0.6)
    after = judge(trial)[0]
    assert before.found.received == before.found.sent
    assert after.found.lost_ratio == pytest.approx(0.4, abs=1 / after.found.sent)


def test_one_end_missing_is_unknown(pair: Pair) -> None:
    trial = plain(pair)
    del trial.files[1, "received", 0]
    found = judge(trial)[0].found
    assert found.sent > 0
    assert (found.received, found.lost_ratio, found.delay) == (None, None, None)


@pytest.mark.parametrize(
    ("end", "unknown"), [("sent", True), ("received", True), ("echoed", False)]
)
def test_a_ring_that_overflowed_is_unknown_and_not_zero(
    pair: Pair, end: str, unknown: bool
) -> None:
    trial = plain(pair)
    before = judge(trial)[0]
    assert before.lost_records == 0
    assert before.found.lost_ratio == 0 and before.trips is not None
    getattr(trial, end)[0]["lost_records"] = 3
    after = judge(trial)[0]
    assert after.lost_records == 3
    needs_both = after.found.received, after.found.lost_ratio, after.found.delay, after.found.jitter
    assert all((value is None) == unknown for value in needs_both)
    # Echoes need the sender's records and their own.
    assert (after.trips is None) == (end != "received")
    assert after.found.sent == before.found.sent


def test_records_that_a_file_says_were_lost_are_unknown_too(pair: Pair) -> None:
    trial = plain(pair)
    out = b""
    for old, body in records.blocks(trial.files[1, "received", 0]):
        head = old.copy()
        head["lost_before"] = 5
        out += block(head, body)
    trial.files[1, "received", 0] = out
    found = judge(trial)[0]
    assert (found.lost_records, found.found.lost_ratio, found.jitter) == (5, None, [])


@pytest.mark.parametrize("offset_ns", [86_400_000_000_000, 3_600_000_000_000, 12_345])
def test_the_difference_of_the_timers_does_not_matter(pair: Pair, offset_ns: int) -> None:
    """A receiver whose timer is a day ahead measures the same delays."""
    trial = plain(pair)
    trial.timers = (None, None)  # What is known of their counter would no longer be true.
    before = judge(trial)[0].found

    def shift(data: bytes, exchange: bool) -> bytes:
        out = b""
        for old, kept in records.blocks(data):
            head, body = old.copy(), kept.copy()
            if exchange:
                raw = body.view("<i8")
                raw.reshape(-1, 4)[:, 2:] += offset_ns  # t2 and t3
            else:
                head["base_ns"] += np.uint64(offset_ns)
            out += block(head, body)
        return out

    for key in ((1, "received", 0), (0, "exchange", 0)):
        trial.files[key] = shift(trial.files[key], key[1] == "exchange")
    after = judge(trial)[0].found
    assert before.delay is not None and after.delay is not None
    assert after.delay.mean == pytest.approx(before.delay.mean, abs=1e-8)
    assert after.delay_bound == pytest.approx(before.delay_bound, abs=1e-8)
    for name in before.known():
        if name != "delay":
            assert getattr(after, name) == pytest.approx(getattr(before, name), abs=1e-8), name


@pytest.mark.parametrize(
    ("duration_s", "packet_rate", "asked_ms", "limit_s"),
    [
        (0.3, 2000, 0.0, 0.01),  # short: 1 % of it is less than programs wait for a CPU
        (3.0, 2000, 0.0, 0.03),
        (60.0, 2000, 0.0, 0.05),
        (0.3, 4, 0.0, 0.025),  # four packets a second: a tenth of the time between them
        (60.0, 2000, 2.0, 0.002),
    ],
)
def test_how_late_a_generator_may_be(
    pair: Pair, duration_s: float, packet_rate: int, asked_ms: float, limit_s: float
) -> None:
    result = judge(plain(pair))[0]
    flow = replace(result.flow, duration_s=duration_s)
    found = replace(result.found, offered_rate=float(packet_rate))
    own = {"lateness_limit_ms": asked_ms}
    limit = lateness_limit(replace(result, flow=flow, found=found), own)
    assert limit == pytest.approx(limit_s)


def test_the_events_of_a_task(pair: Pair) -> None:
    work = task(script=["name=a; rate=constant 500; size=uniform 40 90",
                         "name=b; profile=voip-g711; start=0.1; duration=0.2; back=true",
                         "name=c; protocol=tcp; gap=exponential 0.002; size=imix"])  # fmt: skip
    events = documents(run_traffic(work, *pair))
    assert [e for e in events if e["event"] == "error"] == []
    kept = next(e for e in events if e["event"] == "packets")
    assert [flow["name"] for flow in kept["flows"]] == ["a", "b", "c"]
    table = pl.read_parquet(io.BytesIO(kept["table"]))
    for flow in kept["flows"]:
        own = table.filter(pl.col("flow") == flow["flow"])
        assert len(own) == flow["sent"] == flow["received"]
        assert (own["arrival_ns"] - own["sent_ns"] - own["delay_ns"]).is_not_null().all()
        assert own["echo_ns"].is_not_null().all()
    assert kept["flows"][1]["sent"] == 10
    samples = {
        (e["case"].get("flow"), e["metric"]): e["value"] for e in events if e["event"] == "sample"
    }
    assert samples["a", "lost"] == 0
    assert samples["c", "tcp_efficiency"] > 0
    assert samples[None, "cpu_sender"] >= 0
    assert ("a", "tcp_efficiency") not in samples


@pytest.mark.parametrize(
    "written",
    [
        {"bit_rate": 512_000.0, "size_bytes": [128]},
        {"bit_rate": 512_000.0, "size": "constant 128"},
        {"script": ["bit_rate=512000; size=constant 128"]},
        # With the compact header.
        {"script": ["bit_rate=80000; size=constant 20"]},
    ],
)
def test_a_bit_rate_is_a_packet_rate(pair: Pair, written: dict[str, Any]) -> None:
    """512,000 bit/s in packets of 128 bytes are 500 packets/s, as are 80,000 in packets of 20."""
    work = task(**written)
    [case] = flows.cases(work.parameters)
    trial = run_trial(work, case, flows.flows(work.parameters, case), *pair)
    found = judge(trial)[0]
    assert found.found.offered_rate == pytest.approx(500, rel=1e-6)
    assert 1 < found.found.sent <= 150
    size = 20 if "constant 20" in str(written.get("script")) else 128
    assert set(found.sent.length.tolist()) == {size}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("bit_rate=512000; size=imix", "packets of one size"),
        ("bit_rate=fast; size=constant 128", "no number of bit/s"),
        ("bit_rate=0; size=constant 128", "above zero"),
        ("bit_rate=1000; rate=constant 5", 'one of "rate", "gap" and "bit_rate"'),
        ("size=constant 128", 'one of "rate", "gap" and "bit_rate"'),
    ],
)
def test_what_is_wrong_with_the_pace_of_a_line(line: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        flows.flows(PARAMETERS | {"script": [line]}, {"ip_version": 4})


def test_a_trace_is_sent_in_its_order_again_and_again(pair: Pair) -> None:
    text = f"trace @lengths sha256={'0' * 64} 100 200 350"
    work = task(size=text)
    [case] = flows.cases(work.parameters)
    trial = run_trial(work, case, flows.flows(work.parameters, case), *pair)
    result = judge(trial)[0]
    lengths = result.sent.length.tolist()
    assert len(lengths) > 10
    assert lengths == [(100, 200, 350)[n % 3] for n in range(len(lengths))]
    assert result.size_distance is not None and result.size_distance < 1 / len(lengths)
