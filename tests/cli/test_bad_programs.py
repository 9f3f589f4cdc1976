"""Programs that do everything wrong, on this machine and on a guest's kernel: each is one failure
with one sentence, nothing of it is left, and its output is shown as text."""

from __future__ import annotations

import html
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pentathlon.machine import processes
from pentathlon.protocol import agent
from pentathlon.store.query import load_result
from pentathlon.study.write import to_toml
from pentathlon.targets.uml import kernels
from tests.cli.conftest import Done, Shop
from tests.targets.test_commands import FOREIGN

pytestmark = pytest.mark.system

ODD = "=1+1 \\033[31m<b onclick=x>&amp;\\a\\033]0;title\\007"
"""What a spreadsheet, a terminal and a browser would obey."""
LINGERS = "313.25"
"""Seconds of a sleep that no other test has."""


def metric(**where: str) -> dict[str, Any]:
    return {"name": "value", "unit": "x", "better": "higher", **where}


BAD: dict[str, tuple[str | bytes | None, dict[str, Any], str, str]] = {
    "no-match": (
        "echo speed: 4; echo 'rate: unknown'",
        {"metric": [metric(regex=r"rate: (\d+)")]},
        "failed",
        r'the pattern "rate: (\d+)" matches nothing of the output; its last lines: speed: 4',
    ),
    "no-number": (
        "echo 'rate: fast'",
        {"metric": [metric(regex=r"rate: (\w+)")]},
        "failed",
        "fast",
    ),
    "status": ("echo oops >&2; exit 3", {}, "failed", "the exit status 3; its last lines: oops"),
    "signal": ("kill -KILL $$", {}, "failed", "was ended by signal 9 (SIGKILL)"),
    "writes": (
        "exec head -c 10000000000 /dev/zero >big",
        {"largest_file": "4M"},
        "failed",
        "wrote a file of more than 4 MiB and was ended",
    ),
    "writes-and-goes-on": (
        "head -c 10000000000 /dev/zero >big; exit 0",
        {"largest_file": "4M"},
        "failed",
        "wrote a file of more than 4 MiB (big), and a program that it started was ended",
    ),
    "prints": ("exec yes", {}, "failed", "wrote more than 16 MiB to its output and was ended"),
    "daemon": (
        f"setsid sleep {LINGERS} >/dev/null 2>&1 & exit 0",
        {},
        "failed",
        "left a process running (",  # It may not be sleep(1) yet.
    ),
    "forks": (
        f"for i in 1 2 3; do (setsid sleep {LINGERS} &) & done; exec sleep {LINGERS}",
        {"timeout_s": 1},
        "timeout",
        "took longer than its 1 s and was ended",
    ),
    "reads": ("read x || { echo no input; exit 1; }", {}, "failed", "its last lines: no input"),
    "never": (
        f"exec sleep {LINGERS}",
        {"timeout_s": 1},
        "timeout",
        "took longer than its 1 s and was ended; nothing answers at its standard input",
    ),
    "odd": (f"printf '{ODD}\\n'; exit 1", {}, "failed", r"=1+1 \u{1b}[31m<b onclick=x>&amp;\u{7}"),
    "no-utf8": (
        r"printf '\377\376 bad \200\n'; exit 1",
        {},
        "failed",
        "its last lines: \ufffd\ufffd bad \ufffd",
    ),
    "missing": (None, {}, "unsupported", 'the program "./missing" is missing'),
    "foreign": (FOREIGN, {}, "unsupported", "it is a program for aarch64, and this system"),
    "no-interpreter": (
        b"#!/nowhere/python9\n",
        {},
        "unsupported",
        "what it starts with, /nowhere/python9, is missing",
    ),
    "library": (b"", {}, "unsupported", "the library libnothere.so.1 is missing"),
}
"""Name -> its script or file, keys of its table, its kind of failure, a part of the sentence."""


@dataclass
class Ran:
    """The one run of all of them.

    Attributes:
        systems: those that were measured.
        reasons: system and workload -> kind and reason of each failure.
    """

    shop: Shop
    done: Done
    systems: list[str]
    reasons: dict[tuple[str, str], list[tuple[str, str]]]


