"""The graphics program, and displays for it: Xvfb, with or without a compositing manager."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.protocol import agent

APIS = ("vulkan", "gl")
SMALL = {"width": 320, "height": 256}
PATIENCE_S = 20.0


@pytest.fixture(scope="session")
def program() -> Path:
    try:
        found = agent.graphics(agent.locate())
    except agent.AgentError as error:
        pytest.skip(str(error))
    if found is None:
        pytest.skip("pentathlon-graphics is not installed; `sh scripts/setup graphics` builds it")
    return found


class Drawing:
    """The graphics program with a display or without one."""

    def __init__(self, program: Path, display: str | None, runtime: Path) -> None:
        self._program = program
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DISPLAY", "WAYLAND_DISPLAY")
        } | {"XDG_RUNTIME_DIR": str(runtime)}
        if display is not None:
            self._environment["DISPLAY"] = display

    def run(self, workload: str, **parameters: Any) -> list[dict[str, Any]]:
        """Its answer to a request for one short iteration; skips without an adapter."""
        task = {
            "id": workload,
            "parameters": parameters,
            "processes": 1,
            "iterations": 1,
            "warmup": 0,
            "sample_ms": 1.0,
            "timeout_s": 120.0,
        }
        request = {"protocol": 2, "seed": 1, "inventory": False, "workloads": [task]}
        done = subprocess.run(
            [self._program, "run"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            env=self._environment,
            timeout=240,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        events = [json.loads(line) for line in done.stdout.splitlines()]
        for reason in reasons(events):
            if "has no graphics adapter" in reason and "shows frames" not in reason:
                pytest.skip(f"{reason}; Debian has mesa-vulkan-drivers and libegl1")
        return events


def of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["event"] == kind]


def reasons(events: list[dict[str, Any]]) -> list[str]:
    return [event["reason"] for event in of(events, "error")]


def values(events: list[dict[str, Any]], metric: str) -> list[float]:
    """What was measured, without what was tried before it."""
    return [
        event["value"]
        for event in of(events, "sample")
        if event["metric"] == metric and event["phase"] == "measure"
    ]


@pytest.fixture
def headless(program: Path, tmp_path: Path) -> Drawing:
    return Drawing(program, None, tmp_path)


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """An X server without a compositing manager."""
    server = shutil.which("Xvfb")
    if server is None:
        pytest.skip("Xvfb is not installed; Debian has it in the package xvfb")
    read, write = os.pipe()
    command = [server, "-displayfd", str(write), "-screen", "0", "800x600x24", "-noreset"]
    process = subprocess.Popen(
        [*command, "-nolisten", "tcp"], pass_fds=[write], stderr=subprocess.DEVNULL
    )
    os.close(write)
    with os.fdopen(read) as reported:
        number = reported.readline().strip()
    try:
        if not number:
            pytest.skip("Xvfb does not start here")
        yield f":{number}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def windowed(program: Path, display: str, tmp_path: Path) -> Drawing:
    return Drawing(program, display, tmp_path)


@pytest.fixture
def composed(program: Path, display: str, tmp_path: Path) -> Iterator[Drawing]:
    """The same with a compositing manager."""
    manager = shutil.which("xcompmgr")
    if manager is None:
        pytest.skip("xcompmgr is not installed; Debian has a package of this name")
    process = subprocess.Popen([manager, "-d", display], stderr=subprocess.DEVNULL)
    drawing = Drawing(program, display, tmp_path)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while any("no compositing manager" in reason for reason in reasons(open_one(drawing))):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.1)
        yield drawing
    finally:
        process.terminate()
        process.wait()


def open_one(drawing: Drawing) -> list[dict[str, Any]]:
    return drawing.run("graphics.windows")
