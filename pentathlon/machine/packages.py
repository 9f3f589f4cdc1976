"""Fetch single Debian packages of any suite, without root and without installing them.

apt reads a package list of its own in a scratch directory, checks the archive's signature and the
digests as always, and downloads the file; `dpkg-deb -x` unpacks it. The mirror is the one that this
machine's apt is set up with.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pentathlon.machine.cache import sha256
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.tools import require, run

MIRROR_VARIABLE = "PENTATHLON_DEBIAN_MIRROR"
"""Address of a Debian mirror, for machines whose apt names none."""

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

TIMEOUT_S = 300.0


@dataclass(frozen=True)
class Package:
    """One downloaded package file.

    Attributes:
        file: the .deb file.
        version: its version, as Debian writes it.
        sha256: digest of the file.
    """

    name: str
    suite: str
    file: Path
    version: str
    sha256: str

    def record(self) -> dict[str, str]:
        """What is kept beside the unpacked files."""
        return {
            "package": self.name,
            "package_version": self.version,
            "suite": self.suite,
            "package_sha256": self.sha256,
        }


SOURCES = Path("/etc/apt")
SOURCE = re.compile(
    r"^(?:deb\s+(?:\[[^\]\n]*\]\s+)?|URIs:\s*)([a-z][a-z0-9+.-]*:\S+)", re.MULTILINE
)
"""An address in one of the two formats of sources.list(5)."""


def mirror() -> str:
    """Address of the Debian mirror that this machine's apt uses.

    Raises:
        TargetUnavailable: apt is missing, or is not set up for a Debian mirror.
    """
    if chosen := os.environ.get(MIRROR_VARIABLE):
        return chosen.rstrip("/")
    for program in ("apt-get", "dpkg-deb"):
        require(program, f"packages cannot be fetched, because {program} is not on this machine")
    form = "$(SITE)|$(LABEL)|$(ORIGIN)|$(RELEASE)"
    listed = call(["apt-get", "indextargets", "--format", form, "Created-By: Packages"], 30)
    unread: list[str] = []
    for line in listed.splitlines():
        site, label, origin, release = line.split("|")
        if (label, origin) == ("Debian", "Debian"):
            return site.rstrip("/")
        # Where `apt-get update` has not run yet, apt knows the address and nothing else.
        if "$(" in label and "/" not in release and not release.endswith("-security"):
            unread.append(site.rstrip("/"))
    debian = [site for site in (*unread, *_configured()) if site.endswith("/debian")]
    if debian:
        return debian[0]
    raise TargetUnavailable(
        "this machine's apt names no Debian mirror, so packages cannot be fetched",
        f"{MIRROR_VARIABLE}=ADDRESS pentathlon doctor --install",
    )


def _configured() -> list[str]:
    """Addresses in apt's configuration, which it does not report before it has read their lists."""
    files = [SOURCES / "sources.list", *sorted((SOURCES / "sources.list.d").glob("*"))]
    found = []
    for file in files:
        if file.suffix in (".list", ".sources") and file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
            found += [address.rstrip("/") for address in SOURCE.findall(text)]
    return found


class ScratchApt:
    """apt with one suite, its lists and its files in a directory of its own.

    Args:
        suite: a Debian suite, such as "bookworm".
        directory: an empty directory.

    Raises:
        TargetUnavailable: there is no apt or no mirror, or its package list cannot be read.
    """

    def __init__(self, suite: str, directory: Path) -> None:
        self.suite = suite
        self._directory = directory
        for part in ("lists/partial", "archives/partial", "state", "files"):
            (directory / part).mkdir(parents=True)
        signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
        address = mirror()
        (directory / "sources.list").write_text(f"deb {signed}{address} {suite} main\n")
        try:
            self._apt("update")
        except TargetError as error:
            raise TargetUnavailable(
                f"the package mirror {address} cannot be read for {suite}: {error}",
                f"{MIRROR_VARIABLE}=ADDRESS pentathlon doctor --install",
            ) from error

    def _apt(self, *words: str) -> str:
        own = self._directory
        options = {
            "Dir::Etc::sourcelist": own / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State": own / "state",
            "Dir::State::lists": own / "lists",
            "Dir::State::status": "/dev/null",
            "Dir::Cache": own,
            "APT::Sandbox::User": "root" if os.geteuid() == 0 else "",
            "APT::Update::Post-Invoke": "",
            # A list that cannot be fetched is only a warning otherwise.
            "APT::Update::Error-Mode": "any",
            "Acquire::Languages": "none",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
            "Acquire::Retries": "2",
            "Debug::NoLocking": "true",
        }
        settings = [f"-o{key}={value}" for key, value in options.items()]
        command = ["apt-get", "-q", "-y", *settings, *words]
        return call(command, TIMEOUT_S, cwd=own / "files")

    def download(self, package: str) -> Package:
        """Download one package.

        Raises:
            TargetError: the suite does not have it, or the download failed.
        """
        self._apt("download", f"{package}/{self.suite}")
        files = sorted((self._directory / "files").glob(f"{package}_*.deb"))
        if not files:
            raise TargetError(f"apt downloaded no file of the package {package}")
        version = call(["dpkg-deb", "-f", str(files[0]), "Version"], 30).strip()
        return Package(package, self.suite, files[0], version, sha256(files[0]))


def unpack(package: Package, directory: Path) -> None:
    """Unpack the files of a package; none of its scripts is run.

    Raises:
        TargetError: it cannot be unpacked.
    """
    directory.mkdir(parents=True, exist_ok=True)
    call(["dpkg-deb", "-x", str(package.file), str(directory)], TIMEOUT_S)


def call(command: list[str], timeout_s: float, cwd: Path | None = None) -> str:
    """What a program of apt or dpkg prints.

    Raises:
        TargetUnavailable: it is not on this machine.
        TargetError: it fails, or does not end in time.
    """
    program = require(command[0], f"the program {command[0]} is not on this machine")
    shown = " ".join([command[0], *(word for word in command[1:] if not word.startswith("-o"))])
    try:
        environment = os.environ | {"LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
        done = run([program, *command[1:]], timeout_s, cwd=cwd, env=environment)
    except subprocess.TimeoutExpired as error:
        raise TargetError(f"`{shown}` did not end within {timeout_s:.0f} s") from error
    if done.returncode:
        text = done.stderr.decode(errors="replace").strip().splitlines()
        errors = [line for line in text if line.startswith("E:")] or text[-1:]
        raise TargetError(f"`{shown}` failed: {errors[0] if errors else 'no reason given'}")
    return done.stdout.decode(errors="replace")
