"""`pentathlon catalog`, `inventory`, `doctor`: what can be measured, and what this machine is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.text import Text
from rich.tree import Tree

from pentathlon.cli import leaving, packview
from pentathlon.cli.exits import Exit, InputError
from pentathlon.cli.screen import err, out
from pentathlon.doctor import checks as examiner
from pentathlon.doctor import quiet
from pentathlon.machine.claims import Busy, Claims
from pentathlon.machine.finding import Finding
from pentathlon.machine.undo_journal import default_state_dir, restore_leftovers
from pentathlon.machine.whole_machine import everything
from pentathlon.protocol import agent
from pentathlon.safeio.escaping import breakable
from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.study.catalog import Workload, parse_catalog
from pentathlon.study.check import CATALOG
from pentathlon.tables.sheet import Sheet
from pentathlon.targets import registry


def catalog(workload: str | None, *, as_json: bool, packs: bool) -> None:
    if packs:
        packview.show(workload)
        return
    document = agent.catalog()
    known = parse_catalog(document)
    chosen = None if workload is None else known.workload(workload)
    if workload is not None and chosen is None:
        hint = did_you_mean(workload, known.ids(), CATALOG)
        raise InputError(f'"{workload}" is no workload of this agent{hint}')
    if as_json:
        print(json.dumps(document if chosen is None else chosen.model_dump(), indent=2))
    elif chosen is not None:
        _workload(chosen)
    else:
        table = Sheet(under=("source", "metrics"), header_style="dim")
        table.add_columns("workload", "title", "metrics", "source", overflow="fold")
        for one in known.workloads:
            units = ", ".join(f"{i.id} ({i.unit})" for i in one.metrics)
            mark = " (tests only)" if one.test_only else ""
            table.add_row(*map(Text, (one.id + mark, one.title, units, one.source)))
        out.print(table)


def _workload(one: Workload) -> None:
    out.print(Text(f"{one.id}: {one.title}", style="bold"))
    out.print(one.summary)
    out.print(f"Source: {one.source}", style="dim")
    table = Sheet(title="Parameters")
    for name in ("name", "type", "default", "allowed", "meaning"):
        table.add_column(name, header_style="dim", overflow="fold")
    for p in one.parameters:
        unit = f" {p.unit}" if p.unit and p.unit != "B" else ""
        limits = [_limit(value, p.unit) for value in (p.minimum, p.maximum)]
        allowed = f"{limits[0]} to {limits[1]}{unit}".strip() if any(limits) else "any"
        if p.choices is not None:
            allowed = ", ".join(str(choice) for choice in p.choices)
        row = (p.name, p.type, _words(p.default), allowed, p.description)
        table.add_row(*map(Text, row))
    if one.parameters:
        out.print()
        out.print(table)
    table = Sheet(title="Metrics")
    table.add_columns("name", "unit", "better", "meaning", header_style="dim")
    for i in one.metrics:
        table.add_row(*map(Text, (i.id, i.unit, i.direction, i.title)))
    out.print()
    out.print(table)
    if one.factors:
        out.print()
        out.print("Cases: " + " x ".join(f.title or f.name for f in one.factors))
    out.print(f"Checksum: {one.checksum}")
    for system, meaning in one.semantics.items():
        if meaning:
            out.print(f"On {system}: {meaning}")


def _limit(value: float | None, unit: str | None) -> str:
    if value is None:
        return ""
    return _binary(value) if unit == "B" else f"{value:g}"


def _words(value: Any) -> str:
    """A default as TOML writes it, long lists shortened."""
    if isinstance(value, list) and len(value) > 8:
        shown = [*map(json.dumps, value[:3]), "...", json.dumps(value[-1])]
        return f"[{', '.join(shown)}] ({len(value)} values)"
    return json.dumps(value)


def inventory(*, as_json: bool) -> None:
    document = agent.inventory()
    if as_json:
        print(json.dumps(document, indent=2))
        return
    tree = Tree(Text("this machine", style="bold"), guide_style="dim")
    for name, part in (document.get("system") or {}).items():
        _grow(tree, name, part)
    for name in ("clock", "agent"):
        _grow(tree, name, document.get(name))
    out.print(tree)


def _grow(tree: Tree, name: str, value: Any) -> None:
    """Add one value: tables and lists of tables become branches, the rest leaves."""
    label = Text(name, style="bold" if isinstance(value, dict | list) else "")
    reason = value.get("unsupported") if isinstance(value, dict) and len(value) == 1 else None
    if isinstance(reason, str):
        tree.add(Text.assemble((f"{name}  ", ""), (f"unsupported: {reason}", "yellow")))
    elif isinstance(value, dict) and value:
        branch = tree.add(label)
        for key, part in value.items():
            _grow(branch, str(key), part)
    elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
        branch = tree.add(label)
        for number, part in enumerate(value):
            _grow(branch, _title(part, number), part)
    else:
        text = _leaf(value)
        if name.endswith("_bytes") and isinstance(value, int) and value >= 1024:
            text += f" ({_binary(value)})"
        tree.add(Text.assemble((f"{name}  ", ""), (text, "cyan")))


def _title(part: Any, number: int) -> str:
    """What one element of a list is called: its name where it has one."""
    if isinstance(part, dict):
        for key in ("name", "device", "mount_point", "driver"):
            if isinstance(part.get(key), str):
                return str(part[key])
    return str(number)


def _binary(value: float) -> str:
    """A number of bytes in powers of two, as memory and caches are sized."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:.4g} {unit}"
        value /= 1024
    raise AssertionError


