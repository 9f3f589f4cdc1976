"""Wrong study files: every sentence names the line and what would be right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pentathlon.safeio.suggestion import did_you_mean
from pentathlon.study.catalog import Catalog
from pentathlon.study.load import load_study
from pentathlon.study.model import Study
from pentathlon.study.problems import StudyError

Complain = Callable[..., list[str]]

NAMES = [f"name.{number}" for number in range(60)]


def test_the_good_file_is_good(study: Study) -> None:
    assert [system.name for system in study.systems] == ["a", "b"]
    assert study.systems[0].cpus == (0, 1)
    assert study.procedure.blocks == 3


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("blocks = 3", "blokcs = 3", 6, ["procedure.blokcs", "unknown key", '"blocks"']),
        ("blocks = 3", 'blocks = "3"', 6, ['"3" is the wrong type', "whole number"]),
        ("blocks = 3", "blocks = 2.5", 6, ["2.5 is the wrong type", "whole number"]),
        ("blocks = 3", "blocks = 0", 6, ["0 is out of range", "at least 1"]),
        ("blocks = 3", "blocks = true", 6, ["true is the wrong type"]),
        ('name = "good"', 'name = "Not good"', 1, ['"Not good"', "lower-case letters"]),
        ('name = "good"\n', "", None, ["name: is missing", 'name = "two-kernels"']),
        ('reference = "a"', 'reference = "aa"', 2, ['"aa" is no system', '"a"']),
        ('name = "b"', 'name = "a"', 15, ['"a" is used twice']),
        ('target = "local"\ncpus', 'target = "lokal"\ncpus', 11, ['"lokal"', '"local"']),
        ('target = "local"\ncpus', "cpus", 9, ["system[0].target", "is missing"]),
        ("cpus = [0, 1]", "cpus = [0, 0]", 12, ["named twice"]),
        ("cpus = [0, 1]", "cpus = []", 12, ["empty"]),
        ("cpus = [0, 1]", "cpus = [0, 1.5]", 12, ["system[0].cpus[1]", "whole number"]),
        ("cpus = [0, 1]", 'kernel = "6.1"', 12, ['for target "uml"']),
        ("cpus = [0, 1]", 'memory = "lots"', 12, ['"640M"']),
        ("cpus = [0, 1]", 'accelerator = "kvm"', 12, ['for target "qemu"', '"local"']),
        ("cpus = [0, 1]", 'ssh = { host = "x" }', 12, ['for target "ssh"']),
        ("cpus = [0, 1]", "ssh = { port = 22 }", 12, ["ssh.host", "is missing", 'host = "NAME"']),
        ("cpus = [0, 1]", 'ssh = { host = "-oX" }', 12, ["without blanks"]),
        ("cpus = [0, 1]", "ssh = { host = \"h';touch${IFS}x;'\" }", 12, ["of the shell"]),
        ('target = "local"\ncpus = [0, 1]', 'target = "ssh"', 9, ["ssh", "is missing"]),
        ("cpus = [0, 1]", 'scratch = "tmp"', 12, ["absolute path"]),
        ("cpus = [0, 1]", "settings = { nize = 1 }", 12, ["settings.nize", '"nice"']),
        ("cpus = [0, 1]", "settings = { nice = 99 }", 12, ["at most 19"]),
        ("cpus = [0, 1]", 'settings = { scheduler = "fifo" }', 12, ['"fifo:10"']),
        ("cpus = [0, 1]", 'settings = { scheduler = "fifo:0" }', 12, ['"fifo:10"']),
        ("cpus = [0, 1]", 'settings = { scheduler = "best" }', 12, ['"batch"']),
        (
            "cpus = [0, 1]",
            'settings = { cpu_quota_percent = 50, scheduler = "rr:5" }',
            12,
            ["cpu_quota_percent"],
        ),
        ('"fake.*"', '"fakke.*"', 22, ['"fakke.*" matches no workload', 'mean "fake.*"?']),
        ('"fake.*"', '"fake.alhpa"', 22, ['"fake.alhpa"', 'did you mean "fake.alpha"?']),
        ('"fake.*"', '"test.*"', 22, ["must be named", "test.fake"]),
        ('"fake.*"', '"fake.*", "other.delta"', 23, ["chosen twice"]),
        ("size_bytes = [1024, 2048]", "size_byte = [1]", 23, ['"size_byte"', '"size_bytes"']),
        ("size_bytes = [1024, 2048]", "size_bytes = 1024", 23, ["no list", "[1024]"]),
        ("size_bytes = [1024, 2048]", "size_bytes = [1]", 23, ["too small", "64 B"]),
        ("size_bytes = [1024, 2048]", "size_bytes = [2000000000]", 23, ["1073741824 B"]),
        ("size_bytes = [1024, 2048]", "size_bytes = [1024, 1024]", 23, ["named twice"]),
        ("size_bytes = [1024, 2048]", 'size_bytes = ["x"]', 23, ['"x"', "whole number"]),
        ("size_bytes = [1024, 2048]", 'variant = "fat"', 23, ['"fat"', '"wide"']),
        ("size_bytes = [1024, 2048]", "variant = 1979-05-27", 23, ["no value of a parameter"]),
        ('"fake.alpha" = {', '"fake.alfa" = {', 17, ['"fake.alfa"', '"fake.alpha"']),
        ('"fake.alpha" = {', '"test.fake" = {', 17, ["no suite of this study runs"]),
        ("slowdown_percent = 5", "slowdown_percent = -5", 17, ["too small"]),
        ("iterations = 2 }", "iteration = 2 }", 23, ["unknown key", '"iterations"']),
        ("seed = 7", 'seed = 7\nfallback = "nowhere.toml"', 4, ["no file beside this study"]),
        ("[procedure]", "[procedure", 5, ["no valid TOML"]),
        ('[[suite]]\nname = "first"', "[suite]\nname = 1", 19, ["must be a list"]),
    ],
)
def test_one_mistake(
    complain: Complain, old: str, new: str, line: int | None, words: list[str]
) -> None:
    found = complain((old, new))
    place = f"bad.toml:{line}: " if line else "bad.toml: "
    fitting = [text for text in found if text.startswith(place)]
    assert any(all(word in text for word in words) for text in fitting), found
    assert len(found) == 1, found


def test_all_mistakes_at_once(complain: Complain) -> None:
    found = complain(
        ("blocks = 3", "blokcs = 3"),
        ("iterations = 4", 'iterations = "many"'),
        ('reference = "a"', 'reference = "c"'),
        ("cpus = [0, 1]", "settings = { nice = 99 }"),
        ('"fake.*"', '"fake.alhpa"'),
        ("slowdown_percent = 5", "slowdown_percent = 5000"),
    )
    lines = [int(text.split(":")[1]) for text in found]
    assert lines == sorted(lines)
    assert {2, 6, 7, 12, 17, 22} <= set(lines), found


def test_a_wrong_required_key_hides_nothing(complain: Complain) -> None:
    found = complain(
        ('name = "good"', 'name = "Not good"'),
        ('target = "local"\ncpus = [0, 1]', 'target = "umll"\nkernel = "6.1"'),
        ('"fake.*"', '"fake.alhpa"'),
        ('reference = "a"', 'reference = "c"'),
    )
    assert [int(text.split(":")[1]) for text in found] == [1, 2, 11, 22], found


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b'name = "x"\nbad = "\xff"'])
def test_a_file_that_is_no_text(tmp_path: Path, catalog: Catalog, content: bytes) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(content)
    with pytest.raises(StudyError, match="UTF-8"):
        load_study(file, catalog)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="cannot be read: no such file"):
        load_study(tmp_path / "x.toml")


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="is a directory and no regular file"):
        load_study(tmp_path)


@pytest.mark.parametrize(
    ("word", "known", "message"),
    [
        ("alhpa", ["alpha", "beta"], '; did you mean "alpha"?'),
        ("alxxa", ["alpha", "beta"], '; did you mean "alpha"?'),
        ("q", ["alpha", "beta"], "; known: alpha, beta"),
        ("q", [], ""),
        ("copy", ["files.copy", "cpu.copying", *NAMES], '; did you mean "files.copy"?'),
        ("copy", ["files.copy", "disk.copy"], '; did you mean "files.copy" or "disk.copy"?'),
        # Of many, the nearest are reported, and where the others stand.
        ("q", NAMES, "; the list lists them all"),
        (
            "nam",
            NAMES,
            '; the nearest: "name.0", "name.1" and "name.2"; the list lists them all',
        ),
    ],
)
def test_an_unknown_name_costs_a_short_sentence(word: str, known: list[str], message: str) -> None:
    assert did_you_mean(word, known, "the list") == message


def test_without_a_place_that_lists_them_all_names_are_told() -> None:
    assert did_you_mean("q", NAMES) == f"; known: {', '.join(NAMES)}"
