"""Which CPUs a system gets, and that this program keeps off them."""

import os
import threading

import pytest

from pentathlon.machine import cpus, launch
from pentathlon.machine.errors import TargetUnavailable


def test_negative_numbers_count_from_the_last_cpu() -> None:
    last = max(cpus.AVAILABLE)
    assert cpus.resolve([-1]) == (last,)
    assert cpus.resolve([min(cpus.AVAILABLE)]) == (min(cpus.AVAILABLE),)
    assert cpus.resolve(None) is None


def test_a_cpu_that_is_not_there_is_named() -> None:
    cpus.check(cpus.AVAILABLE)
    cpus.check(None)
    assert cpus.resolve([-5000]) == (-5000,)
    with pytest.raises(TargetUnavailable, match="CPU -5000 is not available"):
        cpus.check([-5000])


@pytest.mark.skipif(len(cpus.AVAILABLE) < 2, reason="needs two CPUs")
def test_every_thread_leaves_the_measuring_cpu_and_comes_back() -> None:
    last = max(cpus.AVAILABLE)
    seen: list[set[int]] = []
    go = threading.Event()

    def other_thread() -> None:
        go.wait(10)
        seen.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=other_thread)
    thread.start()
    with cpus.kept_off([last]):
        go.set()
        thread.join()
        seen.append(os.sched_getaffinity(0))
        assert launch.wrap(["true"])[-2] == ",".join(map(str, sorted(cpus.AVAILABLE)))
    assert seen == [set(cpus.AVAILABLE) - {last}] * 2
    assert os.sched_getaffinity(0) == cpus.AVAILABLE
    assert "taskset" not in " ".join(launch.wrap(["true"]))


def test_where_every_cpu_measures_nothing_moves() -> None:
    with cpus.kept_off(cpus.AVAILABLE):
        assert os.sched_getaffinity(0) == cpus.AVAILABLE
