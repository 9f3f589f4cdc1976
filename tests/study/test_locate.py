"""Lines of TOML paths, on files that are awkward to scan."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pentathlon.study.locate import Locator

AWKWARD = '''\
# a comment with [brackets] and "quotes"
title = "with # no comment and \\" escape"   # 2
"quoted key" = 1                              # 3
dotted.inner . deep = [1, 2,                  # 4
   3,  # "]" in a comment                     # 5
   [ 4, "]" ],                                # 6
]
long = """                                    # 8
[system]
name = "no key" \\"""
still"""""                                    # 11
literal = \'\'\'
x = [ { \'\'\'                                # 13
inline = { a = 1, "b.c" = { d = [ { e = 2 } ] } }   # 14
date = 1979-05-27T07:32:00Z                   # 15

[table]                                       # 17
a = 1
[table.sub."with.dot"]                        # 19
b = { }

[[system]]                                    # 22
name = "x"
[system.settings]                             # 24
nice = 1
[[system.part]]                               # 26
p = 1
[[system.part]]                               # 28
p = 2
[[system]]                                    # 30
name = "y"
[[system.part]]                               # 32
p = 3
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("quoted key",), 3),
        (("dotted", "inner", "deep"), 4),
        (("dotted", "inner", "deep", 1), 4),
        (("dotted", "inner", "deep", 2), 5),
        (("dotted", "inner", "deep", 3, 1), 6),
        (("long",), 8),
        (("literal",), 12),
        (("inline", "b.c", "d", 0, "e"), 14),
        (("date",), 15),
        (("table",), 17),
        (("table", "sub", "with.dot"), 19),
        (("table", "sub", "with.dot", "b"), 20),
        (("system",), 22),
        (("system", 0, "settings", "nice"), 25),
        (("system", 0, "part", 0), 26),
        (("system", 0, "part", 1, "p"), 29),
        (("system", 1), 30),
        (("system", 1, "name"), 31),
        (("system", 1, "part", 0, "p"), 33),
        (("system", 1, "missing"), 30),
        (("missing",), None),
    ],
)
def test_awkward_file(path: tuple[str | int, ...], line: int | None) -> None:
    tomllib.loads(AWKWARD)
    assert Locator(AWKWARD).line(path) == line


def every_path(value: Any, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    found = {path} if path else set()
    if isinstance(value, dict):
        for key, part in value.items():
            found |= every_path(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            found |= every_path(part, (*path, index))
    return found


def test_every_path_of_the_awkward_file_has_its_own_line() -> None:
    """What tomllib finds, the locator finds: neither more nor less."""
    assert set(Locator(AWKWARD).lines) == every_path(tomllib.loads(AWKWARD))


keys = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=6)
scalars = st.one_of(
    st.integers(-9, 9), st.booleans(), st.text(st.characters(codec="ascii"), max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


def toml_text(text: str) -> str:
    body = "".join(
        {"\\": "\\\\", '"': '\\"'}.get(c, c if c.isprintable() else f"\\U{ord(c):08x}")
        for c in text
    )
    return f'"{body}"'


def write(value: Any) -> str:
    """A value as TOML, each list over several lines."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml_text(k)} = {write(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[ # ]\n" + ",\n".join(write(part) for part in value) + "\n]"
    return toml_text(value) if isinstance(value, str) else str(value)


@given(st.dictionaries(keys, values, max_size=5))
def test_any_document(document: dict[str, Any]) -> None:
    text = "\n".join(f"{toml_text(key)} = {write(value)}" for key, value in document.items())
    assert tomllib.loads(text) == document
    locator = Locator(text)
    assert set(locator.lines) == every_path(document)
    lines = text.split("\n")
    for key in document:
        assert lines[locator.lines[(key,)] - 1].startswith(toml_text(key))
