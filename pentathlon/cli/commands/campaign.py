"""`pentathlon campaign`: one study on several machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from pentathlon.cli.commands import existing, shared
from pentathlon.cli.commands.work import done_by

HELP = "One study on several machines, and what holds for all of them."

app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)

Engine: TypeAlias = Literal["ssh", "slurm"]

CampaignArgument = Annotated[Path, typer.Argument(help="Directory of the campaign.")]
NoReport = Annotated[bool, typer.Option("--no-report", help="Measure only.")]


@app.command("run")
@done_by("campaign")
def run(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="Study file.")],
    *,
    on: Annotated[Path, typer.Option("--on", help="File that names the machines.")],
    engine: Annotated[
        Engine,
        typer.Option(help="What reaches them: this program, or Slurm's jobs."),
    ] = "ssh",
    out_directory: Annotated[
        Path | None,
        typer.Option("--out", help="Directory of the campaign.", show_default="in ./results"),
    ] = None,
    blocks: Annotated[
        int | None,
        typer.Option(min=1, help="Blocks on each machine.", show_default="the study's"),
    ] = None,
    yes: shared.Agreed = False,
    no_report: NoReport = False,
) -> None:
    """Measure a study on several machines at once, each with a result of its own.

    Examples:

        pentathlon campaign run study.toml --on machines.toml

        pentathlon campaign run study.toml --on machines.toml --out results/fleet --yes
    """
    existing.study(study)
    existing.study(on)


@app.command("status")
@done_by("campaign")
def status(
    campaign: CampaignArgument,
    *,
    as_json: shared.AsJson = False,
) -> None:
    """Show how far the machines of a campaign are; exits with 0 if all are done, else 7.

    Examples:

        pentathlon campaign status results/fleet

        pentathlon campaign status results/fleet --json
    """


@app.command("resume")
@done_by("campaign")
def resume(campaign: CampaignArgument, *, no_report: NoReport = False) -> None:
    """Continue a campaign: machines that are not done are measured further.

    Examples:

        pentathlon campaign resume results/fleet
    """


@app.command("cancel")
@done_by("campaign")
def cancel(campaign: CampaignArgument) -> None:
    """Stop what runs of a campaign; everything measured is kept.

    Examples:

        pentathlon campaign cancel results/fleet
    """


@app.command("compare")
@done_by("campaign_judge")
def compare(
    results: Annotated[
        list[Path],
        typer.Argument(help="Directory of a campaign, or result directories of machines."),
    ],
    *,
    full: Annotated[
        bool, typer.Option("--full", help="Print every row with every machine.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the page of the fleet.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the judgement as JSON.")] = False,
) -> None:
    """Judge a campaign, or results of several machines: each machine, and the fleet.

    Examples:

        pentathlon campaign compare results/fleet

        pentathlon campaign compare results/bench1 results/bench2 results/bench3 --full

        pentathlon campaign compare results/fleet --html fleet.html --json
    """


@app.command("slurm-setup")
@done_by("campaign_slurm")
def slurm_setup(
    *,
    on: Annotated[Path, typer.Option("--on", help="File that names the machines.")],
    system: Annotated[
        list[str] | None,
        typer.Option(help="System; may be repeated.", show_default="those of the file"),
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--out", help="Write files here.", show_default="print them")
    ] = None,
) -> None:
    """Write the lines for slurm.conf and helpers.conf, the helper and the reboot script.

    Examples:

        pentathlon campaign slurm-setup --on machines.toml

        pentathlon campaign slurm-setup --on machines.toml --system old --system new --out slurm/
    """
    existing.study(on)


@app.command("slurm-step", hidden=True)
@done_by("campaign_slurm")
def slurm_step(campaign: CampaignArgument, machine: str, block: int, system: str) -> None:
    """Measure one boot of a campaign on this node; the jobs of Slurm call it."""
