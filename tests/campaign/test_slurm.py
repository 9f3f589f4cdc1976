"""A campaign through a real Slurm whose nodes die, drain and lose jobs, and what needs no Slurm."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from pentathlon.campaign.directory import Campaign
from pentathlon.campaign.machines import load_machines
from pentathlon.campaign.slurm import client
from pentathlon.campaign.slurm.chain import Chain
from pentathlon.campaign.slurm.gaps import Gaps
from pentathlon.campaign.slurm.jobs import FILE, Jobs, Submitted
from pentathlon.campaign.workers import writer
from pentathlon.procedure.records import BootEnd, BootStart
from pentathlon.protocol import agent
from pentathlon.store.problems import StoreError
from pentathlon.store.query import load_result
from pentathlon.targets.uml import kernels
from tests.campaign.slurm_cluster import Cluster
from tests.cli.conftest import STUDY, Shop

MACHINES = """\
[slurm]
poll_s = 1.0
boot = "feature"
[slurm.system.a]
feature = "k61"
entry = "linux-6.1"
release = "6.1.0-18-amd64"
[slurm.system.b]
feature = "k72"
[[machine]]
name = "n1"
cpus = [{first}]
[[machine]]
name = "two"
node = "n2"
cpus = [{last}]
"""
CPUS = sorted(os.sched_getaffinity(0))
EACH = {"blocks": 2, "systems": 2, "workloads": 3, "cases": 3, "iterations": 3}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path)
    made.environment["PENTATHLON_LOCK_DIR"] = str(tmp_path / "locks")
    made.write(STUDY.replace("cpus = [0]\n", ""))
    made.write(MACHINES.format(first=CPUS[0], last=CPUS[-1]), "machines.toml")
    return made


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path / "slurm", ("n1", "n2"), ("k61", "k72"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


def counted(directory: Path) -> pl.DataFrame:
    samples = load_result(directory).samples()
    return samples.filter(pl.col("counted") & (pl.col("phase") == "measure"))


@pytest.mark.system
def test_a_campaign_survives_what_happens_to_a_cluster(shop: Shop, cluster: Cluster) -> None:
    """A node loses its power in mid-block, the experimenter is killed, a node is drained, a job is
    cancelled by its user, the controller restarts: each block counts once or again, never twice."""
    shop.environment |= cluster.environment
    shop.options = {"delay_s": 0.06}
    words = ("campaign", "run", "study.toml", "--on", "machines.toml", "--engine", "slurm")
    process = shop.start(*words, "--out", "c", "--no-report")
    results = {name: shop.directory / "c" / "machines" / name for name in ("n1", "two")}
    journal = results["n1"] / "journal.jsonl"
    try:
        cluster.wait(lambda: journal.exists() and '"sample"' in journal.read_text(), 120)
    finally:
        process.kill()
        _, text = process.communicate()
    assert writer(results["n1"]) is not None, f"the job goes on without the experimenter: {text}"
    cluster.kill_node("n1")
    cluster.wait(lambda: writer(results["n1"]) is None)
    cluster.run("scontrol", "update", "nodename=n2", "state=drain", "reason=test")
    cluster.stop_controller()
    status = shop.call("campaign", "status", "c", "--json")
    assert status.code == 7
    assert {one["state"] for one in json.loads(status.out)} <= {"running", "stopped", "waiting"}
    cluster.start_controller()
    cluster.start_node("n1")
    cluster.wait(lambda: bool(cluster.jobs()))
    waiting = [job for job, state, name in cluster.jobs() if "-n1-" in name and state == "PENDING"]
    assert len(waiting) >= 2, cluster.jobs()
    cluster.run("scancel", waiting[-1])
    assert waiting[-1] not in [job for job, _, _ in cluster.jobs()]
    resumed = shop.start("campaign", "resume", "c", "--no-report")
    cluster.wait(lambda: cluster.state("n2").startswith(("drained", "idle")), 120)
    cluster.run("scontrol", "update", "nodename=n2", "state=resume")
    _, text = resumed.communicate(timeout=400)
    assert resumed.returncode == 0, text + cluster.log()
    for directory in results.values():
        found = counted(directory)
        assert found.height == 2 * 2 * 3 * 3 * 3, directory
        key = ("block", "system", "workload", "case")
        assert set(found.group_by(key).len()["len"]) == {3}, "iterations, neither more nor fewer"
        assert load_result(directory).finished
    attempts = load_result(results["n1"]).samples()["attempt"].n_unique()
    assert attempts > 1, "the block that was cut off was measured again"
    names = [json.loads(line)["name"] for line in (shop.directory / "c" / FILE).open()]
    assert any(name.endswith("-2") for name in names), "the cancelled job has a successor"
    assert cluster.reboots() >= 2, "the systems are features that a reboot switches"
    assert not cluster.jobs()
    nothing = shop.call("campaign", "cancel", "c")
    assert nothing.code == 2 and "nothing to cancel" in nothing.err


KERNELS_STUDY = """\
name = "kernels"
reference = "a"
[procedure]
blocks = 2
iterations = 2
[[system]]
name = "a"
target = "uml"
kernel = "{kernel}"
[[system]]
name = "b"
target = "uml"
kernel = "{kernel}"
[[suite]]
name = "s"
workloads = ["process.getpid"]
"""


@pytest.mark.system
def test_a_feature_is_a_kernel_that_a_reboot_switches(shop: Shop, tmp_path: Path) -> None:
    """Both systems name one file, the node's kernel: only the reboot makes them two systems, and
    each boot is verified to be the system's kernel."""
    known = kernels.available()
    if len(known) < 2:
        pytest.skip("two kernels of user-mode Linux are needed; run `pentathlon doctor --install`")
    cluster = Cluster(tmp_path / "slurm", ("n1",), ("k61", "k72"))
    cluster.boots_kernels({"k61": known[0].path, "k72": known[-1].path})
    shop.environment |= {**cluster.environment, "PENTATHLON_AGENT": str(agent.locate())}
    shop.write(KERNELS_STUDY.format(kernel=cluster.directory / "kernel-n1"))
    shop.write(
        '[slurm]\npoll_s = 1.0\nboot = "feature"\n[slurm.system.a]\nfeature = "k61"\n'
        '[slurm.system.b]\nfeature = "k72"\n[[machine]]\nname = "n1"\n',
        "machines.toml",
    )
    try:
        cluster.start()
        words = ("campaign", "run", "study.toml", "--on", "machines.toml", "--engine", "slurm")
        process = shop.start(*words, "--out", "c", "--no-report", "--yes")
        _, text = process.communicate(timeout=400)
        assert process.returncode == 0, text + cluster.log()
    finally:
        cluster.stop()
    directory = shop.directory / "c" / "machines" / "n1"
    assert set(counted(directory).group_by("block", "system").len()["len"]) == {2}
    result = load_result(directory)
    releases = {name: result.facts(name)["kernel.release"] for name in ("a", "b")}
    assert releases["a"].startswith(known[0].version), releases
    assert releases["b"].startswith(known[-1].version), releases
    assert cluster.reboots() >= 2


