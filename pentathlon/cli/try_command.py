"""`pentathlon try`: a command of one's own, measured and judged in one line."""

from __future__ import annotations

import math
import re
import shlex
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from pentathlon.cli import session
from pentathlon.cli.consent import Consent
from pentathlon.cli.exits import Exit, InputError, of_input
from pentathlon.cli.progress import listener
from pentathlon.cli.screen import err, out, seconds
from pentathlon.cli.setup import Ready, get_ready
from pentathlon.cli.timelimit import seconds_of
from pentathlon.machine.claims import Claims
from pentathlon.packs.pack import PREFIX
from pentathlon.procedure.runner import Judge
from pentathlon.safeio.escaping import one_line
from pentathlon.store.query import load_result
from pentathlon.study.commands.command_line import (
    WORKLOAD,
    Command,
    WordError,
    check_userland,
    command,
    commands,
    system,
)
from pentathlon.study.commands.model import KNOWN_UNITS
from pentathlon.study.counting import count_text
from pentathlon.study.problems import Problem, StudyError
from pentathlon.study.starts import noun
from pentathlon.study.write import to_toml
from pentathlon.targets import registry

LOOKS = (5, 7, 10, 14, 20, 28, 40, 60)
"""Blocks after which it may be decided."""
FEWEST_BLOCKS = 3
WISHED_BLOCKS = 6
"""So many blocks have precedence over more runs in each. On a busy machine all of the noise is that
of single runs (benches/README.md), so that boots beyond these cost more than they give."""
ALONE_BLOCKS = 10
"""Blocks of one system, which is described and not compared."""
IN_BOOT_S = 0.5
"""What the runs of one boot take at least, where they are short: a boot costs time too."""
OF_BOOT = 1.2
"""And so many times what the boot takes. Where neighbours disturb single runs, what a block
shows grows with its runs; where they do not, this costs half of the blocks at most."""
MOST_RUNS = 30


@dataclass(frozen=True)
class Metric:
    """What is measured, as the options say."""

    regex: str | None
    unit: str | None
    better: str | None

    def tables(self) -> list[dict[str, Any]]:
        """`[[workload.metric]]`."""
        if self.regex is None:
            return [{"name": "wall"}]
        assert self.unit is not None and self.better is not None
        where = {"measure": self.regex} if self.regex in KNOWN_UNITS else {"regex": self.regex}
        own = {} if self.regex in KNOWN_UNITS else {"unit": self.unit}
        name = self.regex if self.regex in KNOWN_UNITS else "metric"
        return [{"name": name, **where, **own, "better": self.better}]


def try_command(
    words: list[str] | None,
    *,
    on: list[str] | None,
    limit: str,
    metric: str | None,
    unit: str | None,
    higher: bool,
    lower: bool,
    same: str | None,
    file: list[str] | None,
    pack: str | None,
    save: Path | None,
    out_directory: Path | None,
) -> None:
    with Claims() as claims:
        most_s = seconds_of(limit)
        if save is not None:
            _free(save)
        names = on or registry.names()[:1]
        chosen = _metric(metric, unit, higher=higher, lower=lower)
        with of_input(WordError):
            found = [command(one, Path.cwd()) for one in commands(words or [])] if not pack else []
            tables = [system(one) for one in names]
            for table in tables:
                check_userland(table)
        if pack is None:
            document = _document(found, tables, names, chosen, same=same, files=file or [])
        else:
            if words or file or same is not None or chosen.regex is not None:
                raise InputError("--pack defines command and metrics itself; leave the others out")
            document = _of_pack(pack, tables, names)
        with _sentences(names), tempfile.TemporaryDirectory() as place:
            draft = Path(place) / "study.toml"
            ready, runs = _planned(draft, document, most_s, claims)
            if save is not None:
                _save(save, draft.read_text())
            _show(
                ready,
                runs,
                most_s,
                [f"`{one_line(shlex.join(one.words))}`" for one in found] or [f"the pack {pack}"],
            )
            wanted = {
                metric.name for one in ready.plan.study.workloads for metric in one.declared()
            }
            directory = session.start(
                ready,
                out_directory,
                None,
                listener(ready.estimates),
                claims=claims,
                also=lambda directory: _limit(directory, most_s, wanted),
            )
        _finish(directory, save)


def _metric(regex: str | None, unit: str | None, *, higher: bool, lower: bool) -> Metric:
    if higher and lower:
        raise InputError("--higher and --lower exclude each other; give one of them")
    better = "higher" if higher else "lower" if lower else None
    if regex is None:
        if unit is not None or better is not None:
            raise InputError(
                "--unit, --higher and --lower belong to --metric; the wall time is lower the better"
            )
        return Metric(None, None, None)
    if regex in KNOWN_UNITS:
        return Metric(regex, KNOWN_UNITS[regex], better or "lower")
    if unit is None or better is None:
        lacks = "--unit" if unit is None else "--higher or --lower"
        raise InputError(f"--metric needs {lacks}: say what the number is, and which is better")
    return Metric(regex, unit, better)


