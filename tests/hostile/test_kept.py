"""What a result keeps beside its tables: files of packets, and calibrations of the machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from pentathlon.cli.main import app
from pentathlon.procedure.records import AgentEvent
from pentathlon.protocol.events import Message, Unknown
from pentathlon.store import calibration
from pentathlon.store.journal import JournalWriter, StoreError
from pentathlon.store.packets import kept_trials
from pentathlon.store.query import load_result
from tests.cli.conftest import Shop
from tests.hostile import streams
from tests.hostile.mutate import damaged_text
from tests.hostile.test_events import begin

FLOW: dict[str, Any] = {
    "name": "1", "sent": 1, "due": None, "received": 1, "foreign": 0, "lateness_p99_s": 0.0,
    "gap_distance": None, "size_distance": None, "clocks": None,
}  # fmt: skip
NAME = "packets/000001.parquet"


def result(directory: Path, file: Any) -> Path:
    """A result with one trial whose packets lie in a file of this name."""
    begin(directory, streams.plan(1))
    event = {
        "event": "packets", "index": 0, "workload": "network.traffic", "case": {},
        "phase": "measure", "iteration": 0, "flows": [FLOW], "hosts": [{}, {}], "t_ns": 1,
        "file": file,
    }  # fmt: skip
    journal = JournalWriter(directory)
    # As a stranger would write it: not read before it is recorded.
    message = Message(Unknown(event="packets"), event)
    journal.append(AgentEvent(block=0, system="a", attempt=0, event=message))
    journal.close()
    return directory


def outside(directory: Path) -> Path:
    table = directory / "secret.parquet"
    pl.DataFrame({"secret": [4711]}).write_parquet(table)
    return table


def refused(directory: Path, message: str) -> None:
    """Every reader refuses with one sentence."""
    for read in (lambda: list(kept_trials(directory)), load_result(directory).trials):
        with pytest.raises(StoreError, match=message) as error:
            read()
        assert "\n" not in str(error.value)
    for words in ([], ["--trial", "1", "--out", str(directory / "out.csv")]):
        done = CliRunner().invoke(app, ["packets", str(directory), *words])
        assert done.exit_code == 2 and "Traceback" not in done.output, done.output
        assert not (directory / "out.csv").exists()


ELSEWHERE: list[Any] = [
    "{outside}", "../secret.parquet", "packets/../../secret.parquet", "packets/x/1.parquet",
    "/dev/zero", "packets/", "", 7, ["packets/000001.parquet"], "packets/1.parquet\n",
    "captures/000001.pcapng", "packets/\u0661.parquet",
]  # fmt: skip


@pytest.mark.parametrize("name", ELSEWHERE, ids=ascii)
def test_a_file_elsewhere_is_refused(name: Any, tmp_path: Path) -> None:
    file = name.format(outside=outside(tmp_path)) if isinstance(name, str) else name
    refused(
        result(tmp_path / "result", file),
        "as a file of packets|file is (7|a list), expected a text",
    )


@pytest.mark.parametrize("link", ["file", "folder"])
def test_a_symbolic_link_is_refused(link: str, tmp_path: Path) -> None:
    directory, secret = result(tmp_path / "result", NAME), outside(tmp_path)
    if link == "file":
        (directory / "packets").mkdir()
        (directory / NAME).symlink_to(secret)
    else:
        (tmp_path / "other").mkdir()
        secret.rename(tmp_path / "other" / "000001.parquet")
        (directory / "packets").symlink_to(tmp_path / "other")
    refused(directory, "is a symbolic link, which is not followed")


def test_own_files_are_read(tmp_path: Path) -> None:
    directory = result(tmp_path / "result", NAME)
    [trial] = kept_trials(directory)
    assert not trial.kept
    (directory / "packets").mkdir()
    outside(tmp_path).rename(directory / NAME)
    assert trial.kept and trial.packets()["secret"].to_list() == [4711]


# Calibrations.

FLOOR: dict[str, Any] = {
    "key": "w.one.time", "floor_percent": 2.0, "percent": 0.5, "low_percent": -1.0,
    "high_percent": 2.0, "log_ratios": [0.01, -0.02],
}  # fmt: skip
GOOD: dict[str, Any] = {
    "format": 1, "made": "2026-01-01T12:00:00Z", "plan_hash": "ab", "target": "local",
    "layer": "host", "cpu": "C", "memory_bytes": 1, "catalog_version": 4, "blocks": 10,
    "confidence": 0.95, "trials": 4, "alarms": 1, "alarm_rate": 0.25, "alarm_low": 0.01,
    "alarm_high": 0.8, "called": 0, "floors": [FLOOR],
}  # fmt: skip


def test_a_calibration_is_taken(tmp_path: Path) -> None:
    path = tmp_path / calibration.CALIBRATIONS
    other = {"format": 2, "anything": [1]}
    path.write_text(json.dumps([GOOD, other]))
    assert calibration.read_from_result(tmp_path) == [GOOD, other]
    path.unlink()
    assert calibration.read_from_result(tmp_path) == []


Change = Callable[[dict[str, Any]], Any]

WRONG: list[tuple[Change, str]] = [
    (lambda one: one.pop("floors"), r"\[0\].floors: Field required"),
    (lambda one: one.update(blocks="10"), r"\[0\].blocks: Input should be a valid integer"),
    (lambda one: one.update(blocks=0), r"\[0\].blocks: Input should be greater"),
    (lambda one: one.update(confidence=1.5), r"\[0\].confidence: Input should be less than 1"),
    (lambda one: one.update(made="yesterday"), r"\[0\].made: Invalid isoformat"),
    (lambda one: one.update(alarms=5), r"\[0\]: alarms are more than trials"),
    (lambda one: one.update(alarm_rate=0.9), r"\[0\]: alarm_rate is not between"),
    (lambda one: one.update(more=1), r"\[0\].more: Extra inputs"),
    (lambda one: one.update(format="1"), r"\[0\] has no whole number as its format"),
    (lambda one: one["floors"].append(FLOOR), r"\[0\]: floors have a key twice"),
    (lambda one: one["floors"][0].update(floor_percent=-1.0), r"floors\[0\].floor_percent: Input"),
    (lambda one: one["floors"][0].update(percent=float("nan")), r"floors\[0\].percent: Input"),
    (lambda one: one["floors"][0].update(percent=3.0), r"floors\[0\]: percent is not between"),
    (lambda one: one["floors"][0].update(log_ratios=[float("inf")]), r"log_ratios\[0\]: Input"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_a_wrong_field_is_named(change: Change, message: str, tmp_path: Path) -> None:
    document = json.loads(json.dumps(GOOD))
    change(document)
    (tmp_path / calibration.CALIBRATIONS).write_text(json.dumps([document]))
    with pytest.raises(StoreError, match=message) as error:
        calibration.read_from_result(tmp_path)
    text = str(error.value)
    assert text.startswith(
        f"{tmp_path / calibration.CALIBRATIONS} is no calibration that can be used: "
    )
    assert "`pentathlon calibrate`" in text and "\n" not in text
    state = tmp_path / "state"
    (state / calibration.DIRECTORY).mkdir(parents=True)
    (state / calibration.DIRECTORY / "x.json").write_text(json.dumps(document))
    with pytest.raises(StoreError, match="make it anew by `pentathlon calibrate`"):
        calibration.copy_to_result(state, tmp_path)


def test_damaged_calibrations_are_one_sentence(tmp_path: Path) -> None:
    path, whole = tmp_path / calibration.CALIBRATIONS, json.dumps([GOOD], indent=1)
    refusals = 0
    for seed in range(300):
        path.write_text(damaged_text(whole, Random(seed)), encoding="utf-8", errors="replace")
        try:
            calibration.read_from_result(tmp_path)
        except StoreError as error:
            refusals += 1
            assert str(path) in str(error) and "\n" not in str(error)
            assert len(str(error)) < 1000
    assert refusals > 200


def test_a_run_says_that_a_calibration_is_damaged_before_it_begins(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    place = shop.directory / "state" / "pentathlon" / calibration.DIRECTORY
    place.mkdir(parents=True)
    (place / "x.json").write_text(json.dumps({**GOOD, "blocks": None}))
    done = shop.call("run", shop.write(), "--no-pilot", "--out", "found")
    assert done.code == 2 and "blocks: Input should be a valid integer" in done.err
    assert not (shop.directory / "found").exists()
