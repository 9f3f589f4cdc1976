"""What the tables of machines in the studies show, from a system's inventory (docs/inventory.md).

Each property is a text with its units, or the reason why there is none. Sizes are in binary units.
Sources: martinovic2012, Tables 2, 9 and 16 to 21; vdovjak2021, Table 1; salah2010, section 2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pentathlon.evaluate.display import bytes_text, significant
from pentathlon.evaluate.frozen import Frozen

NOT_HELD = "the inventory does not hold it"


class Property(Frozen):
    """One property of a machine or system."""

    value: str | None = None
    why: str = ""
    """Why there is no value."""


class _Readings:
    """An inventory: what a system reports, and why it does not report the rest."""

    def __init__(self, values: Mapping[str, Any], unsupported: Mapping[str, str]) -> None:
        self.values, self.unsupported = values, unsupported

    def first(self, *paths: str) -> Any:
        """The first of the paths that has a value; None if none has."""
        for path in paths:
            value = self.values.get(path)
            if value not in (None, "", [], {}):
                return value
        return None

    def why(self, *paths: str) -> str:
        """Why none of the paths has a value."""
        for path in paths:
            for known, reason in self.unsupported.items():
                if known == path or path.startswith(f"{known}."):
                    return reason
        return NOT_HELD

    def below(self, path: str) -> dict[str, dict[str, Any]]:
        """Groups of values below a path, such as the devices of `block_devices`.

        Names hold dots too (`0000:00:02.0`): the last part of a path is the name of the value.
        """
        found: dict[str, dict[str, Any]] = {}
        for known, value in self.values.items():
            if known.startswith(f"{path}."):
                name, _, leaf = known.removeprefix(f"{path}.").rpartition(".")
                found.setdefault(name, {})[leaf] = value
        return found

    def listed(self, path: str) -> list[dict[str, Any]]:
        """A list of mappings; [] if the path is missing."""
        value = self.values.get(path)
        return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def hardware(values: Mapping[str, Any], unsupported: Mapping[str, str]) -> dict[str, Property]:
    """Every property by name, from the paths of an inventory and the reasons for its gaps."""
    readings = _Readings(values, unsupported)
    found = {}
    for name, (make, paths) in _PROPERTIES.items():
        value = make(readings)
        found[name] = Property(value=value) if value else Property(why=readings.why(*paths))
    if readings.below("drivers.devices"):
        for name, one in found.items():
            if one.value is None and name.startswith("driver_") and one.why == NOT_HELD:
                found[name] = Property(why="no device of this kind has a driver")
    return found


def _text(readings: _Readings, *paths: str) -> str:
    value = readings.first(*paths)
    return "" if value is None else str(value)


def _joined(readings: _Readings, *paths: str) -> str:
    return " ".join(str(value) for path in paths if (value := readings.first(path)) is not None)


def _megahertz(khz: Any) -> str:
    return f"{khz / 1000:.1f} MHz" if isinstance(khz, int | float) and khz > 0 else ""


def _clock(readings: _Readings) -> str:
    for name in ("base", "max", "current"):
        text = _megahertz(readings.first(f"cpu.frequency.{name}_khz"))
        if text:
            return text if name == "base" else f"{text} ({name})"
    return _megahertz(readings.first("cpu.tsc.frequency_khz"))


def _socket(readings: _Readings, leaf: str) -> Any:
    for one in readings.listed("firmware.processors"):
        if isinstance(one.get(leaf), int | float) and one[leaf]:
            return one[leaf]
    return None


def _external(readings: _Readings) -> str:
    return _megahertz(
        readings.first("cpu.frequency.external_clock_khz")
        or _socket(readings, "external_clock_khz")
    )


def _voltage(readings: _Readings) -> str:
    millivolts = _socket(readings, "millivolts")
    return "" if millivolts is None else f"{significant(millivolts / 1000)} V"


def _instructions(readings: _Readings) -> str:
    machine = readings.first("cpu.architecture", "kernel.machine")
    level = readings.first("cpu.instruction_level")
    return ", ".join(str(one) for one in (machine, level) if one)


def _cache(readings: _Readings, level: int) -> str:
    parts = []
    for one in readings.listed("caches"):
        size, kind = one.get("size_bytes"), one.get("type", "unified")
        if one.get("level") != level or not isinstance(size, int):
            continue
        count = one.get("instances")
        times = f"{count} x " if isinstance(count, int) and count > 1 else ""
        parts.append(f"{times}{bytes_text(size)}{'' if kind == 'unified' else f' {kind}'}")
    return ", ".join(parts)


def _memory(readings: _Readings) -> str:
    modules: dict[str, int] = {}
    for one in readings.listed("memory.modules"):
        size = one.get("size_bytes")
        if not isinstance(size, int) or not size:
            continue
        rate = one.get("configured_mt_s") or one.get("speed_mt_s")
        kind = one.get("type")
        parts = [bytes_text(size), *([kind] if isinstance(kind, str) else [])]
        parts += [f"{rate} MT/s"] if isinstance(rate, int) else []
        text = " ".join(parts)
        modules[text] = modules.get(text, 0) + 1
    if modules:
        return ", ".join(f"{count} x {text}" for text, count in modules.items())
    total = readings.first("memory.total_bytes")
    return bytes_text(total) if isinstance(total, int | float) else ""


def _cards(readings: _Readings) -> list[dict[str, Any]]:
    cards = readings.listed("graphics.cards")
    return cards or list(readings.below("graphics.cards").values())


def _graphics(readings: _Readings) -> str:
    adapter = readings.first("graphics.adapter.name", "graphics.adapter.adapter")
    if adapter is not None:
        return str(adapter)
    return ", ".join(
        " ".join(str(one[part]) for part in ("driver", "vendor", "device") if _plain(one.get(part)))
        for one in _cards(readings)
    )


def _card(readings: _Readings, leaf: str, write: Callable[[Any], str]) -> str:
    return ", ".join(write(one[leaf]) for one in _cards(readings) if _plain(one.get(leaf)))


def _plain(value: Any) -> bool:
    return value is not None and value != "" and not isinstance(value, dict)


def _disk(readings: _Readings, leaf: str) -> Any:
    """A value of the device that the scratch directory lies on."""
    device = readings.first("filesystems.scratch.block_device", "filesystems.root.block_device")
    return None if device is None else readings.first(f"block_devices.{device}.{leaf}")


def _disk_name(readings: _Readings) -> str:
    model = _disk(readings, "model")
    driver = _disk(readings, "driver")
    return str(model or (f"{driver} device" if driver else ""))


def _disk_size(readings: _Readings) -> str:
    size = _disk(readings, "size_bytes")
    return bytes_text(size) if isinstance(size, int) else ""


def _spindle(readings: _Readings) -> str:
    rotational = _disk(readings, "rotational")
    if rotational is None:
        return ""
    return "rotating, rate not reported" if rotational else "no spindle"


def _removable(readings: _Readings) -> str:
    devices = readings.below("block_devices")
    found = ", ".join(
        f"{name} {bytes_text(one['size_bytes'])}"
        for name, one in devices.items()
        if one.get("removable") is True and isinstance(one.get("size_bytes"), int)
    )
    return found or ("none" if devices else "")


def _network(readings: _Readings) -> str:
    parts = []
    for name, one in readings.below("network_devices").items():
        if one.get("kind") != "ethernet" or one.get("driver") in _NO_CARDS:
            continue
        speed = one.get("speed_mbit")
        rate = f", {speed} Mbit/s" if isinstance(speed, int) else ""
        parts.append(f"{name} {one.get('driver', '')}".strip() + rate)
    return ", ".join(parts)


def _drivers(readings: _Readings, kinds: tuple[str, ...], leaf: str) -> str:
    """Names of the drivers of some kinds of device, each with its provider or version."""
    found = []
    for one in readings.below("drivers.devices").values():
        driver = one.get("driver")
        if str(one.get("component", "")).lower().startswith(kinds) and isinstance(driver, str):
            value = one.get(leaf)
            found.append(f"{driver}: {value if _plain(value) else 'none of its own'}")
    return ", ".join(dict.fromkeys(found))


def _chipset(readings: _Readings) -> str:
    for one in readings.below("drivers.devices").values():
        if str(one.get("component", "")).lower() == "host bridge":
            return f"{one.get('vendor', '')} {one.get('device', '')}".strip()
    return ""


def _nothing(_: _Readings) -> str:
    return ""


_NO_CARDS = ("ifb", "dummy", "veth", "tun", "bridge")
"""Drivers of network devices that are no hardware."""

_GRAPHICS = ("display controller", "vga", "graphics", "3d controller")
_STORAGE = ("storage", "block device", "sata", "nvme", "non-volatile", "ide", "scsi", "disk")
_NETWORK = ("network", "ethernet")
_BRIDGES = ("host bridge", "isa bridge", "smbus")
_USB = ("usb",)

_Maker = tuple[Callable[[_Readings], str], tuple[str, ...]]

_PROPERTIES: dict[str, _Maker] = {
    "cpu": (
        lambda one: _text(one, "cpu.model_name", "cpu.model", "cpu.brand", "cpu.name"),
        ("cpu.model_name",),
    ),
    "instruction_set": (_instructions, ("cpu.architecture",)),
    "internal_clock": (_clock, ("cpu.frequency.base_khz", "cpu.frequency")),
    "external_clock": (_external, ("cpu.frequency.external_clock_khz", "firmware.processors")),
    "cores": (lambda one: _text(one, "cpu.cores", "cpu.logical", "cpu.threads"), ("cpu.cores",)),
    "voltage": (_voltage, ("firmware.processors",)),
    "l1": (lambda one: _cache(one, 1), ("caches",)),
    "l2": (lambda one: _cache(one, 2), ("caches",)),
    "l3": (lambda one: _cache(one, 3), ("caches",)),
    "ram": (_memory, ("memory.modules", "memory.total_bytes")),
    "graphics": (_graphics, ("graphics.cards",)),
    "graphics_memory": (lambda one: _card(one, "memory_bytes", bytes_text), ("graphics.cards",)),
    "graphics_clock": (lambda one: _card(one, "max_khz", _megahertz), ("graphics.cards",)),
    "graphics_interface": (
        lambda one: _text(one, "graphics.adapter.api", "graphics.adapter.backend"),
        ("graphics.adapter",),
    ),
    "disk": (_disk_name, ("filesystems.scratch.block_device", "block_devices")),
    "disk_capacity": (_disk_size, ("filesystems.scratch.block_device", "block_devices")),
    "disk_interface": (
        lambda one: str(_disk(one, "interface") or ""),
        ("filesystems.scratch.block_device", "block_devices"),
    ),
    "disk_cache": (_nothing, ()),
    "spindle": (_spindle, ("filesystems.scratch.block_device", "block_devices")),
    "motherboard": (
        lambda one: _joined(one, "firmware.board_vendor", "firmware.board_name"),
        ("firmware.board_name",),
    ),
    "chipset": (_chipset, ("drivers.devices", "drivers")),
    "memory_architecture": (_nothing, ()),
    "bios": (
        lambda one: _joined(one, "firmware.vendor", "firmware.version"),
        ("firmware.version",),
    ),
    "removable": (_removable, ("block_devices",)),
    "file_system": (
        lambda one: _text(one, "filesystems.scratch.type", "filesystems.root.type"),
        ("filesystems.scratch",),
    ),
    "network": (_network, ("network_devices",)),
    "os": (lambda one: _text(one, "os.pretty_name", "os.name"), ("os.name",)),
    "kernel": (
        lambda one: _joined(one, "kernel.name", "kernel.release"),
        ("kernel.release",),
    ),
    "machine": (
        lambda one: _joined(one, "firmware.system_vendor", "firmware.system_name"),
        ("firmware.system_name",),
    ),
    "compiler": (lambda one: _text(one, "kernel.build"), ("kernel.build",)),
    "driver_cpu": (
        lambda one: _text(one, "cpu.frequency.driver", "power.idle_driver"),
        ("cpu.frequency.driver",),
    ),
}

_DRIVEN = {
    "graphics": _GRAPHICS,
    "disk": _STORAGE,
    "chipset": _BRIDGES,
    "usb": _USB,
    "network": _NETWORK,
}
for _kind, _names in _DRIVEN.items():
    for _suffix, _leaf in (("provider", "provider"), ("version", "driver_version")):
        _PROPERTIES[f"driver_{_kind}_{_suffix}"] = (
            partial(_drivers, kinds=_names, leaf=_leaf),
            ("drivers.devices",),
        )

NAMES = frozenset(_PROPERTIES)
"""Every property."""