def _document(
    found: Sequence[Command],
    tables: Sequence[dict[str, Any]],
    texts: Sequence[str],
    metric: Metric,
    *,
    same: str | None,
    files: Sequence[str],
) -> dict[str, Any]:
    """The study, without what the pilot decides."""
    own_names = _system_names(texts)
    systems = []
    for table, place in zip(tables, own_names, strict=True):
        for number, one in enumerate(found):
            name = place if len(found) == 1 else f"{number + 1}-{one.name}"
            if len(found) > 1 and len(tables) > 1:
                name = f"{name}-{place}"
            own = {**table, "name": name[:64]}
            if number:
                own["commands"] = {WORKLOAD: one.words}
            systems.append(own)
    names = [one["name"] for one in systems]
    wanted = list(dict.fromkeys(path for one in found for path in one.files))
    wanted += [str(Path(path).absolute()) for path in files]
    own_workload: dict[str, Any] = {
        "id": WORKLOAD,
        "title": found[0].name if len(found) == 1 else "command",
        "files": list(dict.fromkeys(wanted)),
        "command": found[0].words,
        "metric": metric.tables(),
    }
    if same is not None:
        own_workload["same"] = same
    title = " ".join(found[0].words) if len(found) == 1 else f"{len(found)} commands"
    return {
        "name": "try",
        "title": title[:200],
        "reference": names[0],
        "procedure": {"blocks": 1, "iterations": 1, "warmup": 0},
        "system": systems,
        "workload": [own_workload],
    }


def _of_pack(name: str, tables: Sequence[dict[str, Any]], texts: Sequence[str]) -> dict[str, Any]:
    """The study of a pack, without what the pilot decides."""
    systems = [
        {**table, "name": own[:64]} for table, own in zip(tables, _system_names(texts), strict=True)
    ]
    return {
        "name": "try",
        "title": f"the pack {name}",
        "reference": systems[0]["name"],
        "include": [f"{PREFIX}{name}"],
        "procedure": {"blocks": 1, "iterations": 1, "warmup": 0},
        "system": systems,
    }


def _system_names(texts: Sequence[str]) -> list[str]:
    """Names of systems: the last part of a path, the whole where that is not enough."""
    for text in texts:
        if texts.count(text) > 1:
            raise InputError(f'--on names "{text}" twice; each system is measured once')
    plain = re.compile(r"[^A-Za-z0-9._+-]+")
    short = [plain.sub("-", text.rsplit("/", maxsplit=1)[-1]).strip("-._+") for text in texts]
    if len(set(short)) == len(short) and all(short):
        return short
    return [plain.sub("-", text).strip("-._+")[-40:].lstrip("-._+") for text in texts]


@contextmanager
def _sentences(texts: Sequence[str]) -> Iterator[None]:
    """What is wrong with the study that was made, in words of the command line."""
    try:
        yield
    except StudyError as error:
        stated = "; ".join(dict.fromkeys(_said(problem, texts) for problem in error.problems))
        raise InputError(stated) from error


def _said(problem: Problem, texts: Sequence[str]) -> str:
    path = problem.path
    if path[:1] == ("system",) and len(path) > 1:
        shown = texts[min(int(path[1]), len(texts) - 1)] if len(texts) > 1 else texts[0]
        key = ".".join(str(part) for part in path[2:])
        return f"--on {shown}: {key}: {problem.text}" if key else f"--on {shown}: {problem.text}"
    if path[:1] == ("include",):
        return f"--pack: {problem.text}"
    if path[:1] == ("workload",):
        option = {"metric": "--metric: ", "same": "--same: "}.get(str(path[2]), "")
        return f"{option}{problem.text}"
    return problem.text


def _planned(
    draft: Path, document: dict[str, Any], most_s: float, claims: Claims
) -> tuple[Ready, int]:
    """The study with as many runs and blocks as fit; one boot of each system shows what one takes.

    Whoever types a command means it to run, so nobody is asked.
    """
    for own in document.get("workload", ()):
        own["timeout_s"] = max(most_s, 1.0)
    draft.write_text(to_toml(document))
    consent = Consent(yes=True, quiet=True)
    tried = get_ready(draft, None, with_pilot=True, claims=claims, allow=consent)
    estimates = tried.estimates or {}
    one_s = max((sum(e.steps_s.values()) for e in estimates.values()), default=0.0)
    boots_s = sum(e.boot_s for e in estimates.values())
    each_s = sum(sum(e.steps_s.values()) for e in estimates.values())
    longest_s = max((e.boot_s for e in estimates.values()), default=0.0)
    wished = math.ceil(max(IN_BOOT_S, OF_BOOT * longest_s) / max(one_s, 1e-4))
    fitting = (most_s / WISHED_BLOCKS - boots_s) / max(each_s, 1e-6) - 1
    runs = max(1, min(wished, MOST_RUNS, int(fitting)))
    systems = len(document["system"])
    together = tried.plan.pairing != "none"
    if together and systems == 2 and 1 < runs < fitting:
        runs += runs % 2  # In each block, either system comes first equally often.
    block_s = boots_s + (runs + 1) * each_s
    blocks = max(FEWEST_BLOCKS, min(int(most_s / max(block_s, 1e-3)), LOOKS[-1]))
    document["procedure"] = {"iterations": runs, "warmup": 1}
    if systems > 1:
        document["procedure"]["stopping"] = {"rule": "looks", "looks": _looks(blocks)}
    else:
        document["procedure"]["blocks"] = min(blocks, ALONE_BLOCKS)
    if together:
        document["procedure"]["pairing"] = "turns"
    document["seed"] = 1
    draft.write_text(to_toml({key: document[key] for key in _ordered(document)}))
    ready = get_ready(draft, None, with_pilot=False, claims=claims, allow=consent)
    for estimate in estimates.values():
        estimate.steps_s = {n: s * (runs + 1) for n, s in estimate.steps_s.items()}
    ready.estimates = estimates
    return ready, runs


