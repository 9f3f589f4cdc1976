"""`gate --remeasure`: further runs while the answer is not known well enough.

Everything of them lies in the result's directory `again/`: `runs.json`, which is written before a
run begins and states what was decided, the study of each run, and its result. Whoever calls again
goes on with them: another choice, or another try, would be one by the data.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pentathlon.cli import planview, session
from pentathlon.cli.consent import Consent
from pentathlon.cli.exits import InputError
from pentathlon.cli.gate_within import Choices, answered, narrowed, post_hoc, within
from pentathlon.cli.progress import listener
from pentathlon.cli.resume import get_ready_again
from pentathlon.cli.screen import caution, err
from pentathlon.cli.setup import Ready, claim, get_ready
from pentathlon.machine.claims import Claims
from pentathlon.safeio.checksum import SealError, sealed, unsealed
from pentathlon.store.directory import PLAN, STUDY
from pentathlon.store.files import read_bytes, write_whole
from pentathlon.store.query import Result, load_result
from pentathlon.study.counting import count_text
from pentathlon.study.measured_again import measured_again
from pentathlon.study.write import to_toml

if TYPE_CHECKING:
    from pentathlon.evaluate.model import Evaluation
    from pentathlon.evaluate.planning.measuring_again import Open
    from pentathlon.evaluate.results.gate import Gate

FOLDER = "again"
RECORD = "runs.json"
FORMAT = 1
BUDGET = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|blocks?)?")
UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0}
MOST_BLOCKS = 10_000


@dataclass
class Budget:
    """What further runs may take, in seconds or in blocks."""

    left: float
    in_blocks: bool

    def blocks(self, wanted: int, block_s: float | None) -> int:
        """How many of so many blocks it allows; with an unknown time of a block, all."""
        if self.in_blocks:
            return min(wanted, int(self.left))
        return wanted if not block_s else min(wanted, int(self.left / block_s))

    def spend(self, blocks: int, seconds: float) -> None:
        self.left -= blocks if self.in_blocks else seconds


def budget_of(text: str) -> Budget:
    """A budget such as `30m` or `40 blocks`.

    Raises:
        InputError: it is none.
    """
    found = BUDGET.fullmatch(text.strip())
    if found is not None:
        value, unit = float(found[1]), found[2] or "blocks"
        if unit.startswith("block") and value == int(value) and 3 <= value <= MOST_BLOCKS:
            return Budget(value, in_blocks=True)
        if unit in UNITS_S and 1.0 <= value * UNITS_S[unit] <= 86_400.0:
            return Budget(value * UNITS_S[unit], in_blocks=False)
    raise InputError(
        f'--remeasure is "{text}"; give what further runs may take: a time from 1s to 24h, such as '
        '30m, or a number of blocks from 3 on, such as "40 blocks"'
    )


@dataclass
class _Record:
    """What was decided about further runs."""

    plan: str
    started: str
    choices: dict[str, Any]
    runs: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class _Judged:
    """One run, judged at its level."""

    answer: Gate
    open: list[Open]


def gate_again(
    found: Result, choices: Choices, budget: Budget, settle: Callable[[Gate], Gate], *, yes: bool
) -> Gate:
    """Judge a result, and measure further runs as long as it is not known well enough.

    Args:
        settle: sets rows apart that close no gate.
        yes: what the study starts has been agreed to.

    Raises:
        InputError: the study cannot be measured again, or is another one by now.
    """
    from pentathlon.evaluate.estimators.ratio import delta_log  # noqa: PLC0415  loads SciPy
    from pentathlon.evaluate.planning.measuring_again import (  # noqa: PLC0415
        MOST_RUNS,
        blocks_for,
        confidence_of,
    )
    from pentathlon.evaluate.results.gate import Further, Outcome, merged  # noqa: PLC0415

    _refuse(found)
    judged = _judge(found, choices, 1, None, settle)
    answer = judged.answer.model_copy(
        update={"post_hoc": post_hoc(narrowed(found, choices.delta_percent, choices.only))}
    )
    record = _record(found, choices)
    seconds: float | None = None
    for number in range(1, MOST_RUNS):
        if answer.outcome is not Outcome.INCONCLUSIVE or answer.unfinished:
            return answer
        confidence = confidence_of(found.study.evaluation.confidence, number + 1)
        if number > len(record.runs):
            if not judged.open:
                reason = "what is open was not measured in the last run"
                return answer.model_copy(update={"not_measured_again": reason})
            workloads = sorted({one.workload for one in judged.open})
            wanted = blocks_for(
                judged.open, confidence, delta_log(choices.delta_percent),
                only_by_delta=choices.by_delta,
            )  # fmt: skip
            blocks, reason = _blocks(found, judged.open, wanted, budget, seconds)
            if reason:
                return answer.model_copy(update={"not_measured_again": reason})
            record.runs.append({"blocks": blocks, "workloads": workloads})
            _keep(found, record)
        run = record.runs[number - 1]
        begun = time.monotonic()
        again = _measured(found, number, run, yes=yes)
        if again[1]:
            seconds = (time.monotonic() - begun) / run["blocks"]
            budget.spend(run["blocks"], time.monotonic() - begun)
        judged = _judge(again[0], choices, number + 1, judged.open, settle)
        further = Further(
            path=str(again[0].path), blocks=run["blocks"], workloads=tuple(run["workloads"]),
            confidence=confidence,
        )  # fmt: skip
        answer = merged(answer, judged.answer).model_copy(
            update={"further": (*answer.further, further)}
        )
    if answer.outcome is Outcome.INCONCLUSIVE:
        reason = f"{count_text(MOST_RUNS - 1, 'further run')} did not decide it"
        return answer.model_copy(update={"not_measured_again": reason})
    return answer


def _refuse(found: Result) -> None:
    """Refuse what cannot be measured again.

    Raises:
        InputError: it cannot.
    """
    study = found.study
    if study.imported:
        raise InputError(f"{found.path} was imported; only what was measured is measured again")
    if study.design != "comparison":
        raise InputError("--remeasure is for studies that compare systems, not for factors")
    if study.procedure.installs > 1:
        raise InputError(
            "--remeasure adds blocks, and installs are the units of this study; run it with more "
            "installs"
        )


def _judge(
    found: Result,
    choices: Choices,
    run: int,
    rows: list[Open] | None,
    settle: Callable[[Gate], Gate],
) -> _Judged:
    """Judge one run at its level.

    Args:
        run: its number, the first one being 1.
        rows: those that the runs before left open; None for all that the choices take.
    """
    from pentathlon.evaluate.planning.measuring_again import confidence_of  # noqa: PLC0415

    confidence = confidence_of(found.study.evaluation.confidence, run)
    view = narrowed(found, choices.delta_percent, choices.only, confidence)
    wanted = None if rows is None else {(one.key, one.system) for one in rows}
    if wanted is not None:
        keys = {key for key, _ in wanted}
        view = view.narrowed(view.study.evaluation, lambda key: key in keys)
    label, entries, evaluated = within(view, choices)
    if wanted is not None:
        # The family of a further run is what was open before it was measured.
        entries = [one for one in entries if (one.key, one.system) in wanted or one.percent is None]
    answer = settle(answered(found, entries, label, choices, confidence))
    return _Judged(answer, _open(answer, evaluated))


def _open(answer: Gate, evaluated: Evaluation) -> list[Open]:
    from pentathlon.evaluate.planning.measuring_again import Open  # noqa: PLC0415
    from pentathlon.evaluate.results.gate import Outcome  # noqa: PLC0415

    wanted = {(row.key, row.system) for row in answer.of(Outcome.INCONCLUSIVE)}
    return [
        Open(
            key=row.key,
            workload=row.workload,
            system=one.system,
            mean=None if one.effect is None else one.effect.mean,
            sd=None if one.effect is None else one.effect.sd,
        )
        for row in evaluated.rows
        for one in row.comparisons
        if (row.key, one.system) in wanted
    ]


def _blocks(
    found: Result, rows: list[Open], wanted: int | None, budget: Budget, seconds: float | None
) -> tuple[int, str]:
    """Blocks of the next run, or 0 and why there is none."""
    from pentathlon.evaluate.planning.measuring_again import (  # noqa: PLC0415  loads SciPy
        FEWEST_BLOCKS,
        block_seconds_of,
    )

    if wanted is None and any(one.sd for one in rows):
        return 0, "no number of blocks that a study can have would decide what is open"
    if wanted is None:  # One block shows no spread.
        wanted = max(FEWEST_BLOCKS, 2 * len(found.plan.blocks))
    if seconds is None:
        seconds = block_seconds_of(found.samples(), {one.workload for one in rows})
    blocks = budget.blocks(wanted, seconds)
    if blocks < FEWEST_BLOCKS:
        return 0, f"the budget is spent; about {count_text(wanted, 'block')} more would decide it"
    return blocks, ""


def _measured(found: Result, number: int, run: dict[str, Any], *, yes: bool) -> tuple[Result, bool]:
    """The result of a further run, measured or ended now where it is not there yet; and whether
    something was measured."""
    folder = found.path / FOLDER
    directory, file = folder / str(number), folder / f"{number}.toml"
    consent = Consent(yes)
    if (directory / PLAN).is_file():
        again = load_result(directory)
        if not again.unfinished:
            return again, False
        with Claims(waiting=caution) as claims:
            ready = get_ready_again(again, consent)
            for note in claim(claims, ready):
                caution(note)
            claims.work_in(directory)
            session.go_on(directory, ready, listener(None))
        return session.finished_result(directory), True
    text = read_bytes(found.path / STUDY).decode()
    beside = Path(found.start.study_file).parent
    document = measured_again(
        text, beside, found.plan, set(run["workloads"]), run["blocks"], number=number
    )
    write_whole(file, to_toml(document))
    what = count_text(len(run["workloads"]), "workload")
    err.print(f"not known well enough: measuring {what} again, "
              f"{count_text(run['blocks'], 'block')}", soft_wrap=True)  # fmt: skip
    with Claims(waiting=caution) as claims:
        ready = get_ready(file, None, with_pilot=False, claims=claims, allow=consent)
        _same(found, ready)
        planview.show(err, ready)
        consent.before_changes(ready.targets)
        session.start(ready, directory, None, listener(None), claims=claims)
    return session.finished_result(directory), True


def _same(found: Result, ready: Ready) -> None:
    """See that a further run would measure what the first one did.

    Raises:
        InputError: something is another one by now.
    """
    old, new = found.plan, ready.plan
    rest = "; what is measured now would be another comparison. Put it back, or run the study anew"
    if new.agent.get("build") != old.agent.get("build"):
        raise InputError(
            f"the agent is another build ({new.agent.get('build')}) than that of {found.path} "
            f"({old.agent.get('build')}){rest}"
        )
    for name in new.targets:
        if new.targets[name] != old.targets.get(name):
            raise InputError(f'the target of system "{name}" has changed since {found.path}{rest}')
    for name, own in new.commands.items():
        before = old.commands.get(name)
        # The further run's study names the files from the root directory on, so the hash of its
        # definition is another one; what they hold is compared.
        same = before is None or (own.files == before.files if own.files else own == before)
        if not same:
            raise InputError(f"a file of the command {name} has changed since {found.path}{rest}")


def _record(found: Result, choices: Choices) -> _Record:
    """What was decided about further runs before.

    Raises:
        InputError: it was decided by other options, or for another result.
    """
    file = found.path / FOLDER / RECORD
    fresh = _Record(found.plan_hash, found.summary().started, asdict(choices))
    try:
        document, has_seal = unsealed(read_bytes(file))
    except FileNotFoundError:
        return fresh
    except (OSError, SealError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    try:
        if not has_seal or document.pop("format") != FORMAT:
            raise InputError(f"{file} has another format than this version writes")
        known = _Record(**document)
    except (LookupError, TypeError) as error:
        raise InputError(f"{file} is no record of further runs") from error
    if (known.plan, known.started) != (fresh.plan, fresh.started):
        raise InputError(f"{file} is of another result; remove {found.path / FOLDER}")
    if known.choices != fresh.choices:
        changed = ", ".join(
            f"--{name.replace('_percent', '').replace('_', '-')}"
            for name, value in fresh.choices.items()
            if known.choices.get(name) != value
        )
        raise InputError(
            f"{found.path} was measured again with other options ({changed}), and its levels hold "
            "for those; give them again, or judge without --remeasure"
        )
    return known


def _keep(found: Result, record: _Record) -> None:
    (found.path / FOLDER).mkdir(exist_ok=True)
    write_whole(found.path / FOLDER / RECORD, sealed({"format": FORMAT, **asdict(record)}))
