"""Systems that the study says differ and that were the same, from the run to its exports."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from pentathlon.procedure.state import RunState
from pentathlon.report.export.files import MAKERS
from pentathlon.store.query import load_result
from tests.cli.conftest import STUDY, Shop

ASLR = Path("/proc/sys/kernel/randomize_va_space").read_text().strip()
SAME = STUDY.replace("cpus = [0]\n", f"[system.settings]\naslr = {ASLR}\n")
KERNEL = {"release": "6.1.0-1", "version": "#1 SMP", "command_line": "ro quiet"}


def inventory(aslr: int) -> dict[str, object]:
    return {"kernel": KERNEL, "security": {"address_space_randomization": aslr}}


def test_systems_that_did_not_differ_are_called_so(shop: Shop) -> None:
    shop.options = {"system": inventory(int(ASLR))}
    done = shop.call("run", shop.write(SAME), "--no-pilot")
    words = f"b and a were measured with the same settings.aslr ({ASLR}), although the study"
    assert done.code == 6, done.err
    assert words in done.out
    compared = shop.call("compare")
    assert compared.code == 6 and words in compared.out
    assert shop.call("gate").code == 1
    written = shop.call("report", "--format", "html,csv,markdown,json,latex")
    assert written.code == 6
    directory = shop.result()
    page = (directory / "report.html").read_text()
    assert words in page and page.index(words) < page.index("<article")
    exported = {
        name: text
        for name, (file, _) in MAKERS.items()
        if name in ("csv", "markdown", "json", "latex") and (text := (directory / file).read_text())
    }
    assert json.loads(exported["json"])["identical"][0]["whole"] is True
    rows = list(csv.DictReader(io.StringIO(exported["csv"])))
    assert rows and all(words in row["cautions"] for row in rows if row["system"] == "b")
    for name in ("markdown", "latex"):
        assert "b and a were measured with the same" in exported[name]


def test_something_else_that_differs_makes_it_a_comparison_again(shop: Shop) -> None:
    shop.options = {"system": inventory(int(ASLR))}
    study = SAME.replace("[system.settings]", "cpus = [0]\n[system.settings]")
    done = shop.call("run", shop.write(study), "--no-pilot", "--blocks", "1")
    assert done.code == 0, done.err
    assert "were measured with the same settings.aslr" in done.out, "it is still said"


def test_systems_that_differ_are_not_called_the_same(shop: Shop) -> None:
    shop.options = {"system": {"kernel": KERNEL}}
    done = shop.call("run", shop.write(SAME), "--no-pilot", "--blocks", "1")
    assert done.code == 0 and "the same settings" not in done.out


def test_a_boot_of_another_kernel_is_a_failure_of_the_run(shop: Shop) -> None:
    fault = {"kind": "kernel", "cpus": [0], "times": 1}
    shop.options = {"system": {"kernel": KERNEL}, "faults": [fault]}
    study = STUDY.replace("retries = 1", "retries = 0")
    done = shop.call("run", shop.write(study), "--no-pilot")
    assert done.code == 1
    # The first boot was the planted one, so the second is the one that differs.
    assert 'expected the release "6.2.0-planted"; found the release "6.1.0-1"' in done.err
    shown = shop.call("results", "show")
    assert "6.2.0-planted" in shown.out
    assert load_result(shop.result()).facts("b")["kernel.release"] == "6.2.0-planted"


def test_an_old_result_of_several_kernels_is_judged_by_none(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunState, "wrong_boot", lambda *_, **__: None)
    fault = {"kind": "kernel", "cpus": [0], "times": 1}
    shop.options = {"system": {"kernel": KERNEL}, "faults": [fault]}
    done = shop.call("run", shop.write(), "--no-pilot")
    assert done.code == 0, done.err
    assert "cannot be compared with a" in done.out
    assert "the boots of b ran 2 different kernels" in " ".join(done.out.split())
