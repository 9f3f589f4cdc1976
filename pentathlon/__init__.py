"""Pentathlon: which operating system is faster for this machine and this work.

    import pentathlon

    result = pentathlon.Result("results/two-kernels-20260101T120000Z")
    result.compare(delta=2).table()

What `__all__` names is stable (docs/python.md); every other module can change with any version.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pentathlon.analysis.comparison import Comparison
    from pentathlon.analysis.result import Result, results
    from pentathlon.store.problems import StoreError

__version__ = "0.1.0"

__all__ = ["Comparison", "Result", "StoreError", "__version__", "results"]

_PLACES = {
    "Comparison": "pentathlon.analysis.comparison",
    "Result": "pentathlon.analysis.result",
    "StoreError": "pentathlon.store.problems",
    "results": "pentathlon.analysis.result",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for: the command imports this package too, and needs none of it."""
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
