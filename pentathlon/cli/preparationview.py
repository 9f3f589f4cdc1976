"""How the steps before the measurement went, system by system."""

from __future__ import annotations

from collections import Counter

from rich.table import Table
from rich.text import Text

from pentathlon.procedure.state import RunState
from pentathlon.store.query import Result
from pentathlon.study.preparation import PlannedStep


def table(result: Result) -> Table:
    """One row for each step of each system."""
    found = Table(title="Before the measurement", title_justify="left", box=None, pad_edge=False)
    for name in ("system", "step", "how it went"):
        found.add_column(name, header_style="dim", overflow="fold")
    for system, steps in result.plan.preparation.items():
        for number, step in enumerate(steps):
            state = result.state
            words = once(state, system, number) if step.once else each(state, system, step)
            found.add_row(*map(Text, (system, step.do, words)))
    return found


def once(state: RunState, system: str, number: int) -> str:
    """How a step went that is done once."""
    ends = [r for (name, at, _), r in state.prepared.items() if (name, at) == (system, number)]
    if not ends:
        return "not done yet"
    if len(ends) > 1:
        counts = Counter(str(record.outcome) for record in ends)
        return ", ".join(f"{count} runs {outcome}" for outcome, count in counts.items())
    [end] = ends
    software = end.detail.get("software")
    if isinstance(software, dict) and "count" in software:
        return f"{software['count']} packages ({software['manager']}, {software['fnv1a']})"
    if isinstance(software, dict) and "unsupported" in software:
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
        boots = f"{count} boot" if count == 1 else f"{count} boots"
        text = f"{outcome} in {boots}, after at most {longest:.1f} s"
        if reason := next((verdict.reason for verdict in those if verdict.reason), None):
            text += f": {reason}"
        parts.append(text)
    return "; ".join(parts)
