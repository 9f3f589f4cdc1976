"""Distributions as a study writes them, such as "uniform 30000 300000", and as endpoints read them.

The words and their numbers, in the order of D-ITG's manual: `constant V`, `uniform MIN MAX`,
`exponential MEAN`, `pareto SHAPE SCALE`, `cauchy LOCATION SCALE`, `normal MEAN SD`, `poisson MEAN`,
`gamma SHAPE SCALE`, `weibull SHAPE SCALE`, `imix`, `trace V1 V2 ...`. The `trace @PATH` of a study
file comes here as `trace @PATH sha256=HEX V1 V2 ...` (`pentathlon.study.traces`). A number can be
written as a fraction, `1/300000`, and those of a time can have a unit behind them, `5 ms`.
"""

from __future__ import annotations

import math
from typing import Any, cast
from urllib.parse import unquote

from pentathlon.protocol.requests.models import Gap, Model

FORMS: dict[str, tuple[str, ...]] = {
    "constant": ("value",),
    "uniform": ("minimum", "maximum"),
    "exponential": ("mean",),
    "pareto": ("shape", "scale"),
    "cauchy": ("location", "scale"),
    "normal": ("mean", "sd"),
    "poisson": ("mean",),
    "gamma": ("shape", "scale"),
    "weibull": ("shape", "scale"),
    "imix": (),
}

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}
"""Unit of times -> seconds."""

HEADER, COMPACT, LONGEST = 32, 18, 65507
"""Lengths in bytes: our header, that of shorter packets, and a UDP datagram over IPv4."""


def shortest(protocol: str) -> int:
    """Bytes of the shortest packet: a stream cannot do with the compact header.

    >>> shortest("udp"), shortest("tcp")
    (18, 32)
    """
    return COMPACT if protocol in ("udp", "icmp") else HEADER


SHA256 = "sha256="
DIGITS = 12
"""Of a file's SHA-256, in a case."""


class ModelError(ValueError):
    """The text is no model; the message is one sentence that states what would be right.

    Attributes:
        kind: of the `error` event of a task with such a text.
    """

    kind = "request"


def parse(text: str) -> Model:
    """The model that a text names, as the endpoint's JSON.

    Raises:
        ModelError: the word is unknown, or the numbers do not fit it.
    """
    word, *rest = text.split() or [""]
    if word == "trace" and rest and rest[0].startswith("@"):
        if len(rest) < 2 or not rest[1].startswith(SHA256):
            raise ModelError(f'"{text}": a file of numbers can be named in a study file only')
        rest = rest[2:]
    try:
        numbers = [_number(part) for part in rest]
    except (ValueError, ZeroDivisionError) as error:
        raise ModelError(f'the model "{text}" holds something that is no number') from error
    if not all(map(math.isfinite, numbers)):
        raise ModelError(f'the model "{text}" holds a number that is not finite')
    if word == "trace":
        if not numbers:
            raise ModelError('the model "trace" needs at least one number')
        return {"model": "trace", "values": numbers}
    if word not in FORMS:
        known = ", ".join([*FORMS, "trace"])
        raise ModelError(f'there is no model "{word}"; use one of {known}')
    names = FORMS[word]
    if len(numbers) != len(names):
        wanted = " ".join(name.upper() for name in names)
        raise ModelError(f'the model "{text}" has {len(numbers)} numbers; write "{word} {wanted}"')
    return cast(Model, {"model": word, **dict(zip(names, numbers, strict=True))})


def _number(text: str) -> float:
    """A number or a fraction of two.

    >>> _number("2.5"), _number("1/4")
    (2.5, 0.25)
    """
    above, slash, below = text.partition("/")
    return float(above) / float(below) if slash else float(text)


