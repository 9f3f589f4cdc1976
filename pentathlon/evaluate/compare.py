"""One system against the reference: ratios, families of tests, verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pentathlon.evaluate import comparability, published
from pentathlon.evaluate.borrowing import Borrowed, Member, borrow
from pentathlon.evaluate.diagnostics.disagreement import OPPOSED, means_oppose
from pentathlon.evaluate.diagnostics.serial_correlation import dependence
from pentathlon.evaluate.diagnostics.stability import instability, of_boots, separated
from pentathlon.evaluate.effects import (
    Tested,
    contradiction,
    holds_zero,
    single,
    unpaired,
    whole_effect,
)
from pentathlon.evaluate.estimate import Series, value_objection
from pentathlon.evaluate.estimators.independent import Independent, independent
from pentathlon.evaluate.estimators.paired import Paired, pair_blocks
from pentathlon.evaluate.estimators.resolution import floor
from pentathlon.evaluate.failures import FirstFailures
from pentathlon.evaluate.model import Comparison, Effect, Failure, SystemFacts
from pentathlon.evaluate.multiplicity import families
from pentathlon.evaluate.planning.alpha_spending import Levels
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Verdict, decide, words
from pentathlon.evaluate.wording import SPEED, Wording
from pentathlon.study.counting import count_text

FEWEST_BLOCKS = 2


@dataclass(frozen=True)
class Pair:
    """What one row of a comparison starts from."""

    key: str
    workload: str
    system: Series | None
    reference: Series | None
    declared: bool = True
    zero_allowed: bool = False
    """Zero is a value of this metric; a block with one has no ratio."""
    kind: Wording = SPEED
    """How its differences are reported; that of context makes its log-ratio the raw one."""
    area: str = ""
    tick: float = 0.0
    """Resolution of the clock as a share of a sample; 0 if unknown."""


@dataclass(frozen=True)
class Judgement:
    """All rows of one system against the reference: declared ones, and exploratory ones."""

    comparisons: dict[str, Comparison]
    tested: int
    selected: int
    exploratory_tested: int = 0
    exploratory_selected: int = 0
    nominal_rate: float = 0.05
    """Level of an own interval at this look."""
    declared: frozenset[str] = frozenset()
    """Keys of the declared rows."""
    cautions: tuple[str, ...] = ()
    """What the rows together show, and qualifies each of them."""


@dataclass(frozen=True)
class Judge:
    """Judges every row of one system against the reference, as one family."""

    system: SystemFacts
    reference: SystemFacts
    failures: Sequence[Failure]
    rule: Rule
    in_blocks: bool = True
    """The boots of a block belong together; else every boot stands for itself."""
    decided: Mapping[str, int] = field(default_factory=dict)
    """Workload -> blocks after which it was decided at a look, and no longer measured."""

    @cached_property
    def _known(self) -> FirstFailures:
        return FirstFailures(self.failures, (self.system.name, self.reference.name))

    @cached_property
    def _whole_objection(self) -> str | None:
        return comparability.pair_objection(self.system, self.reference)

    def judge(self, pairs: Sequence[Pair]) -> Judgement:
        """The verdict of every row."""
        objections = {pair.key: self._objection(pair) for pair in pairs}
        testable = [
            pair
            for pair in pairs
            if objections[pair.key] is None and _complete(pair) and not _has_zero(pair)
        ]
        rows = {pair.key: self._row(pair) for pair in testable}
        borrowed = self._borrow(testable, rows)
        tested = self._test(testable, rows, borrowed)
        every = comparability.pair_cautions(self.system, self.reference, in_blocks=self.in_blocks)
        found = () if borrowed.caution is None else (borrowed.caution,)
        every = (*every, *found)
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
        declared = {pair.key for pair in pairs if pair.declared}
        selected = {key for key, done in tested.items() if done.claims.different}
        return Judgement(
            comparisons,
            tested=len(tested.keys() & declared),
            selected=len(selected & declared),
            exploratory_tested=len(tested.keys() - declared),
            exploratory_selected=len(selected - declared),
            nominal_rate=self._shared_levels(pairs).nominal(self.rule.rate),
            declared=frozenset(declared),
            cautions=found,
        )

    def _borrow(self, pairs: Sequence[Pair], rows: dict[str, Paired | Independent]) -> Borrowed:
        """What the rows have from each other; it widens them in place where blocks depend."""
        if not self.rule.moderated or not self.in_blocks:
            return Borrowed()
        known = {key: row for key, row in rows.items() if isinstance(row, Paired)}
        borrowed = borrow(
            [
                Member(pair.key, pair.area, pair.workload, known[pair.key], pair.kind.score)
                for pair in pairs
                if pair.key in known
            ]
        )
        for key, row in known.items():
            rows[key] = replace(row, inflation=borrowed.inflation)
        return borrowed

    def _test(
        self,
        pairs: Sequence[Pair],
        paired: Mapping[str, Paired | Independent],
        borrowed: Borrowed,
    ) -> dict[str, Tested]:
        """Declared rows by Holm's procedure, exploratory ones by that of Benjamini and Hochberg."""
        most = self._most(pairs)
        enough = [pair for pair in pairs if paired[pair.key].count >= FEWEST_BLOCKS]
        rows = [
            families.Candidate(
                pair.workload,
                paired[pair.key].estimate,
                borrowed.estimates.get(pair.key),
                self.rule.levels(min(most, self.decided.get(pair.workload, most))),
                pair.declared,
            )
            for pair in enough
        ]
        judged = zip(enough, rows, families.claims(rows, self.rule), strict=True)
        return {
            pair.key: Tested(paired[pair.key], level, row.levels, claims, row.moderated)
            for pair, row, (claims, level) in judged
        }

    def _most(self, pairs: Sequence[Pair]) -> int:
        """Blocks of the row that has most of them."""
        done = (self._row(pair).count for pair in pairs if _complete(pair) and _has_ratios(pair))
        return max(done, default=0)

    def _shared_levels(self, pairs: Sequence[Pair]) -> Levels:
        """What looks and few blocks cost in the blocks that all workloads have."""
        return self.rule.levels(min((self._most(pairs), *self.decided.values())))

    def _objection(self, pair: Pair) -> str | None:
        """Why the row is invalid, or None."""
        return next(self._objections(pair), None)

    def _objections(self, pair: Pair) -> Iterator[str]:
        if self._whole_objection is not None:
            yield self._whole_objection
        invalid = self._known.invalid(pair.workload, pair.key)
        if invalid is not None:
            yield f"{invalid.system} reported an invalid run: {invalid.reason}"
        own, other = pair.system, pair.reference
        if own is None or other is None:
            return
        values = value_objection(own, other, zero_allowed=pair.zero_allowed)
        if values is not None:
            yield values
        if comparability.same_work(pair.workload, self.system, self.reference):
            objection = comparability.checksum_objection(own.checksums, other.checksums)
            if objection is not None:
                yield objection

    def _verdict(self, pair: Pair, done: Tested, cautions: tuple[str, ...]) -> Comparison:
        """A row with at least two units of inference."""
        effect = whole_effect(done, self.rule)
        verdict, reason = decide(done.claims, effect.mean, pair.kind), ""
        trouble, agreement = _trouble(done.row, effect)
        if trouble is not None:
            if verdict.is_shown and agreement:
                cautions = (*cautions, f"{trouble}, but {agreement}")
            else:
                verdict, reason = Verdict.UNSTABLE, trouble
        elif verdict is Verdict.INCONCLUSIVE and not holds_zero(effect):
            reason = "its own interval excludes 0, but not after allowing for all rows"
        if (contradicted := contradiction(effect, done, self.rule)) is not None:
            cautions = (*cautions, contradicted)
        if means_oppose(_difference(pair), pair.system, effect.mean, self.rule.delta_percent):
            cautions = (*cautions, OPPOSED)
        return Comparison(
            system=self.system.name,
            difference_percent=_difference(pair),
            effect=effect,
            verdict=verdict,
            words=words(verdict, self.rule.delta_percent, effect.mde_percent, pair.kind),
            reason=reason,
            cautions=cautions,
        )

    def _untested(self, pair: Pair, objection: str | None, cautions: tuple[str, ...]) -> Comparison:
        """A row that is invalid, missing on a side, or has fewer than two units of inference."""
        effect: Effect | None = None
        if objection is not None:
            verdict, reason = Verdict.INVALID, objection
        elif not _complete(pair):
            verdict, reason = Verdict.NOT_MEASURED, self._why_missing(pair)
        elif _has_zero(pair):
            verdict, reason = Verdict.INCONCLUSIVE, "a boot counted zero, which has no ratio"
        elif isinstance(row := self._row(pair), Independent):
            verdict, effect = Verdict.INCONCLUSIVE, unpaired(row)
            few = count_text(row.count, "boot")
            reason = f"{few} on one side; an interval needs at least {FEWEST_BLOCKS} on each"
        else:
            verdict, paired = Verdict.INCONCLUSIVE, row
            effect = single(paired) if len(paired.blocks) else None
            have = count_text(len(paired.blocks), "paired block")
            reason = f"{have}; an interval needs at least {FEWEST_BLOCKS}"
        return Comparison(
            system=self.system.name,
            difference_percent=_difference(pair),
            effect=effect,
            verdict=verdict,
            words=words(verdict, self.rule.delta_percent),
            reason=reason,
            cautions=cautions,
        )

    def _row(self, pair: Pair) -> Paired | Independent:
        assert pair.system is not None and pair.reference is not None
        if self.in_blocks:
            row = pair_blocks(pair.system, pair.reference)
            if self.rule.moderated and len(row.blocks):
                return replace(row, floor=float(floor(row.system, row.reference, pair.tick)))
            return row
        return independent(pair.system, pair.reference)

    def _why_missing(self, pair: Pair) -> str:
        sentences = []
        for name, side in (
            (self.reference.name, pair.reference),
            (self.system.name, pair.system),
        ):
            if side is None:
                known = self._known.first(name, pair.workload, pair.key)
                sentences.append(
                    f"{name} has no counted sample"
                    if known is None
                    else f"{name}: {known.kind}, {known.reason}"
                )
        return "; ".join(sentences)


