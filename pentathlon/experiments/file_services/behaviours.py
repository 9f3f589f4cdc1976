"""How the ends of a file service behave: named, documented sets of factors."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from pentathlon.machine.errors import TargetError
from pentathlon.safeio.reading import ReadError, parse_toml, read_text

OWN: Final = "own"

GENERATIONS: Final = ("smb1", "smb2.0", "smb2.1", "smb3.1.1")
"""SMB by its generations, oldest first ([MS-SMB2] 1.7)."""

KNOWN = Path(__file__).with_name("behaviours.toml")
MOST_BYTES = 1 << 20
"""Of a file with a behaviour."""


@dataclass(frozen=True)
class Behaviour:
    """One end. What is None is the system's own.

    Attributes:
        receive_buffer, send_buffer: least, first and greatest size, in bytes.
        window_scaling, timestamps: options of TCP (RFC 7323).
        congestion: congestion control.
        most: newest SMB generation that it speaks.
        outstanding: requests in flight.
        read_bytes: longest READ that a server serves.
        buffer: send buffer of a web server, in bytes; 0: the system's.
    """

    name: str
    title: str = ""
    source: str = ""
    receive_buffer: tuple[int, int, int] | None = None
    send_buffer: tuple[int, int, int] | None = None
    window_scaling: bool | None = None
    timestamps: bool | None = None
    congestion: str | None = None
    most: str = GENERATIONS[-1]
    outstanding: int | None = None
    read_bytes: int | None = None
    buffer: int = 0

    def settings(self) -> dict[str, str]:
        """Files below /proc/sys and what they are set to, for this end alone."""
        values: dict[str, str] = {}
        for key, name in (("tcp_rmem", self.receive_buffer), ("tcp_wmem", self.send_buffer)):
            if name is not None:
                values[f"net/ipv4/{key}"] = " ".join(map(str, name))
        for key, switch in (
            ("tcp_window_scaling", self.window_scaling),
            ("tcp_timestamps", self.timestamps),
        ):
            if switch is not None:
                values[f"net/ipv4/{key}"] = str(int(switch))
        if self.congestion is not None:
            values["net/ipv4/tcp_congestion_control"] = self.congestion
        return values

    def described(self) -> dict[str, Any]:
        """What it changes, as JSON data."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        del values["source"]
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value is not None
        }

    def with_buffer(self, size: int) -> Behaviour:
        """With another send buffer of the web server, in bytes."""
        return replace(self, buffer=size)

    def with_factors(self, window_bytes: int, congestion: str) -> Behaviour:
        """With the factors of a case over it: 0 and "own" leave the behaviour as it is."""
        changed: dict[str, Any] = {}
        if window_bytes:
            changed["receive_buffer"] = (min(4096, window_bytes), window_bytes, window_bytes)
        if congestion != OWN:
            changed["congestion"] = congestion
        return replace(self, **changed)


def behaviour(name: str) -> Behaviour:
    """The behaviour of that name, or of the file at that absolute path.

    Raises:
        TargetError: there is none, or the file is wrong.
    """
    if name.startswith("/"):
        return _of_file(Path(name))
    known = _known()
    if name not in known:
        raise TargetError(
            f'there is no behaviour "{name}"; use one of {", ".join(sorted(known))}, or the '
            "absolute path of a file"
        )
    return known[name]


@cache
def _known() -> dict[str, Behaviour]:
    tables = tomllib.loads(KNOWN.read_text())
    return {name: _made(name, table, str(KNOWN)) for name, table in tables.items()}


def _of_file(path: Path) -> Behaviour:
    try:
        tables = parse_toml(read_text(path, MOST_BYTES))
    except ReadError as error:
        place = f", line {error.line}," if error.line else ""
        raise TargetError(f"the behaviour {path}{place} {error}") from error
    if len(tables) != 1 or not isinstance(next(iter(tables.values())), dict):
        raise TargetError(f"the behaviour {path} must hold exactly one table, such as [mine]")
    name, table = next(iter(tables.items()))
    return _made(name, table, str(path))


def _made(name: str, table: dict[str, Any], place: str) -> Behaviour:
    types: dict[str, type] = {
        "title": str, "source": str, "receive_buffer": list, "send_buffer": list,
        "window_scaling": bool, "timestamps": bool, "congestion": str, "most": str,
        "outstanding": int, "read_bytes": int, "buffer": int,
    }  # fmt: skip
    assert set(types) == {field.name for field in fields(Behaviour)} - {"name"}
    for key, value in table.items():
        if key not in types:
            raise TargetError(
                f'{place}: [{name}] has the unknown key "{key}"; known are {", ".join(types)}'
            )
        right = types[key]
        if not isinstance(value, right) or (right is int and isinstance(value, bool)):
            raise TargetError(f"{place}: [{name}] {key} must be of type {right.__name__}")
        if right is list and not _three_sizes(value):
            raise TargetError(f"{place}: [{name}] {key} must be three sizes in bytes")
    if table.get("most", GENERATIONS[0]) not in GENERATIONS:
        raise TargetError(f"{place}: [{name}] most must be one of {', '.join(GENERATIONS)}")
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
    }
    return Behaviour(name, **values)


def _three_sizes(value: Any) -> bool:
    return len(value) == 3 and all(type(one) is int and one > 0 for one in value)


def newest(client: Behaviour, server: Behaviour) -> str:
    """The newest SMB generation that both ends speak."""
    return GENERATIONS[min(GENERATIONS.index(client.most), GENERATIONS.index(server.most))]
