"""Judgement: estimates, comparisons with the reference, verdicts (docs/evaluation.md)."""

from pentathlon.evaluate.evaluation import evaluate
from pentathlon.evaluate.model import Evaluation
from pentathlon.evaluate.planning.stopping import decided_workloads
from pentathlon.evaluate.planning.stopping import is_met as stopping_rule
from pentathlon.evaluate.verdict import Verdict

__all__ = ["Evaluation", "Verdict", "decided_workloads", "evaluate", "stopping_rule"]
