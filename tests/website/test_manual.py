"""The manual page: every command is in it, and troff takes every line."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

import pytest
import typer

from pentathlon.cli.exits import Exit
from pentathlon.cli.main import app
from website import manual
from website.reference.commands import every_command


@cache
def page() -> str:
    return manual.page()


def test_every_command_option_and_status_is_in_it() -> None:
    plain = page().replace("\\-", "-")
    commands = every_command(typer.main.get_group(app), "pentathlon")
    assert len(commands) > 30
    for name, command in commands:
        assert f"\n.SS {name}" in plain
        for one in command.params:
            for option in one.opts if one.param_type_name == "option" else ():
                assert option in plain, (name, option)
    for status in Exit:
        assert f"\n\\fB{status.value}\\fR\n" in page()
    assert "PENTATHLON_AGENT" in page()


def test_no_line_of_a_text_is_a_request() -> None:
    requests = {line.split()[0] for line in page().splitlines() if line.startswith((".", "'"))}
    assert requests <= {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".RS", ".RE", ".nf", ".fi"}


def test_troff_has_no_warning() -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("no groff: apt-get install groff")
    command = [groff, "-man", "-Tutf8", "-ww", "-K", "utf8"]
    if subprocess.run(command, input=b"", capture_output=True, check=False).returncode:
        pytest.skip("groff has no macros for manual pages: apt-get install groff")
    done = subprocess.run(
        command, input=page(), capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    assert "pentathlon try" in done.stdout
