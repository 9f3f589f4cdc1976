"""Which kernel a study means, and what is read from files."""

import ctypes
import hashlib
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pentathlon.machine import packages, tools
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.tools import on_path
from pentathlon.targets.uml import fetch, kernels, shim


def kernel(version: str) -> kernels.Kernel:
    return kernels.Kernel(version, Path("/k") / version, "0")


KNOWN = [kernel(v) for v in ("5.10.46", "6.1.9", "6.1.176", "6.12.101", "7.2.7")]


@pytest.mark.parametrize(
    ("wanted", "version"),
    [
        ("5.10", "5.10.46"),
        ("6.1", "6.1.176"),
        ("6.1.9", "6.1.9"),
        ("6.12", "6.12.101"),
        ("6", "6.12.101"),
        ("newest", "7.2.7"),
    ],
)
def test_a_version_is_a_prefix_by_number(
    wanted: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "available", lambda: KNOWN)
    assert kernels.resolve(wanted).version == version


@pytest.mark.parametrize("wanted", ["6.1.17", "6.13", "five", "", "/nowhere/linux"])
def test_what_is_no_prefix_is_not_found(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "available", lambda: KNOWN)
    with pytest.raises(TargetUnavailable):
        kernels.resolve(wanted)


@given(st.lists(st.integers(0, 9999), min_size=1, max_size=4), st.sampled_from(["", "-rc1", "-rt"]))
def test_numbers_of_a_version(parts: list[int], suffix: str) -> None:
    assert kernels.number(".".join(map(str, parts)) + suffix) == tuple(parts)


def test_the_series_that_are_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "available", lambda: KNOWN)
    found = {series: fetch.present(series) for series in kernels.SUITES}
    assert {series: k.version if k else None for series, k in found.items()} == {
        "5.10": "5.10.46",
        "6.1": "6.1.176",
        "6.12": "6.12.101",
        "newest": "7.2.7",
    }
    monkeypatch.setattr(kernels, "available", lambda: KNOWN[:-1])
    assert fetch.present("newest") is None


