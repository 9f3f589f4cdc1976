"""Packages of a distribution: what is said where they cannot be fetched."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pentathlon.machine import packages
from pentathlon.machine.errors import TargetUnavailable

pytestmark = pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt-get")


def test_an_unreachable_mirror_is_called_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Port 9 of this machine: nobody answers.
    address = "http://127.0.0.1:9/debian"
    monkeypatch.setenv(packages.MIRROR_VARIABLE, address)
    with pytest.raises(TargetUnavailable) as caught:
        packages.ScratchApt("bookworm", tmp_path)
    assert caught.value.reason.startswith(f"the package mirror {address} cannot be read")
    assert packages.MIRROR_VARIABLE in (caught.value.remedy or "")
