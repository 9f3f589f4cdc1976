"""`pentathlon try` with the real agent, and studies of commands from the question to the report.

The programs report made-up rates, so that no time decides anything.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from pentathlon.protocol import agent
from pentathlon.study.commands.command_line import (
    WordError,
    check_userland,
    command,
    commands,
    system,
)
from pentathlon.targets.uml import kernels
from tests.cli.conftest import Done, Shop

pytestmark = pytest.mark.system

RATE = '#!/bin/sh\necho "rate: $(({base} + $$ % 3)) req/s"\n'
"""A rate of the given size that varies a little."""

OPTIONS = ["--metric", r"rate: (\d+)", "--unit", "req/s", "--higher"]


@pytest.fixture
def real(shop: Shop) -> Shop:
    try:
        shop.environment["PENTATHLON_AGENT"] = str(agent.locate())
    except agent.AgentError as error:
        pytest.skip(str(error))
    return shop


def script(shop: Shop, name: str, text: str) -> None:
    path = shop.directory / name
    path.write_text(text)
    path.chmod(0o755)


def tried(shop: Shop, *words: str) -> Done:
    return shop.call("try", "--out", "result", "--limit", "20s", *words)


def test_a_planted_difference_between_two_commands_is_found(real: Shop) -> None:
    script(real, "old", RATE.format(base=2000))
    script(real, "new", RATE.format(base=1900))
    words = ["--out", "result", "--limit", "20s", *OPTIONS, "--save", "kept.toml"]
    done = real.real("try", *words, "--", "./old", "--", "./new")
    assert done.code == 0, done.err
    first = done.out.replace("\N{NO-BREAK SPACE}", " ").splitlines()[0]
    assert first.startswith("2-new is 5 % slower than 1-old (95 % interval "), done.out
    assert "req/s" in done.out and "means of the blocks" in done.out
    assert "report: result/report.html" in done.out
    [what, *how] = [
        line for line in done.err.splitlines() if not line.startswith(("pilot", "block"))
    ]
    assert what == "`./old` against `./new` on 1-old, 2-new, with 2 files of its own"
    assert "higher is better" in " ".join(how) and "looks after " in " ".join(how)
    assert len(how) == 2 and max(map(len, how)) <= 80, how
    # The judgement is that of every other result.
    compared = real.call("compare", "result", "--only", "try.command.metric")
    assert re.search("▼ \\w+ +5\N{NO-BREAK SPACE}% slower, sure", compared.out)
    # The study that was kept is one.
    kept = tomllib.loads((real.directory / "kept.toml").read_text())
    assert kept["workload"][0]["command"] == ["./old"]
    assert kept["system"][1]["commands"] == {"try.command": ["./new"]}
    assert kept["procedure"]["pairing"] == "turns"
    assert_turns(real.directory / "result" / "journal.jsonl")
    assert real.call("plan", "kept.toml", "--no-pilot").code == 0
    assert real.call("run", "kept.toml", "--no-pilot").code == 2


def assert_turns(journal: Path) -> None:
    """In each block the measured runs of the two systems alternate, and either comes first."""
    runs: dict[int, list[tuple[int, str]]] = {}
    for line in journal.read_text().splitlines():
        record = json.loads(line)
        event = record.get("event")
        if not isinstance(event, dict) or event.get("event") != "execution":
            continue
        if event["phase"] == "measure":
            place = (event["iteration"], record["system"])
            runs.setdefault(record["block"], []).append(place)
    firsts = set()
    for taken in runs.values():
        for number, (one, two) in enumerate(zip(taken[::2], taken[1::2], strict=True)):
            assert one[0] == two[0] == number and one[1] != two[1]
            firsts.add(one[1])
    assert len(firsts) == 2


def test_one_command_on_one_system_is_described(real: Shop) -> None:
    script(real, "same", "#!/bin/sh\necho 5\n")
    done = tried(
        real, "--metric", "(.+)", "--unit", "x", "--lower", "--limit", "3s", "--", "./same"
    )
    assert done.code == 0, done.err
    assert "on local: 5.000 x" in done.out


def test_what_fails_ends_the_study_with_its_last_lines(real: Shop) -> None:
    script(real, "bad", "#!/bin/sh\nprintf '\\033[31mno <b>\\n' >&2\nexit 3\n")
    done = tried(real, "--", "./bad")
    assert done.code == 1
    assert "nothing could be measured in the first block" in done.err
    assert "ended with the exit status 3; its last lines: \\u{1b}[31mno <b>" in done.out
    assert "\x1b" not in done.out
    done = real.call("try", "--out", "other", *OPTIONS, "--", "echo", "speed: 4")
    assert done.code == 1
    assert r'the pattern "rate: (\d+)" matches nothing of the output; its last lines: speed: 4' in (
        done.out
    )
    assert "nothing could be measured in the first block" in done.err
    done = real.call("try", "--out", "third", "--", "./nowhere")
    assert 'unsupported, the program "./nowhere" is missing' in done.out


def test_a_difference_between_what_systems_did_is_no_comparison(real: Shop) -> None:
    for name in ("one", "two"):
        script(real, name, f"#!/bin/sh\necho sum: {name}\n")
    words = ["--same", "sum: (.*)", "--limit", "2s", "--", "./one", "--", "./two"]
    done = tried(real, *words)
    assert 'cannot be compared with 1-one: the checksums differ: "one" and "two"' in done.out


@pytest.mark.parametrize(
    ("words", "stated"),
    [
        (["--on", "umll:6.1", "--", "x"], '"umll" is no kind of system; did you mean "uml"?'),
        (
            ["--on", "local:6.1", "--", "x"],
            '"6.1" is no setting of a system; write it as local:KEY',
        ),
        (["--on", "uml", "--", "x"], "--on uml: kernel: is missing"),
        (
            ["--on", "local:transparent_hugpage=never", "--", "x"],
            'settings.transparent_hugpage: unknown key; did you mean "transparent_hugepage"?',
        ),
        (["--on", "local", "--on", "local", "--", "x"], '--on names "local" twice'),
        (["--limit", "soon", "--", "x"], '--limit is "soon"; give a time from 1s to 24h'),
        (["--metric", "x", "--", "x"], "--metric needs --unit"),
        (["--metric", "x", "--unit", "s", "--", "x"], "--metric needs --higher or --lower"),
        (
            ["--metric", "(", "--unit", "s", "--lower", "--", "x"],
            'error: --metric: "(" is no regular expression of Python: missing ), '
            "unterminated subpattern at position 0\n",
        ),
        (["--unit", "s", "--", "x"], "belong to --metric"),
        (["--higher", "--lower", "--", "x"], "exclude each other"),
        (["--same", "(", "--", "x"], "--same: "),
        (["--file", "nowhere", "--", "x"], "nowhere"),
        (["--", "x", "--"], "a command is missing"),
        (["--", "x 'y"], "is no command line: No closing quotation"),
    ],
)
def test_what_is_wrong_on_the_command_line_is_one_sentence(
    real: Shop, words: list[str], stated: str
) -> None:
    done = real.call("try", *words)
    assert done.code == 2 and stated in done.err, done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not real.results()


def test_a_file_is_not_written_over(real: Shop) -> None:
    (real.directory / "kept.toml").write_text("x")
    done = real.call("try", "--save", "kept.toml", "--", "true")
    assert done.code == 2 and "is there already" in done.err
    assert (real.directory / "kept.toml").read_text() == "x"
    there = real.call("try", "--save", "none/kept.toml", "--", "true")
    assert there.code == 2 and "none is no directory" in there.err
    for one in (done, there):
        assert len(one.err.splitlines()) == 1, "before anything is measured"


def test_a_planted_difference_between_two_kernels_is_found(real: Shop) -> None:
    found = {kernel.version.split(".")[0]: kernel for kernel in kernels.available()}
    if len(found) < 2:
        pytest.skip("no two kernels here; run `pentathlon doctor --install`")
    low, high = (found[number] for number in sorted(found, key=int)[:: len(found) - 1])
    lines = (
        "#!/bin/sh",
        f"case $(uname -r) in {high.version.split('.')[0]}.*) base=1900;; *) base=2000;; esac",
        'echo "rate: $((base + $$ % 3)) req/s; work done"',
    )
    script(real, "bench", "\n".join(lines) + "\n")
    on = ["--on", f"uml:{low.path}", "--on", f"uml:{high.path}"]
    same = ["--same", "work (.*)", "--save", "s.toml"]
    # It ends with the block that decides; how many fit into a time depends on the machine.
    done = tried(real, *OPTIONS, *same, "--limit", "100s", *on, "--", "./bench")
    assert done.code == 0, done.err
    # Which programs and libraries the guest had is stated wherever its kernel is.
    shown = real.call("results", "show", "result").out
    assert len(re.findall(r"^user land of \S+: that of this machine$", shown, re.MULTILINE)) == 2
    plan = re.sub(r"[\s\N{NO-BREAK SPACE}]+", " ", real.call("plan", "s.toml", "--no-pilot").out)
    assert plan.count("user land: that of this machine") == 2, plan
    page = (real.directory / "result" / "report.html").read_text()
    assert page.count("user land: that of this machine") == 2
    # The rate is not measured: the program makes it up, three in a thousand more or less.
    answer = re.search(r" is ([\d.]+)\N{NO-BREAK SPACE}% slower than ", done.out.splitlines()[0])
    assert answer and 4.7 < float(answer[1]) < 5.3, done.out


STUDY = """\
name = "own"
reference = "a"

