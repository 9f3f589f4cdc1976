"""The same result gives the same bytes, wherever it lies and whoever looks at it."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import STUDY, Shop

pytestmark = pytest.mark.slow

FORMATS = "html,csv,markdown,latex,json"


def reports(shop: Shop, result: Path, out: str, **environment: str) -> dict[str, str]:
    shop.environment = environment
    done = shop.real("report", result, "--format", FORMATS, "--out", out)
    assert done.code == 0, done.err
    files = sorted((shop.directory / out).iterdir())
    assert len(files) == 5
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_the_same_bytes_elsewhere_and_from_tables_made_anew(shop, tmp_path_factory):
    text = f"{STUDY}\n[weights]\nfake = 2\n"
    done = shop.call("run", shop.write(text), "--out", "first", "--yes", "--no-report")
    assert done.code == 0, done.err
    here = reports(shop, Path("first"), "one", PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C")
    elsewhere = Shop(tmp_path_factory.mktemp("elsewhere"))
    copy = elsewhere.directory / "moved" / "under another name"
    shutil.copytree(shop.directory / "first", copy)
    there = reports(
        elsewhere, copy, "two", PYTHONHASHSEED="4242", TZ="Asia/Kathmandu", LC_ALL="C.UTF-8",
        COLUMNS="60", POLARS_MAX_THREADS="1",
    )  # fmt: skip
    assert there == here
    for derived in [*(shop.directory / "first").glob("*.parquet")]:
        derived.unlink()
    assert reports(shop, Path("first"), "two", PYTHONHASHSEED="8", POLARS_MAX_THREADS="1") == here
