"""The example of a user's own program, run on each kind of system: the same table everywhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.protocol import agent
from pentathlon.store.query import load_result
from pentathlon.study.write import to_toml
from pentathlon.targets.uml import kernels
from tests.cli.conftest import ROOT, Shop
from tests.targets.sshd import Sshd

pytestmark = pytest.mark.system

EXAMPLE = ROOT / "examples" / "your-own-program.toml"
KINDS = [one["target"] for one in tomllib.loads(EXAMPLE.read_text())["system"]]


def test_the_example_has_every_kind_that_runs_programs() -> None:
    assert sorted(KINDS) == ["command", "gvisor", "local", "oci", "qemu", "ssh", "uml", "wine"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's directory with its programs."""
    place = tmp_path_factory.mktemp("built") / "your-own-program"
    shutil.copytree(EXAMPLE.with_suffix(""), place)
    done = subprocess.run(["sh", str(place / "build")], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the program cannot be built: {done.stderr.strip()}")
    return place


@pytest.fixture
def config(tmp_path: Path) -> Iterator[Path]:
    """A configuration of ssh by which "bench" is a server in a network namespace of its own."""
    server = Sshd(tmp_path / "sshd")
    if os.geteuid() != 0:
        pytest.skip("a network namespace needs root")
    command = f"{server.program} -i -e -f {server.directory / 'sshd.conf'}"
    proxy = f"ProxyCommand unshare --net sh -c 'ip link set lo up; exec {command}'"
    server.config.write_text(f"{server.config.read_text()}    {proxy}\n")
    yield server.config
    server.stop()


def study(kind: str, **changes: Any) -> dict[str, Any]:
    """The example with this machine and the system of a kind, measured shortly."""
    document = tomllib.loads(EXAMPLE.read_text())
    document["procedure"] = {"blocks": 1, "iterations": 2, "warmup": 0, "boot_timeout_s": 120.0}
    wanted = [one for one in document["system"] if one["target"] in {"local", kind}]
    for one in wanted:
        if one["target"] == kind:
            one.update(changes)
    document["system"] = wanted
    document["workload"][0]["parameters"] = {"size": [500_000]}
    return document


@pytest.mark.parametrize("kind", [one for one in KINDS if one != "ssh"])
def test_the_same_table_runs_on_every_kind(shop: Shop, built: Path, kind: str) -> None:
    if kind == "wine" and not (built / "work.exe").exists():
        pytest.skip("mingw-w64 is not installed")
    if kind == "uml" and not kernels.available():
        pytest.skip("no kernel here; run `pentathlon doctor --install`")
    changes = {"kernel": str(kernels.available()[-1].path)} if kind == "uml" else {}
    runs(shop, built, study(kind, **changes), kind)


def test_the_same_table_runs_on_a_server_in_a_namespace(
    shop: Shop, built: Path, config: Path
) -> None:
    runs(shop, built, study("ssh", ssh={"host": "bench", "config": str(config)}), "ssh")


def runs(shop: Shop, built: Path, document: dict[str, Any], kind: str) -> None:
    """Every metric has its values on every system, from the same work."""
    try:
        shop.environment["PENTATHLON_AGENT"] = str(agent.locate())
    except agent.AgentError as error:
        pytest.skip(str(error))
    shop.directory.joinpath(built.name).symlink_to(built)
    shop.write(to_toml(document))
    done = shop.real("run", "study.toml", "--yes", "--no-pilot", "--no-report", "--out", "out")
    if done.code == 3 and "cannot be prepared" in done.err:
        pytest.skip(done.err.strip().splitlines()[-1])
    assert done.code == 0, done.err
    result = load_result(shop.directory / "out")
    assert not result.failures().height, result.failures()["reason"].to_list()
    samples = result.samples()
    for name in {one["name"] for one in document["system"]}:
        own = samples.filter(samples["system"] == name)
        for metric in ("wall", "rate"):
            values = own.filter(own["metric"] == metric)["value"].to_list()
            assert len(values) == 2 and all(value > 0 for value in values), (kind, metric)
    assert set(samples["checksum"].to_list()) == {'"fef76d43"'}
