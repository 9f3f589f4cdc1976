"""What a runtime is given: `config.json` of a bundle (OCI runtime-spec 1.0)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pentathlon.machine.cgroup import PERIOD_US
from pentathlon.targets import userland

CAPABILITIES = (
    "CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL",
    "CAP_MKNOD", "CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP",
    "CAP_SETUID", "CAP_SYS_CHROOT",
)  # fmt: skip
"""Those that docker gives a container."""

MASKED = (
    "/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
    "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware",
)  # fmt: skip
READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")

AGENT = "/run/pentathlon-agent"


def config(
    words: Sequence[str],
    environment: Mapping[str, str],
    *,
    name: str,
    root: Path,
    agent: Path,
    files: Path | None,
    container: Mapping[str, Any],
    seccomp: dict[str, Any] | None,
    memory_bytes: int | None,
) -> dict[str, Any]:
    """The whole document.

    Args:
        words: arguments of the agent, which is process 1 of the container.
        name: of the container and its control group.
        root: its root directory.
        agent: the agent's file.
        files: those of commands; the agent finds them at `userland.FILES`.
        container: the settings (`descriptor.Container`).
    """
    capabilities = {kind: list(CAPABILITIES) for kind in ("bounding", "effective", "permitted")}
    namespaces = ["pid", "ipc", "uts", "mount"]
    if container.get("network", "none") == "none":
        namespaces.append("network")
    linux: dict[str, Any] = {
        "cgroupsPath": f"/{name}",
        "resources": _resources(container, memory_bytes),
        "namespaces": [{"type": kind} for kind in namespaces],
        "maskedPaths": list(MASKED),
        "readonlyPaths": list(READ_ONLY),
    }
    if seccomp is not None:
        linux["seccomp"] = seccomp
    return {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False,
            "user": {"uid": 0, "gid": 0},
            "args": [AGENT, *words],
            "env": [f"{key}={value}" for key, value in environment.items()],
            "cwd": "/",
            "capabilities": capabilities,
            "noNewPrivileges": True,
        },
        "root": {"path": str(root), "readonly": False},
        "hostname": "pentathlon",
        "mounts": [*_mounts(container), *_bound(agent, files)],
        "linux": linux,
    }


def _resources(container: Mapping[str, Any], memory_bytes: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {"devices": [{"allow": False, "access": "rwm"}]}
    if (percent := container.get("cpu_percent")) is not None:
        quota = round(PERIOD_US * percent / 100)
        found["cpu"] = {"period": PERIOD_US, "quota": quota}
    if memory_bytes is not None:
        found["memory"] = {"limit": memory_bytes}
    if (pids := container.get("pids")) is not None:
        found["pids"] = {"limit": pids}
    return found


def _mounts(container: Mapping[str, Any]) -> list[dict[str, Any]]:
    plain = ["nosuid", "noexec", "nodev"]

    def one(place: str, kind: str, *options: str) -> dict[str, Any]:
        return {"destination": place, "type": kind, "source": kind, "options": list(options)}

    sysfs = one("/sys", "sysfs", *plain, "ro")
    if container.get("network") == "host":
        # The kernel lets nobody mount the sysfs of a network namespace that is another's.
        sysfs = {"destination": "/sys", "type": "none", "source": "/sys"}
        sysfs["options"] = ["rbind", *plain, "ro"]
    return [
        one("/proc", "proc"),
        one("/dev", "tmpfs", "nosuid", "strictatime", "mode=755", "size=65536k"),
        one("/dev/pts", "devpts", "nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"),
        one("/dev/shm", "tmpfs", "nosuid", "noexec", "nodev", "mode=1777"),
        one("/dev/mqueue", "mqueue", *plain),
        sysfs,
        one("/run", "tmpfs", "nosuid", "nodev", "mode=755"),
    ]


def _bound(agent: Path, files: Path | None) -> list[dict[str, Any]]:
    bound = {AGENT: agent} | ({} if files is None else {userland.FILES: files})
    return [
        {"destination": place, "type": "none", "source": str(source), "options": ["bind", "ro"]}
        for place, source in bound.items()
    ]
