"""Distributions of numbers, which endpoints draw sizes, gaps and jitter from (docs/network.md)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, final

from pydantic import Field
from typing_extensions import TypedDict


@final
class Constant(TypedDict):
    model: Literal["constant"]
    value: float


@final
class Uniform(TypedDict):
    model: Literal["uniform"]
    minimum: float
    maximum: float


@final
class Exponential(TypedDict):
    model: Literal["exponential"]
    mean: float


@final
class Scaled(TypedDict):
    model: Literal["pareto", "gamma", "weibull"]
    shape: float
    scale: float


@final
class Cauchy(TypedDict):
    model: Literal["cauchy"]
    location: float
    scale: float


@final
class Normal(TypedDict):
    model: Literal["normal"]
    mean: float
    sd: float


@final
class Poisson(TypedDict):
    """Whole numbers of `unit`."""

    model: Literal["poisson"]
    mean: float
    unit: NotRequired[float]


@final
class Imix(TypedDict):
    """The simple Internet mix of packet sizes (RFC 6985)."""

    model: Literal["imix"]


@final
class Trace(TypedDict):
    """The values in their order, again and again."""

    model: Literal["trace"]
    values: list[float]


Model: TypeAlias = Annotated[
    Constant | Uniform | Exponential | Scaled | Cauchy | Normal | Poisson | Imix | Trace,
    Field(discriminator="model"),
]


@final
class Quantiles(TypedDict):
    """A distribution by its quantiles, evenly spaced, with straight lines between them."""

    quantiles: list[float]


Jitter: TypeAlias = Model | Quantiles


class Periods(TypedDict):
    """Lengths of the periods with and without packets, s."""

    on: NotRequired[Model]
    off: NotRequired[Model]


class Gap(Periods):
    """The time between two packets.

    Attributes:
        of: seconds, or with `rate` packets per second; a constant rate of 0 requests as many as the
            system takes.
        hold_s: for how long a rate that was drawn holds; left out: for one packet.
    """

    of: Model
    rate: NotRequired[bool]
    hold_s: NotRequired[float]
