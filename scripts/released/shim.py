"""The wrapper of ptrace(2) for kernels of user-mode Linux, compiled.

A machine that installs a wheel may have no C compiler.
"""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path

from common import Entry, Source, run

FOLDER = Path("pentathlon/targets/uml")
SOURCE = "ptrace_shim.c"


def build(source: Source) -> list[Entry]:
    """The library beside its source, under the name by which the program finds it."""
    if platform.machine() != "x86_64":
        print(
            "Without the wrapper of ptrace(): it is for x86-64, and this machine is not", flush=True
        )
        return []
    file = source.tree / FOLDER / SOURCE
    name = f"ptrace-shim-{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}.so"
    made = source.tree.parent / name
    # Without what would differ between two folders, or two builds.
    flags = ["-O2", "-shared", "-fPIC", "-s", "-Wl,--build-id=none"]
    flags.append(f"-ffile-prefix-map={source.tree}=/pentathlon")
    command = [os.environ.get("CC", "cc"), *flags, "-o", str(made), str(file), "-ldl"]
    run(command)
    return [Entry((FOLDER / name).as_posix(), made.read_bytes())]
