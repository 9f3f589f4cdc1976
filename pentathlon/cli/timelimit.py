"""`run --limit`: a study in a time that is given, with blocks and iterations that fit into it."""

from __future__ import annotations

import re

from pentathlon.cli.exits import InputError
from pentathlon.cli.screen import seconds
from pentathlon.cli.setup import Ready, replan
from pentathlon.procedure.expected import expected
from pentathlon.procedure.pilot import SystemEstimate
from pentathlon.store.directory import RESULTS
from pentathlon.store.problems import StoreError
from pentathlon.store.query import Result, list_results, load_result
from pentathlon.study.counting import count_text
from pentathlon.study.model import Study
from pentathlon.study.plan import Plan
from pentathlon.study.procedure import Procedure

LIMIT = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)?")
UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0}

ENOUGH_BLOCKS = 10
"""With fewer, iterations are given up for blocks: the boot is the unit of the judgement."""
FEWEST_BLOCKS = 3
"""With fewer nothing can be judged."""
MOST_BLOCKS = 10_000


def seconds_of(text: str) -> float:
    """A time such as `90s` or `2m`, in seconds.

    Raises:
        InputError: it is none, or not from a second to a day.
    """
    found = LIMIT.fullmatch(text.strip())
    value = float(found[1]) * UNITS_S[found[2] or "s"] if found else 0.0
    if not 1.0 <= value <= 86_400.0:
        raise InputError(f'--limit is "{text}"; give a time from 1s to 24h, such as 90s or 2m')
    return value


def fit(ready: Ready, most_s: float) -> None:
    """Choose blocks, and fewer iterations where 10 blocks do not fit, and make the plan anew.

    It is decided by times alone, before anything is measured that counts, so the judgement is that
    of any study with these numbers.

    Args:
        most_s: time for the study without its pilot, in seconds.

    Raises:
        InputError: it is too short for 3 blocks, or no system could be tried.
    """
    assert ready.estimates is not None
    if problems := [name for name, one in ready.estimates.items() if one.problem]:
        raise InputError(
            f"--limit needs a pilot of every system, and that of {', '.join(problems)} failed: "
            f"{ready.estimates[problems[0]].problem}"
        )
    procedure = ready.plan.study.procedure
    least = max(FEWEST_BLOCKS, procedure.installs)
    chosen: Procedure | None = None
    for iterations in range(procedure.iterations, 0, -1):
        fewer = procedure.model_copy(update={"iterations": iterations})
        blocks = _blocks(ready, fewer, most_s)
        if blocks >= least:
            chosen = _with_blocks(fewer, blocks)
        if blocks >= ENOUGH_BLOCKS:
            break
    if chosen is None:
        once = procedure.model_copy(update={"iterations": 1})
        each = _block_s(ready.plan, _all(ready.estimates, procedure, once))
        raise InputError(
            f"--limit {seconds(most_s)} is too short: {least} blocks are needed, and one takes "
            f"about {seconds(each)}"
        )
    replan(ready, chosen)
    ready.estimates = _all(ready.estimates, procedure, chosen)
    changed = (
        f" and {count_text(chosen.iterations, 'iteration')} in place of {procedure.iterations}"
        if chosen.iterations != procedure.iterations
        else ""
    )
    ready.notes.append(
        f"Within {seconds(most_s)}: {count_text(chosen.blocks, 'block')}{changed}. "
        f"{_outlook(ready.plan.study)}"
    )


def _with_blocks(procedure: Procedure, blocks: int) -> Procedure:
    try:
        return procedure.with_blocks(blocks)
    except ValueError as error:
        raise InputError(f"--limit allows {blocks} blocks: {error}") from error


def _blocks(ready: Ready, procedure: Procedure, most_s: float) -> int:
    """How many blocks fit."""
    assert ready.estimates is not None
    before = ready.plan.study.procedure
    estimates = _all(ready.estimates, before, procedure)
    once = expected(ready.plan, estimates).training_s
    each = _block_s(ready.plan, estimates)
    fitting = int((most_s - once) // each) if each > 0.0 else MOST_BLOCKS
    most = before.stopping.most or MOST_BLOCKS
    return max(0, min(fitting, most))


def _block_s(plan: Plan, estimates: dict[str, SystemEstimate]) -> float:
    """Expected time of one block, in seconds, settled at once."""
    found = expected(plan, estimates)
    return (found.measuring_s + found.settling_s) / len(plan.blocks)


def _all(
    estimates: dict[str, SystemEstimate], before: Procedure, after: Procedure
) -> dict[str, SystemEstimate]:
    """The estimates with other iterations."""
    return {name: _fewer(one, before, after) for name, one in estimates.items()}


def _fewer(estimate: SystemEstimate, before: Procedure, after: Procedure) -> SystemEstimate:
    """The estimate with other iterations; a workload that has an own number counts as if it had
    not, so the time is rather too short for it."""
    share = (after.iterations + after.warmup) / (before.iterations + before.warmup)
    return SystemEstimate(
        boot_s=estimate.boot_s,
        steps_s={step: time * share for step, time in estimate.steps_s.items()},
        journal_bytes=estimate.journal_bytes * share,
        cut=estimate.cut,
        inventory=estimate.inventory,
    )


def _outlook(study: Study) -> str:
    """What these blocks will decide, if an earlier run of the study shows its spread."""
    earlier = _earlier(study)
    if earlier is None:
        return "What will be decidable shows after a first run: no earlier one lies in results"
    from pentathlon.evaluate import evaluate  # noqa: PLC0415  loads SciPy
    from pentathlon.evaluate.planning.decidable import decidable  # noqa: PLC0415
    from pentathlon.evaluate.rule import Rule  # noqa: PLC0415

    rows = evaluate(earlier).rows
    found = decidable(rows, Rule.declared(study), study.procedure.blocks)
    if found is None:
        return f"What will be decidable is not known: {earlier.path} shows no spread"
    return (
        f"By the spread of {earlier.path}, half of its {count_text(found.rows, 'row')} will show "
        f"differences of {found.difference_percent:.2g} % or more, and equality within "
        f"±{found.equality_percent:.2g} %"
    )


def _earlier(study: Study) -> Result | None:
    """The newest finished result of a study of that name, with these systems."""
    if not RESULTS.is_dir():
        return None
    names = [system.name for system in study.systems]
    for summary in list_results(RESULTS):
        if summary.name != study.name or summary.state != "finished":
            continue
        try:
            result = load_result(summary.path)
        except StoreError:
            continue
        own = result.study
        if own.reference == study.reference and [one.name for one in own.systems] == names:
            return result
    return None
