"""What upgrading gains in file tasks: planted gains come back inside their intervals."""

from __future__ import annotations

import pytest

from pentathlon.evaluate import evaluate, evaluation
from pentathlon.evaluate.derived.model import FileTask
from pentathlon.study.system import Peer
from pentathlon.targets import registry
from tests.fakes import synthetic_papers as planted
from tests.fakes.synthetic import Maker, same

FACTORS = {
    "old": same, "new-client": planted.newer_client, "new-server": same,
    "new": planted.newer_client,
}  # fmt: skip


def found(**settings):
    maker = Maker(
        factors=FACTORS, ends=planted.FILE_ENDS, chosen=list(planted.file_tasks()), **settings
    )
    return evaluate(maker.make()).derived.file_tasks


def upgrade(task: FileTask, system: str):
    (one,) = (one for one in task.upgrades if one.system == system)
    return one


def test_every_link_is_a_task_with_a_cell_for_each_pair_of_ends():
    tasks = found()
    assert [task.link for task in tasks] == list(planted.FILE_LINKS)
    ends = {cell.system: (cell.client, cell.server) for cell in tasks[0].cells}
    assert ends == planted.FILE_ENDS
    assert tasks[0].case_text == "10 MiB document, smb, cold"


@pytest.mark.parametrize(
    ("target", "was", "kernel", "behaves", "text"),
    [
        ("netns", None, None, "own", "own"),
        ("netns", None, None, "/somewhere/mine.toml", "mine"),
        ("uml", "6.1.176", "6.1", "own", "uml 6.1.176"),
        ("uml", "7.2.7", "newest", "xp", "uml 7.2.7, xp"),
        ("uml", "6.1.176", "/kernels/mine/linux", "own", "uml 6.1.176 (mine)"),
        # An old result whose plan does not say it.
        ("uml", None, "newest", "own", "uml newest"),
    ],
)
def test_an_end_is_told_by_its_behaviour_and_the_kernel_that_it_had(
    target: str, was: str | None, kernel: str | None, behaves: str, text: str
):
    described = {} if was is None else {"kernel": was}
    assert evaluation._end(registry.find(target), described, kernel, behaves) == text


@pytest.mark.parametrize(
    ("options", "kernel", "behaves", "text"),
    [
        ({"host": "bench1", "port": None}, "6.1.0-44-amd64", "own", "ssh bench1 6.1.0-44-amd64"),
        ({"host": "bench1", "port": 2222}, "6.1.0-44", "xp", "ssh bench1:2222 6.1.0-44, xp"),
        # Nobody has asked it for its kernel.
        ({"host": "bench2", "port": None}, "(not reached)", "own", "ssh bench2"),
        (None, None, "own", "ssh"),
    ],
)
def test_another_machine_is_told_by_its_name_and_its_kernel(
    options: dict[str, object] | None, kernel: str | None, behaves: str, text: str
):
    described = {"options": options, "kernel": kernel}
    assert evaluation._end(registry.find("ssh"), described, None, behaves) == text


def over_ssh(host: str, kernel: str = "6.1") -> dict[str, object]:
    return {"options": {"host": host, "port": None}, "kernel": kernel}


@pytest.mark.parametrize(
    ("old", "new", "phase"),
    [
        # (client, server) of the reference and of the other; None is a namespace of this machine.
        (("a", None), ("b", None), "client"),
        ((None, "a"), (None, "b"), "server"),
        (("a", "b"), ("c", "d"), "both"),
        (("a", "b"), ("a", "d"), "server"),
        ((None, None), ("a", None), "client"),
        (("a", "b"), ("a", "b"), "neither"),
    ],
)
def test_machines_that_differ_are_phases_of_an_upgrade(
    old: tuple[str | None, str | None], new: tuple[str | None, str | None], phase: str
):
    maker = Maker(
        factors={"old": same, "new": planted.newer_client}, chosen=list(planted.file_tasks()),
        ends=dict.fromkeys(("old", "new"), planted.FILE_ENDS["old"]),
    )  # fmt: skip
    made = maker.make()
    systems, targets = [], {}
    for system, (client, server) in zip(made.plan.study.systems, (old, new), strict=True):
        kinds = ["ssh" if end else "netns" for end in (client, server)]
        peer = Peer(target=kinds[1])
        systems.append(system.model_copy(update={"target": kinds[0], "peer": peer,
                                                 "behaves": "own"}))  # fmt: skip
        own = over_ssh(client) if client else {"kernel": "6.1"}
        targets[system.name] = own | {"server": over_ssh(server) if server else {"kernel": "6.1"}}
    study = made.plan.study.model_copy(update={"systems": tuple(systems)})
    made.plan = made.plan.model_copy(update={"study": study, "targets": targets})
    task, *_ = evaluate(made).derived.file_tasks
    (found,) = (one.phase for one in task.upgrades)
    assert found == phase
    labels = {cell.system: (cell.client, cell.server) for cell in task.cells}
    for name, ends in (("old", old), ("new", new)):
        assert labels[name] == tuple(f"ssh {end} 6.1" if end else "own" for end in ends)


def test_client_and_server_are_told_by_their_own_kernels():
    made = Maker(factors=FACTORS, chosen=list(planted.file_tasks()), blocks=1).make()
    name = made.plan.study.systems[0].name
    peer = Peer(kernel="6.1")
    own = made.plan.study.systems[0].model_copy(
        update={"target": "uml", "kernel": "newest", "peer": peer, "behaves": "own"}
    )
    study = made.plan.study.model_copy(update={"systems": (own,)})
    both = {"kernel": "7.2.7", "server": {"kernel": "6.1.176"}}
    for targets, reported in (
        ({name: both}, ("uml 7.2.7", "uml 6.1.176")),
        ({name: {"kernel": "7.2.7"}}, ("uml 7.2.7", "uml 7.2.7")),
    ):
        plan = made.plan.model_copy(update={"study": study, "targets": targets})
        assert evaluation._ends(plan, [name]) == {name: reported}


def test_phases_are_told_by_what_differs_from_the_reference():
    first, _ = found()
    phases = {one.system: one.phase for one in first.upgrades}
    assert phases == {"new-client": "client", "new-server": "server", "new": "both"}


def test_a_planted_gain_is_inside_its_interval_and_none_is_found_where_none_is():
    for task in found():
        gain, none = upgrade(task, "new").faster, upgrade(task, "new-server").faster
        assert gain.low < planted.FILE_GAIN < gain.high
        assert none.low < 1 < none.high
        trips = upgrade(task, "new").trips
        assert trips.value == pytest.approx(planted.FILE_GAIN, rel=0.02)


def test_the_share_of_round_trips_is_that_of_the_empty_link():
    for task, round_trip in zip(found(), planted.FILE_LINKS.values(), strict=True):
        old = task.cells[0]
        assert old.waiting == pytest.approx(100 * round_trip / (round_trip + 1), rel=0.03)
        assert old.least == pytest.approx(8.7, rel=0.03)


def test_one_sentence_tells_the_gain_and_its_reason():
    first, _ = found(noise=0.0, blocks=2)
    words = upgrade(first, "new-client").words
    assert words.startswith("2.50 times as fast (")
    assert words.endswith(
        "; 240 round trips instead of 600: 360 fewer of 50 ms are 18.0 s, and 18.4 s were saved"
    )
    # Where there are no fewer, none are the reason.
    assert upgrade(first, "new-server").words.endswith("; 600 round trips instead of 600")


def test_a_result_without_file_tasks_has_none():
    assert evaluate(Maker(blocks=2, iterations=2).make()).derived.file_tasks == ()
