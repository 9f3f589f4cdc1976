"""`pentathlon boots`: what a machine can boot, as TOML to paste into a study."""

from __future__ import annotations

import json

import typer

from pentathlon.cli.exits import Exit
from pentathlon.cli.screen import err
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.targets.ssh.boots.loader import Entry, Unchosen
from pentathlon.targets.ssh.boots.methods import LOADERS
from pentathlon.targets.ssh.boots.stay import Machine
from pentathlon.targets.ssh.client import Address


def boots(
    host: str,
    *,
    method: str | None,
    user: str | None,
    port: int | None,
    key: str | None,
    jump: str | None,
    config: str | None,
) -> None:
    address = Address(host, user, port, key, jump, config)
    known = {one.name: one for one in LOADERS if one.DISARM}
    if method is not None and method not in known:
        raise typer.BadParameter(f"use {', '.join(known)}", param_hint="--method")
    with err.status(f"asking {host}"):
        running = Machine(address).running()
    print(f"# {host} runs {running.release} ({running.version})")
    print(f"# {running.cmdline}")
    words = {"host": host, **{k: v for k, v in address.record().items() if v is not None}}
    words |= {k: v for k, v in (("key", key), ("config", config)) if v is not None}
    ssh = ", ".join(f"{name} = {json.dumps(value)}" for name, value in words.items())
    names: set[str] = set()
    for name, loader in known.items():
        if method not in (None, name):
            continue
        spec = Unchosen(name)
        try:
            with err.status(f"asking {host} for {name}"):
                entries = loader(spec, address.ask, host).entries()
        except TargetUnavailable as error:
            print(f"\n# {name}: {error.reason}")
            continue
        print(f"\n# {name}:")
        for entry in entries:
            print(f"\n{table(entry, name, ssh, names)}", end="")
    if not names:
        raise typer.Exit(Exit.UNAVAILABLE)


def table(entry: Entry, method: str, ssh: str, names: set[str]) -> str:
    """A `[[system]]` that boots the entry.

    Args:
        names: of the tables before it; its own is another one, and added.
    """
    mark = ", the default" if entry.default else ", which runs now" if entry.runs else ""
    lines = [f"# {_plain(entry.title)}{mark}"]
    if entry.cmdline:
        lines.append(f"# {_plain(entry.cmdline)}")
    parts = [f"method = {json.dumps(method)}", f"entry = {json.dumps(entry.id)}"]
    if entry.release:
        parts.append(f"expect = {{ release = {json.dumps(entry.release)} }}")
    last = entry.id.replace(">>", " ").rpartition(">")[2]
    choices = [f"{method}-{entry.release or last}", f"{method}-{last}"]
    choices += [f"{method}-{last}-{number}" for number in range(2, len(names) + 3)]
    name = next(one for text in choices if (one := _name(text)) not in names)
    names.add(name)
    lines += [
        "[[system]]",
        f"name = {json.dumps(name)}",
        'target = "ssh"',
        f"ssh = {{ {ssh} }}",
        f"boot = {{ {', '.join(parts)} }}",
    ]
    return "".join(f"{line}\n" for line in lines)


def _name(text: str) -> str:
    """A name that a study file takes."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._+-") else "-" for c in text)
    return kept.strip("-.+_")[:64]


def _plain(text: str) -> str:
    return "".join(c for c in text if c.isprintable())