def campaign(shop: Shop) -> Campaign:
    return Campaign(
        path=shop.directory,
        id="0badcafe",
        engine="slurm",
        name="two",
        study_file="study.toml",
        machines=("n1", "two"),
        blocks=None,
        version="0",
        started="",
        yes=False,
    )


def test_a_job_that_was_submitted_and_not_noted_is_found_by_its_name(shop: Shop) -> None:
    own = campaign(shop)
    jobs = Jobs(own)
    name = jobs.new_name("n1", 0, "a")
    jobs.note(Submitted(name, "n1", 0, "a"))
    with (shop.directory / FILE).open("ab") as file:
        file.write(b'{"name":"torn')
    again = Jobs(own)
    assert again.all[name].job is None
    machines = load_machines(shop.directory / "machines.toml")
    chain = Chain(own, machines.machines[0], machines.slurm, again)
    queue = {"7": client.Job("7", name, "RUNNING", "None")}
    assert [one.job for one in chain.live(queue)] == ["7"]
    assert Jobs(own).all[name].job == "7", "it is noted now, behind the torn line"
    assert chain.live({}) == [], "a job that is not in the queue has ended"
    assert again.new_name("n1", 0, "a") != name


def test_a_damaged_list_of_jobs_is_no_empty_one(shop: Shop) -> None:
    own = campaign(shop)
    one = Submitted("x", "n1", 0, "a", "1")
    Jobs(own).note(one)
    Jobs(own).note(replace(one, name="y"))
    file = shop.directory / FILE
    file.write_bytes(file.read_bytes().replace(b'"x"', b'"z"'))
    with pytest.raises(StoreError, match=r"jobs\.jsonl:1: this line is damaged"):
        Jobs(own)


