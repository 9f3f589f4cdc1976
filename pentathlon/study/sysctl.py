"""Names and values of the setting `sysctl`."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field

NAME = re.compile(r"[A-Za-z0-9_-]+([./][A-Za-z0-9_:@+-]+)+")

OWN_KEYS = {
    "kernel.randomize_va_space": "aslr",
    "vm.swappiness": "swappiness",
    "net.ipv4.tcp_congestion_control": "tcp_congestion_control",
}
"""Files that are a setting of their own."""


def _check(values: dict[str, int | str]) -> dict[str, int | str]:
    for name, value in values.items():
        if NAME.fullmatch(name) is None:
            raise ValueError(f'"{name}" is no name of sysctl(8), such as "net.core.rmem_max"')
        if not str(value).isprintable() or not str(value).strip():
            raise ValueError(f'"{name}" needs a number or one line of text')
        if (key := OWN_KEYS.get(name.replace("/", "."))) is not None:
            raise ValueError(f'"{name}" is the setting "{key}"; use that key')
    return values


Sysctl: TypeAlias = Annotated[dict[str, int | str], Field(min_length=1), AfterValidator(_check)]
"""Name, as sysctl(8) has it, to value."""
