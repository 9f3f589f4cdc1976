"""Kernels and programs in the cache that are not what was fetched or built."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pentathlon.machine.cache import RECORD, sha256
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.targets.gvisor import runsc
from pentathlon.targets.qemu import kernels as qemu_kernels
from pentathlon.targets.uml import kernels as uml_kernels
from pentathlon.targets.uml import shim


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def fetched(path: Path, text: str, **record: str) -> Path:
    """A file as a fetch leaves it, beside its record."""
    path.parent.mkdir(parents=True)
    path.write_text(text)
    path.chmod(0o755)
    (path.parent / RECORD).write_text(json.dumps({"sha256": sha256(path), **record}))
    return path


def leaves_a_mark(path: Path, tmp_path: Path) -> Path:
    """Put a program in the place of another one; the file that it makes when it is started."""
    mark = tmp_path / "started"
    path.write_text(f"#!/bin/sh\ntouch {mark}\necho runsc version 1\necho 6.1.1\n")
    return mark


def test_a_changed_uml_kernel_is_not_started_and_is_named(tmp_path: Path) -> None:
    path = fetched(uml_kernels.directory() / "uml-6.1" / "linux", "#!/bin/sh\necho 6.1.999\n")
    assert "6.1.999" in [kernel.version for kernel in uml_kernels.available()]
    mark = leaves_a_mark(path, tmp_path)
    assert path not in [kernel.path for kernel in uml_kernels.available()]
    with pytest.raises(TargetUnavailable, match=r"uml-6\.1/linux is not the file that was fetched"):
        uml_kernels.resolve("6.1.999")
    assert not mark.exists()


def test_a_changed_qemu_kernel_is_refused(tmp_path: Path) -> None:
    path = fetched(qemu_kernels.directory("6.1") / "vmlinuz", "kernel", release="6.1.0")
    assert qemu_kernels.resolve("6.1").path == path
    path.write_text("Kernel")
    with pytest.raises(TargetUnavailable, match="vmlinuz is not the file that was fetched"):
        qemu_kernels.resolve("6.1")


def test_a_changed_module_of_a_kernel_is_refused() -> None:
    modules = qemu_kernels.directory("6.1") / "modules"
    path = fetched(modules.parent / "vmlinuz", "kernel", release="6.1.0")
    modules.mkdir()
    module = modules / "virtio_net.ko"
    module.write_text("module")
    # A record of a version that noted no digests of modules.
    assert qemu_kernels.resolve("6.1").modules == modules
    record = json.loads((modules.parent / RECORD).read_text())
    record[qemu_kernels.MODULES] = {module.name: sha256(module)}
    (modules.parent / RECORD).write_text(json.dumps(record))
    assert qemu_kernels.resolve("6.1").path == path

    refused = "{} is not the file that was fetched"
    module.write_text("Module")
    with pytest.raises(TargetUnavailable, match=refused.format(r"virtio_net\.ko")):
        qemu_kernels.resolve("6.1")
    module.unlink()
    with pytest.raises(TargetUnavailable, match=refused.format(r"virtio_net\.ko")):
        qemu_kernels.resolve("6.1")
    module.write_text("module")
    (modules / "ext4.ko").write_text("added")
    with pytest.raises(TargetUnavailable, match=refused.format(r"ext4\.ko")):
        qemu_kernels.resolve("6.1")
    (modules / "ext4.ko").unlink()
    assert qemu_kernels.resolve("6.1").path == path


def test_a_changed_runsc_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runsc, "on_path", lambda _: None)
    text = "#!/bin/sh\necho runsc version 7\n"
    path = fetched(runsc.directory() / "current" / "runsc", text)
    assert runsc.find().version == "7"
    mark = leaves_a_mark(path, tmp_path)
    with pytest.raises(TargetUnavailable, match="runsc is not the file that was fetched"):
        runsc.find()
    assert not mark.exists()


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_changed_wrapper_is_built_again() -> None:
    library = shim.build()
    whole = library.read_bytes()
    made = library.stat().st_mtime_ns
    assert shim.build().stat().st_mtime_ns == made
    library.write_bytes(whole[:-1] + b"x")
    assert shim.build().read_bytes() == whole