@pytest.fixture
def slurm_commands(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands in Slurm's place that print what a file holds, with its status."""
    folder = shop.directory / "bin"
    folder.mkdir()
    for name in ("sbatch", "squeue", "scancel"):
        (folder / name).write_text(f"#!/bin/sh\n. {folder}/{name}.says\n")
        (folder / name).chmod(0o755)
        (folder / f"{name}.says").write_text("true\n")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def test_what_slurm_answers(slurm_commands: Path) -> None:
    says = slurm_commands / "sbatch.says"
    says.write_text("echo '12;east'\n")
    assert client.submit([]) == "12"
    says.write_text("echo 'sbatch: error: Unable to contact slurm controller' >&2; exit 1\n")
    with pytest.raises(client.ControllerAway):
        client.submit([])
    says.write_text("echo 'sbatch: error: Invalid feature specification' >&2; exit 1\n")
    with pytest.raises(client.SlurmRefusal, match="Invalid feature specification"):
        client.submit([])
    says.write_text("echo hello\n")
    with pytest.raises(client.SlurmRefusal, match="no id"):
        client.submit([])
    (slurm_commands / "squeue.says").write_text(
        "echo '1|PENDING|Dependency|p-a'; echo '2|COMPLETED|None|p-b'; echo '3|RUNNING|None|q-c'\n"
    )
    assert client.queue("p-") == {"1": client.Job("1", "p-a", "PENDING", "Dependency")}


def test_refusals(shop: Shop, slurm_commands: Path) -> None:
    shop.environment["PATH"] = os.environ["PATH"]
    shop.write('[[machine]]\nname = "n1"\nssh = { host = "h" }\n', "ssh.toml")
    words = ("campaign", "run", "study.toml", "--engine", "slurm", "--out", "c", "--on")
    done = shop.call(*words, "ssh.toml")
    assert done.code == 2 and "leave ssh out" in done.err
    says = slurm_commands / "sbatch.says"
    says.write_text("echo 'sbatch: error: Invalid feature specification' >&2; exit 1\n")
    done = shop.call(*words, "machines.toml", "--no-report")
    assert done.code == 2, done.err
    assert "Slurm refuses a job: sbatch: error: Invalid feature" in done.err
    assert "campaign resume c" in done.err
    assert (shop.directory / "c" / "machines" / "n1" / "plan.json").is_file()


def test_a_job_s_boot_is_measured_once(shop: Shop, slurm_commands: Path) -> None:
    """What a job runs, called twice for one boot; another agent is refused."""
    shop.environment["PATH"] = os.environ["PATH"]
    says = slurm_commands / "sbatch.says"
    says.write_text("echo 'sbatch: error: Invalid feature specification' >&2; exit 1\n")
    shop.call(
        *("campaign", "run", "study.toml", "--engine", "slurm", "--out", "c", "--on"),
        *("machines.toml", "--no-report"),
    )
    step = ("campaign", "slurm-step", "c", "n1")
    first = shop.call(*step, "0", "b")
    assert first.code == 0, first.err
    again = shop.call(*step, "0", "b")
    assert again.code == 0 and "nothing is left" in again.err
    found = counted(shop.directory / "c" / "machines" / "n1")
    assert found.height == 3 * 3 * 3 and set(found["system"]) == {"b"}
    assert not load_result(shop.directory / "c" / "machines" / "n1").finished
    assert shop.call(*step, "9", "b").code == 2
    shop.options = {"build": "beef"}
    other = shop.call(*step, "0", "a")
    assert other.code == 2 and "another build (beef)" in other.err


def test_resume_counts_jobs_without_a_step_again(shop: Shop, slurm_commands: Path) -> None:
    """What was cancelled or refused before is no reason to give a machine up at once."""
    shop.environment["PATH"] = os.environ["PATH"]
    (slurm_commands / "sbatch.says").write_text(f"echo job >>{slurm_commands}/asked\nexit 1\n")
    first = ("run", "study.toml", "--engine", "slurm", "--out", "c", "--on", "machines.toml")
    for number in range(1, 6):
        words = first if number == 1 else ("resume", "c")
        done = shop.call("campaign", *words, "--no-report")
        assert done.code == 2 and "Slurm refuses a job" in done.err, done.err
        assert (slurm_commands / "asked").read_text().count("job") == number


def test_the_time_left_has_what_passes_between_boots(shop: Shop, slurm_commands: Path) -> None:
    shop.environment["PATH"] = os.environ["PATH"]
    (slurm_commands / "sbatch.says").write_text("exit 1\n")
    shop.call(
        *("campaign", "run", "study.toml", "--engine", "slurm", "--out", "c", "--on"),
        *("machines.toml", "--no-report"),
    )
    directory = shop.directory / "c" / "machines" / "n1"
    state = load_result(directory).state
    begin = BootStart(
        block=0, system="a", attempt=0, order=0, target="local", layer="host", session="s",
        steps=[], settings=[],
    )  # fmt: skip
    end = BootEnd(
        block=0, system="a", attempt=0, outcome="ok", reason=None, boot_seconds=1.0, log=[],
    )  # fmt: skip
    gaps = Gaps()
    gaps.take(begin, 100.0)
    assert gaps.left(state, 105.0) is None, "no gap has been seen"
    for began, ended in ((110.0, 120.0), (150.0, 160.0), (90_000.0, 90_010.0)):
        gaps.take(end, began)
        gaps.take(begin, ended)
    assert gaps.left(state, 90_011.0) == 4 * 10.0, "the median, for each of four boots"
    gaps.take(end, 90_020.0)
    assert gaps.left(state, 90_024.0) == 4 * 10.0 - 4.0
    assert gaps.left(state, 99_999.0) == 3 * 10.0


def test_the_options_of_a_job(shop: Shop, slurm_commands: Path) -> None:
    shop.environment["PATH"] = os.environ["PATH"]
    (slurm_commands / "sbatch.says").write_text(
        f'printf "%s\\n" "$@" END >>{slurm_commands}/asked\nexit 1\n'
    )
    shop.call(
        *("campaign", "run", "study.toml", "--engine", "slurm", "--out", "c", "--on"),
        *("machines.toml", "--no-report"),
    )
    asked = (slurm_commands / "asked").read_text().splitlines()
    assert "--parsable" in asked and "--exclusive" in asked and "--requeue" in asked
    assert "--nodelist=n1" in asked and "--reboot" not in asked
    assert any(one.startswith("--constraint=k") for one in asked)
    [job] = [one for one in asked if one.startswith("--wrap=")]
    assert "campaign slurm-step" in job and job.startswith("--wrap=exec ")


def test_the_lines_for_an_administrator(shop: Shop) -> None:
    done = shop.call("campaign", "slurm-setup", "--on", "machines.toml", "--out", "setup")
    assert done.code == 0, done.err
    files = {one.name: one.read_text() for one in (shop.directory / "setup").iterdir()}
    assert "NodeFeaturesPlugins=node_features/helpers" in files["slurm.conf"]
    assert "NodeName=n1,n2 Features=k61,k72" in files["slurm.conf"]
    assert "MutuallyExclusive=k61,k72" in files["helpers.conf"]
    helper = shop.directory / "setup" / "pentathlon-boot"
    assert "grub-reboot linux-6.1" in files["pentathlon-boot"]
    assert subprocess.run(["sh", "-n", helper], check=False).returncode == 0
    wrong = subprocess.run(["sh", helper, "other"], capture_output=True, check=False)
    assert wrong.returncode == 1 and b"no system other" in wrong.stderr
    assert 'cannot recognise the system "b"' in done.err and '"a"' not in done.err
    (shop.directory / "setup" / "slurm.conf").unlink()
    again = shop.call("campaign", "slurm-setup", "--on", "machines.toml", "--out", "setup")
    assert again.code == 2 and "exists" in again.err
    assert not (shop.directory / "setup" / "slurm.conf").exists(), "all files or none"
