"""`pentathlon link`: emulated links."""

from __future__ import annotations

from dataclasses import asdict

import typer

from pentathlon.cli.exits import of_input
from pentathlon.cli.link_run import way_text
from pentathlon.cli.screen import err, out
from pentathlon.protocol import agent
from pentathlon.protocol.events import JsonObject
from pentathlon.study.link_profile import DIRECTIONS, ProfileError, load_profile, names
from pentathlon.tables.sheet import Sheet
from pentathlon.testbed.link.calibrate import Calibration, LinkRefused
from pentathlon.testbed.link.calibrate import calibrate as measure
from pentathlon.testbed.link.testbed import EngineName, open_link


def profiles(*, as_json: bool) -> None:
    found = [load_profile(name) for name in names()]
    if as_json:
        rows = [
            {"name": profile.name, "title": profile.title, "source": profile.source}
            for profile in found
        ]
        out.print_json(data=rows)
        return
    table = Sheet()
    table.add_columns("profile", "", "up", "down")
    for profile in found:
        table.add_row(profile.name, profile.title, *(way_text(profile.way(d)) for d in DIRECTIONS))
    out.print(table)


def calibrate(profile: str, *, seed: int, engine: EngineName, attempts: int, as_json: bool) -> None:
    with of_input(ProfileError):
        chosen = [load_profile(name) for name in (names() if profile == "all" else [profile])]
    refused = False
    found: list[JsonObject] = []
    for one in chosen:
        with open_link(agent.locate(), one, seed=seed, engine=engine) as bed:
            try:
                calibration = measure(bed, attempts)
                complaint = None
            except LinkRefused as error:
                calibration, complaint = error.found, str(error)
        refused |= complaint is not None
        found.append({"passed": complaint is None, **asdict(calibration)})
        if not as_json:
            _show(calibration)
        if complaint:
            err.print(complaint, soft_wrap=True)
    if as_json:
        out.print_json(data=found if len(found) > 1 else found[0])
    if refused:
        raise typer.Exit(1)


def _show(found: Calibration) -> None:
    for direction, figures in found.ways.items():
        parts = [f"{found.profile} {direction}:"]
        if rate := figures.get("rate"):
            parts.append(
                f"rate {rate['measured_kbit']:.6g} kbit/s ({rate['error_percent']:+.2f} %),"
            )
        delay, loss = figures["delay"], figures["loss"]
        parts.append(f"delay {delay['measured_ms']:.3f} ms ({delay['error_ms']:+.3f} ms),")
        parts.append(f"lost {loss['lost']} of {loss['probes']}")
        out.print(" ".join(parts), soft_wrap=True)
    if not found.ways:
        return
    if found.attempts[-1]:
        text = f"{found.profile}: REFUSED after {len(found.attempts)} attempts"
    else:
        text = f"{found.profile}: passed attempt {len(found.attempts)}, by {found.engine}"
        if found.cpu_percent is not None:
            late = found.lateness_us
            text += (
                f"; the emulator took {found.cpu_percent:.1f} % of a CPU, handed frames over "
                f"{late['p50']:.0f} µs late (median; 99 %: {late['p99']:.0f} µs)"
            )
    out.print(text, soft_wrap=True)
