"""OCI images: layers with whiteouts, digests, tags and architectures."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pentathlon.images import oci, store
from pentathlon.images.reference import Reference, absolute, parse
from pentathlon.machine.errors import TargetUnavailable
from tests.images.making import COMPRESSIONS, SUFFIX, Layout, tar


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def made(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "image")


LOWER = tar(
    ("file", "etc/kept", "1"),
    ("file", "etc/gone", "1"),
    ("file", "etc/changed", "1"),
    ("file", "data/old/deep", "1"),
    ("file", "data/both/old", "1"),
    ("directory", "was/directory", ""),
    ("link", "bin", "usr/bin"),
    ("directory", "usr/bin", ""),
)
UPPER = tar(
    ("file", "etc/.wh.gone", ""),
    ("file", "etc/changed", "2"),
    ("file", "data/both/new", "2"),
    ("file", "data/.wh..wh..opq", ""),
    ("file", "data/last", "2"),
    ("file", "was", "a file"),
    ("file", "bin/tool", "2"),
    ("file", ".wh.nothing", ""),
    ("file", ".wh..wh.plnk", ""),
)


def files(root: Path) -> set[str]:
    return {str(one.relative_to(root)) for one in root.rglob("*") if one.is_file()}


@pytest.mark.parametrize("suffix", SUFFIX)
@pytest.mark.parametrize("packed", [False, True])
def test_layers_change_one_another(made: Layout, tmp_path: Path, suffix: str, packed: bool) -> None:
    image = made.image(LOWER, UPPER, suffix=suffix)
    made.list(image)
    path = made.archive(tmp_path / "image.tar") if packed else made.path
    root = store.unpacked(Reference(path, oci=True))
    assert files(root) == {
        "etc/kept", "etc/changed", "data/both/new", "data/last", "was", "usr/bin/tool", "bin/tool",
    } - {"bin/tool"}  # fmt: skip
    assert (root / "etc/changed").read_text() == "2"
    record = json.loads((root.parent / "record.json").read_text())
    assert record["digest"] == image["digest"] and record["architecture"] == oci.architecture()


def test_a_whiteout_leaves_what_its_own_layer_has(made: Layout) -> None:
    lower = tar(("file", "a/x", "1"), ("file", "a/y", "1"))
    upper = tar(("file", "a/x", "2"), ("file", "a/.wh.x", ""), ("file", ".wh.a", ""))
    made.list(made.image(lower, upper))
    root = store.unpacked(Reference(made.path, oci=True))
    assert files(root) == {"a/x"} and (root / "a/x").read_text() == "2"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../.wh.outside", "leads out of a directory"),
        (".wh...", "names no file"),
        (".wh..", "names no file"),
        (".wh.", "names no file"),
    ],
)
def test_a_whiteout_removes_nothing_outside(
    made: Layout, tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "outside").write_text("")
    made.list(made.image(LOWER, tar(("file", name, ""))))
    with pytest.raises(TargetUnavailable, match=said):
        store.unpacked(Reference(made.path, oci=True))
    assert (tmp_path / "outside").exists() and made.path.exists()


def test_an_opaque_directory_that_is_a_link_stays_in_the_root(made: Layout, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("")
    lower = tar(("link", "a", str(outside)), ("link", "b", "../../../../../../.."))
    upper = tar(("file", "a/.wh..wh..opq", ""), ("file", "a/.wh.kept", ""))
    made.list(made.image(lower, upper))
    store.unpacked(Reference(made.path, oci=True))
    assert (outside / "kept").exists()


def test_a_tag_names_one_of_several_images(made: Layout) -> None:
    one, two = (made.image(tar(("file", name, ""))) for name in ("one", "two"))
    made.list(one, two, names=["1.0", "docker.io/library/x:2.0"])
    for tag, name in (("1.0", "one"), ("2.0", "two"), ("docker.io/library/x:2.0", "two")):
        reference = parse(f"oci:{made.path}:{tag}")
        assert reference == Reference(made.path, oci=True, tag=tag)
        assert name in files(store.unpacked(reference))
    with pytest.raises(TargetUnavailable, match=r'several images; name one of "1\.0"'):
        store.identify(Reference(made.path, oci=True))
    with pytest.raises(TargetUnavailable, match=r'has no image "3"; it has "1\.0"'):
        store.identify(Reference(made.path, oci=True, tag="3"))


def test_the_image_is_that_of_this_architecture(made: Layout) -> None:
    other = made.image(tar(("file", "other", "")), architecture="pdp11")
    own = made.image(tar(("file", "own", "")))
    platforms = [
        {**other, "platform": {"os": "linux", "architecture": "pdp11"}},
        {**other, "platform": {"os": "unknown", "architecture": "unknown"}},
        {**own, "platform": {"os": "linux", "architecture": oci.architecture()}},
    ]
    index = {"schemaVersion": 2, "manifests": platforms}
    made.list(made.blob(index, "application/vnd.oci.image.index.v1+json"), names=["x"])
    identity = store.identify(Reference(made.path, oci=True))
    assert identity.digest == own["digest"]


def test_an_image_for_another_architecture_is_refused(made: Layout) -> None:
    made.list(made.image(tar(("file", "x", "")), architecture="pdp11"))
    with pytest.raises(TargetUnavailable, match="is for linux/pdp11, and this system is linux/"):
        store.identify(Reference(made.path, oci=True))


def test_lists_in_one_another_are_bounded(made: Layout) -> None:
    one = made.image(tar(("file", "x", "")))
    for _ in range(6):
        kind = "application/vnd.oci.image.index.v1+json"
        one = made.blob({"schemaVersion": 2, "manifests": [one]}, kind)
    made.list(one)
    with pytest.raises(TargetUnavailable, match="more than 4 lists of images"):
        store.identify(Reference(made.path, oci=True))


def test_every_part_is_verified(made: Layout) -> None:
    image = made.image(LOWER)
    made.list(image)
    for part in sorted((made.path / "blobs" / "sha256").iterdir()):
        data = part.read_bytes()
        part.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        with pytest.raises(TargetUnavailable, match="another digest or size"):
            store.unpacked(Reference(made.path, oci=True))
        part.write_bytes(data + b" ")
        with pytest.raises(TargetUnavailable, match="another digest or size"):
            store.unpacked(Reference(made.path, oci=True))
        part.unlink()
        with pytest.raises(TargetUnavailable, match="lacks its part sha256:"):
            store.unpacked(Reference(made.path, oci=True))
        part.write_bytes(data)
    assert store.unpacked(Reference(made.path, oci=True))


def test_a_layer_is_verified_without_its_compression_too(made: Layout) -> None:
    image = made.image(LOWER)
    blobs = made.path / "blobs" / "sha256"
    manifest = json.loads((blobs / image["digest"][7:]).read_text())
    other = made.blob(COMPRESSIONS[".gz"](UPPER), manifest["layers"][0]["mediaType"])
    made.list(made.blob({**manifest, "layers": [other]}, image["mediaType"]))
    with pytest.raises(TargetUnavailable, match="another digest when it is decompressed"):
        store.unpacked(Reference(made.path, oci=True))


def changed(made: Layout, **parts: object) -> None:
    image = made.image(LOWER)
    blobs = made.path / "blobs" / "sha256"
    manifest = json.loads((blobs / image["digest"][7:]).read_text())
    made.list(made.blob({**manifest, **parts}, image["mediaType"]))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"layers": "x"}, 'without the list "layers"'),
        ({"layers": []}, "names 0 layers and the digests of 1"),
        ({"layers": [{"digest": "sha256:" + "0" * 64}]}, "whose size is not stated"),
        ({"layers": [{"digest": "sha256:../../x", "size": 1}]}, "which is none"),
        ({"layers": [{"digest": "md5:0", "size": 1}]}, "which is none"),
        (
            {
                "layers": [
                    {
                        "mediaType": "application/vnd.oci.image.layer.v1.tar+encrypted",
                        "digest": "sha256:" + "0" * 64,
                        "size": 1,
                    }
                ]
            },
            "which cannot be read",
        ),
        ({"config": None}, "whose size is not stated"),
    ],
)
def test_what_is_wrong_with_a_manifest_is_one_sentence(
    made: Layout, parts: dict[str, object], said: str
) -> None:
    changed(made, **parts)
    with pytest.raises(TargetUnavailable, match=said) as caught:
        store.identify(Reference(made.path, oci=True))
    assert "\n" not in caught.value.reason


def test_what_is_no_layout_is_said(tmp_path: Path, made: Layout) -> None:
    with pytest.raises(TargetUnavailable, match="is not there; write it as oci:PATH"):
        store.identify(Reference(tmp_path / "no", oci=True))
    (tmp_path / "empty").mkdir()
    with pytest.raises(TargetUnavailable, match="is no OCI image layout"):
        store.identify(Reference(tmp_path / "empty", oci=True))
    (tmp_path / "text").write_text("x" * 2000)
    with pytest.raises(TargetUnavailable, match="neither a directory nor a tar archive"):
        store.identify(Reference(tmp_path / "text", oci=True))
    with pytest.raises(TargetUnavailable, match=r"index\.json"):
        store.identify(Reference(made.path, oci=True))
    for text in ("[", "[]", "[" * 100_000, '{"manifests": [1]}', '{"manifests": []}'):
        (made.path / "index.json").write_text(text)
        with pytest.raises(TargetUnavailable):
            store.identify(Reference(made.path, oci=True))


def test_an_image_that_is_named_as_an_archive_is_said(made: Layout, tmp_path: Path) -> None:
    made.list(made.image(LOWER))
    path = made.archive(tmp_path / "image.tar")
    with pytest.raises(TargetUnavailable, match=f"holds an OCI image; write it as oci:{path}"):
        store.unpacked(Reference(path, oci=False))
    path.write_bytes(tar(("file", "manifest.json", "[]"), ("file", "a/layer.tar", "")))
    with pytest.raises(TargetUnavailable, match="skopeo copy docker-archive:"):
        store.unpacked(Reference(path, oci=False))


def test_texts_name_images(tmp_path: Path) -> None:
    assert parse("/usr") is None and parse("host") is None
    assert parse("/x/root.tar.zst") == Reference(Path("/x/root.tar.zst"), oci=False)
    assert parse("oci:/x/y") == Reference(Path("/x/y"), oci=True)
    assert parse("oci:/x/y:1.0") == Reference(Path("/x/y"), oci=True, tag="1.0")
    (tmp_path / "a:b").mkdir()
    assert parse(f"oci:{tmp_path}/a:b") == Reference(tmp_path / "a:b", oci=True)
    assert parse(f"oci:{tmp_path}/a:b:c:d") == Reference(tmp_path / "a:b", oci=True, tag="c:d")
    (tmp_path / "x.tar").mkdir()
    assert parse(f"{tmp_path}/x.tar") is None
    assert str(parse("oci:/x/y:1.0")) == "oci:/x/y:1.0"
    assert absolute("oci:img:1", tmp_path) == f"oci:{tmp_path}/img:1"
    assert absolute("root.tar", tmp_path) == f"{tmp_path}/root.tar"
    assert absolute("oci:/x", tmp_path) == "oci:/x"


@pytest.mark.parametrize("form", ["oci", "oci-archive"])
def test_what_skopeo_writes_is_read(made: Layout, tmp_path: Path, form: str) -> None:
    skopeo = shutil.which("skopeo")
    if skopeo is None:
        pytest.skip("skopeo is not installed")
    made.list(made.image(LOWER, UPPER, suffix=""), names=["one"])
    copy = tmp_path / "copy"
    command = [
        skopeo,
        "--insecure-policy",
        "copy",
        "-q",
        f"oci:{made.path}:one",
        f"{form}:{copy}:two",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    roots = [
        store.unpacked(Reference(made.path, oci=True)),
        store.unpacked(Reference(copy, oci=True, tag="two")),
    ]
    assert roots[0] != roots[1] and files(roots[0]) == files(roots[1])


@pytest.mark.parametrize("tool", ["umoci"])
def test_what_umoci_unpacks_is_unpacked_the_same(made: Layout, tmp_path: Path, tool: str) -> None:
    program = shutil.which(tool)
    if program is None:
        pytest.skip(f"{tool} is not installed")
    made.list(made.image(LOWER, UPPER), names=["one"])
    bundle = tmp_path / "bundle"
    command = [program, "unpack", "--rootless", "--image", f"{made.path}:one", str(bundle)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert files(store.unpacked(Reference(made.path, oci=True))) == files(bundle / "rootfs")
