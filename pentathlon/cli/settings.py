"""`pentathlon settings`: what this machine lets be set, and which workloads can depend on it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from rich.padding import Padding
from rich.text import Text

from pentathlon.cli.exits import InputError
from pentathlon.cli.screen import out
from pentathlon.cli.system_report import named
from pentathlon.machine.choices import Choice
from pentathlon.safeio.suggestion import listing
from pentathlon.study import dependence
from pentathlon.study.factorial.expand import keys_of
from pentathlon.targets import registry
from pentathlon.targets.descriptor import Kind

FORMATS = ("table", "json")


def settings(on: str | None, formats: str) -> None:
    on = on or registry.names()[0]
    if formats not in FORMATS:
        raise InputError(f'--format is "{formats}"; use {listing(FORMATS)}')
    one = named(on)
    kind = one.kind
    found = kind.look().settings(one) if kind.settings else []
    keys = keys_of(kind)
    if formats == "json":
        document = {"system": on, "settings": [_document(one) for one in found], "keys": keys}
        print(json.dumps(document, indent=2, ensure_ascii=False))
        return
    _show(on, kind, found)
    if keys:
        text = f"Other factors of such a system: {', '.join(keys)} (key = ... in [[factor]])."
        out.print(Text(f"\n{text}", style="dim"))


def _document(one: Choice) -> dict[str, Any]:
    known = dependence.of(one.key)
    return {
        **asdict(one),
        "workloads": list(known.workloads) if known else [],
        "why": known.why if known else "",
        "source": known.source if known else "",
    }


def _show(on: str, kind: Kind, found: list[Choice]) -> None:
    if not found:
        text = f"A system of the target {kind.name} has no settings of a machine"
        out.print(Text(f"{text}: it is a guest." if kind.is_guest else f"{text}."))
        return
    out.print(Text(f"Settings of {on}", style="bold"))
    for one in found:
        out.print()
        line = Text(one.key, style="bold" if one.possible else "dim")
        line.append(f" = {one.present}" if one.present else "", style="cyan")
        limits = "; ".join(part for part in (one.allowed, one.needs or "any user") if part)
        out.print(line.append(f"  ({limits})", style="not bold"))
        if one.reason:
            _under(one.reason, "default" if one.possible else "yellow")
        known = dependence.of(one.key)
        if known is not None:
            reach = ", ".join(known.workloads)
            _under(f"{'every workload' if reach == '*' else reach}: {known.why}", "dim")


def _under(text: str, style: str) -> None:
    out.print(Padding(Text(text, style=style), (0, 0, 0, 4), expand=False))
