"""Tables in the form that the reader wants: polars, pandas or Arrow."""

from __future__ import annotations

import importlib
from typing import Any, Literal, TypeAlias

import polars as pl

Form: TypeAlias = Literal["polars", "pandas", "arrow"]
"""polars.DataFrame, pandas.DataFrame, or pyarrow.Table."""

NEEDS = {"pandas": ("pandas", "pyarrow"), "arrow": ("pyarrow",)}
EXTRA = "pip install 'pentathlon[analysis]'"


def converted(table: pl.DataFrame, form: Form) -> Any:
    """The same table in another form.

    Args:
        form: "polars" returns the table itself. pandas gets Arrow types with nulls as they are
            where it has them, NumPy types elsewhere, as `polars.DataFrame.to_pandas` does.

    Raises:
        ValueError: there is no such form.
        ModuleNotFoundError: the package of that form is not installed.
    """
    if form == "polars":
        return table
    if form not in NEEDS:
        raise ValueError(f'"{form}" is no form of a table; use "polars", "pandas" or "arrow"')
    for package in NEEDS[form]:
        need(package, f'tables as "{form}"')
    return table.to_pandas() if form == "pandas" else table.to_arrow()


def need(package: str, what: str) -> Any:
    """A package that is installed only where it is wanted.

    Raises:
        ModuleNotFoundError: it is missing; the text states how to install it.
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package.partition(".")[0]:
            raise
        raise ModuleNotFoundError(f"{what} need {package}; {EXTRA}", name=package) from error