def counts(comparisons: Mapping[str, Comparison], keys: Sequence[str]) -> dict[Verdict, int]:
    """How often each verdict was given among the keys, without those that were not given."""
    found = [comparisons[key].verdict for key in keys if key in comparisons]
    return {verdict: found.count(verdict) for verdict in Verdict if verdict in found}


def _complete(pair: Pair) -> bool:
    return pair.system is not None and pair.reference is not None


def _trouble(row: Paired | Independent, effect: Effect) -> tuple[str | None, str]:
    """What makes a row unstable, or None; and what would outweigh it, "" if nothing does."""
    if isinstance(row, Independent):
        found = (instability(np.log(one)) for one in (row.system, row.reference))
        trouble = next((of_boots(text) for text in found if text is not None), None)
        return trouble, "every boot of one is better than all of the other" if row.apart else ""
    assert effect.checks is not None
    trouble = instability(row.units) or dependence(effect.checks.p_serial)
    return trouble, "every block agrees on the direction" if separated(row.units) else ""


def _has_ratios(pair: Pair) -> bool:
    """Whether every boot's mean is positive, and a number."""
    return all(
        all(0.0 < mean < math.inf for mean in one.blocks.values())
        for one in (pair.system, pair.reference)
        if one
    )


def _has_zero(pair: Pair) -> bool:
    """Whether some boot's mean is zero: then only the raw difference is reported."""
    return any(0 in one.blocks.values() for one in (pair.system, pair.reference) if one)


def _difference(pair: Pair) -> float | None:
    if pair.system is None or pair.reference is None or pair.system.unit != pair.reference.unit:
        return None
    raw = published.difference_percent(pair.system.summary.mean, pair.reference.summary.mean)
    return raw if np.isfinite(raw) else None
