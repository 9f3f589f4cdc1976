"""The installed program as a folder: a virtual environment at a fixed place.

The Debian package and the image hold it. Debian has too few of the packages that are needed, so
they come along, by the hashes of the lock file, in an environment of their own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from common import Entry, Source, run

TOP = "usr/lib/pentathlon"

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

CONSOLE = f"""#!/{TOP}/bin/python
from pentathlon.cli.start import main

main()
"""

CONFIGURATION = "home = /usr/bin\ninclude-system-site-packages = false\n"


def packages(source: Source, folder: Path) -> None:
    """Install the locked packages into a folder."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    command += ["--require-hashes", "--only-binary", ":all:", "--no-compile", "--no-deps"]
    command += ["--target", str(folder), "-r", str(source.tree / "requirements.lock")]
    run(command)


def tree(
    source: Source, folder: Path, info: list[Entry], agents: list[Entry], shared: list[Entry]
) -> list[Entry]:
    """The files of the folder `/usr/lib/pentathlon`, and the commands in `/usr/bin`."""
    site = f"{TOP}/lib/python{PYTHON}/site-packages"
    found = [
        Entry(f"{TOP}/pyvenv.cfg", f"{CONFIGURATION}version = {PYTHON}\n".encode()),
        Entry(f"{TOP}/bin/python", link=f"/usr/bin/python{PYTHON}"),
        Entry(f"{TOP}/bin/python3", link="python"),
        Entry(f"{TOP}/bin/pentathlon", CONSOLE.encode(), executable=True),
        Entry("usr/bin/pentathlon", link=f"/{TOP}/bin/pentathlon"),
        Entry("usr/bin/pentathlon-agent", link=f"/{TOP}/bin/pentathlon-agent"),
    ]
    found += [Entry(f"{TOP}/bin/{agent.name}", agent.data, agent.executable) for agent in agents]
    ours = [*source.files("pentathlon"), *info]
    found += [Entry(f"{site}/{entry.name}", entry.data, link=entry.link) for entry in ours]
    found += [Entry(f"{TOP}/{one.name}", one.data, one.executable) for one in shared]
    found += [Entry(f"usr/{one.name}", one.data) for one in shared if "/man/" in one.name]
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file():
            continue
        data = path.read_bytes()
        # Of the packages' programs only real ones: scripts name the interpreter that installed
        # them, and what records the installation names them too.
        if name.startswith("bin/"):
            if data[:4] == b"\x7fELF":
                found.append(Entry(f"{TOP}/{name}", data, executable=True))
        elif not name.endswith(".dist-info/RECORD"):
            found.append(Entry(f"{site}/{name}", data, bool(path.stat().st_mode & 0o100)))
    return found
