"""Find the agent's file on this machine and ask it what it can do.

The agent is one static file beside the console script. It owns the catalog of workloads; nothing
in this package repeats it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

AGENT = "pentathlon-agent"
GRAPHICS = "pentathlon-graphics"
"""The program of the graphics workloads, where it is installed beside the agent."""
VARIABLE = "PENTATHLON_AGENT"
GRAPHICS_VARIABLE = "PENTATHLON_GRAPHICS"
TIMEOUT_S = 30.0


class AgentError(Exception):
    """The agent is missing, does not start, or answers nonsense; the text is one sentence."""


def locate() -> Path:
    """The agent's file: $PENTATHLON_AGENT, then beside the interpreter or the console script, then
    the release build of the checkout that this package lies in.

    Raises:
        AgentError: there is no such file, or it cannot be executed.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        path = Path(chosen)
        if not _executable(path):
            raise AgentError(f"{VARIABLE} names {path}, which is not an executable file")
        return path.resolve()
    tried = list(_candidates())
    for path in tried:
        if _executable(path):
            return path.resolve()
    looked = ", ".join(str(path) for path in tried)
    raise AgentError(
        f"{AGENT} was not found (looked at {looked}); install the package with `pip install .`, "
        f"build it with `cargo build --release`, or set {VARIABLE} to its path"
    )


def graphics(agent: Path) -> Path | None:
    """The program of the graphics workloads: $PENTATHLON_GRAPHICS, else beside the agent, if it is
    there."""
    named = os.environ.get(GRAPHICS_VARIABLE)
    program = Path(named) if named else agent.with_name(GRAPHICS)
    return program if program.is_file() else None


def _candidates() -> Iterator[Path]:
    seen: set[Path] = set()
    checkout = Path(__file__).resolve().parent.parent
    places = [Path(sys.executable).parent, Path(sys.argv[0]).absolute().parent]
    if (checkout / "Cargo.toml").is_file():
        build = Path(os.environ.get("CARGO_TARGET_DIR") or checkout / "target")
        places.append(build / "release")
    for place in places:
        if place not in seen:
            seen.add(place)
            yield place / AGENT


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def catalog(path: Path | None = None) -> dict[str, Any]:
    """The agent's catalog of workloads (`pentathlon-agent catalog`).

    Raises:
        AgentError: the agent is missing, fails, or prints no JSON document.
    """
    return _document(path, "catalog")


def inventory(path: Path | None = None) -> dict[str, Any]:
    """The inventory of this machine (`pentathlon-agent inventory`).

    Raises:
        AgentError: the agent is missing, fails, or prints no JSON document.
    """
    return _document(path, "inventory")


def version(path: Path | None = None) -> str:
    """The agent's version line (`pentathlon-agent --version`).

    Raises:
        AgentError: the agent is missing or fails.
    """
    return _output(path, "--version").strip()


def is_static(path: Path) -> bool:
    """Whether the file is an ELF program without an interpreter: it then starts in an empty root.

    Reads the program headers (elf(5)): a dynamically linked program has one of type PT_INTERP.
    """
    with path.open("rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:5] != b"\x7fELF\x02":
            return False
        offset = int.from_bytes(head[32:40], "little")
        size = int.from_bytes(head[54:56], "little")
        count = int.from_bytes(head[56:58], "little")
        file.seek(offset)
        table = file.read(size * count)
    pt_interp = 3
    return all(
        int.from_bytes(table[start : start + 4], "little") != pt_interp
        for start in range(0, len(table), size)
    )


def _document(path: Path | None, verb: str) -> dict[str, Any]:
    text = _output(path, verb)
    try:
        document = json.loads(text)
    except ValueError as error:
        raise AgentError(f"`{AGENT} {verb}` printed no JSON document: {error}") from error
    if not isinstance(document, dict):
        raise AgentError(f"`{AGENT} {verb}` printed JSON that is not an object")
    return document


def _output(path: Path | None, verb: str) -> str:
    file = path or locate()
    try:
        done = subprocess.run(
            [file, verb],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except OSError as error:
        raise AgentError(f"{file} does not start: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise AgentError(f"`{file} {verb}` did not end within {TIMEOUT_S:.0f} s") from error
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        because = f": {lines[-1]}" if lines else ""
        raise AgentError(f"`{file} {verb}` ended with exit status {done.returncode}{because}")
    return done.stdout.decode(errors="replace")
