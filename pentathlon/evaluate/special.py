"""`scipy.special`, without what it would load and write and nobody uses.

SciPy looks at every name of NumPy (`scipy._lib.array_api_compat`), which loads modules that NumPy
itself loads on demand: its compiler for Fortran, its masked arrays, its tests. They are registered
here, and loaded when one of them is used. It also parses the documentation of its functions and
writes it anew, to name the array libraries that they take (`xp_capabilities`); the functions
themselves stay as they are, unless the variable SCIPY_ARRAY_API asks for other libraries. Together
this is a sixth of the time of a short command.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

ON_DEMAND: Final = ("f2py", "ma", "testing", "ctypeslib")


def _register(name: str) -> None:
    """Register a module of NumPy that is loaded when something of it is used."""
    whole = f"numpy.{name}"
    if whole in sys.modules:
        return
    spec = importlib.util.find_spec(whole)
    if spec is None or spec.loader is None:
        return
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[whole] = module
    spec.loader.exec_module(module)
    setattr(np, name, module)


@contextmanager
def _documentation_as_it_is() -> Iterator[None]:
    """Let SciPy's functions keep their documentation while they are loaded."""
    try:
        module: Any = importlib.import_module("scipy._lib._array_api")
        own = module.xp_capabilities
    except (ImportError, AttributeError):  # Of another version.
        yield
        return

    def unchanged(*_: Any, **__: Any) -> Callable[[Any], Any]:
        return lambda function: function

    module.xp_capabilities = unchanged
    try:
        yield
    finally:
        module.xp_capabilities = own


if "scipy.special" in sys.modules or os.environ.get("SCIPY_ARRAY_API"):
    from scipy import special
else:
    for one in ON_DEMAND:
        _register(one)
    with _documentation_as_it_is():
        from scipy import special

__all__ = ["special"]
