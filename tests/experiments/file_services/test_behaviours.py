"""Behaviours are read, refused with a sentence, and turned into settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.experiments.file_services.behaviours import behaviour, newest
from pentathlon.machine.errors import TargetError


def test_those_of_the_paper_differ_where_a_link_shows_it() -> None:
    xp, vista = behaviour("xp"), behaviour("vista")
    assert xp.settings()["net/ipv4/tcp_rmem"] == "4096 32768 32768"
    assert xp.settings()["net/ipv4/tcp_window_scaling"] == "0"
    assert vista.settings()["net/ipv4/tcp_rmem"].endswith(" 16777216")
    assert (xp.outstanding, vista.outstanding) == (1, None)
    old, new = behaviour("server-2003"), behaviour("server-2008")
    assert [newest(client, server) for client in (xp, vista) for server in (old, new)] == [
        "smb1", "smb1", "smb1", "smb2.0",
    ]  # fmt: skip


def test_the_systems_own_changes_nothing() -> None:
    assert behaviour("own").settings() == {}


def test_a_factor_goes_before_the_behaviour() -> None:
    changed = behaviour("xp").with_factors(65536, "cubic").settings()
    assert changed["net/ipv4/tcp_rmem"] == "4096 65536 65536"
    assert changed["net/ipv4/tcp_congestion_control"] == "cubic"
    assert behaviour("xp").with_factors(0, "own") == behaviour("xp")


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[mine]\nreceive_buffer = [1, 2, 3]\nmost = 'smb2.1'\n")
    found = behaviour(str(file))
    assert (found.name, found.receive_buffer, found.most) == ("mine", (1, 2, 3), "smb2.1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[mine]\nwindow = 3\n", 'unknown key "window"'),
        ("[mine]\noutstanding = true\n", "outstanding must be of type int"),
        ("[mine]\nreceive_buffer = [1, 2]\n", "three sizes"),
        ("[mine]\nmost = 'smb9'\n", "most must be one of smb1"),
        ("mine = 3\n", "exactly one table"),
        ("[mine\n", "no valid TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(TargetError, match=message) as refused:
        behaviour(str(file))
    assert str(file) in str(refused.value)


def test_an_unknown_one_is_told_with_those_that_there_are() -> None:
    with pytest.raises(TargetError, match=r'no behaviour "win95".*vista.*xp'):
        behaviour("win95")
