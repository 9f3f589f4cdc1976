"""Judging a result otherwise than its study planned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pentathlon.cli.exits import InputError, of_input
from pentathlon.store.query import Result
from pentathlon.study.check import check_judgement


@dataclass(frozen=True)
class Judging:
    """What the user chose; None and () keep what the study planned."""

    delta: float | None = None
    confidence: float | None = None
    declared: Sequence[str] = ()
    weights: Sequence[str] = ()
    only: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Refuse numbers that no study may have.

        Raises:
            InputError: one is out of its range.
        """
        if self.delta is not None and not 0 < self.delta < 100:
            raise InputError(f"--delta is {self.delta:g}; give a percentage between 0 and 100")
        if self.confidence is not None and not 0.5 < self.confidence < 1:
            raise InputError(
                f"--confidence is {self.confidence:g}; give a fraction between 0.5 and 1, such as "
                "0.95"
            )

    @property
    def changes(self) -> bool:
        """Whether anything is chosen."""
        return self != Judging()

    def apply(self, result: Result) -> Result:
        """The result, judged so.

        Raises:
            InputError: a name or a pattern means nothing in this result.
        """
        if not self.changes:
            return result
        rules = result.study.evaluation
        evaluation = rules.model_copy(
            update={
                "delta_percent": rules.delta_percent if self.delta is None else self.delta,
                "confidence": rules.confidence if self.confidence is None else self.confidence,
                "declared": self._declared(rules.declared),
                "headlines": rules.headlines and not self.declared,
            }
        )
        weights = _weights(self.weights) if self.weights else dict(result.study.weights)
        chosen = {"evaluation": evaluation, "weights": weights}
        for problem in check_judgement(result.study.model_copy(update=chosen), result.catalog):
            option = "--weights" if problem.path[0] == "weights" else "--declared"
            raise InputError(f"{option}: {problem.text}")
        return result.narrowed(evaluation, _only(result, self.only), weights)

    def _declared(self, planned: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """ "*" declares what a study without the key declares."""
        if list(self.declared) == ["*"]:
            return None
        return tuple(self.declared) or planned


def _weights(texts: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in ",".join(texts).split(","):
        name, equals, number = (piece.strip() for piece in part.partition("="))
        try:
            weight = float(number)
        except ValueError:
            weight = -1.0
        if not name or not equals or not 0 <= weight <= 1e6:
            raise InputError(
                f'--weights has "{part.strip()}"; give NAME=NUMBER with a number from 0 to 1000000,'
                " such as process=2,memory=1"
            )
        if name in found:
            raise InputError(f'--weights names "{name}" twice; give it one weight')
        found[name] = weight
    return found


def _only(result: Result, patterns: Sequence[str]) -> Callable[[str], bool]:
    from pentathlon.analysis.judged import choosing  # noqa: PLC0415

    with of_input(ValueError):
        return choosing(result, patterns, "--only")
