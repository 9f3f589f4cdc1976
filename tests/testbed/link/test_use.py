"""What a link in use does not let its flows' figures mean is left out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pentathlon.protocol.events import Packets, Sample
from pentathlon.study.link_profile import parse_profile
from pentathlon.testbed.link.use import LinkInUse


@pytest.mark.parametrize("table", ["up", "down", "both"])
def test_a_path_with_shortcuts_has_no_baseline_of_the_buffer_delay(table: str) -> None:
    def link(text: str) -> LinkInUse:
        bed: Any = SimpleNamespace(profile=parse_profile(text, "test"))
        return LinkInUse(bed, None, {})  # type: ignore[arg-type]

    plain = link(f"[{table}]\ndelay_ms = 20\nduplicate = 0.1")
    skipping = link(f"[{table}]\ndelay_ms = 20\nreorder = 0.25")
    for name, hidden in (("buffer_delay", True), ("round_trip", False)):
        sample = Sample.model_construct(metric=name)
        assert (plain.hides(sample), skipping.hides(sample)) == (False, hidden)
    assert not skipping.hides(Packets.model_construct())
