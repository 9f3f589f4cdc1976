"""A study is a program: `plan` starts nothing that it names, and a run asks first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import STUDY, Done, Shop
from tests.cli.test_terminal import in_terminal

pytestmark = pytest.mark.slow

COMMAND = 'steps = [{{ do = "fresh", command = "echo ran >> {marks}/command" }}]'
SYSTEMS = {
    "kernel": 'target = "uml"\nkernel = "{marks}/linux"',
    "argument": 'target = "uml"\nkernel = "newest"\numl_args = ["xterm={marks}/linux"]',
    "ssh": 'target = "ssh"\nssh = {{ host = "h", config = "{marks}/config" }}',
    "reboot": 'target = "ssh"\nssh = {{ host = "h", config = "{marks}/config", reboot = true }}',
    "agent": 'target = "wine"\nagent = "{marks}/agent.exe"',
    "peer": 'target = "netns"\n[system.peer]\ntarget = "ssh"\ninterfaces = ["x"]\n'
    'joined_to = ["y"]\nssh = {{ host = "h", config = "{marks}/config" }}',
    "peer kernel": 'target = "netns"\n[system.peer]\ntarget = "uml"\nkernel = "{marks}/linux"\n'
    'link = "wan-10m-50ms"',
}
"""What a study can name, as the second system has it."""


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """Where what a study names leaves a mark when it is started."""
    directory = tmp_path / "marks"
    directory.mkdir()
    kernel = directory / "linux"
    kernel.write_text(
        f"#!/bin/sh\necho ran >> {directory}/kernel\necho 6.1.2\n# Linux version 6.1.2 (x@y)\n"
    )
    kernel.chmod(0o755)
    (directory / "config").write_text(f"Host *\n ProxyCommand echo ran >> {directory}/ssh\n")
    (directory / "agent.exe").write_bytes(b"MZ")
    return directory


def started(marks: Path) -> list[str]:
    return sorted({"command", "kernel", "ssh"} & {path.name for path in marks.iterdir()})


def study_with(system: str, marks: Path) -> str:
    own = SYSTEMS[system].format(marks=marks)
    return STUDY.replace('name = "b"\ntarget = "local"\ncpus = [0]\n', f'name = "b"\n{own}\n')


def with_command(marks: Path) -> str:
    return STUDY.replace("retries = 1\n", f"retries = 1\n{COMMAND.format(marks=marks)}\n")


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_plan_starts_nothing_that_the_study_names(shop: Shop, marks: Path, system: str) -> None:
    file = shop.write(study_with(system, marks))
    for words in ([], ["--no-pilot"], ["--json"]):
        done = shop.call("plan", file, *words)
        assert started(marks) == []
        if done.code == 3:
            # What this machine lacks for the system was found without the study's own things.
            assert "cannot be prepared" in done.err and "ssh" not in system
            continue
        assert done.code == 0, done.err
        if "--json" in words:
            assert str(marks) in "".join(json.loads(done.out)["starts"])
            continue
        text = " ".join(done.out.split())
        assert "starts b: " in text and str(marks) in text.replace(" ", "")
        assert "none beyond an ordinary user" not in text
        assert "every right of " in text


@pytest.mark.parametrize("system", [*SYSTEMS, "command"])
def test_without_a_terminal_a_run_needs_yes(shop: Shop, marks: Path, system: str) -> None:
    text = with_command(marks) if system == "command" else study_with(system, marks)
    file = shop.write(text)
    calls: list[list[str | Path]] = [["run", file], ["run", file, "--no-pilot"]]
    calls.append(["calibrate", file, "--system", "b"])
    for words in calls:
        done = shop.call(*words)
        assert done.code == 2 and "--yes" in done.err and str(marks) in done.err, done.err
        assert len(done.err.strip().splitlines()) == 1, done.err
        assert started(marks) == [] and shop.results() == []


def test_yes_starts_it_and_lists_it_first(shop: Shop, marks: Path) -> None:
    file = shop.write(with_command(marks))
    planned = shop.call("plan", file)
    assert planned.code == 0 and started(marks) == []
    assert "No pilot" not in planned.out, "the pilot makes no system anew"
    done = shop.call("run", file, "--yes", "--no-report")
    assert done.code == 0 and started(marks) == ["command"]
    listed = f"a: the command `echo ran >> {marks}/command` on this machine, when"
    assert done.err.index(listed) < done.err.index("pilot: a is started")
    calibrated = shop.call("calibrate", file, "--blocks", "2", "--yes")
    assert calibrated.code == 0 and listed in calibrated.err


def test_a_kernel_file_that_does_not_start_is_said_by_its_first_boot(
    shop: Shop, marks: Path
) -> None:
    (marks / "linux").write_text("#!/bin/sh\n# Linux version 6.1.2 (x@y)\nexit 1\n")
    done = shop.call("run", shop.write(study_with("kernel", marks)), "--yes")
    assert done.code == 3 and shop.results() == [], done.err


def test_a_resumed_run_asks_again(shop: Shop, marks: Path) -> None:
    file = shop.write(with_command(marks))
    assert shop.call("run", file, "--yes", "--no-report", "--out", "r").code == 0
    (marks / "command").unlink()
    journal = shop.directory / "r" / "journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:2]))
    done = shop.call("run", "--resume", "r")
    assert done.code == 2 and "--yes" in done.err, done.err
    assert started(marks) == []
    done = shop.call("run", "--resume", "r", "--yes", "--no-report")
    assert done.code == 0 and started(marks) == ["command"], done.err


def test_a_terminal_is_asked_once(shop: Shop, marks: Path) -> None:
    shop.write(with_command(marks))
    code, shown = in_terminal(shop, "n\n", "run", "study.toml", "--no-pilot")
    assert code == 130 and "Go on?" in shown and "nothing was done" in shown
    assert f"echo ran >> {marks}/command" in shown.replace("\r\n", "")
    assert started(marks) == [] and shop.results() == []
    code, shown = in_terminal(shop, "y\n", "run", "study.toml", "--no-pilot", "--no-report")
    assert code == 0 and shown.count("Go on?") == 1, shown
    assert started(marks) == ["command"]


def test_the_list_shows_what_a_terminal_would_hide(shop: Shop) -> None:
    hidden = r'"true\u001b[2K\r\n\u202e"'
    text = STUDY.replace(
        "retries = 1\n", f'retries = 1\nsteps = [{{ do = "fresh", command = {hidden} }}]\n'
    )
    done: Done = shop.call("run", shop.write(text))
    assert done.code == 2 and r"`true\x1b[2K\r\n\u202e`" in done.err
