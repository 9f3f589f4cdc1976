"""What needs a terminal or a shell: the question before changes, bars, completion, Ctrl-C."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.conftest import STUDY, Shop

pytestmark = pytest.mark.slow

CHANGING = STUDY.replace("cpus = [0]", "settings = { cpu_quota_percent = 90.0 }")


def in_terminal(shop: Shop, answer: str, *words: str) -> tuple[int, str]:
    """Run the command in a pseudo terminal; what it shows, with the answer typed in."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pentathlon", *words],
        cwd=shop.directory,
        env={**shop.variables(), "TERM": "xterm"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    os.write(master, answer.encode())
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([master], [], [], 0.2)
        if ready:
            try:
                shown += os.read(master, 65536)
            except OSError:  # the other end is closed
                break
        elif process.poll() is not None:
            break
    os.close(master)
    return process.wait(timeout=30), shown.decode(errors="replace")


@pytest.fixture
def changing(shop: Shop) -> str:
    """A study that changes a setting of the machine: a quota in a new control group."""
    file = shop.write(CHANGING, "changing.toml")
    done = shop.call("plan", file, "--no-pilot")
    if done.code:
        pytest.skip(f"this user may change no setting: {done.err.strip()}")
    assert "put back afterwards" in " ".join(done.out.split())
    return file.name


def test_changes_are_asked_for(shop: Shop, changing: str) -> None:
    code, shown = in_terminal(shop, "n\n", "run", changing, "--no-pilot")
    assert code == 130 and "Go on?" in shown and "nothing was done" in shown
    assert shop.results() == []
    code, shown = in_terminal(shop, "y\n", "run", changing, "--no-pilot", "--no-report")
    assert code == 0 and len(shop.results()) == 1


def test_changes_are_asked_for_before_the_pilot(shop: Shop, changing: str) -> None:
    code, shown = in_terminal(shop, "n\n", "run", changing)
    assert code == 130 and "CPU quota of a new cgroup" in shown and "Go on?" in shown, shown
    assert "pilot" not in shown and shop.results() == []
    code, shown = in_terminal(shop, "y\n", "run", changing, "--no-report")
    assert code == 0 and shown.count("Go on?") == 1, shown
    assert shown.index("Go on?") < shown.index("pilot:") and len(shop.results()) == 1


def test_a_plan_changes_no_settings(shop: Shop, changing: str) -> None:
    done = shop.call("plan", changing)
    text = " ".join(done.out.split())
    assert done.code == 0 and "No pilot: a boot would change settings of this machine" in text
    assert "pilot:" not in done.err and "not estimated" in text


def test_nobody_is_asked_after_yes(shop: Shop, changing: str) -> None:
    code, shown = in_terminal(shop, "", "run", changing, "--yes", "--no-pilot", "--no-report")
    assert code == 0 and "Go on?" not in shown, shown


def test_nobody_is_asked_where_nothing_changes(shop: Shop) -> None:
    shop.write()
    code, shown = in_terminal(shop, "", "run", "study.toml", "--no-pilot", "--no-report")
    assert code == 0 and "Go on?" not in shown, shown


def test_bars_in_a_terminal(shop: Shop) -> None:
    shop.write()
    shop.options = {"delay_s": 0.02}
    code, shown = in_terminal(shop, "", "run", "study.toml", "--no-pilot", "--no-report")
    assert code == 0
    for words in ("block 1/2", "block 2/2", "9/9", "fake.", "left"):
        assert words in shown or words.replace("9/9", "6/6") in shown, shown


def test_stopped_in_the_pilot(shop: Shop) -> None:
    shop.options = {"delay_s": 0.5}
    process = shop.start("run", shop.write())
    deadline = time.monotonic() + 30
    undo = shop.directory / "state" / "pentathlon" / "undo"
    while not list(undo.glob("*.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "stopped by SIGTERM" in err
    assert "Traceback" not in err and shop.results() == []
    assert list(undo.glob("*.jsonl")) == [], "the session was put back"


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["pentathlon", "inv"], {"inventory"}),
        (["pentathlon", "results", ""], {"list", "show"}),
        (["pentathlon", "run", "--no"], {"--no-pilot", "--no-report"}),
    ],
)
def test_completion(shop: Shop, typed: list[str], offered: set[str]) -> None:
    shop.environment = {
        "_PENTATHLON_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(typed),
        "COMP_CWORD": str(len(typed) - 1),
    }
    process = shop.start()
    out, _ = process.communicate(timeout=30)
    assert set(out.split()) == offered


def test_nothing_to_restore(shop: Shop) -> None:
    done = shop.call("doctor", "--restore")
    assert done.code == 0 and done.out.strip() == "nothing was left changed"
