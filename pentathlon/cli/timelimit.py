"""`run --limit`: a study in a time that is given, with blocks and iterations that fit into it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from pentathlon.cli.exits import InputError
from pentathlon.cli.screen import seconds
from pentathlon.cli.setup import Ready, replan
from pentathlon.cli.spread_pilot import SpreadPilot
from pentathlon.procedure.expected import expected
from pentathlon.procedure.pilot import SystemEstimate
from pentathlon.store.directory import RESULTS
from pentathlon.store.problems import StoreError
from pentathlon.store.query import Result, list_results, load_result
from pentathlon.study.counting import count_text
from pentathlon.study.model import Study
from pentathlon.study.plan import Plan
from pentathlon.study.procedure import Procedure

if TYPE_CHECKING:
    from pentathlon.evaluate.planning.decidable import Decidable

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


def fit(ready: Ready, most_s: float, measure: Callable[[], SpreadPilot | str]) -> None:
    """Choose blocks and iterations, and make the plan anew.

    They are those that show the smallest differences by the variance components of a pilot. Without
    one, times alone decide: iterations are given up where 10 blocks do not fit. Either is done
    before anything is measured that counts, so the judgement is that of any study with these
    numbers.

    Args:
        most_s: time for the study without its pilots, in seconds.
        measure: runs the pilot that shows the spread, or states why not.

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
    if any(step.visit for own in ready.plan.steps.values() for step in own):
        raise InputError(
            "--limit chooses the number of iterations, which this study divides into visits; leave "
            "out visits in the study, or --limit"
        )
    least = max(FEWEST_BLOCKS, procedure.installs)
    if _blocks(ready, _with_iterations(procedure, 1), most_s) < least:
        once = _all(ready, _with_iterations(procedure, 1))
        raise InputError(
            f"--limit {seconds(most_s)} is too short: {least} blocks are needed, and one takes "
            f"about {seconds(_block_s(ready.plan, once))}"
        )
    spread = measure()
    if isinstance(spread, str):
        chosen, outlook = _by_times(ready, most_s, least), _outlook(ready.plan.study, spread)
    else:
        ready.estimates = {
            name: one.scaled(spread.correction) for name, one in ready.estimates.items()
        }
        chosen, outlook = _by_spread(ready, most_s, least, spread)
    estimates = _all(ready, chosen)
    replan(ready, chosen)
    ready.estimates = estimates
    changed = (
        f" and {count_text(chosen.iterations, 'iteration')} in place of {procedure.iterations}"
        if chosen.iterations != procedure.iterations
        else ""
    )
    ready.notes.append(
        f"Within {seconds(most_s)}: {count_text(chosen.blocks, 'block')}{changed}. {outlook}"
    )


def _by_times(ready: Ready, most_s: float, least: int) -> Procedure:
    """The most iterations with which 10 blocks fit."""
    procedure = ready.plan.study.procedure
    fitting = {
        iterations: _blocks(ready, _with_iterations(procedure, iterations), most_s)
        for iterations in range(procedure.iterations, 0, -1)
    }
    enough = [one for one, blocks in fitting.items() if blocks >= ENOUGH_BLOCKS]
    few = [one for one, blocks in fitting.items() if blocks >= least]
    iterations = max(enough) if enough else min(few)
    return _with_blocks(_with_iterations(procedure, iterations), fitting[iterations])


def _by_spread(
    ready: Ready, most_s: float, least: int, spread: SpreadPilot
) -> tuple[Procedure, str]:
    """The counts that show the smallest differences, and what they show."""
    from pentathlon.evaluate.planning.within_limit import choose  # noqa: PLC0415  loads SciPy
    from pentathlon.evaluate.rule import Rule  # noqa: PLC0415

    study = ready.plan.study
    chosen = choose(
        spread.rows,
        Rule.declared(study),
        lambda count: _blocks(ready, _with_iterations(study.procedure, count), most_s),
        least,
    )
    if chosen is None:
        # The blocks of the pilot took longer than its boots: the least is what there is.
        few = _with_blocks(_with_iterations(study.procedure, 1), least)
        return (
            few,
            "They may take longer than that: the blocks of the pilot took longer than planned",
        )
    fitting = _with_iterations(study.procedure, chosen.iterations)
    return _with_blocks(fitting, chosen.blocks), (
        f"By the spread in the pilot, {_in_words(chosen.decidable)}"
    )


def _with_iterations(procedure: Procedure, iterations: int) -> Procedure:
    return procedure.model_copy(update={"iterations": iterations})


def _with_blocks(procedure: Procedure, blocks: int) -> Procedure:
    try:
        return procedure.with_blocks(blocks)
    except ValueError as error:
        raise InputError(f"--limit allows {blocks} blocks: {error}") from error


def _blocks(ready: Ready, procedure: Procedure, most_s: float) -> int:
    """How many blocks fit."""
    estimates = _all(ready, procedure)
    once = expected(ready.plan, estimates).training_s
    each = _block_s(ready.plan, estimates)
    fitting = int((most_s - once) // each) if each > 0.0 else MOST_BLOCKS
    most = ready.plan.study.procedure.stopping.most or MOST_BLOCKS
    return max(0, min(fitting, most))


def _block_s(plan: Plan, estimates: dict[str, SystemEstimate]) -> float:
    """Expected time of one block, in seconds, settled at once."""
    found = expected(plan, estimates)
    return (found.measuring_s + found.settling_s) / len(plan.blocks)


def _all(ready: Ready, after: Procedure) -> dict[str, SystemEstimate]:
    """The estimates with other iterations, for the workloads that have no own number."""
    assert ready.estimates is not None
    before = ready.plan.study.procedure
    return {
        name: one.repeated(
            {
                number: after.iterations - before.iterations
                for number, step in enumerate(ready.plan.steps[name])
                if step.iterations == before.iterations
            }
        )
        for name, one in ready.estimates.items()
    }


def _outlook(study: Study, unknown: str) -> str:
    """What these blocks will decide, if an earlier run of the study shows its spread.

    Args:
        unknown: why no pilot shows it.
    """
    earlier = _earlier(study)
    if earlier is None:
        return f"What will be decidable shows after a first run: {unknown}"
    from pentathlon.evaluate import evaluate  # noqa: PLC0415  loads SciPy
    from pentathlon.evaluate.planning.decidable import decidable  # noqa: PLC0415
    from pentathlon.evaluate.rule import Rule  # noqa: PLC0415

    rows = evaluate(earlier).rows
    found = decidable(rows, Rule.declared(study), study.procedure.blocks)
    if found is None:
        return f"What will be decidable is not known: {earlier.path} shows no spread"
    return f"By the spread of {earlier.path}, {_in_words(found)}"


def _in_words(found: Decidable) -> str:
    return (
        f"half of {count_text(found.rows, 'row')} will show differences of "
        f"{found.difference_percent:.2g} % or more, and equality within "
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
