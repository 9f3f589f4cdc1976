"""The links of a boot: made once, tried again where they are refused, and ended with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.file_services import service
from pentathlon.experiments.file_services.behaviours import behaviour
from pentathlon.machine.errors import TargetError
from pentathlon.protocol.requests.session import WorkloadRequest
from pentathlon.testbed.link.calibrate import Calibration, LinkRefused
from pentathlon.testbed.trial import Task
from tests.fakes.messages import documents


@dataclass
class FakeGround:
    link: None = None
    stopped: bool = False

    def stop(self) -> None:
        self.stopped = True

    def opening(self, task: Any) -> list[dict[str, Any]]:
        return []


@dataclass
class Maker:
    """Refuses each link as often as it is to."""

    refusals: dict[str, int]
    made: list[FakeGround] = field(default_factory=list)
    scratch: Path | None = None

    def __call__(self, link: str, timeout_s: float, scratch: Path) -> Any:
        assert scratch.is_dir()
        self.scratch = scratch
        if link == "broken":
            raise TargetError("the link cannot be made")
        if self.refusals.get(link, 0):
            self.refusals[link] -= 1
            raise LinkRefused(f"{link} is refused", Calibration(link, "test"))
        self.made.append(FakeGround())
        return self.made[-1]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The links whose cases were run, in their order."""
    found: list[str] = []

    def run_link(task: Task, link: str, *rest: Any) -> Iterator[dict[str, Any]]:
        found.append(link)
        return iter(())

    monkeypatch.setattr(service, "run_link", run_link)
    return found


def boot(tmp_path: Path, **refusals: int) -> tuple[Maker, service.FileServiceInUse]:
    maker, own = Maker(refusals), behaviour("own")
    return maker, service.FileService(maker, (own, own), tmp_path).boot(1.0)


def task(*links: str) -> Task:
    return Task(
        0, 1, "0" * 16, 7, WorkloadRequest(id="files.copy", parameters={"links": list(links)})
    )


def test_a_refused_link_is_tried_again_after_the_others(tmp_path: Path, ran: list[str]) -> None:
    _, boot_ = boot(tmp_path, b=1)
    events = documents(boot_.run(task("a", "b", "c")))
    assert ran == ["a", "c", "b"]
    assert [event["profile"] for event in events if event["event"] == "link"] == ["b"]


def test_one_that_cannot_be_made_does_not_end_the_others(tmp_path: Path, ran: list[str]) -> None:
    _, boot_ = boot(tmp_path)
    list(boot_.run(task("broken", "a")))
    assert ran == ["broken", "a"]


def test_links_are_kept_for_the_next_task_and_ended_with_the_boot(
    tmp_path: Path, ran: list[str]
) -> None:
    maker, boot_ = boot(tmp_path)
    list(boot_.run(task("a")))
    list(boot_.run(task("a", "b")))
    assert len(maker.made) == 2
    boot_.give_up("a")
    assert maker.made[0].stopped and not maker.made[1].stopped
    boot_.stop()
    assert maker.made[1].stopped
    # The files of the tasks are gone with the boot.
    assert maker.scratch is not None and not maker.scratch.exists()
