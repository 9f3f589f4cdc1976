"""`scipy.special`, without the parts of NumPy that it would load and not use.

SciPy looks at every name of NumPy (`scipy._lib.array_api_compat`), which loads modules that NumPy
itself loads on demand: its compiler for Fortran, its masked arrays, its tests. That is a tenth of
the time of a short command. They are registered here, and loaded when one of them is used.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Final

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


if "scipy.special" not in sys.modules:
    for one in ON_DEMAND:
        _register(one)

from scipy import special  # noqa: E402

__all__ = ["special"]
