"""What makes no difference is pointed out before anything is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pentathlon.study.catalog import Catalog, parse_catalog
from pentathlon.study.load import parse_study
from pentathlon.study.plan import make_plan
from pentathlon.study.pointless import pointless
from tests.fakes import scripted

STUDY = """\
name = "p"
reference = "a"
[[system]]
name = "a"
target = "{target}"
{first}
[[system]]
name = "b"
target = "{target}"
{second}
[[suite]]
name = "s"
workloads = ["w.*"]
"""
BBR = 'settings = { tcp_congestion_control = "bbr" }'
RENO = 'settings = { tcp_congestion_control = "reno" }'
NOW = {"tcp_congestion_control": "bbr", "turbo": "on", "swappiness": "60"}


def catalog(area: str) -> Catalog:
    found = [scripted.workload(name) | {"area": area} for name in ("w.one", "w.two")]
    return parse_catalog(
        {
            "protocol": 2,
            "catalog_version": 1,
            "agent": {"version": "0", "build": "b"},
            "workloads": found,
        }
    )


def warnings_of(
    first: str, second: str, area: str = "network", target: str = "local", **targets: Any
) -> list[str]:
    known = catalog(area)
    text = STUDY.format(first=first, second=second, target=target)
    study = parse_study(text, Path("p.toml"), known)
    return pointless(make_plan(study, known, targets), known, NOW.get)


def test_one_system_under_two_names() -> None:
    [text] = warnings_of("", "")
    assert text.startswith('The systems "a" and "b" are the same under two names')
    [text] = warnings_of("cpus = [0]", "cpus = [0]\ntitle = 'another title'")
    assert "the same under two names" in text


def test_the_value_that_the_machine_has_anyway() -> None:
    first, second = warnings_of("", BBR)
    assert first == (
        'settings.tcp_congestion_control differs between "a" and "b" and changes nothing: it is '
        "bbr on this machine anyway."
    )
    assert second == 'Nothing else differs between "a" and "b": they will be measured alike.'
    assert len(warnings_of("", "settings = { turbo = true }")) == 2
    assert len(warnings_of("", "settings = { swappiness = 60 }")) == 2


def test_congestion_control_without_a_network() -> None:
    first, second = warnings_of(BBR, RENO, area="memory")
    assert "no workload of the study uses TCP" in first and "measured alike" in second


def test_what_makes_a_difference_is_not_remarked_on() -> None:
    assert warnings_of(BBR, RENO) == []
    assert warnings_of("", RENO) == []
    assert warnings_of("", "cpus = [0]") == []
    assert warnings_of("", "settings = { turbo = false }") == []
    assert warnings_of("", "settings = { nice = 3 }") == [], "its present value is not known"


def test_a_part_that_makes_no_difference_beside_one_that_does() -> None:
    [text] = warnings_of("", f"cpus = [0]\n{BBR}")
    assert "settings.tcp_congestion_control" in text


def test_two_names_of_one_kernel() -> None:
    file = {"kernel": "6.1.176", "options": {"kernel_file": {"path": "/k", "sha256": "0"}}}
    other = {"kernel": "6.2", "options": {"kernel_file": {"path": "/l", "sha256": "1"}}}
    words = ('kernel = "6.1"', 'kernel = "newest"')
    first, second = warnings_of(*words, target="uml", a=file, b=file)
    assert "kernel differs" in first and "both mean 6.1.176" in first
    assert "measured alike" in second
    assert warnings_of(*words, target="uml", a=file, b=other) == []
    missing = {"kernel": "6.1 (not on this machine)", "options": {"kernel_file": None}}
    assert warnings_of(*words, target="uml", a=missing, b=missing) == []
