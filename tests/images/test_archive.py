"""Archives of root file systems: what is unpacked, and what never leaves the directory."""

from __future__ import annotations

import os
import stat
import tarfile
from pathlib import Path

import pytest

from pentathlon.images import store, tree
from pentathlon.images.reference import Reference
from pentathlon.machine.errors import TargetUnavailable
from tests.images.making import COMPRESSIONS, Entry, tar

USUAL: tuple[Entry, ...] = (
    ("directory", "./usr/bin", ""),
    ("link", "./bin", "usr/bin"),
    ("file", "./bin/sh", "#!x"),
    ("hard", "./usr/bin/dash", "usr/bin/sh"),
    ("link", "./etc/alternatives/sh", "/usr/bin/sh"),
    ("device", "./dev/null", ""),
    ("pipe", "./run/pipe", ""),
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def archive(tmp_path: Path, data: bytes, suffix: str = "") -> Reference:
    path = tmp_path / f"root.tar{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](data))
    return Reference(path, oci=False)


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_a_root_is_unpacked_as_it_was(tmp_path: Path, suffix: str) -> None:
    root = store.unpacked(archive(tmp_path, tar(*USUAL), suffix))
    assert (root / "usr/bin/sh").read_text() == "#!x"
    assert (root / "usr/bin/sh").stat().st_mtime == 1_000_000_000
    assert (root / "usr/bin/sh").samefile(root / "usr/bin/dash")
    assert os.readlink(root / "bin") == "usr/bin"  # noqa: PTH115
    assert os.readlink(root / "etc/alternatives/sh") == "/usr/bin/sh"  # noqa: PTH115
    assert not (root / "dev/null").exists() and not (root / "run/pipe").exists()
    assert {"run", "proc", "sys", "dev", "tmp"} <= {one.name for one in root.iterdir()}
    assert (root / "var/tmp").is_dir()


def test_an_archive_is_unpacked_once(tmp_path: Path) -> None:
    reference = archive(tmp_path, tar(*USUAL))
    root = store.unpacked(reference)
    (root / "mark").write_text("")
    assert store.unpacked(reference) == root and (root / "mark").exists()
    other = store.unpacked(archive(tmp_path, tar(*USUAL, ("file", "more", ""))))
    assert other != root and (other / "more").exists()
    assert store.directory().stat().st_mode & 0o77 == 0


def test_no_file_runs_with_the_rights_of_another_user(tmp_path: Path) -> None:
    root = store.unpacked(archive(tmp_path, tar(("file", "su", "x"), mode=0o6755)))
    assert stat.S_IMODE((root / "su").stat().st_mode) == 0o755


HOSTILE: dict[str, tuple[tuple[Entry, ...], str]] = {
    "upwards": ((("file", "../out", "x"),), 'holds the name "../out", which leads out'),
    "upwards within": ((("file", "a/../../out", "x"),), "leads out of a directory"),
    "absolute": ((("file", "/tmp/out", "x"),), 'holds the absolute name "/tmp/out"'),
    "hard link upwards": ((("hard", "x", "../out"),), "leads out of a directory"),
    "hard link absolute": ((("hard", "x", "/etc/passwd"),), "holds the absolute name"),
    "hard link by a link": (
        (("link", "e", "/etc"), ("hard", "x", "e/passwd")),
        'lacks "etc"',
    ),
    "hard link to nothing": ((("hard", "x", "y"),), "which it lacks"),
    "hard link to a directory": ((("directory", "y", ""), ("hard", "x", "y")), "is no file"),
    "in a file": ((("file", "a", ""), ("file", "a/b", "")), "is no directory"),
    "links that go round": (
        (("link", "a", "b"), ("link", "b", "a"), ("file", "a/x", "")),
        "that go round",
    ),
    "deep": ((("file", "d/" * 300 + "x", ""),), "is deeper than 200 directories"),
    "nothing": ((), "holds no file"),
}


@pytest.mark.parametrize(("entries", "said"), HOSTILE.values(), ids=HOSTILE)
def test_what_is_hostile_is_refused_in_one_sentence(
    tmp_path: Path, cache: Path, entries: tuple[Entry, ...], said: str
) -> None:
    reference = archive(tmp_path, tar(*entries))
    with pytest.raises(TargetUnavailable) as caught:
        store.unpacked(reference)
    assert said in caught.value.reason and "\n" not in caught.value.reason
    assert str(reference.path) in caught.value.reason
    # Nothing of it is left, and nothing is outside.
    assert {one.name for one in (cache / "pentathlon" / "images").iterdir()} == {".lock"}
    assert {one.name for one in tmp_path.iterdir()} == {"cache", "root.tar"}


@pytest.mark.parametrize("target", ["/", "../../../..", "/tmp", "{outside}", "../{outside}"])
def test_a_link_never_leads_what_follows_out_of_the_root(tmp_path: Path, target: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    target = target.format(outside=outside)
    entries: list[Entry] = [
        ("link", "a", target),
        ("file", "a/planted", "x"),
        ("file", "a/kept", "changed"),
        ("directory", "a/made", ""),
        ("link", "b", f"{target}/kept"),
        ("file", "b", "over it"),
    ]
    root = store.unpacked(archive(tmp_path, tar(*entries)))
    assert {one.name for one in outside.iterdir()} == {"kept"}
    assert (outside / "kept").read_text() == "kept"
    assert not Path("/planted").exists() and not Path("/tmp/planted").exists()
    assert len(list(root.rglob("planted"))) == 1
    assert (root / "b").read_text() == "over it" and not (root / "b").is_symlink()


def test_a_link_in_the_place_of_a_mount_point_is_replaced(tmp_path: Path) -> None:
    root = store.unpacked(archive(tmp_path, tar(("link", "run", "/etc"), ("link", "tmp", "."))))
    assert not (root / "run").is_symlink() and (root / "run").is_dir()
    assert stat.S_IMODE((root / "tmp").stat().st_mode) == 0o1777 & ~0o6000


def test_numbers_and_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tar(("file", "a", "x" * 5000), ("file", "b/c/d", "x"))
    monkeypatch.setattr(tree, "MOST_ENTRIES", 3)
    with pytest.raises(TargetUnavailable, match="holds more than 3 files"):
        store.unpacked(archive(tmp_path, data))
    monkeypatch.setattr(tree, "MOST_ENTRIES", 100)
    monkeypatch.setattr(tree, "MOST_BYTES", 4000)
    with pytest.raises(TargetUnavailable, match="holds more than 0 GiB"):
        store.unpacked(archive(tmp_path, data))
    monkeypatch.setattr(store, "MOST_BYTES", 9000)
    with pytest.raises(TargetUnavailable, match="more than 9,000 bytes when it is decompressed"):
        store.unpacked(archive(tmp_path, tar(("directory", "d", "")) + bytes(1 << 20), ".gz"))
    monkeypatch.setattr(tree, "LOOK_EVERY", 1)
    monkeypatch.setattr(tree, "KEPT_FREE", 1 << 62)
    with pytest.raises(TargetUnavailable, match="has no room"):
        store.unpacked(archive(tmp_path, tar(("file", "a", "x"))))


def test_a_header_that_claims_to_be_large_is_not_read_at_once(tmp_path: Path) -> None:
    one = tarfile.TarInfo("x")
    one.type, one.size = tarfile.XHDTYPE, 8 << 30
    with pytest.raises(TargetUnavailable, match="has a header of 8,589,934,592 bytes"):
        store.unpacked(archive(tmp_path, one.tobuf(tarfile.GNU_FORMAT) + bytes(1 << 20)))


def test_an_unknown_type_is_refused(tmp_path: Path) -> None:
    one = tarfile.TarInfo("x")
    one.type = b"Z"
    with pytest.raises(TargetUnavailable, match="of the unknown type"):
        store.unpacked(archive(tmp_path, one.tobuf() + bytes(1024)))


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_an_archive_that_is_cut_off_or_damaged_is_refused(tmp_path: Path, suffix: str) -> None:
    whole = tar(*((("file", f"f{n}", "x" * 700)) for n in range(9)))
    packed = COMPRESSIONS[suffix](whole)
    path = tmp_path / f"root.tar{suffix}"
    cut = len(packed) - 3 if suffix else len(whole) // 2 + 100
    for length in (0, 1, len(packed) // 3, len(packed) // 2, cut):
        path.write_bytes(packed[:length])
        with pytest.raises(TargetUnavailable):
            store.unpacked(Reference(path, oci=False))
    # A damaged header behind the first, which Python's tarfile alone takes for the end.
    damaged = bytearray(whole)
    damaged[3 * 1536 + 100 : 3 * 1536 + 108] = b"\xff" * 8
    path.write_bytes(COMPRESSIONS[suffix](bytes(damaged)))
    with pytest.raises(TargetUnavailable, match=r"damaged or cut off near its byte 5,120"):
        store.unpacked(Reference(path, oci=False))


def test_an_archive_without_its_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TargetUnavailable, match="cut off"):
        store.unpacked(archive(tmp_path, tar(("file", "a", "x"), end=False)))


def test_what_is_no_archive_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    with pytest.raises(TargetUnavailable, match="is no file of this machine"):
        store.unpacked(Reference(path, oci=False))
    path.write_text("hello " * 500)
    with pytest.raises(TargetUnavailable, match="is no tar archive"):
        store.unpacked(Reference(path, oci=False))
    os.mkfifo(tmp_path / "pipe.tar")
    with pytest.raises(TargetUnavailable, match="is no file of this machine"):
        store.unpacked(Reference(tmp_path / "pipe.tar", oci=False))


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    left = store.directory() / f"{store.UNPACKING}old"
    (left / "image").mkdir(parents=True)
    store.unpacked(archive(tmp_path, tar(*USUAL)))
    assert not left.exists()


def test_streams_behind_one_another_are_one(tmp_path: Path) -> None:
    data = tar(("file", "a", "x" * 9000))
    for suffix, compress in COMPRESSIONS.items():
        path = tmp_path / f"two.tar{suffix}"
        path.write_bytes(compress(data[:5000]) + compress(data[5000:]))
        assert (store.unpacked(Reference(path, oci=False)) / "a").stat().st_size == 9000


def test_holes_of_a_sparse_file_are_zeros(tmp_path: Path) -> None:
    path = tmp_path / "sparse.tar"
    source = tmp_path / "holes"
    with source.open("wb") as file:
        file.seek(1 << 20)
        file.write(b"end")
    if os.spawnlp(os.P_WAIT, "tar", "tar", "-C", str(tmp_path), "-Scf", str(path), "holes"):
        pytest.skip("no GNU tar")
    assert (
        store.unpacked(Reference(path, oci=False)) / "holes"
    ).read_bytes() == source.read_bytes()
