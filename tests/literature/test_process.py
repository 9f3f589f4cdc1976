"""The published process as data: what section 5.3 says is what `steps = "published"` does."""

from __future__ import annotations

from pentathlon.literature.load import find_study
from pentathlon.study.preparation import AFTER_BOOT_S, LEARNED_TIMES, PUBLISHED


def value(row: str) -> float:
    cell = find_study("martinovic2012").table("text-process").find_row(row).cell("value")
    return float(cell.printed or "nan")


def test_the_defaults_of_the_procedure_are_those_of_the_paper() -> None:
    assert value("training-starts") == LEARNED_TIMES
    assert 60 * value("wait-after-boot") == AFTER_BOOT_S


def test_a_repetition_is_as_many_steps_as_the_text_says() -> None:
    """Vista and 7 do one step more in each repetition than XP, and are trained."""
    assert value("repeated-steps-new") - value("repeated-steps-xp") == 1
    assert "train" in PUBLISHED
    systems = find_study("martinovic2012").table("text-process").find_row("training-starts")
    assert systems.cell("systems").printed == "Windows Vista, Windows 7"
