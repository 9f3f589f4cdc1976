"""From a study file to a plan and prepared targets, or to its fallback if a target is missing."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from rich.text import Text

from pentathlon.cli.exits import InputError, SameSystems, StopSignals
from pentathlon.cli.heartbeat import Heartbeat
from pentathlon.cli.leaving import activity_text
from pentathlon.cli.screen import err
from pentathlon.doctor.quiet import disturbances
from pentathlon.experiments.systems import make_target
from pentathlon.machine import sysfs
from pentathlon.machine.claims import Claims
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.undo_journal import damaged, default_state_dir, leftovers
from pentathlon.machine.whole_machine import everything
from pentathlon.procedure.idling import choose as idling_limit
from pentathlon.procedure.pairing import Chosen, choose
from pentathlon.procedure.pilot import SystemEstimate, pilot
from pentathlon.protocol import agent
from pentathlon.study.catalog import Catalog, parse_catalog
from pentathlon.study.code import Named, named
from pentathlon.study.commands.entries import extended
from pentathlon.study.load import LoadedStudy, load_study
from pentathlon.study.model import Study
from pentathlon.study.plan import Plan, make_plan
from pentathlon.study.pointless import pointless
from pentathlon.study.procedure import Procedure
from pentathlon.study.starts import BOOT, noun
from pentathlon.targets.contract import Target
from pentathlon.targets.supplies import Supply

Allow: TypeAlias = Callable[[tuple[Named, ...], dict[str, Target]], None]
"""Is asked before anything is started that a study names: it, and the targets, not prepared yet.
Raises where it may not be started."""

NO_PILOT = (
    "No pilot: a boot would start what the study names, and only a run does; the time is not "
    "estimated"
)
NO_PILOT_SETTINGS = (
    "No pilot: a boot would change settings of this machine, and only a run does; the time is not "
    "estimated"
)
UNMEASURED = "PENTATHLON_UNMEASURED"
"""Is set where nothing is measured with what is built, as in tests."""

BUILT_FOR_TESTS = (
    "The agent was built for tests, with debug assertions, so its times are not those of a release "
    "build; `sh scripts/setup` builds one"
)


@dataclass
class Ready:
    """Everything that a run needs.

    Attributes:
        targets: system -> target, prepared.
        named: what the study starts that it names itself.
        unseen: systems that were not looked for, because this would start something of these.
        apart: why boots are not paired in time, where the study does not state it.
        notes: sentences for the reader of the results, such as why a fallback was run.
        estimates: what the pilot found, by system; None if there was none.
        cpu_latency_us: limit of the idle states of this machine's CPUs.
    """

    loaded: LoadedStudy
    catalog: Catalog
    plan: Plan
    targets: dict[str, Target]
    notes: list[str] = field(default_factory=list)
    estimates: dict[str, SystemEstimate] | None = None
    named: tuple[Named, ...] = ()
    unseen: tuple[str, ...] = ()
    apart: str | None = None
    cpu_latency_us: int | None = None

    @property
    def hash(self) -> str | None:
        """The plan's hash; None as long as a system is unknown that the plan describes."""
        return None if self.unseen else self.plan.hash()


def get_ready(
    file: Path,
    blocks: int | None,
    *,
    with_pilot: bool,
    claims: Claims | None = None,
    aa_study: bool = False,
    allow: Allow | None = None,
    before_pilot: Callable[[Mapping[str, Target]], None] | None = None,
) -> Ready:
    """Load a study, prepare its targets, make the plan, and try every system once.

    A study whose target cannot work here is replaced by its `fallback`, with a note that states it.

    Args:
        aa_study: two systems that are the same are intended.
        allow: lets what the study names be started; None: nothing of it is started. What would
            need it is left out: the look for a system, and the pilot; and a pilot that would change
            settings of the machine.
        claims: takes what the systems are measured on, before the pilot.
        before_pilot: is asked before a pilot whose boots change settings of the machine, and raises
            where they may not.

    Raises:
        StudyError, AgentError, CatalogError, TargetUnavailable, InputError.
        Busy: another run measures there.
    """
    agent_path = agent.locate()
    catalog = parse_catalog(agent.catalog(agent_path))
    notes = _agent_notes(catalog)
    seen: set[Path] = set()
    while True:
        loaded = load_study(file, catalog)
        seen.add(loaded.file)
        notes += loaded.hints
        try:
            ready = _ready(loaded, catalog, agent_path, blocks, allow)
            remarks = [] if aa_study else pointless(ready.plan, ready.catalog, _present)
            boots = with_pilot and (allow is not None or not _boots_named(ready))
            if with_pilot and not boots:
                remarks.append(NO_PILOT)
            elif boots and allow is None and _changes_settings(ready):
                boots = False
                remarks.append(NO_PILOT_SETTINGS)
            if claims is not None and (boots or allow is not None):
                remarks += claim(claims, ready)
            if boots:
                if before_pilot is not None:
                    before_pilot(ready.targets)
                ready.estimates = _pilot(ready)
                if not aa_study:
                    _refuse_identical(ready)
        except UnavailableSystem as error:
            if loaded.fallback is None or loaded.fallback in seen:
                raise TargetUnavailable(error.text, error.cause.remedy) from error
            notes.append(_fallback_note(error, loaded.study, loaded.fallback))
            file = loaded.fallback
            continue
        ready.notes = [*notes, *ready.notes, *remarks]
        return ready


