"""A session: timeouts, ends, torn output, and that nothing is left."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pentathlon.machine import processes
from pentathlon.machine.errors import TargetError
from pentathlon.protocol.requests.session import Placement
from pentathlon.targets.local.target import LocalTarget
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem, request

Make = Callable[..., LocalTarget]


def test_events_come_in_order(local: Make) -> None:
    with local().boot(10) as session:
        events = documents(session.run(request("good"), 10, 10))
    assert [event["event"] for event in events] == ["sample"] * 5 + ["done"]
    assert [event["iteration"] for event in events[:-1]] == list(range(5))


def test_many_events_arrive_whole(local: Make) -> None:
    with local().boot(10) as session:
        events = documents(session.run(request("many"), 10, 60))
    assert [event["iteration"] for event in events[:-1]] == list(range(20000))


def test_a_hanging_agent_is_an_idle_timeout(local: Make) -> None:
    got = []
    with (
        local().boot(10) as session,
        pytest.raises(TargetError, match=r'system "sut": no event came for 0\.5 s'),
    ):
        for _, event in session.run(request("hang"), 0.5, 60):
            got.append(event)
    assert [event["event"] for event in got] == ["sample"]


def test_an_endless_agent_meets_the_total_limit(local: Make) -> None:
    with local().boot(10) as session, pytest.raises(TargetError, match="the time limit is over"):
        documents(session.run(request("endless"), 60, 0.5))


def test_an_agent_that_ignores_signals_is_ended_with_its_children(local: Make) -> None:
    pids: list[int] = []
    with local().boot(10) as session, pytest.raises(TargetError, match="no event came"):
        for _, event in session.run(request("stubborn"), 0.5, 60):
            pids = event["pids"]
    assert len(pids) == 3
    assert not [pid for pid in pids if alive(pid)]


def alive(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_an_agent_that_dies_names_status_and_last_words(local: Make) -> None:
    with (
        local().boot(10) as session,
        pytest.raises(TargetError, match=r"exit status 3 before .*the disk is on fire"),
    ):
        documents(session.run(request("dies"), 10, 10))


def test_an_agent_that_is_killed_names_the_signal(local: Make) -> None:
    with local().boot(10) as session, pytest.raises(TargetError, match="ended by signal 11"):
        documents(session.run(request("killed"), 10, 10))


def test_torn_output_is_refused(local: Make) -> None:
    with local().boot(10) as session, pytest.raises(TargetError, match="torn"):
        documents(session.run(request("torn"), 10, 10))


def test_output_that_ends_in_a_line_says_so(local: Make) -> None:
    with (
        local().boot(10) as session,
        pytest.raises(TargetError, match=r"exit status 0 before .* in the middle of the line"),
    ):
        documents(session.run(request("cut"), 10, 10))


def test_lost_lines_are_found_by_the_count(local: Make) -> None:
    with (
        local().boot(10) as session,
        pytest.raises(TargetError, match="sent 5 samples and 4 arrived"),
    ):
        documents(session.run(request("lost"), 10, 10))


def test_noise_does_not_block_the_agent(local: Make) -> None:
    with local().boot(10) as session:
        events = documents(session.run(request("chatty"), 10, 30))
        assert any(line.startswith("noise") for line in session.boot_log)
    assert events[-1]["samples"] == 5


def test_a_request_larger_than_a_pipe_arrives(local: Make) -> None:
    text = "x" * 1_000_000
    with local().boot(10) as session:
        events = documents(session.run(request("echo", session=text), 10, 30))
    assert events[0]["request"]["session"] == text


def test_an_agent_that_never_reads_is_an_idle_timeout(
    local: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    # -I keeps the environment, so the script sees the variable.
    monkeypatch.setenv("SCRIPTED_AGENT", "deaf")
    with local().boot(10) as session, pytest.raises(TargetError, match="no event came"):
        documents(session.run(request("good", session="x" * 1_000_000), 0.5, 60))


def test_a_session_serves_one_request(local: Make) -> None:
    with local().boot(10) as session:
        documents(session.run(request("good"), 10, 10))
        with pytest.raises(TargetError, match="boot it anew"):
            documents(session.run(request("good"), 10, 10))


def test_stopping_in_the_middle_leaves_nothing(local: Make) -> None:
    session = local().boot(10)
    events = session.run(request("endless"), 10, 60)
    assert next(events).document["event"] == "sample"
    session.stop()
    session.stop()


def test_it_is_stopped_while_another_thread_waits_for_its_events(
    local: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other thread sees the end of the agent, and stops the session too."""
    session = local().boot(10)
    began, ended = threading.Event(), threading.Event()
    sentences: list[str] = []

    def listen() -> None:
        try:
            for _ in session.run(request("hang"), 60, 60):
                began.set()
        except TargetError as error:
            sentences.append(str(error))
        finally:
            ended.set()

    end = processes.end_session

    def end_and_let_the_other_thread_go_on(token: str, leader: int, start: int) -> list[int]:
        left = end(token, leader, start)
        if threading.current_thread() is threading.main_thread():
            ended.wait(0.5)
        return left

    monkeypatch.setattr(processes, "end_session", end_and_let_the_other_thread_go_on)
    other = threading.Thread(target=listen)
    other.start()
    assert began.wait(10)
    session.stop()
    other.join()
    assert len(sentences) == 1 and 'before "done"' in sentences[0]
    session.stop()


