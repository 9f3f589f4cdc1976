"""The time that a guest's processes waited for a CPU, from the host's scheduler."""

from __future__ import annotations

from pathlib import Path

from pentathlon.targets.run_delay import REFRESH_S, RunDelay


class Machine:
    """A directory that looks like /proc."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def thread(self, pid: int, tid: int, waited: int | str, children: str = "") -> None:
        """A thread that has waited so long."""
        own = self.place / str(pid) / "task" / str(tid)
        own.mkdir(parents=True, exist_ok=True)
        (own / "schedstat").write_text(f"123456 {waited} 7\n")
        (own / "children").write_text(children)


def test_threads_and_descendants_are_added_up(tmp_path, monkeypatch):
    now = 100.0
    monkeypatch.setattr("pentathlon.targets.run_delay.time.monotonic", lambda: now)
    machine = Machine(tmp_path)
    machine.thread(10, 10, 1_000, "20 ")
    machine.thread(10, 11, 500)
    machine.thread(20, 20, 70)
    delay = RunDelay(10, tmp_path)
    assert delay.since_last() == 0
    machine.thread(10, 11, 800)
    machine.thread(20, 20, 90)
    assert delay.since_last() == 320
    # A process that began counts from the first look at it, one that ended no more.
    machine.thread(10, 10, 1_001, "30 ")
    machine.thread(30, 30, 5_000)
    now += REFRESH_S
    assert delay.since_last() == 1
    machine.thread(30, 30, 5_004)
    assert delay.since_last() == 4


def test_a_machine_that_does_not_count_it_reports_nothing(tmp_path):
    machine = Machine(tmp_path)
    assert RunDelay(10, tmp_path).since_last() is None
    machine.thread(10, 10, "nonsense")
    assert RunDelay(10, tmp_path).since_last() is None
    for thread in range(300):
        machine.thread(11, thread, 1)
    assert RunDelay(11, tmp_path).since_last() is None
