"""`pentathlon campaign` with the fake agent: machines that die, killed programs, bad input."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path

import polars as pl
import pytest

from pentathlon.campaign.workers import writer
from pentathlon.evaluate.fleet.model import Fleet
from pentathlon.protocol import agent
from pentathlon.store.query import load_result
from tests.cli.conftest import STUDY, Shop
from tests.targets.conftest import connections_ended, descendants, needs_root
from tests.targets.sshd import Sshd

pytestmark = pytest.mark.slow

CPUS = sorted(os.sched_getaffinity(0))
SAMPLES = 2 * 2 * 3 * 3 * 3
"""Of one machine: blocks, systems, workloads, cases, iterations."""

MACHINES = "".join(
    f'[[machine]]\nname = "{name}"\ncpus = [{CPUS[number % len(CPUS)]}]\n'
    for number, name in enumerate(("one", "two"))
)
LONG = "iterations = 40\nsample_ms = 5.0"
SLOWER = '[system.parameters."fake.beta"]\nslowdown_percent = 10.0\n'


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path)
    made.environment["PENTATHLON_LOCK_DIR"] = str(tmp_path / "locks")
    made.write(STUDY.replace("cpus = [0]\n", SLOWER))
    made.write(MACHINES, "machines.toml")
    return made


def counted(directory: Path) -> int:
    return load_result(directory).samples().filter(
        pl.col("counted") & (pl.col("phase") == "measure")
    ).height  # fmt: skip


def wait_for(condition: object, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.05)


def start(shop: Shop, *more: str) -> tuple[str, ...]:
    return ("campaign", "run", "study.toml", "--on", "machines.toml", "--out", "c", *more)


def test_two_machines_and_their_fleet(shop: Shop) -> None:
    done = shop.real(*start(shop))
    assert done.code == 0, done.err
    for name in ("one", "two"):
        assert counted(shop.directory / "c" / "machines" / name) == SAMPLES
    orders = [
        [[boot.system for boot in block] for block in load_result(path).plan.blocks]
        for path in (shop.directory / "c" / "machines").iterdir()
    ]
    assert len(orders) == 2
    fleet = Fleet.model_validate_json((shop.directory / "c" / "fleet.json").read_text())
    assert [one.name for one in fleet.machines] == ["one", "two"]
    [beta] = {round(r.percent or 0, -1) for r in fleet.rows if r.workload == "fake.beta"}
    assert beta == -10.0
    assert "2 machines are a small sample" in done.out
    page = (shop.directory / "c" / "fleet.html").read_text()
    assert "<svg" in page and "one" in page and "http" not in page.replace("http-equiv", "")
    for term in ("term-heterogeneity", "term-fleet", "term-ratio-of-speeds"):
        assert f'href="#{term}"' in page and f'id="{term}"' in page
    status = shop.call("campaign", "status", "c", "--json")
    assert status.code == 0
    assert [(one["machine"], one["state"]) for one in json.loads(status.out)] == [
        ("one", "done"), ("two", "done"),
    ]  # fmt: skip
    again = shop.call("campaign", "resume", "c", "--no-report")
    assert again.code == 0, "all are done"
    assert counted(shop.directory / "c" / "machines" / "one") == SAMPLES


def test_a_machine_that_cannot_be_reached_costs_only_its_own(shop: Shop) -> None:
    other = '[[machine]]\nname = "gone"\nssh = { host = "no-such-host.invalid" }\n'
    shop.write(MACHINES + other, "machines.toml")
    done = shop.real(*start(shop, "--no-report"))
    assert done.code == 1, done.err
    assert counted(shop.directory / "c" / "machines" / "one") == SAMPLES
    assert counted(shop.directory / "c" / "machines" / "two") == SAMPLES
    assert "gone" in done.err and "cannot be reached with ssh" in done.err
    judged = shop.call("campaign", "compare", "c")
    assert judged.code == 0 and "2 machines: one, two" in judged.out
    assert '"gone" has measured nothing; the fleet is judged without it' in judged.out


def test_everything_is_killed_and_resumed(shop: Shop) -> None:
    """The program, and the run of one machine; the other one's goes on by itself."""
    shop.options = {"delay_s": 0.03}
    process = shop.start(*start(shop, "--no-report"))
    results = [shop.directory / "c" / "machines" / name for name in ("one", "two")]
    wait_for(lambda: all(writer(one) for one in results))
    process.kill()
    process.communicate()
    victim = writer(results[0])
    assert victim is not None
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: writer(results[0]) is None)
    assert shop.call("campaign", "status", "c").code == 7
    done = shop.real("campaign", "resume", "c", "--no-report")
    assert done.code == 0, done.err
    assert [counted(one) for one in results] == [SAMPLES, SAMPLES]


def test_a_run_that_is_killed_is_said_so_and_costs_only_its_own_machine(shop: Shop) -> None:
    shop.options = {"delay_s": 0.03}
    process = shop.start(*start(shop, "--no-report"))
    results = [shop.directory / "c" / "machines" / name for name in ("one", "two")]
    files = ("journal.jsonl", "plan.json", "catalog.json")
    wait_for(lambda: all((one / name).is_file() for one in results for name in files))
    victim = writer(results[0])
    assert victim is not None
    os.kill(victim, signal.SIGKILL)
    _, text = process.communicate(timeout=60)
    assert process.returncode == 1 and "its run was ended by signal SIGKILL" in text, text
    assert "campaign resume c" in text
    assert counted(results[0]) < SAMPLES and counted(results[1]) == SAMPLES
    status = shop.call("campaign", "status", "c")
    assert status.code == 7 and "its run was ended by signal SIGKILL" in status.out
    assert shop.real("campaign", "resume", "c", "--no-report").code == 0
    assert counted(results[0]) == SAMPLES


