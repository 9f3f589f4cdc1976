"""How the steps before the measurement went, system by system (docs/procedure.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from pentathlon.evaluate.frozen import Frozen
from pentathlon.procedure.state import RunState
from pentathlon.study.counting import count_text
from pentathlon.study.plan import Plan
from pentathlon.study.preparation import PlannedStep

TROUBLE = frozenset({"not settled", "failed"})
"""Outcomes after which a system was measured in another state than the study requested."""


class Prepared(Frozen):
    """One step of one system."""

    system: str
    step: str
    words: str
    """How it went."""
    troubled: int = 0
    """Boots (of `settle`), or pieces of work, that ended in another state than was requested."""
    count: int = 0
    """Of how many."""


def find_prepared(plan: Plan, state: RunState | None) -> tuple[Prepared, ...]:
    """Every step of every system, in the order of the plan; () without a run's state."""
    return () if state is None else tuple(_found(plan, state))


def _found(plan: Plan, state: RunState) -> Iterator[Prepared]:
    looked_at = {one.name for one in plan.study.systems}
    for system, steps in plan.preparation.items():
        if system not in looked_at:
            continue
        for number, step in enumerate(steps):
            outcomes = [
                str(record.outcome)
                for (name, at, _), record in state.prepared.items()
                if (name, at) == (system, number)
            ]
            if not step.once:
                outcomes = [
                    v.outcome for v in state.verdicts if (v.system, v.do) == (system, step.do)
                ]
            yield Prepared(
                system=system,
                step=step.do,
                words=once(state, system, number) if step.once else each(state, system, step),
                troubled=sum(outcome in TROUBLE for outcome in outcomes),
                count=len(outcomes),
            )


def once(state: RunState, system: str, number: int) -> str:
    """How a step went that is done once for each install."""
    ends = [r for (name, at, _), r in state.prepared.items() if (name, at) == (system, number)]
    if not ends:
        return "not done yet"
    if len(ends) > 1:
        counts = Counter(str(record.outcome) for record in ends)
        return ", ".join(
            f"{count_text(count, 'run')} {outcome}" for outcome, count in counts.items()
        )
    [end] = ends
    software = end.detail.get("software")
    if isinstance(software, Mapping) and "count" in software:
        return f"{software['count']} packages ({software['manager']}, {software['fnv1a']})"
    if isinstance(software, Mapping) and "unsupported" in software:
        return f"software unsupported: {software['unsupported']}"
    return f"{end.outcome}: {end.reason}" if end.reason else str(end.outcome)


def each(state: RunState, system: str, step: PlannedStep) -> str:
    """How a step went that is done in each boot: the outcomes, and the worst reason."""
    own = [v for v in state.verdicts if (v.system, v.do) == (system, step.do)]
    if not own:
        return "not done yet"
    parts = []
    for outcome, count in Counter(verdict.outcome for verdict in own).items():
        those = [verdict for verdict in own if verdict.outcome == outcome]
        longest = max(verdict.seconds for verdict in those)
        boots = count_text(count, "boot")
        text = f"{outcome} in {boots}, after at most {longest:.1f} s"
        if reason := next((verdict.reason for verdict in those if verdict.reason), None):
            text += f": {reason}"
        parts.append(text)
    return "; ".join(parts)
