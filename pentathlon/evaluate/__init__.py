"""Judgement: estimates, comparisons with the reference, verdicts (docs/evaluation.md)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pentathlon.evaluate.evaluation import evaluate
    from pentathlon.evaluate.model import Evaluation
    from pentathlon.evaluate.planning.stopping import decided_workloads
    from pentathlon.evaluate.planning.stopping import is_met as stopping_rule
    from pentathlon.evaluate.verdict import Verdict

__all__ = ["Evaluation", "Verdict", "decided_workloads", "evaluate", "stopping_rule"]

_HOMES = {
    "Evaluation": ("model", "Evaluation"),
    "Verdict": ("verdict", "Verdict"),
    "decided_workloads": ("planning.stopping", "decided_workloads"),
    "evaluate": ("evaluation", "evaluate"),
    "stopping_rule": ("planning.stopping", "is_met"),
}


def __getattr__(name: str) -> Any:
    """Load what is asked for: who needs one small module of the package waits for no other."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, there = _HOMES[name]
    found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), there)
    return found