def test_a_session_that_was_never_used_stops(local: Make) -> None:
    local().boot(10).stop()


def test_an_agent_that_lingers_after_done_is_ended(
    local: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pentathlon.targets.session.EXIT_GRACE_S", 0.2)
    with local().boot(10) as session:
        assert documents(session.run(request("lingers"), 10, 10))[-1]["event"] == "done"


def test_the_consumers_own_time_is_not_the_agents_silence(local: Make) -> None:
    with local().boot(10) as session:
        for _, event in session.run(request("good"), 1.0, 60):
            if event.get("iteration") == 0:
                time.sleep(1.3)
    assert event["event"] == "done"


def test_the_request_is_completed_and_never_overridden(local: Make, tmp_path: Path) -> None:
    wanted = request("echo", placement=Placement(nice=3), scratch=str(tmp_path))
    cpu = max(os.sched_getaffinity(0))
    with local(cpus=(cpu,)).boot(10) as session:
        got = next(iter(session.run(wanted, 10, 10))).document["request"]
    assert got["placement"] == {"cpus": [cpu], "nice": 3}
    assert got["scratch"] == str(tmp_path)


def test_nothing_said_is_nothing_sent(local: Make) -> None:
    with local().boot(10) as session:
        got = next(iter(session.run(request("echo", placement=None), 10, 10))).document["request"]
    assert "placement" not in got
    assert Path(got["scratch"]).name.startswith("pentathlon-")


def test_a_missing_agent_is_one_sentence(state: Path, tmp_path: Path) -> None:
    target = LocalTarget(FakeSystem(), tmp_path / "nothing", state)
    with pytest.raises(TargetError, match=r"the agent .*nothing cannot be executed"):
        target.boot(10)


def test_an_old_kernel_without_pidfd_does_as_well(
    local: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("os.pidfd_open", refuse)
    with local().boot(10) as session:
        assert documents(session.run(request("good"), 10, 10))[-1]["event"] == "done"
    with local().boot(10) as session, pytest.raises(TargetError, match="exit status 3"):
        documents(session.run(request("dies"), 10, 10))


def test_a_pipe_held_open_by_somebody_else_is_no_life(local: Make) -> None:
    """The system ends without `done`, and a process that it left keeps its output open."""
    with local().boot(10) as session, pytest.raises(TargetError, match="exit status 5 before"):
        documents(session.run(request("leaves"), 60, 60))
