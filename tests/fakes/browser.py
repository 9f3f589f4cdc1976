"""A real browser without a screen and without a network."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium: apt install chromium")


def after_scripts(path: Path, profile: Path) -> tuple[str, list[str]]:
    """The document as the browser has it after all scripts, and what it complained about.

    Args:
        profile: directory of the browser's own.
    """
    assert BROWSER is not None
    done = subprocess.run(
        [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
            f"--user-data-dir={profile}", "--window-size=1280,20000",
            "--virtual-time-budget=20000", "--dump-dom", path.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, complaints
