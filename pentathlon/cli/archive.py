"""`pentathlon archive`: add, sync, list, take, compact."""

from __future__ import annotations

import json
import platform
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from pentathlon.cli import screen
from pentathlon.cli.exits import Exit, InputError
from pentathlon.cli.screen import err, out, write_json
from pentathlon.safeio.escaping import one_line
from pentathlon.store.directory import result_directories
from pentathlon.store.names import JOURNAL, PLAN
from pentathlon.study.counting import count_text
from pentathlon.tables.sheet import Sheet

if TYPE_CHECKING:
    from pentathlon.archive.batch import Added


def add(archive: str, results: list[Path], machine: str | None, branch: str) -> None:
    found = list(dict.fromkeys(results))
    _show(archive, _add(archive, found, machine, branch, strict=True))


def sync(archive: str, directory: Path, machine: str | None, branch: str) -> None:
    if not directory.is_dir():
        raise InputError(f"{directory} is no directory of results")
    found = list(result_directories(directory))[::-1]
    # A copy that was cut off may lack the plan, by which a result is known.
    found += sorted(
        one.parent for one in directory.glob(f"*/{JOURNAL}") if not (one.parent / PLAN).exists()
    )
    if not found:
        one = " (it is a result itself; use: archive add)" if (directory / PLAN).exists() else ""
        raise InputError(f"there is no result in {directory}{one}")
    _show(archive, _add(archive, found, machine, branch, strict=False))


def _add(
    archive: str, paths: Sequence[Path], machine: str | None, branch: str, *, strict: bool
) -> Added:
    from pentathlon.archive.adding import add_all  # noqa: PLC0415  loads SciPy

    name = platform.node() if machine is None else machine
    if not name.strip() or name != one_line(name):
        raise InputError("--machine is no name; give one line of text")
    if branch != one_line(branch):
        raise InputError("--branch is no name; give one line of text")
    return add_all(archive, paths, name, strict=strict, branch=branch)


def _show(archive: str, done: Added) -> None:
    for path, reason in done.left_out:
        text = reason if str(path) in reason else f"{path}: {reason}"
        err.print(f"left out: {text}", soft_wrap=True)
    line = f"{count_text(len(done.new), 'result')} added to {archive}"
    if done.known:
        line += f", {len(done.known)} there already"
    if done.left_out:
        line += f", {len(done.left_out)} left out"
    out.print(line, soft_wrap=True)
    for text in done.remarks:
        err.print(f"! {text}", soft_wrap=True)


def list_command(archive: str, where: str | None, *, as_json: bool) -> None:
    from pentathlon.archive.engines import engine  # noqa: PLC0415  loads polars
    from pentathlon.archive.log import open_archive  # noqa: PLC0415
    from pentathlon.archive.reading import chosen  # noqa: PLC0415
    from pentathlon.archive.where import COLUMNS  # noqa: PLC0415

    found = chosen(engine(open_archive(archive)), where)
    if as_json:
        rows = [{name: one.row[name] for name in COLUMNS} for one in found]
        write_json(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    if not found:
        which = "result that --where chooses" if where else "result"
        out.print(f"There is no {which} in {archive}.")
        return
    table = Sheet(header_style="dim")
    names = ["result", "started (UTC)", "study", "machine", "systems", "name"]
    branches = any(one.row["branch"] for one in found)
    table.add_columns(*([*names, "branch"] if branches else names), overflow="fold")
    for one in found:
        table.add_row(
            one.result[:12],
            one.started[:19].replace("T", " "),
            Text(one.study),
            Text(one_line(one.machine)),
            Text(", ".join(one.systems)),
            Text(one_line(one.name)),
            *([Text(one_line(one.row["branch"]))] if branches else []),
        )
    out.print(table)


def take(archive: str, result: str, out: Path) -> None:
    from pentathlon.archive import reading  # noqa: PLC0415  loads polars
    from pentathlon.archive.log import open_archive  # noqa: PLC0415

    found = open_archive(archive)
    reading.take(found, reading.by_id(found, result), out)
    screen.out.print(str(out), soft_wrap=True)


def compact(archive: str) -> None:
    from pentathlon.archive import compact as work  # noqa: PLC0415  loads polars
    from pentathlon.archive.log import open_archive  # noqa: PLC0415

    before, after = work.compact(open_archive(archive))
    out.print(f"{before} files before, {after} after")


def site(archive: str, to: Path, where: str | None, alert: str | None) -> None:
    from pentathlon.archive import site as work  # noqa: PLC0415  loads SciPy
    from pentathlon.archive.engines import engine  # noqa: PLC0415
    from pentathlon.archive.log import open_archive  # noqa: PLC0415

    opened = open_archive(archive)
    done = work.write(opened, engine(opened), where, to)
    line = f"{to / 'index.html'}: {count_text(len(done.alerts), 'change')} of level"
    out.print(f"{line}, {len(done.new)} new", soft_wrap=True)
    for one in done.new:
        kind = "slower" if one.slower else "faster"
        text = f"{one.study}, {one.machine}, {one.system}: {one.key} is {kind} since {one.since}"
        out.print(f"  {one_line(text)}", soft_wrap=True)
    if alert is not None and done.new:
        _alert(alert, [vars(one) for one in done.new])
    work.note(to, done)  # Not before they are handed on: else a failed alert would be lost.
    raise typer.Exit(Exit.REGRESSION if any(one.slower for one in done.new) else Exit.OK)


def _alert(command: str, new: Sequence[dict[str, object]]) -> None:
    """Hand new changes to the user's command, such as curl with a webhook."""
    words = shlex.split(command)
    if not words:
        raise InputError("--alert is empty; give a command")
    try:
        done = subprocess.run(words, input=json.dumps(new), text=True, check=False)
    except OSError as error:
        raise InputError(f"--alert: {words[0]} cannot be run: {error.strerror}") from error
    if done.returncode:
        raise InputError(
            f"--alert: {words[0]} ended with status {done.returncode}; the changes stay new"
        )
