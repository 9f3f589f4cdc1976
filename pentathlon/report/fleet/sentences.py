"""Sentences about a fleet that the terminal and the page share."""

from __future__ import annotations

from collections import Counter

from pentathlon.evaluate.display import (
    percent_text,
    signed_percent,
)
from pentathlon.evaluate.fleet.model import Fleet, FleetMean, FleetRowResult, Spread
from pentathlon.evaluate.verdict import Verdict, words
from pentathlon.report.intervals import percent_interval
from pentathlon.study.counting import count_text

SURE = 0.05


def tau_text(spread: Spread | None) -> str:
    """τ with its interval; "" where it is not known."""
    if spread is None:
        return ""
    high = "∞" if spread.tau_high_percent is None else percent_text(spread.tau_high_percent)
    return f"{percent_text(spread.tau_percent)} [{percent_text(spread.tau_low_percent)}, {high}]"


def i_squared_text(spread: Spread | None) -> str:
    """I² with its interval."""
    if spread is None:
        return ""
    shares = (spread.i_squared, spread.i_squared_low, spread.i_squared_high)
    share, low, high = (f"{100 * one:.0f}" for one in shares)
    return f"{share} % [{low}, {high}]"


def disagree_text(row: FleetRowResult | FleetMean, level: float) -> str:
    """Whether the machines disagree, and which; "" where it is not known."""
    spread = row.spread
    if spread is None:
        return ""
    odd = row.odd if isinstance(row, FleetRowResult) else ()
    if odd:
        names = ", ".join(
            one.machine + ("" if one.percent is None else f" ({signed_percent(one.percent)} %)")
            for one in odd
        )
        return f"machines disagree: {names}"
    if spread.p_alike <= level:
        return "machines disagree, none alone"
    return "no disagreement shown"


def mean_sentence(fleet: Fleet, mean: FleetMean) -> str:
    """The headline of a system."""
    if mean.percent is None:
        return f"{mean.system}: no mean over machines is known"
    count = count_text(len(mean.machines), "machine")
    text = (
        f"{mean.system} against {fleet.reference}, all rows: {signed_percent(mean.percent)} % "
        f"{percent_interval(mean.low_percent, mean.high_percent)} over {count}"
    )
    spread = mean.spread
    if spread is None:
        return text
    predicted = percent_interval(spread.prediction_low_percent, spread.prediction_high_percent)
    return (
        f"{text}; between machines τ {tau_text(spread)}, I² {i_squared_text(spread)}; "
        f"prediction for a further machine: {predicted}"
    )


def counts(fleet: Fleet, system: str) -> list[tuple[Verdict, int, str]]:
    """How often each verdict is given: verdict, number, words."""
    found = Counter(row.verdict for row in fleet.rows_of(system))
    return [(one, found[one], words(one, fleet.delta_percent)) for one in Verdict if found[one]]


def footer(fleet: Fleet) -> str:
    """How the numbers are made."""
    return (
        f"δ = {percent_text(fleet.delta_percent)}, confidence "
        f"{percent_text(fleet.confidence * 100)} for all rows together (Holm). The interval of the "
        "fleet is Student's t over the machines' means, each machine counted equally: more boots "
        "on the same machines do not remove the variance between machines. τ is the standard "
        "deviation of the true effects between machines (Paule-Mandel, Q-profile), I² its share of "
        "the variance. A machine is named if its effect differs from the mean of the others."
    )
