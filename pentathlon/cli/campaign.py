"""`pentathlon campaign run|status|resume|cancel`: one study on several machines."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import asdict
from pathlib import Path

import typer

from pentathlon import __version__
from pentathlon.campaign.derive import Unfit, derive
from pentathlon.campaign.directory import Campaign, load_campaign, make_campaign, make_directory
from pentathlon.campaign.follow import Follower
from pentathlon.campaign.machines import LoadedMachines, load_machines
from pentathlon.campaign.workers import Worker, ask_to_stop, last_words, writer
from pentathlon.cli.campaign_view import CampaignView, Line, show_lines
from pentathlon.cli.commands.campaign import Engine
from pentathlon.cli.consent import Consent
from pentathlon.cli.exits import Exit, InputError, Interrupted, StopSignals
from pentathlon.cli.screen import err, out, write_json
from pentathlon.cli.setup import targets_of
from pentathlon.protocol import agent
from pentathlon.safeio.reading import ReadError, parse_toml, read_text
from pentathlon.store.directory import RESULTS
from pentathlon.store.journal import Lock
from pentathlon.study.catalog import parse_catalog
from pentathlon.study.code import named
from pentathlon.study.limits import MOST_BYTES
from pentathlon.study.load import LoadedStudy, load_study
from pentathlon.study.locate import Locator
from pentathlon.study.problems import Problem, StudyError

LOOK_S = 0.25


def run(
    study: Path,
    *,
    on: Path,
    engine: Engine,
    out_directory: Path | None,
    blocks: int | None,
    yes: bool,
    no_report: bool,
) -> None:
    machines = load_machines(on)
    if engine == "slurm":
        from pentathlon.cli import campaign_slurm  # noqa: PLC0415

        campaign_slurm.check(machines)
    text, studies = derived(study, machines)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    path = out_directory or RESULTS / f"campaign-{study.stem}-{stamp}"
    make_directory(path)
    with Lock(path):
        campaign = make_campaign(
            path,
            engine=engine,
            name=study.stem,
            version=__version__,
            study=(study.resolve(), text),
            machines_text=machines.text,
            studies=studies,
            blocks=blocks,
            yes=yes,
        )
        try:
            loaded = _checked(campaign, study, text)
            _agree(loaded, yes=yes)
        except BaseException:
            _remove(campaign)  # Nothing was begun.
            raise
        _measure(campaign)
    _conclude(campaign, report=not no_report)


def resume(campaign: Path, *, no_report: bool) -> None:
    found = load_campaign(campaign)
    with Lock(campaign):
        _measure(found)
    _conclude(found, report=not no_report)


def status(campaign: Path, *, as_json: bool) -> None:
    lines = _lines(load_campaign(campaign))
    if as_json:
        write_json(json.dumps([asdict(line) for line in lines], indent=1))
    else:
        show_lines(lines, out)
    raise typer.Exit(Exit.OK if all(line.done for line in lines) else Exit.UNFINISHED)


def cancel(campaign: Path) -> None:
    found = load_campaign(campaign)
    stopped = int(ask_to_stop(campaign))
    if found.engine == "slurm":
        from pentathlon.cli import campaign_slurm  # noqa: PLC0415

        stopped += campaign_slurm.cancel(found)
    elif not stopped:  # Else the campaign's program asks its runs itself.
        stopped += sum(ask_to_stop(found.result(one)) for one in found.machines)
    if not stopped:
        raise InputError(f"nothing of {campaign} runs; there is nothing to cancel")
    err.print(
        "asked to stop; everything measured is kept. Continue with: pentathlon campaign resume "
        f"{campaign}",
        soft_wrap=True,
    )


def derived(study: Path, machines: LoadedMachines) -> tuple[str, dict[str, str]]:
    """The text of the study, and that of each machine's.

    Raises:
        StudyError: the file is no TOML, or a machine cannot measure it.
    """
    try:
        text = read_text(study, MOST_BYTES)
        document = parse_toml(text)
    except ReadError as error:
        raise StudyError(study, [Problem((), str(error), error.line)]) from error
    studies: dict[str, str] = {}
    for place, machine in enumerate(machines.machines):
        try:
            studies[machine.name] = derive(document, study.resolve().parent, machine)
        except Unfit as error:
            path, line = error.problem.path, None
            if path == ("system",):
                line = Locator(machines.text).line(("machine", place))
                raise StudyError(machines.file, [Problem((), str(error), line)]) from error
            line = Locator(text).line(path)
            raise StudyError(study, [Problem(path, str(error), line)]) from error
    return text, studies


def _checked(campaign: Campaign, study: Path, text: str) -> dict[str, LoadedStudy]:
    """The studies of all machines, checked; what is wrong is shown in the file that was given."""
    catalog = parse_catalog(agent.catalog(agent.locate()))
    locator = Locator(text)
    loaded = {}
    for name in campaign.machines:
        try:
            loaded[name] = load_study(campaign.study(name), catalog)
        except StudyError as error:
            raise StudyError(
                study,
                [
                    Problem(one.path, f'{one.text} (on machine "{name}")', locator.line(one.path))
                    for one in error.problems
                ],
            ) from error
        if loaded[name].study.procedure.stopping.rule != "fixed":
            text = (
                "the machines of a campaign have equally many blocks, so that each counts alike; "
                'leave the rule out, or take "fixed"'
            )
            path = ("procedure", "stopping", "rule")
            raise StudyError(study, [Problem(path, text, locator.line(path))])
    return loaded


def _agree(loaded: dict[str, LoadedStudy], *, yes: bool) -> None:
    """Ask once for all machines; each of their runs gets the answer."""
    consent = Consent(yes)
    agent_path = agent.locate()
    for one in loaded.values():
        targets = targets_of(one.study, agent_path, one.supplies)
        consent(named(one.study, one.supplies), targets)
        consent.before_changes(targets)


def _remove(campaign: Campaign) -> None:
    for path in campaign.path.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _measure(campaign: Campaign) -> None:
    """Have every machine measured that is not done."""
    if campaign.engine == "slurm":
        from pentathlon.cli import campaign_slurm  # noqa: PLC0415

        campaign_slurm.measure(campaign)
        return
    workers: dict[str, Worker] = {}
    with StopSignals() as signals, CampaignView(campaign) as shown:
        try:
            for name in campaign.machines:
                follower = shown.follow(name, campaign.result(name))
                # A run that an ended program left is still the machine's run.
                if not follower.done and writer(campaign.result(name)) is None:
                    with signals.shield():
                        workers[name] = Worker(campaign, name)
            while True:
                going = [name for name, one in workers.items() if one.status is None]
                others = [
                    name
                    for name in campaign.machines
                    if name not in workers and writer(campaign.result(name)) is not None
                ]
                for name in campaign.machines:
                    state = "" if name in (*going, *others) else _ended(campaign, name, workers)
                    shown.look(name, state)
                if not going and not others:
                    return
                time.sleep(LOOK_S)
        except (Interrupted, KeyboardInterrupt) as error:
            for one in workers.values():
                one.stop()
            for one in workers.values():
                one.wait()
            raise Interrupted(
                f"{error or 'interrupted'}; everything measured is kept. Continue with: "
                f"pentathlon campaign resume {campaign.path}"
            ) from error


def _ended(campaign: Campaign, name: str, workers: dict[str, Worker]) -> str:
    worker = workers.get(name)
    if worker is None or worker.status in (Exit.OK, Exit.FAILURES, Exit.IDENTICAL):
        return "ended"
    return last_words(campaign.log(name)) or f"its run ended with status {worker.status}"


def _lines(campaign: Campaign) -> list[Line]:
    """How far each machine is."""
    return [_line(campaign, name) for name in campaign.machines]


def _line(campaign: Campaign, name: str) -> Line:
    follower = Follower(campaign.result(name))
    follower.poll()
    running = writer(campaign.result(name)) is not None
    words = ""
    if not follower.done and not running:
        words = last_words(campaign.log(name))
    return Line.of(name, follower, running=running, words=words)


def _conclude(campaign: Campaign, *, report: bool) -> None:
    """What was measured, and the judgement."""
    lines = _lines(campaign)
    if not err.is_terminal or not all(line.done for line in lines):
        show_lines(lines, err)
    status = Exit.OK
    if any(line.failures or not line.done for line in lines):
        status = Exit.FAILURES
    if not any(line.steps for line in lines):
        raise InputError(f"no machine has measured anything; the logs are in {campaign.path}/logs")
    if not all(line.done for line in lines):
        err.print(
            f"not all machines are done; continue with: pentathlon campaign resume {campaign.path}",
            soft_wrap=True,
        )
    err.print(f"campaign: {campaign.path}", soft_wrap=True)
    if report:
        from pentathlon.cli import campaign_judge  # noqa: PLC0415  loads SciPy

        campaign_judge.after_run(campaign)
    raise typer.Exit(status)
