"""Tables that are read when they are asked for: most questions need one or two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import polars as pl

from pentathlon.store.schema import TABLES


class OnDemand(Mapping[str, pl.DataFrame]):
    """The tables of a result by name, each read once."""

    def __init__(self, read: Callable[[str], pl.DataFrame]) -> None:
        self._read = read
        self._found: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name not in TABLES:
            raise KeyError(name)
        if name not in self._found:
            self._found[name] = self._read(name)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)