def _agent_notes(catalog: Catalog) -> list[str]:
    """What a reader has to know of the agent's build; nothing where only tests are run."""
    for_tests = catalog.agent.get("debug_assertions") and not os.environ.get(UNMEASURED)
    return [BUILT_FOR_TESTS] if for_tests else []


def _changes_settings(ready: Ready) -> bool:
    """Whether a boot changes settings of the machine."""
    return any(target.settings_to_change() for target in ready.targets.values())


def _boots_named(ready: Ready) -> bool:
    return any(one.when != "made anew" for one in ready.named)


def _present(setting: str) -> str | None:
    known = setting in (*sysfs.SINGLE, "governor", "turbo")
    return sysfs.present(setting) if known else None


def claim(claims: Claims, ready: Ready) -> list[str]:
    """Take what a run measures on; returns what disturbs it there.

    Raises:
        Busy: another run measures there.
    """
    used = frozenset[str]().union(*(target.occupies() for target in ready.targets.values()))
    if any(entry.get("change") == "setting" for entry in leftovers(default_state_dir())):
        used |= everything()  # The first boot puts them back.
    claims.change(ready.plan.study.name, used)
    notes = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in damaged(default_state_dir())]
    if found := disturbances():
        notes.append(_not_quiet("This machine", found) + ". See: pentathlon doctor --quiet-check")
    # Several systems may be one machine.
    others = {target.occupies(): target for target in ready.targets.values()}
    return [*notes, *filter(None, map(_disturbed, others.values()))]


def _not_quiet(machine: str, found: list[str]) -> str:
    return (
        f"{machine} is not quiet ({'; '.join(found)}): what is measured may be slower and "
        "vary more than the systems do"
    )


def _disturbed(target: Target) -> str | None:
    """What disturbs a run on the other machine that a system is.

    Raises:
        Busy: another run measures there.
    """
    with tempfile.TemporaryDirectory(prefix="pentathlon-") as place:
        root = Path(place)

        def again(seconds: float) -> None:
            time.sleep(seconds)
            target.copy_proc(root)

        if not target.copy_proc(root) or not (found := disturbances(root, again)):
            return None
    machine, *_ = sorted(target.occupies())
    return _not_quiet(f"{machine[0].upper()}{machine[1:]}", found) + "."


def _ready(
    loaded: LoadedStudy,
    catalog: Catalog,
    agent_path: Path,
    blocks: int | None,
    allow: Allow | None,
) -> Ready:
    catalog = extended(catalog, loaded.study.workloads)
    targets = targets_of(loaded.study, agent_path, loaded.supplies)
    starts = named(loaded.study, loaded.supplies)
    unseen: tuple[str, ...] = ()
    if allow is not None:
        allow(starts, targets)
    else:
        unseen = tuple(dict.fromkeys(one.system for one in starts if one.when == "looked at"))
    prepare({name: target for name, target in targets.items() if name not in unseen})
    descriptions = {name: target.describe() for name, target in targets.items()}
    try:
        chosen = choose(loaded.study.procedure.pairing, targets)
        plan = plan_of(loaded, catalog, descriptions, blocks, chosen)
        idling = idling_limit(plan, targets)
    except TargetError as error:
        raise InputError(str(error)) from error
    except ValueError as error:
        first = str(error).splitlines()[-1] if blocks is None else f"--blocks {blocks}: {error}"
        raise InputError(first) from error
    return Ready(
        loaded,
        catalog,
        plan,
        targets,
        [] if idling.reason is None else [idling.reason],
        named=starts,
        unseen=unseen,
        apart=chosen.reason,
        cpu_latency_us=idling.us,
    )


