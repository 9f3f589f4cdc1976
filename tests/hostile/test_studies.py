"""Damaged and oversized studies and profiles: each is planned, or refused with a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pentathlon.protocol import agent
from pentathlon.safeio.reading import DEEPEST, TomlError, parse_toml
from pentathlon.study import limits
from pentathlon.study.catalog import Catalog, parse_catalog
from pentathlon.study.check import value_problem
from pentathlon.study.link_profile import ProfileError, load_profile
from pentathlon.study.load import load_study
from pentathlon.study.plan import make_plan
from pentathlon.study.problems import MOST_SHOWN, StudyError
from tests.hostile.studies import profiles, studies, texts

pytestmark = pytest.mark.slow

GOOD = """\
name = "good"
reference = "a"

[[system]]
name = "a"
target = "local"

[[suite]]
name = "s"
workloads = [{ id = "memory.read", parameters = { block_bytes = [4096] } }]
"""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return parse_catalog(agent.catalog(agent.locate()))


def refused(directory: Path, content: str | bytes, catalog: Catalog | None = None) -> str:
    file = directory / "study.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(StudyError) as caught:
        load_study(file, catalog)
    return str(caught.value).removeprefix(str(file))


def test_no_damaged_study_ends_otherwise_than_planned_or_refused(
    tmp_path: Path, catalog: Catalog
) -> None:
    assert len(texts()) > 3
    ends = studies(800, 19, tmp_path, catalog)
    assert ends["read"] > 50 and ends["refused"] > 150


def test_no_damaged_profile_ends_otherwise_than_read_or_refused() -> None:
    ends = profiles(2000, 19)
    assert ends["read"] > 100 and ends["refused"] > 100


@pytest.mark.parametrize(
    "deep",
    [
        "x = " + "[" * 100_000,
        "x = " + "[" * 60 + "]" * 60,
        "x = " + "{a = " * 60 + "1" + "}" * 60,
        "[" + ".".join("a" * 40) + "]",
        ".".join("a" * 400_000) + " = 1",
        "\n".join(f"[{'.'.join('a' * n)}]" for n in range(1, DEEPEST + 2)),
    ],
)
def test_deep_tables_and_lists_are_refused(tmp_path: Path, deep: str) -> None:
    message = refused(tmp_path, GOOD + deep)
    assert f"more than {DEEPEST}" in message and "\n" not in message


def test_what_is_as_deep_as_allowed_is_read() -> None:
    parse_toml("x = " + "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1))
    with pytest.raises(TomlError):
        parse_toml("x = " + "[" * DEEPEST + "]" * DEEPEST)
    parse_toml('[a]\nb.c = 1\n# 1.2.3 ...................................\nt = "a b. c"\n')


def test_names_that_are_too_long_for_files_are_refused(tmp_path: Path) -> None:
    long = "x" * 5000
    assert "is no file beside this study" in refused(tmp_path, f'fallback = "{long}"\n{GOOD}')
    flow = f'{{ id = "network.traffic", parameters = {{ gap = "trace @{long}" }} }}'
    sentences = refused(tmp_path, GOOD.replace("workloads = [", f"workloads = [{flow}, "))
    assert "the trace file" in sentences and len(sentences) < 1200


def test_a_number_of_too_many_digits_is_refused(tmp_path: Path) -> None:
    assert "too many digits" in refused(tmp_path, f"seed = {'9' * 5000}\n" + GOOD)


def test_a_mark_of_utf_8_is_read_over_and_utf_16_is_named(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert load_study(tmp_path / "study.toml").study.name == "good"
    for order in ("utf-16-le", "utf-16-be"):
        data = "\ufeff".encode(order) + GOOD.encode(order)
        assert refused(tmp_path, data) == ": is UTF-16 text; save the file as UTF-8"
    assert refused(tmp_path, GOOD.encode() + b"\n\xff").startswith(":12: is not UTF-8 text")


@pytest.mark.parametrize(
    ("what", "kind"), [("/dev/zero", "a device"), ("fifo", "a named pipe"), (".", "a directory")]
)
def test_what_is_no_regular_file_is_refused_at_once(
    tmp_path: Path, what: str, kind: str, catalog: Catalog
) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name in ("study.toml", "link.toml", "numbers.txt", "x.strace"):
        (tmp_path / name).symlink_to(what)
    with pytest.raises(StudyError, match=f"is {kind} and no regular file"):
        load_study(tmp_path / "study.toml")
    with pytest.raises(ProfileError, match=f"is {kind} and no regular file"):
        load_profile("link.toml", tmp_path)
    file = tmp_path / "other.toml"
    flow = '{ id = "network.traffic", parameters = { gap = "trace @numbers.txt" } }'
    file.write_text(GOOD.replace("workloads = [", f"workloads = [{flow}, "))
    with pytest.raises(StudyError, match=f'"numbers.txt" is {kind} and no regular file'):
        load_study(file, catalog)
    done = subprocess.run(
        [sys.executable, "-m", "pentathlon", "trace", "import", str(tmp_path / "x.strace")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"is {kind} and no regular file" in done.stderr


def test_no_sentence_shows_what_a_file_holds(tmp_path: Path) -> None:
    secret = "root:$6$salt$hash:19000:0:99999:7:::"
    (tmp_path / "shadow").write_text(f"{secret}\n{secret}\n")
    flow = '{ id = "network.traffic", parameters = { gap = "trace @shadow" } }'
    study = GOOD.replace("workloads = [", f"workloads = [{flow}, ")
    sentences = [refused(tmp_path, study), refused(tmp_path, secret)]
    assert "line 1" in sentences[0] and ":1:" in sentences[1]
    (tmp_path / "shadow.toml").symlink_to("shadow")
    with pytest.raises(ProfileError) as caught:
        load_profile(str(tmp_path / "shadow.toml"))
    sentences.append(str(caught.value))
    done = subprocess.run(
        [sys.executable, "-m", "pentathlon", "trace", "import", str(tmp_path / "shadow")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and "line 1" in done.stderr
    assert not [one for one in (*sentences, done.stderr) if "salt" in one or "root:" in one]


def test_large_studies_are_refused_by_what_is_large(tmp_path: Path, catalog: Catalog) -> None:
    most = limits.MOST_VALUES
    sizes = ", ".join(map(str, range(4096, 4096 + most + 1)))
    message = refused(tmp_path, GOOD.replace("4096", sizes), catalog)
    assert message.startswith(":10: ") and message.endswith(
        f"block_bytes: has {most + 1:,} entries; the most is {most:,}"
    )
    systems = GOOD + '[[system]]\nname = "b"\n' * limits.MOST_SYSTEMS
    assert "system: has 101 tables; the most is 100" in refused(tmp_path, systems)
    suites = GOOD + '[[suite]]\nname = "b"\n' * limits.MOST_SUITES
    assert "suite: has 101 tables; the most is 100" in refused(tmp_path, suites)
    assert refused(tmp_path, GOOD + "#" * limits.MOST_BYTES) == ": is larger than 4 MiB"
    wrong = "".join(f"k{n} = 1\n" for n in range(MOST_SHOWN + 50)) + GOOD
    assert "and 50 problems more" in refused(tmp_path, wrong)


def test_lists_whose_product_is_large_are_refused(tmp_path: Path, catalog: Catalog) -> None:
    many = ", ".join(map(str, range(2000, 2400)))
    lists = f"{{ total_bytes = [{many}], piece_bytes = [{many}] }}"
    loops = f'{{ id = "memory.sub_looping", parameters = {lists} }}'
    sentences = refused(tmp_path, GOOD.replace("workloads = [", f"workloads = [{loops}, "), catalog)
    assert sentences.startswith(":10: ") and sentences.endswith(
        "memory.sub_looping: its lists make 160,000 cases; the most is 100,000"
    )
    assert limits.too_many_cases({"a": [1] * 1000, "b": [1] * 100, "c": 5}) is None
    sentences = limits.too_many_cases({"a": [1] * 1000, "b": [1] * 101})
    assert sentences == "its lists make 101,000 cases; the most is 100,000"


def test_a_plan_of_too_many_steps_is_refused(tmp_path: Path, catalog: Catalog) -> None:
    (tmp_path / "study.toml").write_text(GOOD)
    study = load_study(tmp_path / "study.toml", catalog).study
    with pytest.raises(ValueError, match=r"2,000,000 blocks make 2,000,000 steps of all systems"):
        make_plan(study, catalog, {"a": {}}, blocks=2_000_000)


class Counted(int):
    """A number that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return int(self) == other

    def __hash__(self) -> int:
        return int(self)


def test_values_named_twice_are_found_without_comparing_all_with_all(catalog: Catalog) -> None:
    workload = catalog.workload("memory.read")
    parameter = next(p for p in workload.parameters if p.name == "block_bytes")  # type: ignore[union-attr]
    values = [Counted(4096 + n) for n in range(2000)]
    assert value_problem(parameter, values) is None
    assert Counted.compared < 10 * len(values)
    assert "named twice" in str(value_problem(parameter, [4096, 8192, 4096]))
