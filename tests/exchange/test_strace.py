"""Recordings of strace become traces: known lines, a real program, and the agent's replay."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pentathlon.cli.main import app
from pentathlon.exchange.strace import StraceError, read_calls, split_arguments
from pentathlon.exchange.strace_import import Imported, import_strace
from pentathlon.protocol import agent

PROGRAM = """
import os
fd = os.open("data", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
os.write(fd, b"x" * 10000); os.lseek(fd, 100, 0); os.read(fd, 500)
os.pread(fd, 10, 4000); os.pwrite(fd, b"abc", 9999); os.fsync(fd)
other = os.dup(fd); os.close(fd); os.write(other, b"zz"); os.close(other)
os.rename("data", "moved")
if os.fork() == 0:
    end = os.open("moved", os.O_WRONLY | os.O_APPEND); os.write(end, b"append"); os._exit(0)
os.wait(); os.unlink("moved")
"""
"""Every way of moving a position that the importer follows."""

STRACE = ("strace", "-f", "-ttt", "-T", "-y", "-e", "trace=file,desc,process")


def recorded(*lines: str) -> Imported:
    """Imports lines of one process, a millisecond apart."""
    return import_strace([f"7 100.{n:03} {line}" for n, line in enumerate(lines)], "x")


def steps(imported: Imported) -> list[tuple[object, ...]]:
    return [tuple(json.loads(step.line())[1:]) for step in imported.trace.steps]


def test_arguments_are_split_outside_strings_brackets_and_paths() -> None:
    text = '3</a,b>, "x, \\"y\\"", {st_mode=S_IFREG|0644, st_size=5, ...}, [1, 2], 0'
    parts = ["3</a,b>", '"x, \\"y\\""', "{st_mode=S_IFREG|0644, st_size=5, ...}", "[1, 2]", "0"]
    assert split_arguments(text) == parts
    assert split_arguments("") == []


def test_an_interrupted_call_is_put_together_and_keeps_its_beginning() -> None:
    lines = [
        "1 5.000001 read(3</f>,  <unfinished ...>",
        "2 5.000002 close(4</g>) = 0 <0.000001>",
        '1 5.000009 <... read resumed>"abc", 10) = 3 <0.000008>',
        "1 5.000010 +++ exited with 0 +++",
    ]
    second, first, end = read_calls(lines)
    assert (second.pid, second.name) == (2, "close")
    assert (first.time_s, first.name, first.result) == (5.000001, "read", 3)
    assert first.arguments == ("3</f>", '"abc"', "10")
    assert (end.pid, end.arguments) == (1, ())


def test_sizes_are_learnt_from_what_is_read_and_told() -> None:
    imported = recorded(
        'openat(AT_FDCWD</d>, "a", O_RDONLY) = 3</d/a> <0.1>',
        'read(3</d/a>, "..."..., 4096) = 4096 <0.1>',
        'read(3</d/a>, "..."..., 4096) = 100 <0.1>',
        'read(3</d/a>, "", 4096) = 0 <0.1>',
        "close(3</d/a>) = 0 <0.1>",
        'newfstatat(AT_FDCWD</d>, "b", {st_mode=S_IFREG|0644, st_size=9000, ...}, 0) = 0 <0.1>',
        'openat(AT_FDCWD</d>, "b", O_WRONLY|O_APPEND) = 3</d/b> <0.1>',
        'write(3</d/b>, "...", 5) = 5 <0.1>',
    )
    assert imported.trace.files == [4196, 9000]
    assert steps(imported) == [
        ("open", 0),
        ("read", 0, 0, 4096),
        ("read", 0, 4096, 100),
        ("close", 0),
        ("stat", 1),
        ("open", 1),
        ("write", 1, 9000, 5),
        ("close", 1),
    ]
    assert imported.trace.steps[2].time_us == 2000


def test_what_cannot_be_said_is_counted() -> None:
    imported = recorded(
        'openat(AT_FDCWD, "/d/a", O_RDWR) = 3 <0.1>',
        "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f00 <0.1>",
        "ftruncate(3, 100) = 0 <0.1>",
        'pwrite64(3, "x", 1, 50) = 1 <0.1>',
        'pread64(3, "xx"..., 10, 60) = 10 <0.1>',
        'openat(AT_FDCWD, "/proc/stat", O_RDONLY) = 4 <0.1>',
        'read(4, "x", 10) = 1 <0.1>',
        'openat(AT_FDCWD, "/none", O_RDONLY) = -1 ENOENT (No such file or directory) <0.1>',
    )
    assert imported.left_out["access through a mapping"] == 1
    assert imported.left_out["truncation"] == 1
    assert imported.left_out["hole, or bytes that came by a way that was not recorded"] == 1
    assert steps(imported) == [("open", 0), ("write", 0, 50, 1), ("close", 0)]
    assert imported.trace.files == [50]


def test_a_file_removed_while_open_is_removed_when_closed() -> None:
    imported = recorded(
        'openat(AT_FDCWD, "/d/a", O_RDWR|O_CREAT|O_EXCL, 0600) = 3 <0.1>',
        'unlink("/d/a") = 0 <0.1>',
        'write(3, "x", 1) = 1 <0.1>',
        "close(3) = 0 <0.1>",
    )
    assert steps(imported) == [("create", 0), ("write", 0, 0, 1), ("close", 0), ("unlink", 0)]
    assert imported.trace.files == [None]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["execve(...) = 0"], "line 1 is no line of strace -f -ttt"),
        (["7 1.0 getpid() = 7 <0.1>"], "nothing in the recording reads or writes"),
    ],
)
def test_what_is_no_recording_is_refused(lines: list[str], expected: str) -> None:
    with pytest.raises(StraceError, match=expected):
        import_strace(lines, "x")


def test_the_command_says_what_is_wrong_in_one_sentence(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.strace"
    wrong.write_text("hello\n")
    result = CliRunner().invoke(app, ["trace", "import", str(wrong)])
    assert result.exit_code == 2
    assert "line 1 is no line of strace" in result.output
    same = CliRunner().invoke(app, ["trace", "import", str(wrong), "--out", str(wrong)])
    assert same.exit_code == 2
    assert wrong.read_text() == "hello\n"


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_real_recording_is_replayed_by_the_agent(tmp_path: Path) -> None:
    recording = tmp_path / "p.strace"
    traced = subprocess.run(
        [*STRACE, "-o", recording, sys.executable, "-S", "-E", "-c", PROGRAM],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    if traced.returncode:
        pytest.skip(f"strace does not work here: {traced.stderr.decode()[:200]}")
    result = CliRunner().invoke(app, ["trace", "import", str(recording), "--name", "mine"])
    assert result.exit_code == 0, result.output
    path = recording.with_suffix(".trace")
    operations = [json.loads(line)[1:] for line in path.read_text().splitlines()[1:]]
    [number] = {file for name, file, *_ in operations if name == "unlink"}
    assert [o for o in operations if o[1] == number and o[0] not in ("stat", "open", "close")] == [
        ["create", number],
        ["write", number, 0, 10000],
        ["read", number, 100, 500],
        ["read", number, 4000, 10],
        ["write", number, 9999, 3],
        ["fsync", number],
        ["write", number, 600, 2],
        ["write", number, 10002, 6],
        ["unlink", number],
    ]
    request = {
        "protocol": 2,
        "scratch": str(tmp_path / "scratch"),
        "workloads": [
            {"id": "disk.trace", "iterations": 1, "parameters": {"trace_file": str(path)}}
        ],
    }
    run = subprocess.run(
        [agent.locate(), "run"],
        input=json.dumps(request) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    events = [json.loads(line) for line in run.stdout.splitlines()]
    assert [e["reason"] for e in events if e["event"] == "error"] == []
    samples = [e for e in events if e["event"] == "sample"]
    assert samples and all(sample["case"] == {"trace": "mine"} for sample in samples)