def _leaf(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(str(part) for part in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ("", {}):
        return "none"
    return str(value)


def doctor(
    *,
    quick: bool,
    install: bool,
    only: list[str] | None,
    restore: bool,
    quiet_check: bool,
    apply: bool,
    on: str | None,
    report: Path | None,
) -> None:
    if on is not None or report is not None:
        from pentathlon.cli import system_report  # noqa: PLC0415

        system_report.write(on, report)
        return
    if apply and not quiet_check:
        raise InputError("--apply sets what --quiet-check looks at; add --quiet-check")
    if quiet_check:
        _quiet(apply)
        return
    if restore:
        with _alone("put back"):
            notes = restore_leftovers(default_state_dir(), kept=True)
        with leaving.reported("what a crashed run left changed is being put back"):
            for kind in registry.kinds():
                notes += kind.look().put_back(default_state_dir())
        for sentence in notes or ["nothing was left changed"]:
            out.print(sentence, soft_wrap=True)
        return
    if only and not install:
        raise InputError("--only names what --install fetches; add --install")
    for name in only or ():
        if name not in (known := examiner.installable()):
            raise InputError(f'nothing that can be fetched is called "{name}"; use {known}')
    if install:
        with err.status("fetching"):
            found = examiner.install(lambda text: err.print(text, soft_wrap=True), only)
    else:
        with err.status("looking" if quick else "booting every target once"):
            found = examiner.diagnose(quick)
    show_findings(found)
    needed = [one for one in found if one.group == "agent" or (install and not one.works)]
    if any(not one.works for one in needed):
        raise typer.Exit(Exit.UNAVAILABLE)


@contextmanager
def _alone(done: str) -> Iterator[None]:
    """While no run measures on this machine, whose settings are changed.

    Raises:
        Busy: one does.
    """
    with Claims() as claims:
        try:
            claims.take("pentathlon doctor", everything())
        except Busy as error:
            raise Busy(f"{error.who}; nothing was {done}, wait for its end") from error
        yield


def _quiet(apply: bool) -> None:
    """What would disturb; with `apply` after the settings have been made."""
    if apply:
        with _alone("changed"):
            notes = quiet.apply(default_state_dir())
        for sentence in notes:
            out.print(sentence, soft_wrap=True)
    with err.status("looking for a second"):
        found = quiet.check()
    show_findings(found)


def show_findings(found: list[Finding]) -> None:
    """One line for each finding; under what does not work, the command that would help."""
    table = Sheet(show_header=False)
    table.add_column()
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    group = None
    for one in found:
        if one.group != group:
            table.add_row("", Text(one.group, style="dim"), "")
            group = one.group
        mark = Text("✓", style="green") if one.works else Text("✗", style="yellow")
        text = Text(breakable(one.detail))
        if one.remedy and not one.works:
            lead = "to stop it" if one.group == "quiet" else "to make it work"
            text.append(f"\n{lead}: {one.remedy}", style="cyan")
        table.add_row(mark, one.name, text)
    out.print(table)
