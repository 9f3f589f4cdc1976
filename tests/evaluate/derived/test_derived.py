"""Derived figures with planted truths: found within their intervals, and not seen where absent."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.derived.derive import configured
from pentathlon.evaluate.derived.read_ahead import find_limit, standard_error
from pentathlon.evaluate.derived.sub_looping import best_set
from pentathlon.evaluate.facts import Inventory
from pentathlon.study.plan import Step
from tests.fakes import synthetic_papers as planted
from tests.fakes.synthetic import KIB, MIB, Maker, same

pytestmark = pytest.mark.slow

CHUNKS = planted.CHUNKS
FINE = np.arange(4, 129, 4) * float(KIB)


def evaluated(items, **settings):
    """One system with 5 boots, unless stated otherwise."""
    return evaluate(Maker(factors={"uml-6.1": same}, chosen=list(items), **settings).make()).derived


# --- code size -----------------------------------------------------------------------------------


@pytest.mark.parametrize("knee", [32 * KIB, 100 * KIB, 500 * KIB])
def test_a_planted_knee_is_inside_its_interval(knee):
    found = evaluated(planted.code_size(knee))
    assert [one.opt_level for one in found.code_sizes] == ["0", "1", "2", "3"]
    for one in found.code_sizes:
        assert one.seen
        assert one.knees[0].low_bytes <= knee <= one.knees[0].high_bytes
        assert one.knees[0].high_bytes <= 2 * one.knees[0].low_bytes


def test_knees_hold_the_truth_in_19_of_20_cases():
    hits = total = 0
    for seed in range(6):
        for one in evaluated(planted.code_size(200 * KIB), seed=seed, noise=3.0).code_sizes:
            total += 1
            hits += any(k.low_bytes <= 200 * KIB <= k.high_bytes for k in one.knees)
    assert hits / total >= 0.95


def test_code_of_one_speed_has_no_knee():
    for one in evaluated(planted.code_size(None)).code_sizes:
        assert not one.seen
        assert one.words[0].startswith("no knee between 4 KiB and")


def test_a_knee_stands_beside_the_instruction_cache():
    found = evaluated(planted.code_size(32 * KIB)).code_sizes[3]
    assert any("L1i 32 KiB claimed" in words and "agrees" in words for words in found.words)
    assert not any("L1d" in words for words in found.words)


def test_a_knee_below_every_cache_is_none_of_them():
    for one in evaluated(planted.code_size(14 * KIB)).code_sizes:
        assert one.seen
        assert one.knees[0].low_bytes <= 14 * KIB <= one.knees[0].high_bytes < 32 * KIB
        assert "decoded instructions" in one.words[0]
        assert {check.level: check.outcome for check in one.checks} == {
            "L1i": "not seen",
            "L2": "outside",
            "L3": "outside",
        }


def test_a_cache_larger_than_the_code_takes_no_knee():
    for one in evaluated(planted.code_size(300 * KIB)).code_sizes:
        assert [check.outcome for check in one.checks[1:]] == ["outside", "outside"]
        assert "no claimed cache explains" in one.words[-1]


def test_few_sizes_give_no_knee():
    found = evaluated(planted.code_size(sizes=planted.CODE_SIZES[:5])).code_sizes[0]
    assert not found.seen
    assert "too few" in found.words[0]


# --- sub-looping ---------------------------------------------------------------------------------


def test_a_planted_best_piece_is_named():
    found = evaluated(planted.sub_looping())
    assert [one.total_bytes for one in found.optima] == [8 * MIB, 32 * MIB]
    for one in found.optima:
        assert one.best_bytes == planted.BEST_PIECE
        assert one.set_bytes == (planted.BEST_PIECE,)
        assert one.gain is not None
        steps = np.log2(one.total_bytes / planted.BEST_PIECE)
        assert one.gain.low < 1.0 + 0.12 * steps < one.gain.high


@pytest.mark.parametrize("boots", [3, 5])
def test_the_set_holds_the_best_at_the_stated_rate(boots):
    generator = np.random.default_rng(20030101)
    truth = 1.0 + 0.004 * np.abs(np.arange(14) - 6)
    held = 0
    for _ in range(600):
        times = truth * np.exp(generator.normal(0.0, 0.01, (boots, 14)))
        held += 6 in best_set(times, 0.05)
    assert held / 600 >= 0.95


def test_equal_pieces_have_no_optimum():
    seen = []
    for seed in range(10):
        for one in evaluated(planted.sub_looping(best=None), seed=seed).optima:
            seen.append(one.seen)
            assert one.seen == (one.best_bytes is not None)
            assert one.seen != one.words.startswith("not seen")
    assert sum(seen) <= 3


def test_two_boots_name_no_piece():
    one = evaluated(planted.sub_looping(), blocks=2).optima[0]
    assert one.best_bytes is None
    assert one.set_bytes == ()
    assert "too few" in one.words


@given(st.integers(0, 10_000), st.integers(2, 9))
def test_the_lowest_mean_is_always_in_the_set(seed, pieces):
    times = np.random.default_rng(seed).lognormal(0.0, 0.3, (4, pieces))
    assert int(np.argmin(np.mean(np.log(times), axis=0))) in best_set(times, 0.05)


# --- read-ahead ----------------------------------------------------------------------------------


def ratios(chunks, limit, seek=5e-3, rate=50e6):
    """ln(sequential / random) of a disk with a fixed time for each request."""
    ahead = np.maximum(limit, chunks)
    return np.log(ahead / (seek + ahead / rate) * (seek + chunks / rate) / chunks)


@pytest.mark.parametrize("chunks", [CHUNKS, FINE], ids=["doubling", "fine"])
@pytest.mark.parametrize("limit", [16 * KIB, 40 * KIB, 64 * KIB])
def test_planted_limits_are_found_at_the_stated_rate(chunks, limit):
    generator = np.random.default_rng(3)
    found = [
        find_limit(chunks, ratios(chunks, limit) + generator.normal(0.0, 0.04, len(chunks)), 0.04)
        for _ in range(20)
    ]
    hits = [one is not None and one.low <= limit <= one.high for one in found]
    assert np.mean(hits) >= 0.95
    assert np.median([one.high / one.low for one in found if one]) <= 4.0


@pytest.mark.parametrize(
    "ratio",
    [
        np.zeros(len(CHUNKS)),
        np.full(len(CHUNKS), 2.3),
        3.0 - 0.3 * np.log(CHUNKS / KIB),
        ratios(CHUNKS, 8.0 * MIB),
        ratios(CHUNKS, 1.0),
    ],
    ids=["equal", "tenfold", "a line", "beyond the grid", "none"],
)
def test_no_limit_is_not_seen(ratio):
    generator = np.random.default_rng(4)
    wrong = [
        find_limit(CHUNKS, ratio + generator.normal(0.0, noise, len(CHUNKS)), noise)
        for noise in (0.01, 0.05, 0.15)
        for _ in range(20)
    ]
    assert sum(one is not None for one in wrong) <= 3


@pytest.mark.parametrize("limit", [16 * KIB, 32 * KIB, 64 * KIB])
@pytest.mark.parametrize("step", [-1.5, 1.0])
def test_another_level_of_chunks_of_several_limits_hides_no_limit(limit, step):
    generator = np.random.default_rng(6)
    chunks = CHUNKS[0] * 2.0 ** np.arange(11)
    planted_ratio = ratios(chunks, limit) + np.where(chunks >= 4 * limit, step, 0.0)
    found = [
        find_limit(chunks, planted_ratio + generator.normal(0.0, 0.1, len(chunks)), 0.1)
        for _ in range(20)
    ]
    hits = [one is not None and one.low <= limit <= one.high for one in found]
    assert np.mean(hits) >= 0.95
    assert np.median([one.high / one.low for one in found if one]) <= 4.0


@pytest.mark.parametrize(
    ("claimed_kib", "advantage", "error"),
    [
        (32, [3.7, 3.09, 2.34, 1.74, 1.13, 0.48, 0.71, 0.8, -1.16, -1.48, -1.61, -0.82], 0.13),
        (64, [3.43, 3.54, 3.06, 2.28, 1.47, 1.02, 0.64, 0.77, -1.19, -1.44, -1.54, 0.58], 0.23),
        (128, [3.28, 3.36, 3.34, 2.71, 2.07, 1.61, 1.24, 0.94, 0.93, -1.34, -1.63, -0.01], 0.17),
    ],
)
def test_measured_limits_are_those_that_the_device_had_been_told(claimed_kib, advantage, error):
    """ln(sequential / random_unaligned) of disk.order on a loop device over a file in memory whose
    read_ahead_kb had been set: Linux 6.18, means of four boots, and their error."""
    kib = np.array([1, 2, 4, 8, 16, 32, 64, 96, 128, 256, 512, 1024])
    found = find_limit(kib * float(KIB), np.array(advantage), error)
    assert found is not None
    assert found.low <= claimed_kib * KIB <= found.high <= 4 * found.low


def test_what_shifts_a_whole_boot_is_no_error_of_the_curve():
    generator = np.random.default_rng(8)
    shifts = np.array([[0.0], [0.7], [-0.4], [0.2]])
    assert standard_error(ratios(CHUNKS, 64 * KIB) + shifts) == pytest.approx(0.0, abs=1e-12)
    found = [
        standard_error(shifts + generator.normal(0.0, 0.1, (4, len(CHUNKS)))) for _ in range(200)
    ]
    assert np.sqrt(np.mean(np.square(found))) == pytest.approx(0.05, rel=0.05)


def test_the_limit_stands_beside_the_configured_one():
    found = evaluated(planted.order())
    assert len(found.read_ahead) == 2
    for one in found.read_ahead:
        assert one.configured_bytes == 64 * KIB
        assert one.outcome == "agrees"
        assert one.low_bytes <= 64 * KIB <= one.high_bytes


def test_a_limit_elsewhere_does_not_agree():
    one = evaluated(planted.order(limit=16 * KIB)).read_ahead[0]
    assert one.outcome == "smaller"
    assert not evaluated(planted.order(limit=None)).read_ahead[0].seen


def test_one_boot_shows_no_limit():
    one = evaluated(planted.order(), blocks=1).read_ahead[0]
    assert (one.outcome, one.low_bytes) == ("too few", None)


def test_the_device_of_a_partition():
    inventories_of = Inventory(
        {
            "filesystems.scratch.block_device": "nvme0n1p2",
            "block_devices.nvme0n1.read_ahead_kb": 128,
        }
    )
    assert configured(inventories_of) == 128 * KIB
    assert configured(Inventory()) is None


# --- regions -------------------------------------------------------------------------------------


def test_regions_and_latencies_of_a_planted_machine():
    (one,) = evaluated(planted.regions()).regions
    assert [region.name for region in one.regions] == ["cache", "RAM", "swap"]
    for (_, low, high), capacity in zip(one.boundaries, (planted.CACHE, planted.RAM), strict=True):
        assert low <= capacity <= high
    cache, ram, swap = planted.PAGE_NS_PER_BYTE
    assert one.region("cache").read.value == pytest.approx(1000 / cache, rel=0.03)
    assert one.region("RAM").write.value == pytest.approx(1000 / ram / 1.5, rel=0.03)
    first, second = one.latency("cache–RAM"), one.latency("RAM–swap")
    assert first.seconds.low < 4096e-9 * (ram - cache) < first.seconds.high
    assert second.seconds.value == pytest.approx(4096e-9 * (swap - ram), rel=0.05)


def test_the_latency_is_computed_as_in_the_study():
    """4096 B at 2888.2118 and 1264.58296 MB/s of 2^20 B: 1.736e-6 s (venkata2003, 3.1.2)."""
    items = list(planted.regions(swap=False))
    for item in items:
        fits = item.case["block_bytes"] <= planted.CACHE
        mebi = 2888.2118 if fits else 1264.58296
        object.__setattr__(item, "value", mebi * 1.048576)
    (one,) = evaluated(items, noise=0.0).regions
    assert one.latency("cache–RAM").seconds.value == pytest.approx(1.736e-6, rel=1e-3)


def test_without_swap_no_swap_is_claimed():
    (one,) = evaluated(planted.regions(swap=False)).regions
    assert [region.name for region in one.regions] == ["cache", "RAM"]
    assert "no block reached the swap" in one.words


def test_a_high_step_is_no_swap_where_the_study_kept_blocks_in_memory():
    """The same curve that has a swap above, as a noisy machine may draw it."""
    result = Maker(factors={"uml-6.1": same}, chosen=list(planted.regions())).make()
    step = Step(
        suite="memory", workload="memory.regions", parameters={"swap": False}, qualified=False,
        iterations=1, warmup=0, processes=1, sample_ms=1.0, timeout_s=1.0,
    )  # fmt: skip
    plan = result.plan.model_copy(update={"steps": {"uml-6.1": (step,)}})
    (one,) = evaluate(dataclasses.replace(result, plan=plan)).derived.regions
    assert one.region("swap") is None
    assert "no block reached the swap" in one.words


def test_a_level_curve_has_no_regions():
    (one,) = evaluated(planted.regions(blocks=planted.BLOCKS[:8])).regions
    assert one.regions == ()
    assert "no step" in one.words[0]