def parse_time(text: str, key: str) -> Model:
    """The model of a time in seconds: of `gap`, `on` or `off`, which `key` names.

    A Poisson model draws whole numbers, so it needs the unit that they count.

    >>> parse_time("uniform 1 3 ms", "gap")
    {'model': 'uniform', 'minimum': 0.001, 'maximum': 0.003}
    >>> parse_time("poisson 5 ms", "gap")
    {'model': 'poisson', 'mean': 5.0, 'unit': 0.001}

    Raises:
        ModelError: it is no model, or not one of times.
    """
    *words, last = text.split() or [""]
    unit = UNITS.get(last) if words else None
    model = parse(text if unit is None else " ".join(words))
    if model["model"] == "imix":
        raise ModelError(f'{key} = "{text}": "imix" is a mix of packet sizes, not of times')
    if model["model"] == "poisson":
        if unit is None:
            mean = text.split()[1]
            raise ModelError(
                f'{key} = "{text}" draws whole numbers of seconds (0, 1, 2, ...); name what is '
                f'counted, as in "poisson 5 ms", or write "exponential {mean}" for the times '
                "between the events of a Poisson process"
            )
        return {**model, "unit": unit}
    scale = 1.0 if unit is None else unit
    return cast(Model, {name: _scaled(name, value, scale) for name, value in model.items()})


def _scaled(name: str, value: Any, scale: float) -> Any:
    if name in ("model", "shape"):
        return value
    return [one * scale for one in value] if name == "values" else value * scale


def parse_rate(text: str, interval_s: float) -> Gap:
    """The model of a rate in packets/s, with `hold_s` beside it where a rate holds for a while.

    Args:
        interval_s: for how long a rate that was drawn holds; the mean rate of the flow is then the
            mean of the model. 0: each packet has its own rate, and the mean rate of the flow is
            the inverse of its mean gap, the harmonic mean.

    Returns:
        The fields `of`, `rate` and `hold_s` of a gap (docs/protocol.md).

    Raises:
        ModelError: it is no model, or the flow would have no mean rate.
    """
    model = parse(text)
    if model["model"] == "imix":
        raise ModelError(f'the rate "{text}": "imix" is a mix of packet sizes, not of rates')
    if model["model"] == "constant" and model["value"] < 0:
        raise ModelError(f'the rate "{text}" is negative; write 0 for as fast as possible')
    if model["model"] == "cauchy" or (model["model"] == "pareto" and model["shape"] <= 1):
        raise ModelError(f'the rate "{text}" has no mean: its distribution has none')
    if interval_s:
        return {"of": model, "rate": True, "hold_s": interval_s}
    if _reaches_zero(model):
        other = f'"exponential 1/{text.split()[1]}"' if model["model"] == "exponential" else ""
        raise ModelError(
            f'the rate "{text}" has no mean where each packet has its own: a rate near zero is a '
            "gap without end; let each rate hold for a while (rate_interval_ms, in a script "
            f'"rate_interval"), or give the distribution of the time between packets ("gap"'
            + (f", as {other} for a Poisson process)" if other else ")")
        )
    return {"of": model, "rate": True}


RARE_SIGMAS, RARE_MEAN = 6.0, 20.0
"""A normal model so far above zero, and a Poisson model of this mean: none of 10^8 rates is 0."""


def _reaches_zero(model: Model) -> bool:
    """Whether the mean of the inverse is infinite: so many values are near zero, or below."""
    if model["model"] == "uniform":
        return model["minimum"] <= 0
    if model["model"] == "normal":
        return model["mean"] < RARE_SIGMAS * model["sd"] or model["mean"] <= 0
    if model["model"] == "poisson":
        return model["mean"] < RARE_MEAN
    if model["model"] == "gamma" or model["model"] == "weibull":
        return model["shape"] <= 1
    if model["model"] == "trace":
        return min(model["values"]) <= 0
    return model["model"] == "exponential"


def title(text: str) -> str:
    """The model as a case names it: a file of numbers by its name and the start of its SHA-256."""
    word, *rest = text.split() or [""]
    if word == "trace" and len(rest) > 1 and rest[1].startswith(SHA256):
        return f"trace @{unquote(rest[0][1:])} {rest[1].removeprefix(SHA256)[:DIGITS]}"
    return text
