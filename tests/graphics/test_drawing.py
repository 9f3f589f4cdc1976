"""What the graphics program draws, on every interface that a software rasteriser offers here."""

from __future__ import annotations

from typing import Any

import pytest

from tests.graphics.conftest import APIS, SMALL, Drawing, of, open_one, reasons, values

every_api = pytest.mark.parametrize("api", APIS)

SCENES: dict[str, dict[str, Any]] = {
    "graphics.composition": {},
    "graphics.memory": {"lines": ["128"]},
    "graphics.fill": {"texturing": ["multi"]},
    "graphics.polygons": {"lights": ["eight"]},
    "graphics.pixel_shader": {},
    "graphics.vertex_shader": {"shader": ["complex"]},
    "graphics.particles": {},
    "graphics.noise": {},
    "graphics.game": {"scene": ["ice"]},
}


def only_timestamps_missing(events: list[dict[str, Any]]) -> bool:
    return all("has no timestamps" in reason for reason in reasons(events))


@every_api
@pytest.mark.parametrize("workload", SCENES)
def test_a_scene_is_drawn_right(headless: Drawing, workload: str, api: str) -> None:
    events = headless.run(workload, api=api, **SCENES[workload], **SMALL)
    assert only_timestamps_missing(events), reasons(events)
    (rate,) = values(events, "rate")
    assert rate > 0
    (picture,) = of(events, "picture")
    assert (picture["width"], picture["height"]) == (320, 256)
    assert {event["metric"] for event in of(events, "sample")} >= {"rate", "submit"}
    assert not values(events, "dropped")


@every_api
def test_a_viewset_has_its_six_tests_and_both_means(headless: Drawing, api: str) -> None:
    events = headless.run("graphics.viewset", api=api, viewset=["character"], **SMALL)
    assert only_timestamps_missing(events), reasons(events)
    rates = values(events, "rate")
    assert len(rates) == 6
    (geometric,), (harmonic,) = values(events, "composite"), values(events, "of_total_time")
    assert min(rates) <= harmonic <= geometric <= max(rates)


def test_frames_are_shown_in_a_window(windowed: Drawing) -> None:
    for api in APIS:
        events = windowed.run("graphics.game", api=api, scene=["hall"], surface="window", **SMALL)
        assert only_timestamps_missing(events), reasons(events)
        assert len(values(events, "rate")) == 1
        assert values(events, "dropped") == [0.0]
        (counter,) = [one for one in of(events, "counter") if one["name"] == "graphics_window"]
        assert counter["value"]["system"] == "X11"


def test_a_clip_is_shown_at_its_pace(windowed: Drawing) -> None:
    events = windowed.run("graphics.playback", surface="window", fps=[500], **SMALL)
    assert only_timestamps_missing(events), reasons(events)
    (dropped,), (shown,) = values(events, "dropped"), values(events, "shown")
    assert 0 <= dropped <= 100
    assert shown <= 500 * (1 - dropped / 100) * 1.1


def test_what_cannot_be_shown_is_unsupported(headless: Drawing, windowed: Drawing) -> None:
    requested: dict[str, Any] = {"surface": "window", "shader": ["rock"]}
    (error,) = of(headless.run("graphics.pixel_shader", **requested, **SMALL), "error")
    assert error["kind"] == "unsupported" and "no X11 display" in error["reason"]
    large = windowed.run("graphics.pixel_shader", **requested, width=1280, height=1024)
    (error,) = of(large, "error")
    assert error["kind"] == "unsupported" and "800x600 pixels, too few" in error["reason"]


def test_windows_are_not_blended_without_a_compositing_manager(windowed: Drawing) -> None:
    (error,) = of(open_one(windowed), "error")
    assert error["kind"] == "unsupported" and "no compositing manager" in error["reason"]


def test_windows_are_blended_with_one(composed: Drawing) -> None:
    events = open_one(composed)
    assert not reasons(events)
    (rate,) = values(events, "rate")
    assert rate > 0


def test_an_adapter_of_another_name_is_unsupported(headless: Drawing) -> None:
    events = headless.run("graphics.noise", adapter="no such adapter")
    (error,) = of(events, "error")
    assert error["kind"] == "unsupported" and '"no such adapter"' in error["reason"]
