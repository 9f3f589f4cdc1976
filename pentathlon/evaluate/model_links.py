"""What emulated links achieved and what they cost, as data (docs/link.md)."""

from __future__ import annotations

from pentathlon.evaluate.frozen import Frozen


class Spread(Frozen):
    """One figure over the boots, or over the trials."""

    median: float
    worst: float
    """The one furthest from what was requested; the greatest where nothing was."""


class Achieved(Spread):
    """A figure of the profile and what the boots' calibrations measured of it."""

    requested: float


class LinkWay(Frozen):
    """One direction of a link."""

    direction: str
    """"up" is from the client to the server."""
    rate_kbit: Achieved | None
    """None where the profile has no rate."""
    delay_ms: Achieved | None
    """Each boot's is the median of its probes."""
    loss_percent: Achieved | None
    late_p50_us: Spread | None
    """How late frames were handed over in the trials; in the calibrations where there was no trial.
    None where the engine does not count it."""
    late_p99_us: Spread | None
    unable: int | None
    """Frames that the emulator lost in the trials without being asked to; None where the engine
    does not separate them, or there was no trial."""


class LinkUsed(Frozen):
    """One profile as one engine made it, over all systems and boots."""

    profile: str
    engine: str
    calibrations: int
    refused: int
    """Calibrations that failed; nothing was measured over these."""
    trials: int
    ways: tuple[LinkWay, ...]
    """Of the calibrations that passed, of the refused ones where none did."""
    calibration_cpu_percent: Spread | None
    """Share of one CPU that the emulator took; None where the engine does not count it."""
    trial_cpu_percent: Spread | None
