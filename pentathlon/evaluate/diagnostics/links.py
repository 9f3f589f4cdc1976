"""What the emulated links of a result achieved and cost, over all its boots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from pentathlon.evaluate.model_links import Achieved, LinkUsed, LinkWay, Spread


def find_links(table: pl.DataFrame) -> tuple[LinkUsed, ...]:
    """Every link in the order of its first use (`store.schema.LINKS`)."""
    return tuple(
        _link(str(profile), str(engine), rows)
        for (profile, engine), rows in table.group_by(["profile", "engine"], maintain_order=True)
    )


def _link(profile: str, engine: str, rows: pl.DataFrame) -> LinkUsed:
    measured = rows.filter(pl.col("stage") == "calibration")
    refused = measured.filter(~pl.col("passed"))
    passed = measured.filter("passed")
    good = refused if passed.is_empty() else passed
    used = rows.filter(pl.col("stage") == "use")
    names = rows["direction"].unique(maintain_order=True)
    each = 1 if names.is_empty() else len(names)
    return LinkUsed(
        profile=profile,
        engine=engine,
        calibrations=measured.height // each,
        refused=refused.height // each,
        trials=used.height // each,
        ways=tuple(
            _way(
                name,
                good.filter(pl.col("direction") == name),
                used.filter(pl.col("direction") == name),
            )
            for name in names
        ),
        calibration_cpu_percent=_spread(good, "cpu_percent"),
        trial_cpu_percent=_spread(used, "cpu_percent"),
    )


def _way(direction: str, good: pl.DataFrame, used: pl.DataFrame) -> LinkWay:
    late = good if used.is_empty() else used
    return LinkWay(
        direction=direction,
        rate_kbit=_achieved(good, "rate_asked_kbit", "rate_kbit"),
        delay_ms=_achieved(good, "delay_asked_ms", "delay_ms"),
        loss_percent=_achieved(good, "loss_asked_percent", "loss_percent"),
        late_p50_us=_spread(late, "late_p50_us"),
        late_p99_us=_spread(late, "late_p99_us"),
        unable=None if used["unable"].drop_nulls().is_empty() else int(used["unable"].sum()),
    )


def _achieved(rows: pl.DataFrame, requested: str, measured: str) -> Achieved | None:
    both = rows.drop_nulls([requested, measured])
    if both.is_empty():
        return None
    values: Sequence[float] = both[measured].to_list()
    wanted = float(both[requested][0])
    worst = max(values, key=lambda value: abs(value - wanted))
    return Achieved(requested=wanted, median=float(np.median(values)), worst=worst)


def _spread(rows: pl.DataFrame, name: str) -> Spread | None:
    values = rows[name].drop_nulls().to_list()
    return Spread(median=float(np.median(values)), worst=max(values)) if values else None
