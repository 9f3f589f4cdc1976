"""Seccomp profiles: as podman and docker have them, made into what a runtime takes.

A profile of containers (containers-common's seccomp.json) has conditions that a runtime does not
know: rules hold with some capabilities and on some architectures (`includes`, `excludes`).
"""

from __future__ import annotations

import json
import platform
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pentathlon.images import oci
from pentathlon.machine.errors import TargetUnavailable

DEFAULT = Path("/usr/share/containers/seccomp.json")
PACKAGE = "golang-github-containers-common"
ARCHITECTURES = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
LARGEST = 4 << 20


def profile(named: str, capabilities: Collection[str]) -> dict[str, Any] | None:
    """The runtime's `linux.seccomp`; None: no filter.

    Args:
        named: "off", "default" or a path.
        capabilities: those of the container.

    Raises:
        TargetUnavailable: the profile is not there, or is none.
    """
    if named == "off":
        return None
    path = DEFAULT if named == "default" else Path(named)
    if named == "default" and not path.is_file():
        raise TargetUnavailable(
            f"the default profile of seccomp, {path}, is not there",
            f"sudo apt-get install {PACKAGE}",
        )
    try:
        with path.open("rb") as file:
            document = json.loads(file.read(LARGEST))
        return _translated(document, frozenset(capabilities))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TargetUnavailable(f"the seccomp profile {path} cannot be read: {reason}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TargetUnavailable(f"the file {path} is no seccomp profile of containers") from error


def _translated(document: dict[str, Any], capabilities: frozenset[str]) -> dict[str, Any]:
    rules = [rule for rule in document["syscalls"] if _holds(rule, capabilities)]
    found: dict[str, Any] = {
        "defaultAction": document["defaultAction"],
        "architectures": _architectures(document),
        "syscalls": [_rule(rule) for rule in rules],
    }
    if "defaultErrnoRet" in document:
        found["defaultErrnoRet"] = document["defaultErrnoRet"]
    return found


def _architectures(document: dict[str, Any]) -> list[str]:
    own = ARCHITECTURES.get(platform.machine())
    for entry in document.get("archMap") or ():
        if entry["architecture"] == own:
            return [own, *(entry.get("subArchitectures") or ())]
    return list(document.get("architectures") or ([own] if own else []))


def _holds(rule: dict[str, Any], capabilities: frozenset[str]) -> bool:
    wanted, unwanted = rule.get("includes") or {}, rule.get("excludes") or {}
    here = oci.architecture()
    if (caps := wanted.get("caps")) and not capabilities.issuperset(caps):
        return False
    if (arches := wanted.get("arches")) and here not in arches:
        return False
    if (caps := unwanted.get("caps")) and capabilities.intersection(caps):
        return False
    return here not in (unwanted.get("arches") or ())


def _rule(rule: dict[str, Any]) -> dict[str, Any]:
    names = rule.get("names") or [rule["name"]]
    made: dict[str, Any] = {"names": names, "action": rule["action"]}
    if rule.get("args"):
        made["args"] = [
            {key: value for key, value in one.items() if value is not None} for one in rule["args"]
        ]
    if rule.get("errnoRet") is not None:
        made["errnoRet"] = rule["errnoRet"]
    return made
