"""A run that limits the idle states of this machine's CPUs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self

import pytest

from tests.cli.conftest import STUDY, Shop

LIMITED = STUDY.replace("retries = 1\n", "retries = 1\ncpu_latency_us = 20\n")


class Request:
    """Notes what is requested, in place of the kernel."""

    noted: list[int | str | None]

    def limit(self, us: int | None) -> None:
        self.noted.append(us)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.noted.append("end")


@pytest.fixture(autouse=True)
def noted(monkeypatch: pytest.MonkeyPatch) -> list[int | str | None]:
    Request.noted = []
    monkeypatch.setattr("pentathlon.procedure.idling.lack", lambda device: None)
    monkeypatch.setattr("pentathlon.cli.resume.lack", lambda: None)
    monkeypatch.setattr("pentathlon.cli.session.CpuLatency", Request)
    return Request.noted


def journal(shop: Shop) -> Path:
    return shop.directory / "r" / "journal.jsonl"


def test_a_stated_limit_holds_for_the_whole_run_and_is_in_the_result(
    shop: Shop, noted: list[int | str | None]
) -> None:
    done = shop.call("run", shop.write(LIMITED), "--out", "r", "--no-pilot")
    assert done.code == 0, done.err
    assert noted == [20, "end"]
    assert json.loads(journal(shop).read_text().splitlines()[0])["cpu_latency_us"] == 20
    page = (shop.directory / "r" / "report.html").read_text()
    assert "only those left within 20 µs, in the whole run" in page


def test_a_study_without_a_limit_or_turns_requests_none(
    shop: Shop, noted: list[int | str | None]
) -> None:
    done = shop.call("run", shop.write(STUDY), "--out", "r", "--no-pilot")
    assert done.code == 0, done.err
    assert noted == []
    assert json.loads(journal(shop).read_text().splitlines()[0])["cpu_latency_us"] is None
    assert "Idle states" not in (shop.directory / "r" / "report.html").read_text()


def test_a_run_goes_on_only_with_its_limit(
    shop: Shop, noted: list[int | str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = shop.write(LIMITED)
    assert shop.call("run", file, "--no-report", "--out", "r", "--no-pilot").code == 0
    lines = journal(shop).read_text().splitlines(keepends=True)
    journal(shop).write_text("".join(lines[:2]))
    with monkeypatch.context() as without:
        without.setattr("pentathlon.cli.resume.lack", lambda: "the file is closed")
        done = shop.call("run", "--resume", "r", "--yes")
    assert done.code == 2
    assert "limits the idle states of the CPUs to 20 µs, and the file is closed" in done.err
    done = shop.call("run", "--resume", "r", "--yes", "--no-report")
    assert done.code == 0, done.err
    assert noted == [20, "end"] * 2
