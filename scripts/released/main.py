"""`scripts/release`: builds the parts of a release out of the commit that is checked out."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import agent
import debian
import image
import installed
import licences
import manual
import sbom
import shim
import wheels
from common import Entry, ReleaseError, Source, commit, compressed, tar

ROOT = Path(__file__).resolve().parents[2]

Made = TypeVar("Made")

PARTS = ("wheel", "sdist", "deb", "oci", "sbom")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/release",
        description="Build wheel, source distribution, Debian package, OCI image, list of what is "
        "inside and checksums out of the commit that is checked out.",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where to (dist)")
    parser.add_argument(
        "--agent", type=Path, help="an agent for this machine that is built; else it is built here"
    )
    parser.add_argument("--arm", type=Path, help="the agent that `scripts/cross linux-arm` built")
    parser.add_argument("--windows", type=Path, help="the agent that `scripts/cross windows` built")
    parser.add_argument(
        "--only", action="append", choices=PARTS, help="a part to build; may be repeated (all)"
    )
    parser.add_argument(
        "--without-changes",
        action="store_true",
        help="release the commit, although the checkout has changes that are in none",
    )
    return parser.parse_args()


def agents(source: Source, chosen: argparse.Namespace) -> list[Entry]:
    """The agents' files, under the names by which the program finds them."""
    own = chosen.agent
    if own is None:
        own = reported("Build pentathlon-agent", lambda: agent.build(source))
    found = [Entry("pentathlon-agent", agent.static(own, agent.X86_64), executable=True)]
    if chosen.arm is not None:
        data = agent.static(chosen.arm, agent.AARCH64)
        found.append(Entry("pentathlon-agent-aarch64", data, executable=True))
    else:
        print("Without the agent for 64-bit ARM: none is named by --arm", flush=True)
    if chosen.windows is not None:
        data = agent.windows(chosen.windows)
        found.append(Entry("pentathlon-agent.exe", data, executable=True))
    else:
        print("Without the agent for Windows: none is named by --windows", flush=True)
    return found


def reported(name: str, work: Callable[[], Made]) -> Made:
    print(name, flush=True)
    began = time.monotonic()
    made = work()
    print(f"  done in {time.monotonic() - began:.0f} s", flush=True)
    return made


def build(source: Source, chosen: argparse.Namespace) -> dict[str, bytes]:
    """The files of the release by their names."""
    parts = set(chosen.only or PARTS)
    made: dict[str, bytes] = {}
    folder = source.tree.parent / "packages"
    # Whether it may be handed on is asked first: what follows takes minutes.
    reported("Install the locked Python packages", lambda: installed.packages(source, folder))
    inside = [*licences.of_agent(source), *licences.of_python(source, folder)]
    licences.check(inside, source.tree)
    print(f"  the licences of {len(inside)} packages fit", flush=True)
    if "sbom" in parts:
        made[sbom.name(source)] = sbom.write(source, inside)
    info = wheels.metadata(source) if parts & {"wheel", "sdist", "deb", "oci"} else []
    if "sdist" in parts:
        made[f"pentathlon-{source.version}.tar.gz"] = sdist(source, info)
    if not parts & {"wheel", "deb", "oci"}:
        return made
    programs = agents(source, chosen)
    # Among the files of the package, as what `metadata` made.
    info = [*info, *shim.build(source)]
    # Below the prefix that it is installed into.
    shared = [manual.write(source, folder)]
    shared += [
        replace(one, name=f"share/pentathlon/{one.name}") for one in source.files("examples")
    ]
    if "wheel" in parts:
        made[wheels.name(source)] = wheels.write(source, info, programs, shared)
    if not parts & {"deb", "oci"}:
        return made
    files = installed.tree(source, folder, info, programs, shared)
    if "deb" in parts:
        if shutil.which("dpkg-deb"):
            package = reported("Build the Debian package", lambda: debian.write(source, files))
            made[debian.name(source)] = package
        else:
            print("Without the Debian package: dpkg-deb is missing (apt-get install dpkg)")
    if "oci" in parts:
        if shutil.which("mmdebstrap"):
            system = reported("Make a minimal Debian for the image", lambda: image.base(source))
            made[image.name(source)] = image.write(source, system, files)
        else:
            print("Without the image: mmdebstrap is missing (apt-get install mmdebstrap)")
    return made


def sdist(source: Source, info: list[Entry]) -> bytes:
    """The source distribution: the commit's files, and the metadata that pip reads."""
    top = f"pentathlon-{source.version}"
    [head] = [entry for entry in info if entry.name.endswith(".dist-info/METADATA")]
    entries = [
        Entry(f"{top}/{one.name}", one.data, one.executable, one.link) for one in source.files()
    ]
    return compressed(tar([*entries, Entry(f"{top}/PKG-INFO", head.data)], source.epoch))


def main() -> int:
    chosen = arguments()
    work = Path(tempfile.mkdtemp(prefix="pentathlon-release-"))
    try:
        tree = work / "tree"
        tree.mkdir()
        source = commit(ROOT, tree, changed=chosen.without_changes)
        os.environ["SOURCE_DATE_EPOCH"] = str(source.epoch)
        made = build(source, chosen)
        sums = [f"{hashlib.sha256(made[name]).hexdigest()}  {name}\n" for name in sorted(made)]
        chosen.out.mkdir(parents=True, exist_ok=True)
        for name, data in made.items():
            (chosen.out / name).write_bytes(data)
        (chosen.out / "SHA256SUMS").write_text("".join(sums))
        print("".join(sums), end="")
    except ReleaseError as error:
        print(f"scripts/release: {error}", file=sys.stderr)
        return 2
    except (OSError, subprocess.SubprocessError) as error:
        print(f"scripts/release: {error}", file=sys.stderr)
        return 2
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
