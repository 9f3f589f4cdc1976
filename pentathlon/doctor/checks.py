"""What works on this machine, why the rest does not, and the command that would make it work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pentathlon.doctor.probes import Finding, helpers, machine_settings
from pentathlon.experiments.file_services.protocols import FAMILIES
from pentathlon.experiments.systems import make_target
from pentathlon.machine import restore, undo_journal
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.targets.gvisor import runsc
from pentathlon.targets.plain import PlainSystem
from pentathlon.targets.qemu import kernels as qemu_kernels
from pentathlon.targets.qemu.target import PACKAGE as QEMU_PACKAGE
from pentathlon.targets.qemu.target import version as qemu_version
from pentathlon.targets.uml import fetch, kernels
from pentathlon.targets.wine import prefix
from pentathlon.targets.wine import program as wine

BOOT_S = 60.0
"""Longest time of a trial boot, in seconds."""


def diagnose(quick: bool, state_dir: Path | None = None) -> list[Finding]:
    """Look at everything that a study may need.

    Args:
        quick: look only; otherwise every target is really booted and serves an empty request.
        state_dir: directory of the undo journal; the default one if None.
    """
    state = state_dir or undo_journal.default_state_dir()
    # Looked at first, because a trial boot puts back what a crashed run left.
    left = list(_leftovers(state))
    targets = _targets(_agent_file(), quick, state)
    return [*_agent(), *targets, *machine_settings(), *helpers(), *_file_services(), *left]


def install(log: Callable[[str], None], only: Sequence[str] | None = None) -> list[Finding]:
    """Put back what crashed runs left, and fetch what can be fetched without root: kernels for UML
    and QEMU, and gVisor's program; if it is named, make the prefix of an installed Wine.

    Args:
        log: is called with one line of text for each step.
        only: names such as "uml 6.1", "qemu 6.1-rt", "gvisor" or "wine"; if None everything that
            is missing but Wine's prefix, of QEMU's kernels the small ones, and those only where
            QEMU is.

    Returns:
        One finding for each thing that is there now or could not be fetched.
    """
    for sentence in undo_journal.restore_leftovers(undo_journal.default_state_dir()):
        log(sentence)
    done = []
    for series in kernels.SUITES:
        name = f"uml {series}"
        if only is None or name in only:
            done.append(_install_one(name, lambda series=series: _kernel(series, log)))  # type: ignore[misc]
    if only is None or "gvisor" in only:
        done.append(_install_one("gvisor", lambda: _runsc(log)))
    if only is not None and "wine" in only:
        done.append(_install_one("wine", lambda: _wine(log)))
    for name in qemu_kernels.known():
        wanted = qemu_version() and name in qemu_kernels.DEFAULT if only is None else True
        if wanted and (only is None or f"qemu {name}" in only):
            done.append(_install_one(f"qemu {name}", lambda name=name: _qemu(name, log)))  # type: ignore[misc]
    return done


def installable() -> list[str]:
    """The names that `install` knows."""
    return [
        *(f"uml {series}" for series in kernels.SUITES),
        "gvisor",
        "wine",
        *(f"qemu {name}" for name in qemu_kernels.known()),
    ]


def _install_one(name: str, get: Callable[[], str]) -> Finding:
    try:
        return Finding("target", name, True, get())
    except TargetUnavailable as error:
        return Finding("target", name, False, error.reason, error.remedy)
    except (TargetError, OSError) as error:
        return Finding("target", name, False, str(error))


def _kernel(series: str, log: Callable[[str], None]) -> str:
    kernel = fetch.present(series)
    if kernel is None or fetch.lacks_modules(kernel):
        kernel = fetch.fetch(series, log)
    return f"kernel {kernel.version} in {kernel.path}"


def _runsc(log: Callable[[str], None]) -> str:
    try:
        program = runsc.find()
        runsc.trial(program)
    except TargetUnavailable:
        program = runsc.fetch(log)
    return f"runsc {program.version} in {program.path}"


def _qemu(name: str, log: Callable[[str], None]) -> str:
    kernel = qemu_kernels.present(name)
    if kernel is None or qemu_kernels.lacks(kernel, qemu_kernels.PARTS):
        kernel = qemu_kernels.fetch(name, log)
    return f"kernel {kernel.release} in {kernel.path}"


def _wine(log: Callable[[str], None]) -> str:
    found = wine.find()
    return f"Wine {found.version}, prefix in {prefix.make(found, log)}"


def _unmade_prefix() -> Finding | None:
    """That Wine has no prefix here yet; a look at the machine makes none."""
    try:
        found = wine.find()
    except TargetUnavailable:
        return None
    if (prefix.made(found) / prefix.DONE).exists():
        return None
    return Finding(
        "target",
        "wine",
        False,
        f"Wine {found.version} has no prefix here yet; a study that needs one makes it",
        "pentathlon doctor --install --only wine",
    )


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
        yield Finding(
            "agent",
            "pentathlon-agent",
            False,
            f"{path} is not static, so it starts in no guest",
            "pip install .",
        )


def _targets(file: Path | None, quick: bool, state: Path) -> Iterator[Finding]:
    yield _target(PlainSystem("local", "local"), file, quick, state)
    yield _target(PlainSystem("netns", "netns"), file, quick, state)
    named = []
    for series in kernels.SUITES:
        kernel = fetch.present(series)
        if kernel is not None:
            named.append(kernel.path)
        wanted = str(kernel.path) if kernel else series
        yield _target(PlainSystem(f"uml {series}", "uml", kernel=wanted), file, quick, state)
    for kernel in kernels.available():
        if kernel.path not in named:
            name = f"uml {kernel.version}"
            yield _target(PlainSystem(name, "uml", kernel=str(kernel.path)), file, quick, state)
    yield _target(PlainSystem("gvisor", "gvisor"), file, quick, state)
    yield _unmade_prefix() or _target(PlainSystem("wine", "wine"), file, quick, state)
    yield from _qemu_targets(file, quick, state)


def _qemu_targets(file: Path | None, quick: bool, state: Path) -> Iterator[Finding]:
    """Every kernel that was fetched, and where there is none, the first that could be."""
    if qemu_version() is None:
        why = "QEMU is not installed"
        yield Finding("target", "qemu", False, why, f"sudo apt-get install {QEMU_PACKAGE}")
        return
    here = [name for name in qemu_kernels.known() if qemu_kernels.present(name)]
    for name in here or qemu_kernels.DEFAULT[:1]:
        yield _target(PlainSystem(f"qemu {name}", "qemu", kernel=name), file, quick, state)


def _target(system: PlainSystem, file: Path | None, quick: bool, state: Path) -> Finding:
    if file is None:
        return Finding("target", system.name, False, "the agent is missing", "pip install .")
    try:
        target = make_target(system, file, state)
        target.prepare()
        told = target.describe()["kernel"]
        if quick:
            return Finding("target", system.name, True, f"kernel {told} (not booted)")
        with target.boot(BOOT_S) as session:
            request = {
                "protocol": 1,
                "session": "d0c",
                "seed": 1,
                "inventory": False,
                "workloads": [],
            }
            for _ in session.run(request, BOOT_S, BOOT_S):
                pass
            took = session.boot_seconds
    except TargetUnavailable as error:
        return Finding("target", system.name, False, error.reason, error.remedy)
    except TargetError as error:
        return Finding("target", system.name, False, str(error))
    return Finding("target", system.name, True, f"kernel {told}, booted in {took:.2f} s")


def _file_services() -> Iterator[Finding]:
    """Every family of protocols of the tasks with files (docs/files.md)."""
    for family in FAMILIES:
        name = f"files by {family.name}"
        try:
            family.check()
        except TargetUnavailable as error:
            yield Finding("helper", name, False, error.reason, error.remedy)
        else:
            yield Finding("helper", name, True, ", ".join(family.protocols))


def _leftovers(state: Path) -> Iterator[Finding]:
    for sentence in undo_journal.damaged(state):
        yield Finding("leftover", "undo journal", False, sentence, "pentathlon doctor --restore")
    left = undo_journal.leftovers(state)
    if not left:
        yield Finding("leftover", "settings", True, "no crashed run has left anything changed")
    for entry in left:
        yield Finding(
            "leftover",
            restore.text(entry),
            False,
            "left by a run that was cut off",
            "pentathlon doctor --restore",
        )
