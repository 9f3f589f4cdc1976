"""The wheel: Python's files of the commit, and the agents beside the console script.

It is written here and not by a build backend, which would name the interpreter and the system that
it ran on: the agent is static and nothing is compiled for Python, so the wheel is for every Python
3 and every Linux of its architecture, with the GNU library (manylinux) and with musl (musllinux).
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import os
import tempfile
import time
import zipfile
from pathlib import Path

from common import Entry, Source

TAGS = ("manylinux_2_17_x86_64", "musllinux_1_1_x86_64")
"""The oldest that pip of a supported Python still asks for; the agent needs no library at all."""


def name(source: Source) -> str:
    return f"pentathlon-{source.version}-py3-none-{'.'.join(TAGS)}.whl"


def metadata(source: Source) -> list[Entry]:
    """The files of the `.dist-info` folder that the build backend makes, without its WHEEL."""
    from setuptools import build_meta  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(source.tree)
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # it lists what it does
                made = build_meta.prepare_metadata_for_build_wheel(folder)
        finally:
            os.chdir(before)
        top = Path(folder)
        return [
            Entry(path.relative_to(top).as_posix(), path.read_bytes())
            for path in sorted((top / made).rglob("*"))
            if path.is_file() and path.name not in ("WHEEL", "RECORD")
        ]


def write(source: Source, info: list[Entry], agents: list[Entry], shared: list[Entry]) -> bytes:
    """The wheel.

    Args:
        source: the commit.
        info: the files of `metadata`.
        agents: the agents' files, which are installed among the programs.
        shared: files below the prefix of the installation.
    """
    top = f"pentathlon-{source.version}"
    entries = [*source.files("pentathlon"), *info]
    entries += [Entry(f"{top}.data/data/{one.name}", one.data, one.executable) for one in shared]
    entries += [
        Entry(f"{top}.data/scripts/{agent.name}", agent.data, agent.executable) for agent in agents
    ]
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in TAGS)
    head = "Wheel-Version: 1.0\nGenerator: pentathlon scripts/release\nRoot-Is-Purelib: false\n"
    entries.append(Entry(f"{top}.dist-info/WHEEL", (head + tags).encode()))
    entries.sort(key=lambda entry: (".dist-info/" in entry.name, entry.name))
    lines = [f"{entry.name},sha256={digest(entry.data)},{len(entry.data)}\n" for entry in entries]
    record = f"{top}.dist-info/RECORD"
    entries.append(Entry(record, ("".join(lines) + f"{record},,\n").encode()))
    return zipped(entries, source.epoch)


def digest(data: bytes) -> str:
    """As RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def zipped(entries: list[Entry], epoch: int) -> bytes:
    out = io.BytesIO()
    moment = time.gmtime(max(epoch, 315532800))[:6]  # 1980: a zip archive has no earlier year.
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for entry in entries:
            info = zipfile.ZipInfo(entry.name, moment)
            info.create_system = 3
            info.external_attr = (0o100755 if entry.executable else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, entry.data)
    return out.getvalue()
