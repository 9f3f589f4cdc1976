"""`gate --remeasure`: further runs while the answer is not known well enough, and only then."""

from __future__ import annotations

import json
import shlex
import shutil
import tomllib

import pytest

from pentathlon.protocol import agent
from tests.cli.conftest import STUDY, Shop
from tests.cli.test_judging import measured

pytestmark = pytest.mark.slow

TWO = STUDY.replace("blocks = 2", "blocks = 3").replace(
    '["fake.*"]',
    '["other.*", { id = "fake.*", parameters = { variant = "plain", size_bytes = [64] } }]',
)
SLOW = TWO.replace(
    "cpus = [0]", "cpus = [0]\nparameters = { 'fake.beta' = { slowdown_percent = 30.0 } }"
)
NARROW = ("--delta", "0.15", "--only", "fake.*")
"""Values vary by 0.1 %: a few blocks do not decide it, and some more do."""


@pytest.fixture(autouse=True)
def repeatable(shop: Shop) -> None:
    """The same made-up values every time: what is judged of them is no matter of chance."""
    shop.options["repeatable"] = True


def test_what_is_not_known_is_measured_until_it_is(shop: Shop) -> None:
    first = measured(shop, "r", TWO)
    alone = shop.call("gate", first, *NARROW, "--json")
    assert alone.code == 5 and "further" not in json.loads(alone.out)
    done = shop.call("gate", first, *NARROW, "--remeasure", "120 blocks", "--yes", "--json")
    assert done.code in (0, 4), done.err
    found = json.loads(done.out)
    [run, *_] = found["further"]
    assert 3 <= run["blocks"] <= 120 and set(run["workloads"]) <= {
        "fake.alpha", "fake.beta", "fake.gamma",
    }  # fmt: skip
    assert run["confidence"] == pytest.approx(0.9875)
    again = shop.directory / "r" / "again"
    study = tomllib.loads((again / "1.toml").read_text())
    assert study["procedure"]["blocks"] == run["blocks"]
    entries = [one["id"] for suite in study["suite"] for one in suite["workloads"]]
    assert sorted(entries) == run["workloads"]
    assert study["suite"][0]["workloads"][0]["parameters"]["size_bytes"] == [64]
    # Whoever asks again gets the same answer, and nothing is measured.
    repeated = shop.call("gate", first, *NARROW, "--remeasure", "1m", "--json")
    assert json.loads(repeated.out) == found and repeated.code == done.code
    assert "measuring" not in repeated.err
    other = shop.call("gate", first, "--delta", "0.2", "--remeasure", "40")
    assert other.code == 2 and "with other options (--delta, --only)" in other.err
    shown = shop.call("gate", first, *NARROW, "--remeasure", "40", "--format", "markdown")
    assert f"measured again: {run['blocks']} blocks of " in shown.out.replace("\\", "")
    assert "judged at 98.75 %" in shown.out


VARYING = """\
name = "varying"
reference = "a"

[procedure]
blocks = 3
iterations = 1
warmup = 0

[[system]]
name = "a"
target = "local"

[[system]]
name = "b"
target = "local"
settings = { scheduler = "batch" }

[[workload]]
id = "my.varying"
files = ["varying.sh"]
command = ["./varying.sh"]
[[workload.metric]]
name = "number"
regex = '(\\d+)'
unit = "points"
better = "lower"
"""
PRINTS = """\
#!/bin/sh
n=$(cat {counter})
echo $((n + 1)) >{counter}
set -- 1000 1000 2000 8000 1000
shift $((n % 5))
echo $1
"""
"""Three blocks never decide these: whichever value is the first, and whichever system begins a
block, the mean of the logarithms of their ratios is less than 1.9 standard errors away from 0."""


def test_a_command_is_measured_again_while_its_files_are_the_same(shop: Shop) -> None:
    shop.environment["PENTATHLON_AGENT"] = str(agent.locate())
    counter = shop.directory / "counter"
    counter.write_text("0\n")
    script = shop.directory / "varying.sh"
    script.write_text(PRINTS.format(counter=shlex.quote(str(counter))))
    script.chmod(0o755)
    first = measured(shop, "r", VARYING)
    done = shop.call("gate", first, "--remeasure", "4 blocks", "--yes", "--json")
    assert done.code in (4, 5), done.err
    [run] = json.loads(done.out)["further"]
    assert run["workloads"] == ["my.varying"]
    shutil.rmtree(shop.directory / "r" / "again")
    script.write_text(script.read_text() + ":\n")
    changed = shop.call("gate", first, "--remeasure", "4 blocks", "--yes")
    assert changed.code == 2 and "a file of the command my.varying has changed" in changed.err


def test_what_is_known_is_not_measured_again(shop: Shop) -> None:
    first = measured(shop, "r", SLOW)
    for words, code in ((("--delta", "5"), 4), (("--delta", "5", "--only", "fake.alpha"), 0)):
        done = shop.call("gate", first, *words, "--remeasure", "40", "--yes")
        assert done.code == code, done.out
    assert not (shop.directory / "r" / "again").exists()


def test_a_budget_that_is_spent_ends_it(shop: Shop) -> None:
    first = measured(shop, "r", TWO)
    words = ("gate", first, "--delta", "0.01", "--remeasure")
    done = shop.call(*words, "4 blocks", "--yes", "--json")
    found = json.loads(done.out)
    assert done.code == 5 and [one["blocks"] for one in found["further"]] == [4]
    assert found["not_measured_again"].startswith("the budget is spent; about ")
    # A run that was cut off goes on, with the blocks that were decided on before it began.
    journal = shop.directory / "r" / "again" / "1" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    ended = shop.call(*words, "3", "--yes", "--json")
    assert ended.code == 5
    assert [one["blocks"] for one in json.loads(ended.out)["further"]] == [4]
    record = shop.directory / "r" / "again" / "runs.json"
    record.write_bytes(record.read_bytes()[:-3])
    damaged = shop.call(*words, "3")
    assert damaged.code == 2 and "runs.json cannot be read" in damaged.err


def test_what_cannot_be_measured_again_is_one_sentence(shop: Shop) -> None:
    first = measured(shop, "r", TWO)
    measured(shop, "other", TWO)
    for words, sentence in (
        (("--remeasure", "soon"), '--remeasure is "soon"; give'),
        (("--remeasure", "2"), "from 3 on"),
        (("--remeasure", "2.5 blocks"), "from 3 on"),
        (("--remeasure", "30h"), "from 1s to 24h"),
        (("--remeasure", "40", "--against", "other"), "a stored baseline stays as it is"),
    ):
        done = shop.call("gate", first, *words)
        assert done.code == 2 and sentence in done.err and done.err.count("\n") == 1, done.err
    shop.options["build"] = "0123"
    done = shop.call("gate", first, "--delta", "0.01", "--remeasure", "3", "--yes")
    assert done.code == 2 and "the agent is another build (0123)" in done.err
