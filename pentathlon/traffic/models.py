"""Distributions as a study writes them, such as "uniform 30000 300000", and as endpoints read them.

The words and their numbers, in the order of D-ITG's manual: `constant V`, `uniform MIN MAX`,
`exponential MEAN`, `pareto SHAPE SCALE`, `cauchy LOCATION SCALE`, `normal MEAN SD`, `poisson MEAN`,
`gamma SHAPE SCALE`, `weibull SHAPE SCALE`, `imix`, `trace V1 V2 ...`. The `trace @PATH` of a study
file comes here as `trace @PATH sha256=HEX V1 V2 ...` (`pentathlon.study.traces`).
"""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import unquote

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
    """The text is no model; the message is one sentence that says what would be right."""


def parse(text: str) -> dict[str, Any]:
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
        numbers = [float(part) for part in rest]
    except ValueError as error:
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
    return {"model": word, **dict(zip(names, numbers, strict=True))}


def title(text: str) -> str:
    """The model as a case names it: a file of numbers by its name and the start of its SHA-256."""
    word, *rest = text.split() or [""]
    if word == "trace" and len(rest) > 1 and rest[1].startswith(SHA256):
        return f"trace @{unquote(rest[0][1:])} {rest[1].removeprefix(SHA256)[:DIGITS]}"
    return text
