"""Sizes of the processor's caches, as Linux reports them (ABI: sysfs-devices-system-cpu)."""

from __future__ import annotations

from pathlib import Path

CPUS = Path("/sys/devices/system/cpu")
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def second_cache_bytes(cpus: Path = CPUS) -> int | None:
    """The smallest cache of the second level for data that any CPU has, in bytes.

    Args:
        cpus: the directory of the CPUs.

    Returns:
        None: the system does not report one.
    """
    sizes = [
        size
        for index in cpus.glob("cpu[0-9]*/cache/index*")
        if _text(index / "level") == "2" and _text(index / "type") in ("Unified", "Data")
        if (size := _bytes(_text(index / "size"))) is not None
    ]
    return min(sizes, default=None)


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def _bytes(text: str) -> int | None:
    number, unit = text.rstrip("KMG"), text.lstrip("0123456789")
    if not number.isdecimal() or unit not in ("", *UNITS):
        return None
    return int(number) * UNITS.get(unit, 1)
