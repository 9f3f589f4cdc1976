"""`cpu_latency_us` of a procedure."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from pentathlon.study.procedure import Procedure


@pytest.mark.parametrize("value", [0, 1_000_000, "any", None])
def test_a_limit_is_taken_and_written_as_it_was_stated(value: Any) -> None:
    made = Procedure.model_validate({"cpu_latency_us": value})
    assert made.cpu_latency_us == value
    written = made.model_dump(mode="json")
    assert written.get("cpu_latency_us") == value
    assert ("cpu_latency_us" in written) == (value is not None)
    assert Procedure.model_validate(written) == made


@pytest.mark.parametrize("value", [-1, 1_000_001, 2.5, True, "none", [0]])
def test_what_is_no_limit_is_refused_in_one_sentence(value: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        Procedure.model_validate({"cpu_latency_us": value})
    (error,) = refused.value.errors()
    assert error["msg"].endswith(
        f'{value!r} is no limit; it must be a whole number of µs from 0 to 1000000, or "any"'
    )