def test_the_needed_c_library_is_read_from_the_file(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF..GLIBC_2.9\0..GLIBC_2.2.5\0..GLIBC_2.38\0GLIBC_PRIVATE\0")
    assert fetch.needed_libc(program) == (2, 38)
    program.write_bytes(b"static")
    assert fetch.needed_libc(program) == (0,)


def test_the_hosts_c_library_is_the_one_that_runs_here() -> None:
    try:
        version = ctypes.CDLL(None).gnu_get_libc_version
    except AttributeError:
        assert fetch.host_libc() == (0,)
        return
    version.restype = ctypes.c_char_p
    assert fetch.host_libc() == kernels.number(version().decode())


def test_a_program_that_is_no_kernel_is_none(tmp_path: Path) -> None:
    assert kernels.version_of(Path("/bin/false")) is None
    assert kernels.version_of(tmp_path / "missing") is None


@pytest.mark.parametrize(
    ("content", "version"),
    [
        (b"\0Linux version 6.1.176 (user@host) (gcc) #1\0", "6.1.176"),
        (b"Linux version %s (\0Linux version 7.2.7-rt2 (x@y)", "7.2.7-rt2"),
        (b"Linux version 6.1\x1b[2K (x@y)", None),
        (b"#!/bin/sh\necho 6.1\n", None),
        (b"", None),
    ],
)
def test_the_version_of_a_file_is_read_and_the_file_not_started(
    tmp_path: Path, content: bytes, version: str | None
) -> None:
    file = tmp_path / "linux"
    file.write_bytes(content)
    file.chmod(0o755)
    if version is None:
        with pytest.raises(TargetUnavailable, match="is not a kernel of user-mode Linux"):
            kernels.resolve(str(file))
        return
    found = kernels.resolve(str(file))
    assert (found.version, found.sha256) == (version, hashlib.sha256(content).hexdigest())
    with pytest.raises(TargetUnavailable, match="is not a kernel of user-mode Linux that starts"):
        kernels.check(found)


def test_a_file_says_what_its_kernel_says() -> None:
    for kernel in kernels.available():
        assert kernels.resolve(str(kernel.path)).version == kernel.version


def test_a_file_without_an_end_is_no_kernel(tmp_path: Path) -> None:
    file = tmp_path / "linux"
    with file.open("wb") as made:
        made.truncate(1 << 40)
    file.chmod(0o755)
    with pytest.raises(TargetUnavailable, match="is not a kernel of user-mode Linux"):
        kernels.resolve(str(file))


@pytest.mark.parametrize(
    ("version", "expected"), [("6.1.1", True), ("6.12.101", True), ("7.0", False)]
)
def test_who_needs_the_ptrace_wrapper(version: str, expected: bool) -> None:
    assert shim.needed(kernel(version)) is expected


def test_amx_is_a_flag_of_its_own() -> None:
    assert shim.has_amx("processor : 0\nflags : fpu amx_tile avx\n")
    assert not shim.has_amx("processor : 0\nflags : fpu amx_tiles avx512f\n")


SHORT_STATE = r"""
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads a stopped child's state into a buffer that is too short by one component, changes a legacy
 * register (xmm0) in it, and writes it back, as the kernels in question do. */
int main(void)
{
    static unsigned char full[16384], kept[16384], after[16384];
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        _exit(7);
    }
    waitpid(child, NULL, 0);
    struct iovec all = { full, sizeof full };
    if (ptrace(PTRACE_GETREGSET, child, (void *)NT_X86_XSTATE, &all) != 0)
        return 2;
    size_t size = all.iov_len - 64;
    struct iovec part = { kept, size };
    if (ptrace(PTRACE_GETREGSET, child, (void *)NT_X86_XSTATE, &part) != 0 || part.iov_len != size)
        return 3;
    memset(kept + 160, 0x5a, 16);
    kept[512] |= 2;
    long word = ptrace(PTRACE_PEEKDATA, child, full, 0);
    int peeked = word == 0 && errno == 0;
    long written = ptrace(PTRACE_SETREGSET, child, (void *)NT_X86_XSTATE, &part);
    struct iovec again = { after, sizeof after };
    ptrace(PTRACE_GETREGSET, child, (void *)NT_X86_XSTATE, &again);
    int changed = memcmp(after + 160, kept + 160, 16) == 0;
    ptrace(PTRACE_CONT, child, 0, 0);
    int status = 0;
    waitpid(child, &status, 0);
    printf("%zu %ld %d %d %d\n", all.iov_len, written, changed, peeked, WEXITSTATUS(status));
    return 0;
}
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the wrapper is for x86-64")
@pytest.mark.skipif(on_path("cc") is None, reason="no C compiler")
def test_the_ptrace_wrapper_makes_a_short_state_acceptable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failure on AMX is that of any state that is too short, so it can be made anywhere."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    source, program = tmp_path / "short.c", tmp_path / "short"
    source.write_text(SHORT_STATE)
    subprocess.run(["cc", "-O1", "-o", program, source], check=True)
    plain = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    if int(plain[0]) <= 1024:
        pytest.skip("the processor's state has no extended components")
    assert plain[1:3] == ["-1", "0"], "the host takes a short state: nothing is to be wrapped"
    environment = {"LD_PRELOAD": str(shim.build())}
    wrapped = subprocess.run(
        [program], capture_output=True, text=True, check=True, env=environment
    ).stdout.split()
    assert wrapped == [plain[0], "0", "1", plain[3], "7"]


def indextargets(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(packages.MIRROR_VARIABLE, raising=False)
    monkeypatch.setattr(tools, "on_path", lambda program: Path("/usr/bin") / program)
    monkeypatch.setattr(packages, "call", lambda *_args, **_options: text)
    monkeypatch.setattr(packages, "SOURCES", Path("/nonexistent"))


def test_the_mirror_is_the_machines_own(monkeypatch: pytest.MonkeyPatch) -> None:
    indextargets(
        "file:/other/apt|Other|Other|stable\n"
        "file:/mirror/debian-security|Debian-Security|Debian|bookworm-security\n"
        "file:/mirror/debian/|Debian|Debian|bookworm\n",
        monkeypatch,
    )
    assert packages.mirror() == "file:/mirror/debian"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "sources.list",
            "# deb http://old/debian sid main\ndeb [arch=amd64] http://here/debian/ sid main",
        ),
        ("sources.list.d/debian.sources", "Types: deb\nURIs: http://here/debian\nSuites: sid\n"),
    ],
)
def test_the_mirror_of_the_configuration_where_apt_has_read_no_list(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, text: str
) -> None:
    monkeypatch.delenv(packages.MIRROR_VARIABLE, raising=False)
    monkeypatch.setattr(packages, "call", lambda *_: "")
    monkeypatch.setattr(tools, "on_path", lambda program: Path("/usr/bin") / program)
    monkeypatch.setattr(packages, "SOURCES", tmp_path)
    with pytest.raises(TargetUnavailable, match="names no Debian mirror"):
        packages.mirror()
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    assert packages.mirror() == "http://here/debian"


def test_the_mirror_before_the_first_update(monkeypatch: pytest.MonkeyPatch) -> None:
    """apt leaves unknown fields as they stand in the format."""
    indextargets(
        "file:/other/apt|$(LABEL)|$(ORIGIN)|stable\n"
        "file:/mirror/debian-security|$(LABEL)|$(ORIGIN)|trixie-security\n"
        "file:/mirror/debian|$(LABEL)|$(ORIGIN)|trixie\n",
        monkeypatch,
    )
    assert packages.mirror() == "file:/mirror/debian"


def test_no_mirror_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    indextargets("file:/mirror/ubuntu|Ubuntu|Ubuntu|noble\n", monkeypatch)
    with pytest.raises(TargetUnavailable, match="names no Debian mirror") as caught:
        packages.mirror()
    assert packages.MIRROR_VARIABLE in str(caught.value.remedy)


def test_apts_own_words_are_kept() -> None:
    if on_path("dpkg-deb") is None:
        pytest.skip("no dpkg-deb")
    with pytest.raises(TargetError, match="`dpkg-deb"):
        packages.unpack(packages.Package("x", "sid", Path("/nowhere.deb"), "1", "0"), Path("/tmp"))


@pytest.mark.skipif(
    "PENTATHLON_TEST_DOWNLOADS" not in os.environ,
    reason="set PENTATHLON_TEST_DOWNLOADS=1 to download packages",
)
@pytest.mark.parametrize("series", list(kernels.SUITES))
def test_a_kernel_is_fetched(series: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    sentences: list[str] = []
    found = fetch.fetch(series, sentences.append)
    assert kernels.resolve(str(found.path)).version == found.version
    assert (found.path.parent / "record.json").exists()
    assert [path.name for path in kernels.directory().iterdir() if path.is_dir()] == [
        f"uml-{series}"
    ]
    assert sentences
