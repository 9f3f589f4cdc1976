"""The verdict words and the logic of intervals behind them (docs/evaluation.md, "Verdicts")."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pentathlon.evaluate.display import UNKNOWN, is_known, percent_text
from pentathlon.evaluate.wording import SPEED, Wording


class Verdict(StrEnum):
    """One word for one comparison of one metric; the values are those of the JSON export."""

    FASTER_BY_DELTA = "faster-by-delta"
    """Shown to be faster, and by more than δ."""
    SLOWER_BY_DELTA = "slower-by-delta"
    """Shown to be slower, and by more than δ."""
    FASTER = "faster"
    """Shown to be faster, but perhaps by less than δ."""
    SLOWER = "slower"
    """Shown to be slower, but perhaps by less than δ."""
    HIGHER = "higher"
    """Context, which is no score: shown to be more than on the reference."""
    LOWER = "lower"
    """Context: shown to be less."""
    NEGLIGIBLE = "negligible"
    """Shown to be different, and shown to differ by less than δ."""
    EQUIVALENT = "equivalent"
    """Not shown to be different, and shown to differ by less than δ."""
    INCONCLUSIVE = "inconclusive"
    """Neither is shown: the data do not decide."""
    UNSTABLE = "unstable"
    """The blocks contradict each other by more than a mean and its interval can describe."""
    INVALID = "invalid"
    """The two systems did not do the same work, or a value cannot be right."""
    NOT_MEASURED = "not-measured"
    """One of the systems has no counted sample: not a judgement, but a row that is not left out."""

    @property
    def is_difference(self) -> bool:
        """Whether the word states which system is faster."""
        return self in _DIRECTION

    @property
    def is_shown(self) -> bool:
        """Whether the word states a difference that counts, of speed or of context."""
        return self in _DIRECTION or self in (Verdict.HIGHER, Verdict.LOWER)

    @property
    def sign(self) -> int:
        """+1 for faster than the reference, −1 for slower, 0 for every other word."""
        return _DIRECTION.get(self, 0)


_DIRECTION = {
    Verdict.FASTER_BY_DELTA: 1,
    Verdict.FASTER: 1,
    Verdict.SLOWER: -1,
    Verdict.SLOWER_BY_DELTA: -1,
}


@dataclass(frozen=True)
class Claims:
    """What the three families of tests allow to be stated about one row."""

    different: bool
    """The ratio is not 1."""
    beyond: bool
    """The ratio lies beyond ±δ."""
    equivalent: bool
    """The ratio lies within ±δ."""


def decide(claims: Claims, mean: float, kind: Wording = SPEED) -> Verdict:
    """The word for a row whose data are valid and stable; `mean` is its mean log-ratio."""
    if claims.different and not claims.equivalent and not kind.score:
        return Verdict.HIGHER if mean > 0 else Verdict.LOWER
    if claims.different:
        if claims.beyond:
            return Verdict.FASTER_BY_DELTA if mean > 0 else Verdict.SLOWER_BY_DELTA
        if claims.equivalent:
            return Verdict.NEGLIGIBLE
        return Verdict.FASTER if mean > 0 else Verdict.SLOWER
    return Verdict.EQUIVALENT if claims.equivalent else Verdict.INCONCLUSIVE


def words(
    verdict: Verdict,
    delta_percent: float,
    mde_percent: float | None = None,
    kind: Wording = SPEED,
) -> str:
    """The verdict as the reports print it, such as "faster by at least 1 %"."""
    delta = percent_text(delta_percent)
    if verdict.is_shown and not kind.speed:
        up = verdict is Verdict.HIGHER or verdict.sign > 0
        by = f" by at least {delta}" if "by at least" in _WORDS.get(verdict, "") else ""
        return f"{kind.up if up else kind.down}{by}"
    if verdict is Verdict.INCONCLUSIVE and mde_percent is not None:
        detectable = percent_text(mde_percent) if is_known(mde_percent) else UNKNOWN
        return f"inconclusive (MDE {detectable})"
    return _WORDS.get(verdict, verdict.value).format(delta=delta)


_WORDS = {
    Verdict.FASTER_BY_DELTA: "faster by at least {delta}",
    Verdict.SLOWER_BY_DELTA: "slower by at least {delta}",
    Verdict.HIGHER: "more (context)",
    Verdict.LOWER: "less (context)",
    Verdict.NEGLIGIBLE: "different but negligible",
    Verdict.EQUIVALENT: "equivalent within {delta}",
    Verdict.NOT_MEASURED: "not measured",
}
