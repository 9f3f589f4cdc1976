"""The kinds of targets: each folder here that has a `descriptor.py` is one."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module

from pentathlon import targets
from pentathlon.targets import imported
from pentathlon.targets.descriptor import Kind

ORDER = ("local", "netns", "uml", "gvisor", "qemu", "ssh", "wine", "oci", "command")
"""The order of kinds in sentences and lists; those that are not named here follow."""

IMPORTED = imported.KIND
"""The kind of systems that other tools measured, which no list has and no study file can name."""

_known: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Add a kind. Those in the folders here are added when this module is loaded.

    Raises:
        ValueError: there is one of that name.
    """
    if kind.name in _known:
        raise ValueError(f'there is a kind of target "{kind.name}" already')
    _known[kind.name] = kind


def find(name: str) -> Kind | None:
    """The kind of that name, or None."""
    return _known.get(name)


def kind_of(name: str) -> Kind:
    """The kind of that name, that of imported systems too, which is in no list.

    Raises:
        KeyError: no kind has it.
    """
    return IMPORTED if name == IMPORTED.name else _known[name]


def kinds() -> tuple[Kind, ...]:
    """All kinds."""
    return tuple(_known.values())


def names(fits: Callable[[Kind], object] = lambda kind: True) -> list[str]:
    """Names of the kinds, of those that fit if only some of them are wanted."""
    return [kind.name for kind in kinds() if fits(kind)]


def _load() -> None:
    folders = {one.name for one in pkgutil.iter_modules(targets.__path__) if one.ispkg}
    for name in (*ORDER, *sorted(folders - set(ORDER))):
        register(import_module(f"{targets.__name__}.{name}.descriptor").KIND)


_load()
