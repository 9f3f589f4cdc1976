"""What works on this machine, why the rest does not, and the command that would make it work."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from pentathlon.doctor.probes import helpers, machine_settings
from pentathlon.experiments.file_services.protocols import FAMILIES
from pentathlon.experiments.file_services.protocols.base import Family
from pentathlon.experiments.systems import make_target
from pentathlon.machine import restore, undo_journal
from pentathlon.machine.finding import Finding, tried
from pentathlon.protocol import agent
from pentathlon.protocol.requests.session import Request
from pentathlon.targets import registry
from pentathlon.targets.descriptor import Install, Log
from pentathlon.targets.plain import PlainSystem

BOOT_S = 60.0
"""Longest time of a trial boot, in seconds."""

AT_ONCE = 4
"""How many things are fetched side by side: each waits for the network most of its time."""


def diagnose(quick: bool, state_dir: Path | None = None) -> list[Finding]:
    """Look at everything that a study may need.

    Args:
        quick: look only; otherwise every target is really booted and serves an empty request.
        state_dir: directory of the undo journal; the default one if None.
    """
    state = state_dir or undo_journal.default_state_dir()
    # Looked at first, because a trial boot puts back what a crashed run left.
    left = list(_leftovers(state))
    # A journal in the state directory would put them back: a look has one of its own.
    with tempfile.TemporaryDirectory() if quick else nullcontext(state) as journals:
        targets = list(_targets(_agent_file(), quick, Path(journals)))
    return [*_agent(), *targets, *machine_settings(), *helpers(), *_file_services(), *left]


def install(log: Log, only: Sequence[str] | None = None) -> list[Finding]:
    """Put back what crashed runs left, and get what the kinds of targets can get without root.

    Args:
        log: is called with one line of text for each step.
        only: names such as "uml 6.1"; if None everything that is missing and that is wanted
            without being requested (`Install.unasked`).

    Returns:
        One finding for each thing that is there now or could not be fetched.
    """
    for sentence in undo_journal.restore_leftovers(undo_journal.default_state_dir()):
        log(sentence)
    wanted = [one for one in _installs() if (one.unasked() if only is None else one.name in only)]
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        return list(pool.map(lambda one: _install_one(one, log), wanted))
    finally:
        # After Ctrl-C what was begun ends and removes its scratch files; nothing new begins.
        pool.shutdown(cancel_futures=True)


def installable() -> list[str]:
    """The names that `install` knows."""
    return [one.name for one in _installs()]


def _installs() -> Iterator[Install]:
    for kind in registry.kinds():
        yield from kind.look().installs()


def _install_one(wanted: Install, log: Log) -> Finding:
    try:
        return tried("target", wanted.name, lambda: wanted.get(log))
    except OSError as error:
        return Finding("target", wanted.name, False, str(error))


def _agent_file() -> Path | None:
    try:
        return agent.locate()
    except agent.AgentError:
        return None


def _agent() -> Iterator[Finding]:
    try:
        path = agent.locate()
        text = agent.version(path)
    except agent.AgentError as error:
        yield Finding("agent", "pentathlon-agent", False, str(error), "pip install .")
        return
    if agent.is_static(path):
        yield Finding("agent", "pentathlon-agent", True, f"{text}, {path}, static")
    else:
        why = f"{path} is not static, so it starts in no guest"
        yield Finding("agent", "pentathlon-agent", False, why, "pip install .")


def _targets(file: Path | None, quick: bool, state: Path) -> Iterator[Finding]:
    for kind in registry.kinds():
        for one in kind.look().trials():
            yield one if isinstance(one, Finding) else _target(one, file, quick, state)


def _target(system: PlainSystem, file: Path | None, quick: bool, state: Path) -> Finding:
    if file is None:
        return Finding("target", system.name, False, "the agent is missing", "pip install .")
    return tried("target", system.name, lambda: _kernel(system, file, quick, state))


def _kernel(system: PlainSystem, file: Path, quick: bool, state: Path) -> str:
    target = make_target(system, file, state)
    target.prepare()
    reported = target.describe()["kernel"]
    if quick:
        return f"kernel {reported} (not booted)"
    with target.boot(BOOT_S) as session:
        request = Request(session="d0c", seed=1, workloads=[])
        for _ in session.run(request, BOOT_S, BOOT_S):
            pass
        took = session.boot_seconds
    return f"kernel {reported}, booted in {took:.2f} s"


def _file_services() -> Iterator[Finding]:
    """Every family of protocols of the tasks with files (docs/files.md)."""
    for family in FAMILIES:
        yield tried("helper", f"files by {family.name}", partial(_protocols, family))


def _protocols(family: Family) -> str:
    family.check()
    return ", ".join(family.protocols)


def _leftovers(state: Path) -> Iterator[Finding]:
    for sentence in undo_journal.damaged(state):
        yield Finding("leftover", "undo journal", False, sentence, "pentathlon doctor --restore")
    left = undo_journal.leftovers(state)
    if not left:
        yield Finding("leftover", "settings", True, "no crashed run has left anything changed")
    for entry in left:
        why = "left by a run that was cut off"
        yield Finding("leftover", restore.text(entry), False, why, "pentathlon doctor --restore")