def test_cancel_stops_the_runs_and_keeps_what_they_measured(shop: Shop) -> None:
    shop.options = {"delay_s": 0.05}
    process = shop.start(*start(shop, "--no-report"))
    results = [shop.directory / "c" / "machines" / name for name in ("one", "two")]
    wait_for(lambda: all(writer(one) for one in results))
    assert shop.call("campaign", "cancel", "c").code == 0
    _, text = process.communicate(timeout=60)
    assert process.returncode == 130, text
    assert all(writer(one) is None for one in results)
    assert "campaign resume c" in text
    nothing = shop.call("campaign", "cancel", "c")
    assert nothing.code == 2 and "nothing to cancel" in nothing.err


def test_bad_input_is_one_sentence_and_leaves_nothing(shop: Shop) -> None:
    wrong = shop.call("campaign", "run", "no.toml", "--on", "machines.toml")
    assert wrong.code == 2 and "no.toml" in wrong.err
    shop.write(STUDY.replace('"fake.*"', '"fake.*", "fak.beta"'))
    wrong = shop.call(*start(shop))
    assert wrong.code == 2 and "study.toml:" in wrong.err and 'on machine "one"' in wrong.err
    shop.write(STUDY.replace("blocks = 2", 'stopping = { rule = "looks" }'))
    wrong = shop.call(*start(shop))
    assert wrong.code == 2, wrong.err
    assert "equally many blocks" in wrong.err
    shop.write(STUDY)
    assert not (shop.directory / "c" / "campaign.json").exists()
    full = shop.directory / "full"
    full.mkdir()
    (full / "x").write_text("")
    wrong = shop.call("campaign", "run", "study.toml", "--on", "machines.toml", "--out", "full")
    assert wrong.code == 2 and "is not empty" in wrong.err
    assert [one.name for one in full.iterdir()] == ["x"]
    wrong = shop.call("campaign", "status", "full")
    assert wrong.code == 2 and "no directory of a campaign" in wrong.err


def test_machines_that_measured_something_else_are_named(shop: Shop) -> None:
    for number, name in enumerate(("m1", "m2", "m3", "m4", "m5")):
        text = STUDY.replace("iterations = 3", "iterations = 2") if name == "m4" else STUDY
        shop.options = {"build": "beef"} if name == "m5" else {}
        if name == "m3":
            shop.options = {"system": {"cpu": {"model": "Other CPU", "count": 4}}}
        shop.write(text.replace("cpus = [0]\n", SLOWER) + f"# {number}\n", "s.toml")
        done = shop.call("run", "s.toml", "--out", name, "--no-pilot", "--no-report")
        assert done.code == 0, done.err
    done = shop.call("campaign", "compare", "m1", "m2", "m3", "m4", "m5", "--json")
    assert done.code == 0, done.err
    fleet = Fleet.model_validate_json(done.out)
    assert [one.name for one in fleet.machines] == ["m1", "m2", "m3"]
    words = "the machines have different processors: Fake CPU on m1, m2; Other CPU on m3"
    assert words in fleet.cautions
    reasons = {one.name: one.reason for one in fleet.refused}
    assert "the study's procedure differs" in reasons["m4"]
    assert "its agent's build differs" in reasons["m5"] and "beef" in reasons["m5"]
    alone = shop.call("campaign", "compare", "m1", "m5")
    assert alone.code == 2 and "at least 2 machines that measured the same" in alone.err
    shutil.copytree(shop.directory / "m1", shop.directory / "other" / "m1")
    twice = shop.call("campaign", "compare", "m1", "other/m1")
    assert twice.code == 2 and "named twice" in twice.err
    document = json.loads((shop.directory / "m1" / "plan.json").read_text())
    assert document["format"] == 1


@needs_root
@pytest.mark.system
def test_a_machine_that_dies_in_mid_run_costs_only_its_blocks(shop: Shop) -> None:
    """Two real ssh servers in namespaces of their own; one is killed with all that runs on it."""
    before = descendants()
    servers = [Sshd(shop.directory / name) for name in ("one", "two")]
    text = "".join(
        f'[[machine]]\nname = "m{number}"\nssh = {{ host = "bench", config = "{one.config}" }}\n'
        for number, one in enumerate(servers, start=1)
    )
    shop.write(text, "machines.toml")
    text = STUDY.replace("cpus = [0]\n", "").replace("blocks = 2", "blocks = 3")
    shop.write(text.replace('"fake.*"', '"process.getpid"').replace("iterations = 3", LONG))
    shop.environment["PENTATHLON_AGENT"] = str(agent.locate())
    results = [shop.directory / "c" / "machines" / name for name in ("m1", "m2")]
    try:
        for one in servers:
            one.start_machine()
        process = shop.start(*start(shop, "--yes"))
        journal = results[0] / "journal.jsonl"
        wait_for(lambda: journal.exists() and journal.read_text().count('"boot-start"') >= 2, 60)
        servers[0].stop()
        out, err = process.communicate(timeout=120)
    finally:
        for one in servers:
            one.stop()
    assert process.returncode == 1, err
    whole = counted(results[1])
    assert whole and whole % (3 * 2 * 40) == 0, "blocks, systems, iterations"
    assert 0 < counted(results[0]) < whole
    assert "m2: the boot" not in err and "m1" in err
    assert "m1" in out, "what it measured is judged too"
    connections_ended(before)
