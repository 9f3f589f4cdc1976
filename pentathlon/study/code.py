"""What a study starts that it names itself: shell commands, kernels, programs, ssh(1) with a
configuration of its own. Such a study is a program, with every right of whoever runs it.

A kernel by its version, or a host that the user's own ssh_config(5) knows, is not the study's:
these are what this machine has.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from pentathlon.study.model import Study
from pentathlon.study.reach import Ssh
from pentathlon.study.system import Peer, System
from pentathlon.targets.supplies import Supply

When: TypeAlias = Literal["looked at", "booted", "made anew"]
"""When it is started: whenever the system is looked for, in every boot, or by the step `fresh`."""

PLAIN_WORD = re.compile(r"[\w@%+=:,./{}-]+", re.ASCII)
"""Words that a shell takes as they are, and placeholders such as `{size}`."""

EVERY_SYSTEM = "every system"

HARMLESS_WORD = re.compile(r"seccomp=(on|off|auto)")
"""Words of the command line of user-mode Linux that start and open nothing of the host. Others do:
`xterm=` and `eth0=slirp` name programs, `ubd0=` names files."""


@dataclass(frozen=True)
class Named:
    """One thing that a study names and starts.

    Attributes:
        system: for which system, by its name.
        what: the thing itself, on one line without control characters.
        sha256: of a command that is measured, with its files: what an answer is remembered by.
    """

    system: str
    what: str
    when: When
    sha256: str | None = None

    @property
    def text(self) -> str:
        """The whole, for a list."""
        when = {
            "looked at": "to look for the system, and in every boot",
            "booted": "in every boot",
            "made anew": "when the system is made anew",
        }
        return f"{self.system}: {self.what}, {when[self.when]}"


def named(study: Study, supplies: Sequence[Supply] = ()) -> tuple[Named, ...]:
    """Everything that a study names and starts, in the order of its systems.

    Args:
        supplies: the files of its commands.
    """
    found = (one for system in study.systems for one in _of(study, system))
    return tuple(dict.fromkeys((*found, *_commands(study, supplies))))


def _commands(study: Study, supplies: Sequence[Supply]) -> Iterator[Named]:
    """The commands that are measured, of those workloads that a suite names."""
    files = {supply.workload: supply.record() for supply in supplies}
    choices = [choice for suite in study.suites for choice in suite.workloads]
    for own in study.workloads:
        if not any(fnmatchcase(own.id, choice.id) for choice in choices):
            continue
        definition = [own.model_dump(mode="json", by_alias=True), files.get(own.id, {})]
        text = json.dumps(definition, sort_keys=True)
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        around = (("setup", own.setup), ("prepare", own.prepare), ("cleanup", own.cleanup))
        beside = "".join(f", {what} `{visible(line(words))}`" for what, words in around if words)
        what = f"the command `{visible(line(own.command))}`{beside} ({own.id})"
        yield Named(EVERY_SYSTEM, what, "booted", digest)
        for system in study.systems:
            if (words := system.commands.get(own.id)) is not None:
                digest = hashlib.sha256(f"{digest} {json.dumps(words)}".encode()).hexdigest()
                what = f"the command `{visible(line(words))}` instead ({own.id})"
                yield Named(system.name, what, "booted", digest)


def rights() -> str:
    """Whose rights it has, in words."""
    return "root" if os.geteuid() == 0 else "this user"


def _of(study: Study, system: System) -> Iterator[Named]:
    hosts: list[System | Peer] = [system, *([system.peer] if system.peer else [])]
    for host in hosts:
        if host.ssh is not None:
            yield from _ssh(system.name, host.ssh)
            if isinstance(host, System):
                yield from _boots(host, host.ssh.host)
        if "/" in (host.kernel or ""):
            yield Named(system.name, f"the kernel {visible(host.kernel or '')}", "booted")
    for word in system.uml_args:
        if not HARMLESS_WORD.fullmatch(word):
            what = f"user-mode Linux with the argument {visible(word)}"
            yield Named(system.name, what, "booted")
    if system.agent is not None:
        what = f"the program {visible(system.agent)} as its agent, with a library beside it"
        yield Named(system.name, what, "booted")
    for key in system.kind.own_keys:
        # Only the kind knows what it does with them, so each counts as something that is started.
        if (value := getattr(system, key, None)) is not None:
            what = f"a system of {system.target} with {key} = {visible(_as_toml(value))}"
            yield Named(system.name, what, "booted")
    steps = study.procedure.steps if system.steps is None else system.steps
    for step in steps:
        if step.command is not None:
            for place in _lasting(system):
                what = f"the command `{visible(step.command)}` on {place}"
                yield Named(system.name, what, "made anew")


def _as_toml(value: object) -> str:
    """A value as a study file has it, in one line."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_as_toml(one)}' for key, one in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_as_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _lasting(system: System) -> Iterator[str]:
    """Where a command that makes a system anew is run: guests are made anew by their targets."""
    for host, kind in ((system, system.kind), (system.peer, system.peer_kind)):
        if host is not None and not kind.is_guest:
            ssh = (host.ssh or system.ssh) if kind.takes("ssh") else None
            yield "this machine" if ssh is None else visible(ssh.host)


def _ssh(system: str, ssh: Ssh) -> Iterator[Named]:
    if ssh.config is not None:
        what = f"ssh to {visible(ssh.host)} with the configuration {visible(ssh.config)}"
        yield Named(system, what, "looked at")
    if ssh.reboot_command is not None and ssh.reboot:
        what = f"the command `{visible(ssh.reboot_command)}` on {visible(ssh.host)}"
        yield Named(system, what, "booted")
    elif ssh.reboot:
        yield Named(system, f"a restart of {visible(ssh.host)}", "booted")


def _boots(system: System, host: str) -> Iterator[Named]:
    """What chooses the kernel of a machine and switches it off and on."""
    boot, power = system.boot, system.power
    if boot is not None:
        entry = boot.entry or boot.kernel or ""
        what = f"a restart of {visible(host)} into {visible(entry)} ({boot.method})"
        yield Named(system.name, what, "booted")
        for own in (boot.command, boot.back):
            if own is not None:
                what = f"the command `{visible(own)}` on this machine"
                yield Named(system.name, what, "booted")
    if power is not None and power.command is not None:
        what = f"the command `{visible(power.command)}` on this machine, to switch {visible(host)}"
        yield Named(system.name, f"{what} off and on", "booted")
    elif power is not None:
        what = f"the power controller {visible(power.address or '')} of {visible(host)}"
        yield Named(system.name, what, "looked at")


def line(words: Sequence[str]) -> str:
    """The words of a command as a shell would take them apart again; placeholders stay plain."""
    return " ".join(one if PLAIN_WORD.fullmatch(one) else shlex.quote(one) for one in words)


def visible(text: str) -> str:
    """A text of a study on one line: what a terminal does not show, or obeys, is written out."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
