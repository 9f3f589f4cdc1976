"""The rule that a study declares before it is measured."""

from __future__ import annotations

from dataclasses import dataclass

from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.planning.alpha_spending import BY_PRECISION, Levels, fixed, levels_at
from pentathlon.study.model import Study


@dataclass(frozen=True)
class Rule:
    """What the study declares: the region of equivalence and the confidence."""

    delta_percent: float
    confidence: float
    looks: tuple[int, ...] = ()
    """Blocks after which the study may stop; () for a study with one look."""
    by_precision: bool = False
    """The study stops once its intervals are narrow."""
    moderated: bool = False
    """Rows lend each other strength (`borrowing`)."""

    @classmethod
    def declared(cls, study: Study) -> Rule:
        """That of a study."""
        stopping = study.procedure.stopping
        return cls(
            study.evaluation.delta_percent,
            study.evaluation.confidence,
            stopping.schedule,
            by_precision=stopping.rule == "precision",
            moderated=study.evaluation.moderated and stopping.rule == "fixed",
        )

    @property
    def rate(self) -> float:
        """Family-wise error rate, and level of the rows' own intervals: 1 − confidence."""
        return 1.0 - self.confidence

    @property
    def delta(self) -> float:
        """Half width of the region of equivalence as a log-ratio."""
        return ratio.delta_log(self.delta_percent)

    def levels(self, blocks: int) -> Levels:
        """What the stopping rule, and few blocks, cost when so many units of inference are done."""
        if self.by_precision:
            return BY_PRECISION
        return levels_at(self.looks, blocks) if self.looks and blocks else fixed(blocks)
