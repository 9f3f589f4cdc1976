"""A result of an earlier version is judged as that version judged it."""

from __future__ import annotations

import hashlib
import json
import lzma
import math
import tarfile
from pathlib import Path

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.store.query import load_result
from tests.golden.judgement import Leaf, judgement

HERE = Path(__file__).parent

RENAMED = {
    "rung=": "transmit_backend=",
    "evaluation.wholes.": "evaluation.aggregates.",
    ".asked": ".requested",
    "evaluation.answered.": "evaluation.read_sources.",
}
"""What the places of that judgement call otherwise; the numbers at them are the same."""


def present(place: str) -> str:
    for old, new in RENAMED.items():
        place = place.replace(old, new)
    return place


def same(one: Leaf, other: Leaf) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12)
    return one == other


def test_another_number_is_seen() -> None:
    assert not same(1.0, 1.00001) and not same(None, 0.0) and not same("faster", "slower")


@pytest.mark.parametrize("version", ["format-1"])
def test_an_earlier_result_is_judged_identically(version: str, tmp_path: Path) -> None:
    with tarfile.open(HERE / f"{version}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    stored = json.loads(lzma.decompress((HERE / f"{version}.json.xz").read_bytes()))
    expected = {present(place): value for place, value in stored.items()}
    assert len(expected) == len(stored)
    evaluation = evaluate(load_result(tmp_path))
    written = (tmp_path / "plan.json").read_bytes().removesuffix(b"\n")
    assert evaluation.study.plan_hash == hashlib.sha256(written).hexdigest()
    found = judgement(evaluation)
    assert len(found) > 1000
    assert set(found) == set(expected)
    different = {
        place: (expected[place], value)
        for place, value in found.items()
        if not same(expected[place], value)
    }
    assert not different
