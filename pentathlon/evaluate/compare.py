"""One system against the reference: ratios, three families of tests, verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pentathlon.evaluate import comparability, family, published, ratio
from pentathlon.evaluate.estimate import Series
from pentathlon.evaluate.model import Comparison, Effect, Failure, SystemFacts
from pentathlon.evaluate.stability import instability, separated
from pentathlon.evaluate.verdict import Claims, Verdict, decide, words

Values = npt.NDArray[np.float64]

FEWEST_BLOCKS = 2


@dataclass(frozen=True)
class Rule:
    """What the study declares: the region of equivalence and the confidence."""

    delta_percent: float
    confidence: float

    @property
    def rate(self) -> float:
        """Family-wise error rate, and level of the rows' own intervals: 1 − confidence."""
        return 1.0 - self.confidence

    @property
    def delta(self) -> float:
        """Half width of the region of equivalence as a log-ratio."""
        return ratio.delta_log(self.delta_percent)


@dataclass(frozen=True)
class Pair:
    """What one row of a comparison starts from."""

    key: str
    workload: str
    system: Series | None
    reference: Series | None


@dataclass(frozen=True)
class Judged:
    """All rows of one system against the reference."""

    comparisons: dict[str, Comparison]
    tested: int
    selected: int


@dataclass(frozen=True)
class Tested:
    """A row with enough paired blocks: its ratios, its level, its claims."""

    ratios: Values
    level: float
    claims: Claims


@dataclass(frozen=True)
class Judge:
    """Judges every row of one system against the reference, as one family."""

    system: SystemFacts
    reference: SystemFacts
    failures: Sequence[Failure]
    rule: Rule

    def judge(self, pairs: Sequence[Pair]) -> Judged:
        """The verdict of every row."""
        objections = {pair.key: self._objection(pair) for pair in pairs}
        tested = self._test(
            [pair for pair in pairs if objections[pair.key] is None and _complete(pair)]
        )
        every = comparability.pair_cautions(self.system, self.reference)
        comparisons = {}
        for pair in pairs:
            own = comparability.parameter_caution(pair.workload, self.system, self.reference)
            cautions = every if own is None else (*every, own)
            done = tested.get(pair.key)
            comparisons[pair.key] = (
                self._untested(pair, objections[pair.key], cautions)
                if done is None
                else self._verdict(pair, done, cautions)
            )
        selected = sum(done.claims.different for done in tested.values())
        return Judged(comparisons, len(tested), selected)

    def _test(self, pairs: Sequence[Pair]) -> dict[str, Tested]:
        """Three families over the same rows: different, beyond ±δ, within ±δ."""
        samples = {pair.key: sample for pair in pairs if len(sample := _ratios(pair)) > 1}
        rows = list(samples.values())
        weights = family.workload_weights([pair.workload for pair in pairs if pair.key in samples])
        delta, rate = self.rule.delta, self.rule.rate

        def select(p_values: list[float]) -> family.Selection:
            return family.step_down(np.array(p_values), weights, rate)

        different = select([ratio.p_different(row) for row in rows])
        beyond = select([ratio.p_beyond(row, delta) for row in rows])
        equivalent = select([ratio.p_equivalent(row, delta) for row in rows])
        return {
            key: Tested(
                sample,
                float(different.levels[place]),
                Claims(
                    different=bool(different.selected[place]),
                    beyond=bool(beyond.selected[place]),
                    equivalent=bool(equivalent.selected[place]),
                ),
            )
            for place, (key, sample) in enumerate(samples.items())
        }

    def _objection(self, pair: Pair) -> str | None:
        """Why the row is invalid, or None."""
        return next(self._objections(pair), None)

    def _objections(self, pair: Pair) -> Iterator[str]:
        whole = comparability.pair_objection(self.system, self.reference)
        if whole is not None:
            yield whole
        for failure in self.failures:
            names = (self.system.name, self.reference.name)
            if failure.kind == "invalid" and _concerns(failure, pair, names):
                yield f"{failure.system} reported an invalid run: {failure.reason}"
        own, other = pair.system, pair.reference
        if own is None or other is None:
            return
        if own.units > 1 or other.units > 1 or own.unit != other.unit:
            yield f"the units differ ({other.unit} and {own.unit})"
        if own.direction != other.direction:
            yield f"the directions differ ({other.direction} and {own.direction} is better)"
        if min(own.lowest, other.lowest) <= 0:
            yield "a sample is zero or negative, which no time or rate of finished work can be"
        if comparability.parameter_caution(pair.workload, self.system, self.reference) is None:
            objection = comparability.checksum_objection(own.checksums, other.checksums)
            if objection is not None:
                yield objection

    def _verdict(self, pair: Pair, done: Tested, cautions: tuple[str, ...]) -> Comparison:
        """A row with at least two paired blocks."""
        effect = self._effect(done)
        verdict, reason = decide(done.claims, effect.mean), ""
        trouble = instability(done.ratios)
        if trouble is not None:
            if verdict.is_difference and separated(done.ratios):
                cautions = (*cautions, f"{trouble}, but every block agrees on the direction")
            else:
                verdict, reason = Verdict.UNSTABLE, trouble
        elif verdict is Verdict.INCONCLUSIVE and not _holds_zero(effect):
            reason = "its own interval excludes 0, but not after allowing for all rows"
        return Comparison(
            system=self.system.name,
            difference_percent=_difference(pair),
            effect=effect,
            verdict=verdict,
            words=words(verdict, self.rule.delta_percent, effect.mde_percent),
            reason=reason,
            cautions=cautions,
        )

    def _effect(self, done: Tested) -> Effect:
        sample, level = done.ratios, done.level
        low, high = ratio.t_interval(sample, self.rule.rate)
        adjusted_low, adjusted_high = ratio.t_interval(sample, level)
        return _single(sample).model_copy(
            update={
                "sd": float(np.std(sample, ddof=1)),
                "low_percent": ratio.percent(low),
                "high_percent": ratio.percent(high),
                "adjusted_confidence": 1.0 - level,
                "adjusted_low_percent": ratio.percent(adjusted_low),
                "adjusted_high_percent": ratio.percent(adjusted_high),
                "p_different": ratio.p_different(sample),
                "p_equivalent": ratio.p_equivalent(sample, self.rule.delta),
                "mde_percent": ratio.percent(ratio.detectable(sample, level)),
            }
        )

    def _untested(self, pair: Pair, objection: str | None, cautions: tuple[str, ...]) -> Comparison:
        """A row that is invalid, missing on a side, or has fewer than two paired blocks."""
        effect: Effect | None = None
        if objection is not None:
            verdict, reason = Verdict.INVALID, objection
        elif not _complete(pair):
            verdict, reason = Verdict.NOT_MEASURED, self._why_missing(pair)
        else:
            verdict, sample = Verdict.INCONCLUSIVE, _ratios(pair)
            effect = _single(sample) if len(sample) else None
            reason = f"{len(sample)} paired blocks; an interval needs at least {FEWEST_BLOCKS}"
            if len(sample) == 1:
                reason = reason.replace("blocks", "block", 1)
        return Comparison(
            system=self.system.name,
            difference_percent=_difference(pair),
            effect=effect,
            verdict=verdict,
            words=words(verdict, self.rule.delta_percent),
            reason=reason,
            cautions=cautions,
        )

    def _why_missing(self, pair: Pair) -> str:
        said = []
        for name, side in (
            (self.reference.name, pair.reference),
            (self.system.name, pair.system),
        ):
            if side is None:
                known = [one for one in self.failures if _concerns(one, pair, (name,))]
                said.append(
                    f"{name}: {known[0].kind}, {known[0].reason}"
                    if known
                    else f"{name} has no counted sample"
                )
        return "; ".join(said)