def with_library(place: Path) -> bool:
    """A program that needs a library which is nowhere."""
    compiler = shutil.which("cc")
    if compiler is None:
        return False
    (place / "f.c").write_text("int f(void) { return 0; }\n")
    (place / "m.c").write_text("int f(void);\nint main(void) { return f(); }\n")
    library = place / "libnothere.so.1"
    named = ["-shared", "-fPIC", "-Wl,-soname,libnothere.so.1", "-o", str(library)]
    for words in (
        [*named, str(place / "f.c")],
        ["-o", str(place / "library"), str(place / "m.c"), str(library)],
    ):
        if subprocess.run([compiler, *words], capture_output=True, check=False).returncode:
            return False
    library.unlink()
    return True


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    place = tmp_path_factory.mktemp("bad")
    shop = Shop(place)
    try:
        shop.environment["PENTATHLON_AGENT"] = str(agent.locate())
    except agent.AgentError as error:
        pytest.skip(str(error))
    systems = [{"name": "local", "target": "local"}]
    if found := kernels.available():
        guest = {"name": "uml", "target": "uml", "kernel": str(found[-1].path)}
        systems.append(guest | {"userland": "host"})
    workloads: list[dict[str, Any]] = []
    for name, (content, keys, _, _) in BAD.items():
        if name == "library":
            if not with_library(place):
                continue
        elif content is not None:
            text = f"#!/bin/sh\n{content}\n".encode() if isinstance(content, str) else content
            (place / name).write_bytes(text)
            (place / name).chmod(0o755)
        files = [] if content is None else [name]
        own = {"id": f"bad.{name}", "files": files, "command": [f"./{name}"]}
        workloads.append(own | {"timeout_s": 20} | keys)
    (place / "differs").write_text("#!/bin/sh\necho sum: $(uname -r)\n")
    (place / "differs").chmod(0o755)
    own = {"id": "bad.differs", "files": ["differs"], "command": ["./differs"]}
    workloads.append(own | {"same": "sum: (.*)"})
    shop.write(
        to_toml(
            {
                "name": "bad",
                "reference": "local",
                "procedure": {"blocks": 2, "iterations": 1, "warmup": 0, "retries": 0},
                "system": systems,
                "workload": workloads,
            }
        )
    )
    done = shop.real("run", "study.toml", "--yes", "--no-pilot", "--out", "out")
    reasons: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for one in load_result(place / "out").failures().iter_rows(named=True):
        key = (one["system"], one["workload"].removeprefix("bad."))
        reasons.setdefault(key, []).append((one["kind"], one["reason"]))
    return Ran(shop, done, [one["name"] for one in systems], reasons)


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("system", ["local", "uml"])
def test_each_is_one_failure_with_its_sentence(ran: Ran, system: str, name: str) -> None:
    if system not in ran.systems:
        pytest.skip("no kernel here; run `pentathlon doctor --install`")
    if name == "library" and not (ran.shop.directory / "library").exists():
        pytest.skip("no C compiler")
    _, _, kind, sentence = BAD[name]
    found = ran.reasons[system, name]
    assert len(found) == 2, "one for each of two boots"
    for own, reason in found:
        assert own == kind and sentence in reason, reason
        assert "\n" not in reason and "\x1b" not in reason


def test_nothing_of_them_is_left(ran: Ran) -> None:
    assert ran.done.code == 1 and "Traceback" not in ran.done.err
    for one in processes.everyone():
        try:
            words = Path(f"/proc/{one.pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        assert LINGERS.encode() not in words


def test_what_they_print_is_text_everywhere(ran: Ran) -> None:
    shown = ran.shop.call("results", "show", "out")
    page = (ran.shop.directory / "out" / "report.html").read_text()
    table = ran.shop.call("report", "out", "--format", "csv", "--out", "tables")
    assert table.code == 0, table.err
    texts = [one.read_text() for one in (ran.shop.directory / "tables").rglob("*.csv")]
    assert texts
    for text in (ran.done.out, ran.done.err, shown.out, page, *texts):
        assert not set(text) & {"\x1b", "\a"}
    assert "<b onclick" not in page and html.escape("<b onclick=x>") in page
    for text in texts:
        cells = [cell.strip('"') for line in text.splitlines() for cell in line.split(",")]
        assert not any(cell.startswith("=1+1") for cell in cells)


def test_different_work_is_no_comparison(ran: Ran) -> None:
    if "uml" not in ran.systems:
        pytest.skip("no kernel here; run `pentathlon doctor --install`")
    done = ran.shop.call("compare", "out", "--only", "bad.differs.wall")
    assert "the checksums differ" in done.out, done.out
