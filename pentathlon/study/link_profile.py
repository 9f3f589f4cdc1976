"""The profile of a link: what the file says, checked, with units.

A profile is a TOML file. The tables `[both]`, `[up]` (client to server) and `[down]` (server to
client) have the keys of `Way`; what `[up]` and `[down]` say goes before `[both]`.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from pentathlon.protocol.requests.models import Jitter
from pentathlon.safeio.escaping import complaint
from pentathlon.safeio.reading import ReadError, TomlError, parse_toml, read_text
from pentathlon.study import distributions

PROFILES = Path(__file__).parent / "link_profiles"
ENDING = ".toml"
MOST_BYTES = 1 << 20
"""Of a profile: quantiles are its longest part."""
MOST = 1e15
"""Of any number of a profile, in its unit."""
LONGEST = 60
"""Characters of a key that are shown."""
HEADER_BYTES = 14
"""Ethernet header, which counts on the line and not in the MTU."""

Direction = Literal["up", "down"]
DIRECTIONS: tuple[Direction, Direction] = ("up", "down")
"""Client to server, and server to client."""


class ProfileError(ValueError):
    """A profile that cannot be used; one sentence that states what would be right."""

    def __init__(self, text: str) -> None:
        super().__init__(complaint(text))


@dataclass(frozen=True)
class Loss:
    """How packets are lost on the line.

    Attributes:
        share: chance of each packet, if losses do not know of each other.
        chain: p, r, loss in the bad and in the good state (Gilbert 1960, Elliott 1963), or None.
    """

    share: float = 0.0
    chain: tuple[float, float, float, float] | None = None

    @property
    def mean(self) -> float:
        """Long-run share of lost packets."""
        if self.chain is None:
            return self.share
        p, r, bad, good = self.chain
        return (p * bad + r * good) / (p + r)

    @property
    def spread_factor(self) -> float:
        """Variance of a long run's loss count, over that of independent losses.

        The state of a two-state chain is correlated over k packets by (1 - p - r)^k.
        """
        if self.chain is None or self.mean in (0.0, 1.0):
            return 1.0
        p, r, bad, good = self.chain
        state = p * r / (p + r) ** 2 * (bad - good) ** 2
        own = self.mean * (1 - self.mean)
        kept = 1 - p - r
        return 1 + 2 * state / own * kept / (1 - kept)


@dataclass(frozen=True)
class Way:
    """One direction.

    Attributes:
        rate_kbit: rate in 1000 bit/s, of Ethernet frames without their checksum; None: no limit.
        burst_bytes: depth of the token bucket; 0: frames leave one bit after the other.
        overhead_bytes: what each frame takes on the line beside its own bytes.
        delay_ms: propagation delay.
        jitter_ms: what is added to it: a distribution as `traffic.models` reads it, or
            `table Q0 Q1 ...`, evenly spaced quantiles; None: nothing.
        keep_order: the jitter lets no packet overtake another.
        loss: see `Loss`.
        reorder: share of packets that skip the propagation delay.
        duplicate: share of packets that come twice.
        queue_bytes, queue_packets: room before the line; None: no limit of that kind.
        codel_target_ms, codel_interval_ms: CoDel (RFC 8289) in place of a queue that only drops
            at its tail; None: no CoDel.
    """

    rate_kbit: float | None = None
    burst_bytes: int = 0
    overhead_bytes: int = 0
    delay_ms: float = 0.0
    jitter_ms: str | None = None
    keep_order: bool = False
    loss: Loss = Loss()
    reorder: float = 0.0
    duplicate: float = 0.0
    queue_bytes: int | None = None
    queue_packets: int | None = None
    codel_target_ms: float | None = None
    codel_interval_ms: float | None = None

    def line_ms(self, payload_bytes: int, headers_bytes: int = 28) -> float:
        """Time of a UDP datagram on the line, ms; the headers are IPv4's and UDP's."""
        if self.rate_kbit is None:
            return 0.0
        size = payload_bytes + headers_bytes + HEADER_BYTES + self.overhead_bytes
        return max(size, 0) * 8 / self.rate_kbit


@dataclass(frozen=True)
class Profile:
    """A link.

    Attributes:
        name: of the file, without its ending.
        title: for people.
        source: where the numbers come from.
        mtu_bytes: longest IP packet.
        up, down: both directions.
    """

    name: str
    title: str
    source: str
    mtu_bytes: int
    up: Way
    down: Way

    def way(self, direction: Direction) -> Way:
        return self.up if direction == "up" else self.down

    @property
    def round_trip_ms(self) -> float:
        """Propagation delay there and back."""
        return self.up.delay_ms + self.down.delay_ms


TOP = ("title", "source", "mtu_bytes", "both", *DIRECTIONS)
LEAST_MTU, MOST_MTU = 68, 9000


def names() -> list[str]:
    """The profiles that come with the program."""
    return sorted(path.stem for path in PROFILES.glob(f"*{ENDING}"))


def load_profile(name: str, base: Path | None = None) -> Profile:
    """A profile by its name, or from a file of yours.

    Args:
        name: a name, or a path that ends in `.toml`.
        base: directory that a relative path counts from; the current one if None.

    Raises:
        ProfileError: it is not there, or not right.
    """
    if name.endswith(ENDING):
        path = (base or Path()) / name
    else:
        path = PROFILES / f"{name}{ENDING}"
        if name not in names():
            near = difflib.get_close_matches(name, names(), n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(names())}."
            raise ProfileError(
                f'there is no link profile "{name}"; {hint} A file of yours needs the ending .toml'
            )
    try:
        text = read_text(path, MOST_BYTES)
    except ReadError as error:
        place = f", line {error.line}," if error.line else ""
        raise ProfileError(f"the link profile {path}{place} {error}") from error
    try:
        return parse_profile(text, path.stem)
    except ProfileError as error:
        raise ProfileError(f"{path}: {error}") from error


def parse_profile(text: str, name: str) -> Profile:
    """A profile from its text.

    Raises:
        ProfileError: something in it is not right.
    """
    try:
        document = parse_toml(text)
    except TomlError as error:
        place = f"line {error.line} " if error.line else "it "
        raise ProfileError(f"{place}{error}") from error
    _known(document, TOP, "")
    ways = {}
    for direction in DIRECTIONS:
        merged: dict[str, Any] = {}
        for table in ("both", direction):
            part = document.get(table, {})
            if not isinstance(part, dict):
                raise ProfileError(f"{table} must be a table, [{table}]")
            _known(part, WAY_KEYS, f"{table}.")
            merged |= part
        ways[direction] = _way(merged, direction)
    mtu = _whole(document.get("mtu_bytes", 1500), "mtu_bytes", LEAST_MTU)
    if mtu > MOST_MTU:
        raise ProfileError(f"mtu_bytes is {mtu}, it must be at most {MOST_MTU}")
    texts = {}
    for key in ("title", "source"):
        texts[key] = document.get(key, name if key == "title" else "")
        if not isinstance(texts[key], str):
            raise ProfileError(f'{key} must be text in quotes, such as "text"')
    return Profile(name, texts["title"], texts["source"], mtu, ways["up"], ways["down"])


WAY_KEYS = tuple(field.name for field in fields(Way))


def _known(table: dict[str, Any], keys: tuple[str, ...], place: str) -> None:
    for key in table:
        if key not in keys:
            near = difflib.get_close_matches(key[:LONGEST], keys, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(keys)}"
            raise ProfileError(f'{place}{key[:LONGEST]}: there is no key "{key[:LONGEST]}"; {hint}')


def _way(table: dict[str, Any], where: str) -> Way:
    read: dict[str, Callable[[Any, str], Any]] = {
        "rate_kbit": lambda v, p: _number(v, p, above=0.0),
        "burst_bytes": lambda v, p: _whole(v, p, 0),
        "overhead_bytes": lambda v, p: _whole(v, p, -HEADER_BYTES - 20),
        "delay_ms": lambda v, p: _number(v, p, least=0.0),
        "jitter_ms": _jitter,
        "keep_order": _flag,
        "loss": _loss,
        "reorder": _share,
        "duplicate": _share,
        "queue_bytes": lambda v, p: _whole(v, p, 0),
        "queue_packets": lambda v, p: _whole(v, p, 0),
        "codel_target_ms": lambda v, p: _number(v, p, above=0.0),
        "codel_interval_ms": lambda v, p: _number(v, p, above=0.0),
    }
    way = Way(**{key: read[key](value, f"{where}.{key}") for key, value in table.items()})
    if (way.codel_target_ms is None) != (way.codel_interval_ms is None):
        raise ProfileError(
            f"{where}: CoDel needs both codel_target_ms and codel_interval_ms, such as 5 and 100"
        )
    if way.rate_kbit is not None and way.queue_bytes is None and way.queue_packets is None:
        raise ProfileError(
            f"{where}: a line with a rate needs the room of its queue, queue_bytes or queue_packets"
        )
    if way.rate_kbit is None and way.burst_bytes:
        raise ProfileError(f"{where}.burst_bytes: a line without rate_kbit has no bursts")
    return way


def _number(value: Any, place: str, least: float = -math.inf, above: float = -math.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ProfileError(f"{place} must be a number")
    if not abs(value) <= MOST:
        raise ProfileError(f"{place} must be a number of at most {MOST:g}")
    if value < least:
        raise ProfileError(f"{place} is {value:g}, it must be at least {least:g}")
    if value <= above:
        raise ProfileError(f"{place} is {value:g}, it must be more than {above:g}")
    return float(value)


def _whole(value: Any, place: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ProfileError(f"{place} must be a whole number")
    if value < least:
        raise ProfileError(f"{place} is {value}, it must be at least {least}")
    if value > MOST:
        raise ProfileError(f"{place} must be at most {MOST:g}")
    return value


def _flag(value: Any, place: str) -> bool:
    if not isinstance(value, bool):
        raise ProfileError(f"{place} must be true or false")
    return value


def _share(value: Any, place: str) -> float:
    share = _number(value, place, least=0.0)
    if share > 1:
        raise ProfileError(f"{place} is {share:g}, a share is from 0 to 1")
    return share


def _jitter(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise ProfileError(f'{place} must be text, such as "normal 0 2"')
    try:
        jitter_model(value)
    except distributions.ModelError as error:
        raise ProfileError(f"{place}: {error}") from error
    return value


def jitter_model(text: str) -> Jitter:
    """The agent's form of a jitter.

    Raises:
        ModelError: the text is none.
    """
    word, *rest = text.split() or [""]
    if word == "imix":
        raise distributions.ModelError('the model "imix" is for sizes of packets, not for times')
    if word != "table":
        return distributions.parse(text)
    trace = distributions.parse(" ".join(["trace", *rest]))
    assert trace["model"] == "trace"
    numbers = trace["values"]
    if len(numbers) < 2 or sorted(numbers) != numbers:
        raise distributions.ModelError(
            f'the model "{text}" must have two or more numbers in rising order'
        )
    return {"quantiles": numbers}


def _loss(value: Any, place: str) -> Loss:
    form = f'{place} must be "random SHARE" or "gilbert P R LOSS_BAD LOSS_GOOD", each from 0 to 1'
    word, *rest = (value.split() if isinstance(value, str) else []) or [""]
    try:
        numbers = [float(part) for part in rest]
    except ValueError:
        raise ProfileError(form) from None
    if not all(0 <= number <= 1 for number in numbers):
        raise ProfileError(form)
    if word == "random" and len(numbers) == 1:
        return Loss(numbers[0])
    if word == "gilbert" and len(numbers) == 4 and numbers[0] + numbers[1] > 0:
        p, r, bad, good = numbers
        return Loss(chain=(p, r, bad, good))
    raise ProfileError(form)
