"""User lands out of images, on guests: what commands find, and that nothing of it changes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.images import store
from pentathlon.images.reference import Reference
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.targets import userland
from pentathlon.targets.supplies import collect
from tests.images.making import Layout, tar
from tests.targets.conftest import FakeSystem
from tests.targets.test_commands import QEMU, UML, command_request, executions, served


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A static program that reads a file, so that an image needs nothing else."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    place = tmp_path_factory.mktemp("built")
    (place / "show.c").write_text(
        "#include <stdio.h>\n"
        "int main(int n, char **v) {\n"
        "    for (int i = 1; i < n; i++) {\n"
        '        FILE *file = fopen(v[i] + 1, v[i][0] == \'w\' ? "w" : "r");\n'
        '        char line[80] = "";\n'
        "        if (file && v[i][0] != 'w') { fgets(line, 80, file); printf(\"%s\", line); }\n"
        '        else printf("%s\\n", file ? "opened" : "refused");\n'
        "    }\n"
        "    return 0;\n}\n"
    )
    command = [compiler, "-static", "-o", str(place / "show"), str(place / "show.c")]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("the C compiler makes no static programs")
    return place / "show"


@pytest.mark.system
@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("uml", "archive"),
        ("uml", "oci"),
        ("gvisor", "archive"),
        ("gvisor", "oci"),
        ("qemu", "oci"),
        ("oci", "archive"),
        ("oci", "oci"),
    ],
)
def test_a_command_finds_the_image_and_its_files(  # noqa: PLR0917
    real_agent: Path,
    state: Path,
    tmp_path: Path,
    built: Path,
    kind: str,
    form: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = {"uml": str(UML[-1].path) if UML else "6.1", "qemu": QEMU}.get(kind)
    # Programs of guests stay where they are; only images go to a cache of this test.
    monkeypatch.setattr(store, "cache_dir", lambda: tmp_path / "cache")
    data = tar(
        ("directory", "usr/bin", ""), ("file", "etc/mark", "of the image\n"),
        ("link", "etc/alias", "/etc/mark"), ("link", "bin", "usr/bin"),
    )  # fmt: skip
    if form == "oci":
        made = Layout(tmp_path / "image")
        made.list(made.image(data), names=["one"])
        named = f"oci:{made.path}:one"
    else:
        (tmp_path / "root.tar").write_bytes(data)
        named = str(tmp_path / "root.tar")
    system = FakeSystem(target=kind, kernel=kernel)
    object.__setattr__(system, "userland", named)
    target = make_target(system, real_agent, state)
    try:
        target.prepare()
    except TargetUnavailable as error:
        pytest.skip(error.reason)
    options = target.describe()["options"]["userland"]
    assert options["image"] == named and options["digest"].startswith("sha256:")
    assert userland.in_words(target.describe()) == f"{named} ({options['digest']})"
    (tmp_path / "data").write_text("42\n")
    target.supply((collect("my.x", [str(built), "data"], tmp_path),))
    words = ["./show", "rdata", "r/etc/mark", "r/etc/alias", "w/tmp/x", "w/etc/new"]
    [one] = executions(served(target, command_request(*words, files="my.x")))
    lines = one["output"].splitlines()
    assert lines[:4] == ["42", "of the image", "of the image", "opened"], lines
    # gVisor and containers have an overlay over it; elsewhere it is read-only.
    assert lines[4] == ("opened" if kind in {"gvisor", "oci"} else "refused")
    [root] = tmp_path.glob("cache/images/sha256-*/root")
    assert not (root / "etc" / "new").exists() and not (root / "tmp" / "x").exists()


def test_an_image_that_is_not_there_is_said_before_anything_boots(
    real_agent: Path, state: Path, tmp_path: Path
) -> None:
    for named, said in (
        (f"{tmp_path}/no.tar.gz", "is no file of this machine"),
        (f"oci:{tmp_path}/no:1", "is not there; write it as oci:PATH or oci:PATH:TAG"),
    ):
        for kind in ("uml", "gvisor", "qemu"):
            kernel = {"uml": "6.1", "qemu": "6.1"}.get(kind)
            system = FakeSystem(target=kind, kernel=kernel)
            object.__setattr__(system, "userland", named)
            target = make_target(system, real_agent, state)
            assert said in target.describe()["options"]["userland"]["error"]


@pytest.mark.system
def test_a_minimal_debian_is_a_user_land(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What mmdebstrap(1) writes, with its links, modes, owners and devices."""
    program = shutil.which("mmdebstrap")
    if program is None:
        pytest.skip("mmdebstrap is not installed")
    archive = tmp_path / "debian.tar"
    command = [program, "--variant=extract", "--include=base-files,busybox-static"]
    command += ["--quiet", "bookworm", str(archive)]
    if subprocess.run(command, capture_output=True, timeout=300, check=False).returncode:
        pytest.skip("no package mirror")
    monkeypatch.setattr(store, "cache_dir", lambda: tmp_path / "cache")
    root = store.unpacked(Reference(archive, oci=False))
    assert "bookworm" in (root / "usr/lib/os-release").read_text()
    listed = subprocess.run(
        ["tar", "-tf", str(archive)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    files = [name for name in listed if not name.endswith("/") and not name.startswith("./dev/")]
    assert files and not [
        name for name in files if not (root / name).is_symlink() and not (root / name).exists()
    ]
