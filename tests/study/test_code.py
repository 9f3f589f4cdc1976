"""What a study names and starts: every key that can, and none of the shipped examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pentathlon.study.code import Named, named, rights, visible
from pentathlon.study.load import load_study
from pentathlon.study.model import Study

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
FRESH = [{"do": "fresh", "command": "mkfs /dev/sdz"}]


def found(*, first: Any = (), **system: Any) -> list[Named]:
    document = {
        "name": "s",
        "reference": "a",
        "procedure": {"steps": first},
        "system": [{"name": "a", **system}],
        "suite": [{"name": "s", "workloads": ["process.getpid"]}],
    }
    return list(named(Study.model_validate(document)))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_no_shipped_example_needs_yes_but_for_programs_of_ones_own(file: Path) -> None:
    study = load_study(file).study
    own = study.workloads or any(system.model_extra or system.boot for system in study.systems)
    assert (named(study) == ()) == (not own)


@pytest.mark.parametrize(
    "system",
    [
        {"target": "local", "settings": {"swappiness": 10}, "scratch": "/tmp"},
        {"target": "uml", "kernel": "6.1", "uml_args": ["seccomp=on"], "steps": FRESH},
        {"target": "ssh", "ssh": {"host": "bench", "user": "x", "key": "/k", "jump": "j"}},
        {"target": "ssh", "ssh": {"host": "bench", "reboot_command": "never used"}},
        {"target": "netns", "peer": {"link": "/some/profile.toml"}},
    ],
)
def test_what_this_machine_has_is_not_the_studys(system: dict[str, Any]) -> None:
    assert found(**system) == []


@pytest.mark.parametrize("word", ["xterm=/tmp/x", "eth0=slirp,,/x", "ubd0=/dev/sda", "seccomp=/x"])
def test_arguments_that_name_something_of_the_host(word: str) -> None:
    [one] = found(target="uml", kernel="6.1", uml_args=[word])
    assert word in one.text and one.when == "booted"


def test_a_kernel_file_is_named_by_its_slash() -> None:
    for kind in ("uml", "qemu"):
        [one] = found(target=kind, kernel="./vmlinuz")
        assert "the kernel ./vmlinuz" in one.text
    [one] = found(target="uml", kernel="6.1", peer={"target": "qemu", "kernel": "/boot/x"})
    assert "/boot/x" in one.text


def test_a_command_is_listed_where_it_is_run() -> None:
    def places(**system: Any) -> list[str]:
        return [one.what.rpartition(" on ")[2] for one in found(first=FRESH, **system)]

    bench = {"host": "bench"}
    assert places(target="local") == ["this machine"]
    assert places(target="ssh", ssh=bench) == ["bench"]
    assert places(target="gvisor") == []
    assert places(target="uml", kernel="6.1", peer={"target": "ssh", "ssh": bench}) == ["bench"]
    assert places(target="netns", peer={"target": "ssh", "ssh": bench}) == ["this machine", "bench"]
    assert places(target="ssh", ssh=bench, peer={"target": "netns"}) == ["bench", "this machine"]
    own = found(target="local", steps=FRESH)
    assert [one.when for one in own] == ["made anew"]


def test_ssh_with_a_configuration_of_the_study_is_started_to_look() -> None:
    ssh = {"host": "bench", "config": "/c", "reboot": True, "reboot_command": "kexec -e"}
    first, second = found(target="ssh", ssh=ssh)
    assert first.when == "looked at" and "/c" in first.text
    assert second.when == "booted" and "`kexec -e` on bench" in second.text
    [restart] = found(target="ssh", ssh={"host": "bench", "reboot": True})
    assert "a restart of bench" in restart.text


def test_nothing_is_hidden_from_a_terminal() -> None:
    assert visible("a\n\x1b[2K\x9b\u202eb\t") == r"a\n\x1b[2K\x9b\u202eb\t"
    assert visible("mkfs -t ext4 /dev/sdz # ä") == "mkfs -t ext4 /dev/sdz # ä"


@pytest.mark.parametrize(("user", "words"), [(0, "root"), (1000, "this user")])
def test_whose_rights(user: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    assert rights() == words


@pytest.mark.parametrize(
    "name", ["bench-1", "root@[fe80::1%eth0]:22", "a,b.example.org", "ssh://u@h"]
)
def test_names_of_machines_are_taken_as_ssh_takes_them(name: str) -> None:
    assert found(target="ssh", ssh={"host": "h", "jump": name, "user": r"DOMAIN\me"}) == []


@pytest.mark.parametrize("key", ["host", "user", "jump"])
@pytest.mark.parametrize("name", ["-oX", "$(x)", "a;b", "a'b", 'a"b', "`x`", "a|b", "a&b", "a>b"])
def test_names_of_machines_hold_nothing_for_a_shell(key: str, name: str) -> None:
    with pytest.raises(ValidationError):
        found(target="ssh", ssh={"host": "h", key: name})
