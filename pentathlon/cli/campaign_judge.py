"""`pentathlon campaign compare`: each machine, and the fleet."""

from __future__ import annotations

from pathlib import Path

from pentathlon.campaign.directory import FILE, Campaign, load_campaign
from pentathlon.cli.exits import InputError, of_input
from pentathlon.cli.screen import err, out, write_json
from pentathlon.evaluate.fleet.judge import NoFleet, judge
from pentathlon.evaluate.fleet.model import Fleet
from pentathlon.report.fleet import page, terminal
from pentathlon.safeio.escaping import json_document
from pentathlon.store.query import Result, load_result

PAGE = "fleet.html"
JSON = "fleet.json"


def compare(results: list[Path], *, full: bool, html: Path | None, as_json: bool) -> None:
    with of_input(NoFleet):
        fleet = judge(results_of(results), _unmeasured(results))
    if html is not None:
        page.write(fleet, html)
        err.print(f"page: {html}", soft_wrap=True)
    if as_json:
        write_json(document(fleet))
    else:
        terminal.render(fleet, out, full=full)


def after_run(campaign: Campaign) -> None:
    """The judgement after a campaign; one machine alone has none, and its result is judged."""
    found = _of_campaign(campaign)
    try:
        fleet = judge(found, [name for name in campaign.machines if name not in found])
    except NoFleet as error:
        err.print(f"no judgement of a fleet: {error}", style="yellow", soft_wrap=True)
        return
    page.write(fleet, campaign.path / PAGE)
    (campaign.path / JSON).write_text(document(fleet), encoding="utf-8")
    terminal.render(fleet, out)
    err.print(f"report:  {campaign.path / PAGE}", soft_wrap=True)


def document(fleet: Fleet) -> str:
    """The fleet as JSON, in full precision; `Fleet` reads it back."""
    return json_document(fleet.model_dump_json(indent=1)) + "\n"


def results_of(paths: list[Path]) -> dict[str, Result]:
    """Machine -> result.

    Raises:
        InputError: two results would have one name.
        StoreError: one cannot be read.
    """
    found: dict[str, Result] = {}
    for path in paths:
        if (path / FILE).is_file():
            own = _of_campaign(load_campaign(path))
        else:
            own = {path.resolve().name: load_result(path)}
        for name, result in own.items():
            if name in found:
                raise InputError(
                    f'"{name}" is named twice: the name of a directory is that of its machine; '
                    "name each machine once, in directories of different names"
                )
            found[name] = result
    return found


def _of_campaign(campaign: Campaign) -> dict[str, Result]:
    return {
        name: load_result(campaign.result(name))
        for name in campaign.machines
        if campaign.begun(name)
    }


def _unmeasured(paths: list[Path]) -> list[str]:
    campaigns = [load_campaign(path) for path in paths if (path / FILE).is_file()]
    return [name for one in campaigns for name in one.machines if not one.begun(name)]