def counts(comparisons: Mapping[str, Comparison], keys: Sequence[str]) -> dict[Verdict, int]:
    """How often each verdict was given among the keys, without those that were not given."""
    found = [comparisons[key].verdict for key in keys if key in comparisons]
    return {verdict: found.count(verdict) for verdict in Verdict if verdict in found}


def _complete(pair: Pair) -> bool:
    return pair.system is not None and pair.reference is not None


def _concerns(failure: Failure, pair: Pair, systems: Sequence[str]) -> bool:
    """Whether a failure touches the row: same workload, and its case or the workload as a whole."""
    return (
        not failure.resolved
        and failure.system in systems
        and failure.workload == pair.workload
        and (not failure.case or pair.key.endswith(f"[{failure.case}]"))
    )


def _ratios(pair: Pair) -> Values:
    """Log-ratios of the blocks that both systems have, in block order."""
    if pair.system is None or pair.reference is None:
        return np.zeros(0)
    own, other = pair.system.blocks, pair.reference.blocks
    blocks = sorted(own.keys() & other.keys())
    return ratio.log_ratios(
        np.array([own[block] for block in blocks]),
        np.array([other[block] for block in blocks]),
        pair.system.direction,
    )


def _difference(pair: Pair) -> float | None:
    if pair.system is None or pair.reference is None or pair.system.unit != pair.reference.unit:
        return None
    raw = published.difference_percent(pair.system.summary.mean, pair.reference.summary.mean)
    return raw if np.isfinite(raw) else None


def _holds_zero(effect: Effect) -> bool:
    return (
        effect.low_percent is not None
        and effect.high_percent is not None
        and effect.low_percent <= 0 <= effect.high_percent
    )


def _single(sample: Values) -> Effect:
    """The ratio of the blocks without any claim."""
    mean = float(np.mean(sample))
    return Effect(
        blocks=len(sample),
        log_ratios=tuple(sample.tolist()),
        mean=mean,
        sd=None,
        percent=ratio.percent(mean),
        low_percent=None,
        high_percent=None,
        adjusted_confidence=None,
        adjusted_low_percent=None,
        adjusted_high_percent=None,
        p_different=None,
        p_equivalent=None,
        mde_percent=None,
    )