MOST_LISTED = 4
"""Looks that the plan lists."""


def _looks(blocks: int) -> list[int]:
    """Looks at so many blocks at most. One at a small part of them decides what is far above the
    noise, and spends next to nothing of the error."""
    return [*(one for one in LOOKS if blocks / 6 <= one < blocks), blocks]


def _ordered(document: Mapping[str, Any]) -> list[str]:
    first = ["name", "title", "reference", "seed"]
    return [*first, *(key for key in document if key not in first)]


def _show(ready: Ready, runs: int, most_s: float, measured: Sequence[str]) -> None:
    """The plan in three lines."""
    study = ready.plan.study
    own = study.workloads[0]
    names = ", ".join(one.name for one in study.systems)
    what = " against ".join(measured)
    files = ready.plan.commands[own.id].files
    copied = f", with {count_text(len(files), 'file')} of its own" if files else ""
    err.print(f"{what} on {names}{copied}", soft_wrap=True)
    metrics = [metric for one in study.workloads for metric in one.declared()]
    metric = metrics[0]
    judged = (
        f"{metric.regex or metric.measure or metric.name}, {metric.better} is better"
        if len(metrics) == 1
        else f"{len(metrics)} metrics"
    )
    schedule = study.procedure.stopping.schedule
    blocks = len(ready.plan.blocks)
    err.print(
        f"{judged}; {'up to ' if schedule else ''}{count_text(blocks, 'block')} of "
        f"{noun(study.systems).split()[-1]}, warm-up, {count_text(runs, 'run')} each"
    )
    block_s = sum(one.total_s for one in (ready.estimates or {}).values())
    listed = list(map(str, schedule))
    if len(listed) > MOST_LISTED:  # The line has 80 columns.
        listed[MOST_LISTED - 1 : -1] = ["…"]
    looks = f"; looks after {', '.join(listed)} blocks" if schedule else ""
    err.print(
        f"about {seconds(min(block_s * blocks, most_s))} at most{looks}; "
        f"±{study.evaluation.delta_percent:g} % counts as equal"
    )
    if schedule and block_s * LOOKS[0] > most_s:
        err.print(
            f"{LOOKS[0]} blocks, with which the first differences can be shown, need about "
            f"{seconds(block_s * LOOKS[0])}: --limit {_limit_text(block_s * LOOKS[0])}",
            style="yellow",
        )


def _limit_text(needed_s: float) -> str:
    """A time for --limit that is long enough, with some room."""
    longer = needed_s * 1.1
    return f"{math.ceil(longer)}s" if longer <= 90 else f"{math.ceil(longer / 60)}m"


def _limit(directory: Path, most_s: float, wanted: Set[str]) -> Judge:
    """Ends the study when its time is over, or when none of the metrics has a value."""
    until = time.monotonic() + most_s

    def enough(blocks: int) -> str | None:
        if blocks == 1:
            result = load_result(directory)
            # What is read beside each run, such as its CPU time, is not what was asked for.
            measured = set(result.samples()["metric"].to_list()) & wanted
            if not measured and result.failures().height:
                return "nothing could be measured in the first block"
        return "the time of --limit is over" if time.monotonic() > until else None

    return enough


def _free(path: Path) -> None:
    """That a file can be made there; what cannot be kept is said before anything is measured."""
    if path.exists():
        raise InputError(f"--save: {path} is there already; name a new file")
    if not path.parent.is_dir():
        raise InputError(f"--save: {path.parent} is no directory; make it, or name another file")


def _save(path: Path, text: str) -> None:
    try:
        with path.open("x") as file:
            file.write(text)
    except FileExistsError as error:
        raise InputError(f"--save: {path} is there already; name a new file") from error


def _finish(directory: Path, save: Path | None) -> None:
    from pentathlon.cli import reporting  # noqa: PLC0415  loads SciPy
    from pentathlon.evaluate import evaluate  # noqa: PLC0415
    from pentathlon.report.terminal import one_screen  # noqa: PLC0415

    result = session.finished_result(directory)
    judged = evaluate(result)
    file = reporting.write_html(judged, result)
    one_screen.render(judged, out)
    out.print(f"report: {file}", soft_wrap=True)
    if save is not None:
        out.print(f"study:  {save}", soft_wrap=True)
    failed = result.failures().height and any(not one.resolved for one in judged.failures)
    raise typer.Exit(Exit.FAILURES if failed else reporting.status(judged))
