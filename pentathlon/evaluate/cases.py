"""Cases of a metric: their order in tables and their text for people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeGuard

from pentathlon.evaluate.display import bytes_text
from pentathlon.evaluate.model import Scalar
from pentathlon.study.counting import singular

SIZE = "block_bytes"
"""Factor that curves over block size are drawn over."""
REPETITIONS = "repetitions"
"""Factor that scaling is fitted over."""


TITLES = {"opt_level": "optimisation level {}", "ip_version": "IPv{}"}
"""Factors whose values are stated in words of their own."""


ALONE_NOTHING = re.compile(r"(?i:yes|no|on|off|true|false|none|default)|[-+]?[\d.]+%?")
"""Texts that mean nothing without the name of their factor."""


def case_text(case: Mapping[str, Scalar]) -> str:
    """The case for people: sizes first, in binary units, then the rest, as "64 KiB, avx512"."""
    parts = sorted(case.items(), key=lambda item: not item[0].endswith("_bytes"))
    return ", ".join(_part(name, value) for name, value in parts)


def _part(name: str, value: Scalar) -> str:
    words = name.replace("_", " ")
    if isinstance(value, bool):
        return words if value else f"no {words}"
    if name in TITLES:
        return TITLES[name].format(value)
    if isinstance(value, str):
        return _text(name, words, value)
    if isinstance(value, int) and name.endswith("_bytes"):
        what = "" if name == SIZE else f" {words.removesuffix(' bytes')}"
        return f"{bytes_text(value)}{what}"
    if isinstance(value, int):
        return f"{value:,} {singular(words) if value == 1 else words}"
    return f"{words} {value}"


def _text(name: str, words: str, value: str) -> str:
    if name == "pages":
        return f"{value} pages"
    return f"{words} {value}" if ALONE_NOTHING.fullmatch(value) else value


def order(case: Mapping[str, Scalar]) -> tuple[list[str], list[tuple[str, float]]]:
    """Sort key of a case: categories first, then numbers by size, so that curves stay together."""
    categories = [f"{name}={value}" for name, value in case.items() if not _numeric(value)]
    numbers = [(name, float(value)) for name, value in case.items() if _numeric(value)]
    return categories, numbers


def without(case: Mapping[str, Scalar], *factors: str) -> dict[str, Scalar]:
    """The case without some factors: what names a curve over one factor."""
    return {name: value for name, value in case.items() if name not in factors}


def number(case: Mapping[str, Scalar], factor: str) -> float | None:
    """The value of a numeric factor, or None."""
    value = case.get(factor)
    return float(value) if _numeric(value) else None


def _numeric(value: Scalar) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