[procedure]
blocks = 2
iterations = 2

[[system]]
name = "a"
target = "local"

[[workload]]
id = "my.tool"
files = ["tool"]
command = ["./tool", "{n}"]
parameters = { n = [1, 2] }

[[workload.metric]]
name = "value"
measure = "last_number"
unit = "x"
better = "higher"
"""


def test_a_study_of_commands_asks_once_and_remembers(real: Shop) -> None:
    script(real, "tool", "#!/bin/sh\necho $1\n")
    real.write(STUDY)
    done = real.call("run", "study.toml", "--no-pilot")
    assert done.code == 2
    assert "starts every system: the command `./tool {n}` (my.tool), in every boot" in done.err
    plan = real.call("plan", "study.toml")
    assert plan.code == 0 and "the command `./tool {n}`" in " ".join(plan.out.split())
    # Commands are not repeated in timed batches.
    assert re.search(r"my\.tool .* one run", plan.out)
    assert not real.results()
    assert real.call("run", "study.toml", "--no-pilot", "--yes", "--out", "first").code == 0
    assert real.call("run", "study.toml", "--no-pilot", "--out", "second").code == 0
    script(real, "tool", "#!/bin/sh\necho $1$1\n")
    assert real.call("run", "study.toml", "--no-pilot", "--out", "third").code == 2


def test_a_result_of_commands_is_read_without_its_files_and_goes_on_with_them(real: Shop) -> None:
    script(real, "tool", "#!/bin/sh\necho $1\n")
    real.write(STUDY)
    assert real.call("run", "study.toml", "--no-pilot", "--yes", "--out", "whole").code == 0
    whole = real.directory / "whole"
    cut = real.directory / "cut"
    cut.mkdir()
    for name in ("plan.json", "catalog.json", "study.toml"):
        (cut / name).write_bytes((whole / name).read_bytes())
    lines = (whole / "journal.jsonl").read_text().splitlines(keepends=True)
    ended = next(
        n for n, line in enumerate(lines) if '"record":"boot-end"' in line.replace(" ", "")
    )
    (cut / "journal.jsonl").write_text("".join(lines[: ended + 1]))
    resumed = real.call("run", "--resume", "cut", "--yes")
    assert resumed.code == 0, resumed.err
    samples = json.loads(real.call("results", "list", ".", "--json").out)
    assert {Path(one["path"]).name: one["state"] for one in samples} == {
        "cut": "finished",
        "whole": "finished",
    }
    (real.directory / "tool").unlink()
    (real.directory / "study.toml").unlink()
    report = real.call("report", "whole", "--format", "html,csv,markdown,latex,json")
    assert report.code == 0, report.err
    assert "my.tool" in (whole / "report.html").read_text()


def test_words_become_systems() -> None:
    assert system("local") == {"name": "", "target": "local"}
    assert system("uml:6.1,memory=1G") == {
        "name": "", "target": "uml", "kernel": "6.1", "memory": "1G", "userland": "host",
    }  # fmt: skip
    assert system("ssh:bench1,port=22,user=me")["ssh"] == {
        "host": "bench1", "port": 22, "user": "me",
    }  # fmt: skip
    made = system("local:transparent_hugepage=never,swappiness=10,cpus=0+1")
    assert made["settings"] == {"transparent_hugepage": "never", "swappiness": 10}
    assert made["cpus"] == [0, 1]
    assert system("gvisor")["userland"] == "host"
    assert "userland" not in system("wine")
    assert system("oci:container.pids=64") == {
        "name": "", "target": "oci", "container": {"pids": 64}, "userland": "host",
    }  # fmt: skip
    assert system("oci:/x/image.tar.zst")["userland"] == "/x/image.tar.zst"
    assert system("oci:oci:/x/layout:1.2")["userland"] == "oci:/x/layout:1.2"


def test_a_command_line_becomes_a_system_of_the_users_own() -> None:
    made = system("command:incus exec box --env='A=1,2' -- {agent}")
    assert made["command"] == ["incus", "exec", "box", "--env=A=1,2", "--", "{agent}"]
    assert "userland" not in made
    with pytest.raises(WordError, match="is no command line"):
        system("command:incus 'exec")


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("uml:6.1,userland=/nowhere.tar", 'the userland "/nowhere.tar" is not there'),
        ("oci:/nowhere", 'the userland "/nowhere" is not there'),
        ("uml:6.1,userland=oci:/nowhere:tag", 'the userland "/nowhere" is not there'),
    ],
)
def test_a_userland_that_is_not_there(text: str, stated: str) -> None:
    with pytest.raises(WordError, match=stated):
        check_userland(system(text))


def test_parts_of_a_system_are_separated_by_commas() -> None:
    with pytest.raises(WordError, match=r"a comma separates parts: uml:6\.1,memory=1G"):
        system("uml:6.1:memory=1G")


def test_words_become_commands(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "tool").write_text("")
    (tmp_path / "data").write_text("")
    assert commands(["a", "b", "--", "c d"]) == [["a", "b"], ["c d"]]
    made = command(["in/tool", "-n", "data", "./data", "/etc/passwd", "none", "."], tmp_path)
    assert made.words == ["./tool", "-n", "data", "./data", "/etc/passwd", "none", "."]
    assert made.files == [str(tmp_path / "in" / "tool"), *[str(tmp_path / "data")] * 2]
    assert command(["gzip -9 'a b'"], tmp_path).words == ["gzip", "-9", "a b"]
    assert command(["cat data | wc"], tmp_path).words == ["sh", "-c", "cat data | wc"]
    with pytest.raises(WordError):
        commands(["--"])
