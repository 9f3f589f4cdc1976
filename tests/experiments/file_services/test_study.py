"""A study of file tasks by the command line: it goes on past what fails, and after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pentathlon.exchange import pcapng
from pentathlon.protocol import agent
from pentathlon.store.query import load_result
from pentathlon.study.catalog import parse_catalog
from pentathlon.study.load import parse_study
from pentathlon.study.problems import StudyError
from tests.experiments.file_services.conftest import lacking, no_namespaces

STUDY = """
name = "office"
reference = "old"
seed = 7
[procedure]
blocks = 1
iterations = 1
warmup = 0
[[system]]
name = "old"
target = "netns"
behaves = "xp"
[system.peer]
behaves = "server-2008"
[[system]]
name = "new"
target = "netns"
behaves = "vista"
[system.peer]
behaves = "server-2008"
[[suite]]
name = "files"
[[suite.workloads]]
id = "files.roaming"
parameters = { links = ["none"], document_bytes = [50000], files = 4 }
[[suite.workloads]]
id = "files.copy"
[suite.workloads.parameters]
links = ["none"]
protocols = ["smb2.0", "smb"]
document_bytes = [50000]
keep_captures = true
"""


def test_a_link_that_there_is_not_is_told_before_anything_runs() -> None:
    catalog = parse_catalog(agent.catalog())
    parse_study(STUDY, Path("office.toml"), catalog)
    wrong = STUDY.replace('"none"', '"wan-10m-50s"', 1)
    with pytest.raises(StudyError, match=r"links: there is no link profile .* did you mean"):
        parse_study(wrong, Path("office.toml"), catalog)


@pytest.mark.parametrize(
    ("system", "peer", "wrong"),
    [
        ('target = "local"', 'target = "uml"', "has a peer of its own kind"),
        ('target = "local"', 'link_engine = "netem"', "has no emulated links"),
        ('target = "netns"', 'link_engine = "neten"', '"neten" is not known; use "agent", "netem"'),
        ('target = "netns"', 'link_engin = "netem"', 'did you mean "link_engine"'),
        ('target = "netns"', 'kernel = "6.1"', 'is for a peer of the target "uml"'),
        ('target = "netns"', 'target = "uml"', r'is missing; add kernel = "6.1"'),
        ('target = "uml"\nkernel = "6.1"', 'target = "netns"\nkernel = "6.1"', "is for a peer"),
        ('target = "gvisor"', 'link = "wan-10m-50ms"', '"qemu" and "ssh", not "gvisor"'),
    ],
)
def test_a_peer_that_cannot_be_is_told_before_anything_runs(
    system: str, peer: str, wrong: str
) -> None:
    catalog = parse_catalog(agent.catalog())
    text = STUDY.replace('target = "netns"', system, 1).replace(
        '[system.peer]\nbehaves = "server-2008"', f"[system.peer]\n{peer}", 1
    )
    with pytest.raises(StudyError, match=wrong):
        parse_study(text, Path("office.toml"), catalog)


def test_a_peer_may_be_another_kernel_or_kind_behind_a_link() -> None:
    peer = '[system.peer]\ntarget = "uml"\nkernel = "6.1"\nlink = "wan-10m-50ms"\n'
    text = STUDY.replace("[system.peer]\n", peer)
    parse_study(text, Path("office.toml"), parse_catalog(agent.catalog()))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    if reason := no_namespaces() or lacking("files.copy", ["smb"]):
        pytest.skip(reason)
    file = tmp_path / "office.toml"
    file.write_text(STUDY)
    return file


def start(*words: str, state: Path) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "PENTATHLON_AGENT": str(agent.locate()),
        "XDG_STATE_HOME": str(state),
        "TMPDIR": str(state),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "pentathlon", "run", *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
    )  # fmt: skip


@pytest.fixture
def state() -> Iterator[Path]:
    # The paths of Samba's sockets must be short (unix(7): 108 bytes).
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        yield Path(directory)


def test_a_study_goes_on_past_a_task_that_cannot_be_done_and_after_a_kill(
    study: Path, state: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    running = start(str(study), "--out", str(out), "--no-pilot", "--no-report", state=state)
    journal, deadline = out / "journal.jsonl", time.monotonic() + 60
    while not (journal.exists() and '"sample"' in journal.read_text()):
        assert time.monotonic() < deadline and running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    resumed = start("--resume", str(out), state=state)
    output, _ = resumed.communicate(timeout=120)
    # A study with what a system cannot do has been done.
    assert resumed.returncode == 0, output
    result = load_result(out)
    done = {
        (row["system"], row["workload"], json.loads(row["case_json"])["protocol"])
        for row in result.samples().iter_rows(named=True)
    }
    assert done == {
        ("old", "files.copy", "smb"), ("new", "files.copy", "smb"), ("new", "files.copy", "smb2.0"),
        ("old", "files.roaming", "smb"), ("new", "files.roaming", "smb"),
    }  # fmt: skip
    (failure,) = {(row["kind"], row["reason"]) for row in result.failures().iter_rows(named=True)}
    assert failure[0] == "unsupported" and "speak SMB up to 1 and not 2.0" in failure[1]
    kept = [
        record["event"].get("file")
        for record in map(json.loads, journal.read_text().splitlines())
        if record["record"] == "event" and record["event"]["event"] == "files"
    ]
    whole = [out / name for name in kept if name]
    assert len(set(whole)) == len(whole) >= 3 and None in kept
    assert all(pcapng.read(path.read_bytes()).frames for path in whole)
    # Files of the trials are gone, those of the killed run too.
    assert not [path.name for path in state.rglob("files-*")]
