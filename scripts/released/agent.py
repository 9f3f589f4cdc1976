"""The agent of a release: built out of the commit, with no path of this machine in it."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from common import ReleaseError, Source, run

PACKAGE = "pentathlon-agent"

X86_64, AARCH64 = 62, 183
"""Machines of an ELF file."""


def build(source: Source) -> Path:
    """Build the agent for this machine.

    The folders that the sources lie in are replaced by fixed names: else the texts of panics and
    assertions would differ between two checkouts. The flags go through a wrapper of the compiler,
    because the build's identity is a hash over flags too, and would differ as well.
    """
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    names = ((source.tree, "/pentathlon"), (cargo, "/cargo"))
    wrapper = source.tree.parent / "rustc"
    flags = " ".join(f"'--remap-path-prefix={folder}={name}'" for folder, name in names)
    wrapper.write_text(f'#!/bin/sh\nexec "$@" {flags}\n')
    wrapper.chmod(0o755)
    environment = {
        **os.environ,
        "RUSTC_WRAPPER": str(wrapper),
        "CFLAGS": " ".join(f"-ffile-prefix-map={folder}={name}" for folder, name in names),
        "CARGO_INCREMENTAL": "0",
        "CARGO_TARGET_DIR": str(source.tree.parent / "target"),
        "SOURCE_DATE_EPOCH": str(source.epoch),
    }
    for name in [key for key in environment if key.startswith("CARGO_PROFILE_")]:
        del environment[name]
    command = ["cargo", "build", "--release", "--locked", "--package", PACKAGE]
    run(command, cwd=source.tree, env=environment)
    [built] = (source.tree.parent / "target").glob(f"*/release/{PACKAGE}")
    return built


def static(path: Path, machine: int) -> bytes:
    """The bytes of an agent, which loads nothing.

    Raises:
        ReleaseError: the file is missing, is for another machine, or needs a loader.
    """
    data = read(path)
    if data[:6] != b"\x7fELF\x02\x01":
        raise ReleaseError(f"{path} is no 64-bit program of Linux")
    found = struct.unpack_from("<H", data, 18)[0]
    if found != machine:
        raise ReleaseError(f"{path} is for the ELF machine {found}, and {machine} is needed")
    place, size, count = struct.unpack_from("<Q14xHH", data, 32)
    kinds = {struct.unpack_from("<I", data, place + size * index)[0] for index in range(count)}
    if 3 in kinds:  # PT_INTERP
        raise ReleaseError(f"{path} is not static: it names a loader of programs")
    return data


def windows(path: Path) -> bytes:
    """The bytes of an agent for Windows.

    Raises:
        ReleaseError: the file is missing, or no program of Windows.
    """
    data = read(path)
    if data[:2] != b"MZ":
        raise ReleaseError(f"{path} is no program of Windows")
    return data


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ReleaseError(f"{path}: {(error.strerror or str(error)).lower()}") from None