def plan_of(
    loaded: LoadedStudy,
    catalog: Catalog,
    descriptions: Mapping[str, Mapping[str, Any]],
    blocks: int | None,
    paired: Chosen | Plan,
) -> Plan:
    """The plan of a study.

    Args:
        descriptions: system -> what its target states of itself.
        blocks: number in place of the study's.
        paired: how the systems of a block are paired.

    Raises:
        ValueError: there is no such plan.
    """
    return make_plan(
        loaded.study,
        catalog,
        descriptions,
        blocks,
        loaded.supplies,
        pairing=paired.pairing,
        turns_up_to_bytes=paired.turns_up_to_bytes,
    )


def replan(ready: Ready, procedure: Procedure) -> None:
    """Make the plan anew with other numbers of repetitions, for the same systems.

    Raises:
        InputError: the plan would have too many steps.
    """
    old = ready.plan
    loaded = replace(ready.loaded, study=old.study.model_copy(update={"procedure": procedure}))
    descriptions = {name: target.describe() for name, target in ready.targets.items()}
    try:
        ready.plan = plan_of(loaded, ready.catalog, descriptions, None, old)
    except ValueError as error:
        raise InputError(str(error).splitlines()[-1]) from error


def _pilot(ready: Ready) -> dict[str, SystemEstimate]:
    estimates = {}
    with err.status("") as status, StopSignals() as signals:
        for name, target in ready.targets.items():
            begun = "booted" if noun([ready.plan.study.system(name)]) == BOOT else "started"
            now = f"pilot: {name} is {begun} once to estimate the time"
            status.update(Text(now))
            if not err.is_terminal:
                err.print(now)
            try:
                with Heartbeat(partial(_still, now)):
                    estimates[name] = pilot(ready.plan, name, ready.catalog, target, signals.shield)
            except TargetUnavailable as error:
                raise UnavailableSystem(name, target.kind, error) from error
    return estimates


def _refuse_identical(ready: Ready) -> None:
    """Look whether the systems that the pilot booted differ where the study says that they do.

    Raises:
        SameSystems: two do not, in anything.
    """
    assert ready.estimates is not None
    found = {name: one.inventory for name, one in ready.estimates.items() if one.inventory}
    if len(found) < 2:
        return
    from pentathlon.evaluate import facts, sameness  # noqa: PLC0415  loads SciPy

    inventories = {name: facts.of_system(tree) for name, tree in found.items()}
    same = [one.words for one in sameness.identical(ready.plan.study, inventories) if one.whole]
    if same:
        raise SameSystems(f"{'; '.join(same)}. Nothing was measured")


def _still(now: str) -> None:
    if not err.is_terminal:  # a terminal shows the status all the time
        doing = activity_text()
        more = "" if doing is None else f" ({doing})"
        err.print(f"{now}, which still runs{more}")


class UnavailableSystem(Exception):
    """A system of the study whose target does not work here."""

    def __init__(self, system: str, kind: str, cause: TargetUnavailable) -> None:
        self.system = system
        self.cause = cause
        self.text = f'system "{system}" (target "{kind}") cannot be prepared: {cause.reason}'
        super().__init__(self.text)


def targets_of(
    study: Study,
    agent_path: Path,
    supplies: tuple[Supply, ...] = (),
    *,
    scheduled: bool = False,
) -> dict[str, Target]:
    """The target of every system, not prepared yet.

    Args:
        supplies: files of commands that every system gets.
        scheduled: whether a batch scheduler boots the machines for each of its jobs.

    Raises:
        InputError: a system requests something that its kind of target does not have.
    """
    state_dir = default_state_dir()
    try:
        targets = {
            s.name: make_target(s, agent_path, state_dir, scheduled=scheduled)
            for s in study.systems
        }
        for target in targets.values():
            target.supply(supplies)
        return targets
    except TargetUnavailable:
        raise
    except TargetError as error:
        # Before anything is prepared, a target can only object to what the study requests.
        raise InputError(str(error)) from error


def prepare(targets: dict[str, Target]) -> None:
    """Check that every target can work.

    Raises:
        UnavailableSystem: the first one that cannot.
    """
    for name, target in targets.items():
        try:
            target.prepare()
        except TargetUnavailable as error:
            raise UnavailableSystem(name, target.kind, error) from error


def _fallback_note(error: UnavailableSystem, study: Study, fallback: Path) -> str:
    remedy = f" To make it work: {error.cause.remedy}." if error.cause.remedy else ""
    return (
        f'The study "{study.name}" was not run: {error.text}.{remedy} '
        f"Its fallback {fallback.name} is run instead; its results answer another question."
    )
