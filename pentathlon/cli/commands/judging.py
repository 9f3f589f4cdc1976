"""Options of `compare` and `report` that judge a result otherwise than its study planned."""

from __future__ import annotations

from typing import Annotated

import typer

DeltaOption = Annotated[
    float | None,
    typer.Option(
        help="Region of equivalence in percent, marked post hoc.", show_default="the study's"
    ),
]
ConfidenceOption = Annotated[
    float | None,
    typer.Option(
        help="Confidence as a fraction, such as 0.99, marked post hoc.", show_default="the study's"
    ),
]
DeclaredOption = Annotated[
    list[str] | None,
    typer.Option(
        help="WORKLOAD, WORKLOAD.METRIC or pattern that is declared, the rest exploratory; "
        "may be repeated; marked post hoc.",
        show_default="the study's",
    ),
]
WeightsOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=NUMBER[,...]",
        help="Weights of areas and workloads, what is not named has 1; marked post hoc.",
        show_default="the study's",
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        help="WORKLOAD, WORKLOAD.METRIC or pattern to judge alone; may be repeated; marked "
        "post hoc.",
        show_default="everything",
    ),
]
