"""Judges the effects of a factorial design: every term for every metric, as one family.

In each block every arm was booted once, so a block gives one value of each contrast of the arms'
log speeds; what a block does to all its arms cancels out. These values are the sample: a t interval
over them assumes nothing of the variances of the arms or of other contrasts. With two levels it is
the within-block test of a repeated-measures analysis of variance (F = t²), each effect against its
own interaction with the blocks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pentathlon.evaluate.borrowing import Member, borrow
from pentathlon.evaluate.compare import FEWEST_BLOCKS
from pentathlon.evaluate.diagnostics.serial_correlation import dependence, p_serial
from pentathlon.evaluate.diagnostics.stability import instability, separated
from pentathlon.evaluate.effects import UNTESTED, tested_fields
from pentathlon.evaluate.estimate import Series
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.estimators.paired import Paired, unit_means
from pentathlon.evaluate.estimators.resolution import floor
from pentathlon.evaluate.estimators.welch import Estimate
from pentathlon.evaluate.factorial.contrasts import Contrast, contrasts
from pentathlon.evaluate.factorial.ranking import ranking, term_words
from pentathlon.evaluate.model import Row
from pentathlon.evaluate.model_factorial import Arm, Factor, Factorial, TermEffect
from pentathlon.evaluate.multiplicity import families
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.values import Values
from pentathlon.evaluate.verdict import Verdict, decide
from pentathlon.study.counting import count_text
from pentathlon.study.factorial.design import Design

AllSeries = Mapping[tuple[str, str], Series]


@dataclass(frozen=True)
class _Cell:
    """One term for one metric, with the values of its contrast."""

    row: Row
    contrast: Contrast
    paired: Paired
    estimate: Estimate
    parts: tuple[tuple[str, float], ...]
    moderated: Estimate | None = None


def find_factorial(
    design: Design | None, rows: Sequence[Row], everything: AllSeries, rule: Rule
) -> Factorial | None:
    """The effects of a design; None where the study has none.

    Args:
        rows: judged arm by arm already; context is in no effect.
    """
    if design is None:
        return None
    terms = contrasts(design)
    scores = [row for row in rows if row.score]
    cells: dict[tuple[str, str], _Cell] = {}
    objections: dict[str, tuple[Verdict, str]] = {}
    for row in scores:
        objection = _objection(row, design, everything)
        if objection is not None:
            objections[row.key] = objection
            continue
        cells |= {(one.contrast.term.name, row.key): one
                  for one in _cells(row, design, terms, everything, rule)}  # fmt: skip
    cautions: tuple[str, ...] = ()
    if rule.moderated:
        cells, cautions = _borrowed(cells, [one.term.name for one in terms])
    tested = {name: one for name, one in cells.items() if one.paired.count >= FEWEST_BLOCKS}
    judged, selected = _families(tested, rule)
    declared = sum(one.row.declared for one in tested.values())
    effects = tuple(
        judged.get((one.term.name, row.key))
        or _untested(one, row, cells.get((one.term.name, row.key)), objections.get(row.key), rule)
        for one in terms
        for row in scores
    )
    every = tuple(one.term for one in terms)
    return Factorial(
        words=design.words,
        resolution=design.resolution,
        generators=design.generator_words,
        factors=tuple(
            Factor(name=name, levels=levels)
            for name, levels in zip(design.factors, design.levels, strict=True)
        ),
        arms=tuple(
            Arm(
                system=name,
                levels=tuple(own[at] for own, at in zip(design.levels, arm, strict=True)),
            )
            for name, arm in zip(design.names, design.arms, strict=True)
        ),
        terms=every,
        effects=effects,
        ranking=ranking(every, effects, {row.key: row for row in scores}, rule.delta_percent),
        tested=declared,
        selected=selected[True],
        exploratory_tested=len(tested) - declared,
        exploratory_selected=selected[False],
        cautions=cautions,
    )


def _objection(row: Row, design: Design, everything: AllSeries) -> tuple[Verdict, str] | None:
    """Why no effect of a metric can be judged, or None."""
    missing = [name for name in design.names if (row.key, name) not in everything]
    if missing:
        return Verdict.NOT_MEASURED, f"{missing[0]} has no counted sample, and all arms need one"
    for one in row.comparisons:
        if one.verdict is Verdict.INVALID:
            return Verdict.INVALID, f"{one.system}: {one.reason}"
    zero = any(0 in everything[row.key, name].blocks.values() for name in design.names)
    if zero:
        return Verdict.INCONCLUSIVE, "a boot counted zero, which has no ratio"
    return None


def _cells(
    row: Row, design: Design, terms: Sequence[Contrast], everything: AllSeries, rule: Rule
) -> list[_Cell]:
    series = [everything[row.key, name] for name in design.names]
    blocks = sorted(set(series[0].blocks).intersection(*(one.blocks for one in series)))
    values = np.array([[one.blocks[block] for one in series] for block in blocks])
    logs = np.log(values.reshape(len(blocks), len(series)))
    if row.direction != "higher":
        logs = -logs
    installs = [tuple(one.installs.get(block, "") for one in series) for block in blocks]
    # The variance that ticks of the clock alone give a log-ratio of two arms; half of it is one's.
    tick = 0.0
    if rule.moderated and blocks:
        tick = max(float(floor(values[:, place], values[:, 0])) for place in range(1, len(series)))
    found = []
    for one in terms:
        of_blocks = logs @ one.coefficients
        units = unit_means(of_blocks, installs)
        paired = Paired(
            blocks=tuple(blocks),
            system=np.empty(0),
            reference=np.empty(0),
            direction=row.direction,
            log_ratios=of_blocks,
            units=units,
            installs=len(units) if len(units) < len(of_blocks) else 1,
            floor=tick / 2.0 * float(one.coefficients @ one.coefficients),
        )
        parts = tuple(
            (level, ratio.percent(float(np.mean(logs @ weights)))) for level, weights in one.parts
        )
        estimate = paired.estimate if len(units) > 1 else Estimate(_mean(units), 0.0, 1.0)
        found.append(_Cell(row, one, paired, estimate, parts if blocks else ()))
    return found


def _mean(values: Values) -> float:
    return float(np.mean(values)) if len(values) else 0.0


def _borrowed(
    cells: dict[tuple[str, str], _Cell], terms: Sequence[str]
) -> tuple[dict[tuple[str, str], _Cell], tuple[str, ...]]:
    """The cells with the variances that the metrics of one term lend each other."""
    found, cautions = dict(cells), []
    for term in terms:
        own = {key: one for (name, key), one in cells.items() if name == term}
        lent = borrow(
            [Member(key, one.row.area, one.row.workload, one.paired) for key, one in own.items()]
        )
        for key, one in own.items():
            paired = replace(one.paired, inflation=lent.inflation)
            found[term, key] = replace(
                one,
                paired=paired,
                estimate=paired.estimate if paired.count > 1 else one.estimate,
                moderated=lent.estimates.get(key),
            )
        if lent.caution is not None:
            cautions.append(f"{term}: {lent.caution}")
    return found, tuple(cautions)


def _families(
    cells: Mapping[tuple[str, str], _Cell], rule: Rule
) -> tuple[dict[tuple[str, str], TermEffect], Counter[bool]]:
    """The effects, and how many of the declared and of the other ones are shown. Each workload has
    the same share of the error rate, and in it each of its metrics and terms."""
    blocks: dict[bool, int] = {}
    for one in cells.values():
        blocks[one.row.declared] = max(blocks.get(one.row.declared, 0), one.paired.count)
    looks = {declared: rule.levels(most) for declared, most in blocks.items()}
    rows = [
        families.Candidate(
            one.row.workload, one.estimate, one.moderated, looks[one.row.declared], one.row.declared
        )
        for one in cells.values()
    ]
    found, shown = {}, Counter[bool]()
    for (name, one), (claims, level) in zip(
        cells.items(), families.claims(rows, rule), strict=True
    ):
        shown[one.row.declared] += claims.different
        verdict, reason = decide(claims, (one.moderated or one.estimate).mean, one.row.kind), ""
        trouble = instability(_as_of_two(one)) or dependence(p_serial(one.paired.units))
        if trouble is not None and not (verdict.is_shown and separated(one.paired.units)):
            verdict, reason = Verdict.UNSTABLE, trouble
        tested = tested_fields(one.estimate, one.moderated, level, looks[one.row.declared], rule)
        text = term_words(
            one.contrast.term, verdict, rule.delta_percent, one.row.kind, tested["mde_percent"]
        )
        tested |= {"error": one.estimate.error, "verdict": verdict, "words": text}
        found[name] = _effect(one.contrast, one.row, one).model_copy(
            update={**tested, "reason": reason}
        )
    return found, shown


def _as_of_two(cell: _Cell) -> Values:
    """The values with the spread that a ratio of two arms would have, if theirs is wider: so an
    interaction, which is a ratio of ratios, is called unstable no sooner than they are."""
    weight = float(cell.contrast.coefficients @ cell.contrast.coefficients)
    return cell.paired.units * min(1.0, math.sqrt(2.0 / weight))


def _untested(
    contrast: Contrast,
    row: Row,
    cell: _Cell | None,
    objection: tuple[Verdict, str] | None,
    rule: Rule,
) -> TermEffect:
    """An effect without a claim."""
    if objection is not None:
        verdict, reason = objection
    else:
        blocks = 0 if cell is None else cell.paired.count
        verdict = Verdict.INCONCLUSIVE
        reason = f"{count_text(blocks, 'block')} with all arms; an interval needs {FEWEST_BLOCKS}"
    words = term_words(contrast.term, verdict, rule.delta_percent, row.kind)
    return _effect(contrast, row, cell).model_copy(
        update={"verdict": verdict, "reason": reason, "words": words}
    )


def _effect(contrast: Contrast, row: Row, cell: _Cell | None) -> TermEffect:
    known = cell is not None and cell.paired.count > 0
    mean = cell.estimate.mean if cell is not None and known else None
    return TermEffect(
        term=contrast.term.name,
        key=row.key,
        declared=row.declared,
        blocks=0 if cell is None else len(cell.paired.blocks),
        log_ratios=() if cell is None else tuple(cell.paired.units.tolist()),
        mean=mean,
        error=None,
        percent=None if mean is None else ratio.percent(mean),
        verdict=Verdict.INCONCLUSIVE,
        words="",
        reason="",
        parts=() if cell is None else cell.parts,
        **UNTESTED,
    )
